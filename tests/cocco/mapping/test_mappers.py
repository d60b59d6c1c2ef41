"""Mappers inside the model: whole layers or updates, CoSA's, and that a search never asks twice."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace

import pytest

import workloads
from cocco import explore, partition
from cocco.mapping import MAPPERS, Cosa
from cocco.mapping import mapper as cosa_mapper
from cocco.problem.problem import on_hardware
from cocco.problem.space import SharedBuffer
from cocco.search.kernel.choice import engine_name, has_kernel
from simulator import Accelerator, KiB, MiB, Partition, evaluate
from simulator.mapping import Enumerate, Work
from simulator.mapping.mappers import closed_work
from tests.helpers.command_line import answer, assert_malformed, cocco
from workloads.network.builder import Builder
from workloads.network.network import Network

CHIP = Accelerator(global_buffer=1 * MiB, weight_buffer=1152 * KiB)


@pytest.fixture
def small() -> Network:
    """Two 3 x 3 convolutions of 16 channels on 24 x 24, an add around the second, a depth-wise one."""
    b = Builder("small")
    x = b.input("x", 24, 24, 16)
    first = b.conv("first", x, 16, 3, padding=1)
    second = b.conv("second", first, 16, 3, padding=1)
    b.depthwise("light", b.add("sum", (first, second)), 3, padding=1)
    return b.build()


def test_the_default_is_the_closed_form_of_whole_layers_and_is_not_mentioned(small: Network):
    plan = Partition.layerwise(small)
    assert evaluate(small, plan, CHIP) == evaluate(small, plan, replace(CHIP, mapper=Enumerate()))
    assert "mapper" not in evaluate(small, plan, CHIP).to_json()["accelerator"]
    tiled = evaluate(small, plan, replace(CHIP, mapper=Enumerate(tiled=True))).to_json()
    assert tiled["accelerator"]["mapper"] == {"tiled": True, "name": "enumerate"}
    json.dumps(evaluate(small, plan, replace(CHIP, mapper=Cosa())).to_json())


def test_small_updates_idle_lanes_by_hand(small: Network):
    """16 x 16 channels fill a quarter of K 32 x C 32, so rows and columns take the PEs: whole map 24 x 24 / 16.

    first: K 16 / 8 = 2 turns, C 2 turns, P or Q 16 wide: ceil(24 / 16) 24 or 4 x 4: 6 * 6: 2 * 2 * 36 * 9 = 1296.
    In updates of one row and one column no PE finds a second position: K and C 2 wide: 576 * 9 = 5184.
    """
    layer = small.layers[0]
    assert Enumerate().cycles(layer, 1, 1) == 1296
    mapper = Enumerate(tiled=True)
    assert mapper.work(layer, 1, 1, (24, 24)).cycles == 1296 == mapper.work(layer, 1, 1, (64, 64)).cycles
    assert mapper.work(layer, 1, 1, (1, 1)).cycles == 5184
    light = small.layers[3]
    assert mapper.work(light, 1, 1, (64, 64)) == Work(Enumerate().cycles(light, 1, 1))


def test_a_tiled_layer_never_takes_less_than_a_whole_one(small: Network):
    for layer in small.layers:
        for mapper in (Enumerate(tiled=True), Cosa()):
            least = mapper.cycles(layer, 2, 1)
            for tile in ((24, 24), (8, 8), (5, 7), (1, 1)):
                work = mapper.work(layer, 2, 1, tile)
                assert work.cycles >= least
                assert all(times[0] >= times[1] for times in work[1:])


def test_words_of_an_update_that_does_not_stay_in_the_pe_move_again():
    """1 x 1, C 512, K 256, 16 x 16: with P, Q 4 wide a PE keeps 4 * 4 * 512 of its window: 8192 > 4096 words."""
    b = Builder("large")
    b.conv("c", b.input("x", 16, 16, 512), 256, 1)
    layer = b.build().layers[0]
    work = Enumerate(tiled=True).work(layer, 1, 1, (16, 16))
    assert work.cycles == 512 * 256 * 256 // 1024
    assert work.weights[0] >= work.weights[1] == 512 * 256
    assert work.inputs[1] == 16 * 16 * 512 and work.inputs[0] % work.inputs[1] == 0


def test_one_update_of_everything_is_what_the_layer_is(small: Network):
    """A tile as large as the map: the cycles of the model, and traffic no lower."""
    plan = Partition.layerwise(small)
    plain = evaluate(small, plan, CHIP)
    for mapper in (Enumerate(tiled=True), Cosa()):
        found = evaluate(small, plan, replace(CHIP, mapper=mapper))
        assert (found.ema_bytes, len(found.subgraphs)) == (plain.ema_bytes, len(plain.subgraphs))
        assert found.energy_pj >= plain.energy_pj
    tiled = evaluate(small, plan, replace(CHIP, mapper=Enumerate(tiled=True)))
    assert tiled.compute_cycles == plain.compute_cycles  # 24 x 24 fits in one tile


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built here")
def test_a_mapper_that_looks_at_tiles_is_searched_by_the_reference_engine(small: Network):
    for mapper, expected in ((Enumerate(), "fast"), (Enumerate(tiled=True), "reference"), (Cosa(), "reference")):
        problem = on_hardware(small, replace(CHIP, mapper=mapper), metric="latency-sum")
        assert engine_name(None, problem) == expected


def test_searches_with_a_mapper_are_priced_by_the_simulator_and_proven(small: Network):
    """With the small tiles of a small memory, the tiled mapper is no cheaper than the closed form of whole layers."""
    space = SharedBuffer(8 * KiB, 32 * KiB, 8 * KiB)
    costs = {}
    for name in ("enumerate", "tiled"):
        found = explore(small, space=space, metric="latency-sum", alpha=10.0, samples=150, mapper=MAPPERS[name])
        assert found.accelerator is not None and found.accelerator.mapper == MAPPERS[name]
        assert found.status == "optimal"
        costs[name] = found.cost
    assert costs["tiled"] >= costs["enumerate"]


def test_a_search_asks_for_each_tile_once(small: Network):
    closed_work.cache_clear()
    chip = replace(CHIP, mapper=Enumerate(tiled=True))
    best = partition(small, chip, metric="latency-sum", samples=100, method="ga", engine="reference")
    first = closed_work.cache_info()
    again = partition(small, chip, metric="latency-sum", samples=100, method="ga", engine="reference")
    second = closed_work.cache_info()
    assert best.cost == again.cost and second.misses == first.misses and second.hits > first.hits


def test_no_solver_is_asked_twice_for_one_tile(small: Network, monkeypatch: pytest.MonkeyPatch):
    cosa_mapper.solved.cache_clear()
    cosa_mapper._work.cache_clear()
    asked = []
    original = cosa_mapper.map_cosa

    def counted(shape, *more):  # type: ignore[no-untyped-def]
        asked.append(shape)
        return original(shape, *more)

    monkeypatch.setattr(cosa_mapper, "map_cosa", counted)
    chip = replace(CHIP, mapper=Cosa())
    for samples in (20, 40):
        partition(small, chip, metric="latency-sum", samples=samples, method="ga")
    assert 0 < len(asked) == len(set(asked)) <= 20
    done = cosa_mapper.work_done()
    assert done["solver"]["calls"] - done["solver"]["hits"] == len(asked) and done["cosa"]["hits"] > 0


def test_a_mapper_survives_a_pickle_and_another_thing_is_refused():
    for mapper in MAPPERS.values():
        chip = replace(CHIP, mapper=mapper)
        assert pickle.loads(pickle.dumps(chip)) == chip and hash(chip) == hash(replace(chip))
    with pytest.raises(ValueError, match="mapper must be a simulator.mapping.Mapper"):
        Accelerator(shared_buffer=1 * MiB, mapper="cosa")  # type: ignore[arg-type]


def test_evaluate_takes_a_mapper_by_name(tmp_path):
    words = ("evaluate", "vgg16", "--partition", "layerwise", "--json")
    plain = answer(cocco(*words))
    assert plain == answer(cocco(*words, "--mapper", "enumerate"))
    tiled = answer(cocco(*words, "--mapper", "tiled"))
    assert tiled["totals"]["compute_cycles"] >= plain["totals"]["compute_cycles"]
    assert tiled["accelerator"]["mapper"]["tiled"] is True
    assert_malformed(cocco(*words, "--mapper", "best"), ("--mapper", "best"))


def test_the_kernel_is_handed_the_cycles_of_a_flat_mapper():
    network = workloads.load("vgg16")
    rules = on_hardware(network, CHIP).rules[0]
    assert rules.cycles == [Enumerate().cycles(layer, 1, 1) for layer in network.layers]


@pytest.mark.parametrize("name", ["tiled", "cosa"])
def test_a_transposed_convolution_takes_the_closed_form_of_its_output_by_hand(name: str):
    """8 x 8 x 8 from 4 x 4 x 16, 4 of 16 taps meet an element: 16 tiles of 2 x 2, each 1 turn x 2 x 4 taps = 8.

    Its tiles are of the output, not of the source that `cocco map` shows. The whole map: 4 turns x 2 x 4 = 32.
    """
    b = Builder("up")
    b.conv_transpose("up", b.input("x", 4, 4, 16), 8, kernel=4, stride=2, padding=1)
    (layer,) = b.build().layers
    assert MAPPERS[name].work(layer, 1, 1, (2, 2)) == Work(16 * 8)
    assert Enumerate().cycles(layer, 1, 1) == 32
