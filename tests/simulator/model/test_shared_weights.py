"""Weights of several layers: loaded once in a subgraph that holds them, and again in the next."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import cocco
import workloads
from cocco.bounds.floors.least_kept import Floors
from cocco.bounds.patterns import tables
from cocco.output.program.refusal import Refusal, check_supported
from cocco.problem.problem import on_hardware
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, Partition, evaluate
from simulator.execution import verify
from simulator.execution.judge import judge
from simulator.model.priced import price_partition
from tests.helpers.command_line import assert_malformed
from tests.helpers.command_line import cocco as run
from tests.helpers.kept_proofs import check_kept
from tests.helpers.parts import few_seeds, over_seeds
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_shared import shared_network
from tests.helpers.same_prices import assert_same_prices
from workloads import Builder
from workloads.errors import NetworkError

ENGINES = ("reference", "fast") if has_kernel() else ("reference",)


def twice(shared: str = "w"):
    """Two products of 4 rows with 8 x 8 weights, the same in both."""
    b = Builder("twice")
    b.fc("second", b.fc("first", b.input("x", 4, 1, 8), 8), 8)
    network = b.build()
    return replace(network, layers=tuple(replace(each, shared=shared) for each in network.layers))


def price_of(network, groups, **chip):
    return price_partition(network, Partition.from_groups(network, groups, "ema"), Accelerator(**chip))


def test_a_subgraph_holds_and_loads_them_once_and_reads_them_in_each_layer():
    """One update of 4 rows in each layer: three maps of 32 bytes and 64 weights, written once and read twice."""
    (price,) = price_of(twice(), [["first", "second"]], shared_buffer=3 * 32 + 64).prices
    assert (price.activation_bytes, price.weight_bytes, price.ema_bytes) == (96, 64, 64 + 2 * 32)
    assert (price.weight_buffer_bytes, price.weight_written_bytes) == (64 + 2 * 64, 64)
    assert price_of(twice(""), [["first", "second"]], shared_buffer=3 * 32 + 64).prices[0].ema_bytes == 2 * 64 + 2 * 32


def test_each_subgraph_loads_them_and_the_floor_has_them_once():
    found = evaluate(twice(), Partition.layerwise(twice()), Accelerator(shared_buffer=1024))
    assert (found.ema_weight_bytes, found.compulsory_bytes) == (2 * 64, 64 + 2 * 32)
    for keep in ("none", "auto"):
        problem = on_hardware(twice(), Accelerator(shared_buffer=1024), metric="ema", keep=keep)
        assert Floors(problem).least() == 128
    best = cocco.partition(twice(), Accelerator(shared_buffer=1024), metric="ema")
    assert (best.evaluation.ema_weight_bytes, best.lower_bound, best.status) == (64, 128, "optimal")


def test_several_cores_share_none():
    found = price_of(twice(), [["first", "second"]], shared_buffer=1024, cores=2)
    assert found.prices[0].ema_weight_bytes == 2 * 64
    assert verify(found.network, found.partition, found.accelerator).verified


@pytest.mark.parametrize("lie", [{"weight_bytes": 128}, {"ema_weight_bytes": 128}, {"weight_buffer_bytes": 128 + 128}])
def test_the_judge_counts_them_once(lie):
    found = price_of(twice(), [["first", "second"]], shared_buffer=1024)
    assert not judge(found.network, found.accelerator, found.partition, found.prices)[1]
    wrong = [found.prices[0]._replace(**lie)]
    assert next(iter(lie)) in judge(found.network, found.accelerator, found.partition, wrong)[1]


def check_random(seed: int) -> bool:
    """Run a random plan of a random network; return whether a subgraph has the weights of several layers."""
    rng = random.Random(seed)
    network = shared_network(rng, 6)
    plan = random_kept_plan(network, seed)
    chip = Accelerator(shared_buffer=rng.choice((512, 2048, 10**6)), batch=rng.choice((1, 1, 2)))
    if rng.random() < 0.3:
        chip = Accelerator(global_buffer=2048, weight_buffer=rng.choice((64, 128, 1024)), batch=chip.batch)
    assert_same_prices(on_hardware(network, chip, metric="energy"))
    found = price_partition(network, plan, chip)
    if not found.fits:
        return False
    said = verify(network, plan, chip)
    assert said.verified, (seed, said.message)
    geometry = found.rules.geometry
    return any(geometry.weights_of(each) < sum(geometry.weight_bytes[v] for v in each) for each in plan.subgraphs)


@few_seeds(60, 120)
def test_random_plans_run_as_priced(seeds):
    assert sum(map(check_random, seeds)) > len(seeds) // 8


def check_proofs(seed: int) -> bool:
    """Compare optima, floors and certificates with all plans; return whether the cheapest plan loads less."""
    pytest.importorskip("ortools")
    rng = random.Random(seed)
    network = shared_network(rng, 4)
    room = rng.randint(40, 400) + rng.choice((0, 64, 576))
    chip = Accelerator(shared_buffer=room, batch=rng.choice((1, 1, 2)))
    if rng.random() < 0.3:
        chip = Accelerator(global_buffer=room, weight_buffer=rng.choice((64, 100, 600)), batch=chip.batch)
    metric = ("ema", "energy", "latency-sum")[seed % 3]
    check_kept(on_hardware(network, chip, metric=metric, keep="auto"), ENGINES, seed)
    found = cocco.partition(network, chip, metric=metric, keep="none")
    assert found.lower_bound is None or found.lower_bound <= found.cost
    return bool(found.plans) and found.evaluation.ema_weight_bytes < network.weight_bytes


@few_seeds(12, 36)
def test_no_false_optimum(seeds):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "LEAST_LAYERS", 1)
        patch.setattr(tables, "MOST_FREE", 0)
        assert any(map(check_proofs, seeds))


test_no_false_optimum_in_hundreds = over_seeds(check_proofs, 36, 336)


def test_a_file_keeps_them(tmp_path):
    path = tmp_path / "one.json"
    workloads.save(twice(), path)
    assert workloads.load(path).layers == twice().layers
    path.write_text(path.read_text(encoding="utf-8").replace('"w"', "7"), encoding="utf-8")
    assert_malformed(run("evaluate", path, "--partition", "layerwise", "--shared-buffer", "1MB"), ["'first'", "7"])


def test_layers_that_share_have_as_many():
    b = Builder("two")
    b.fc("second", b.fc("first", b.input("x", 4, 1, 8), 16), 16)
    network = b.build()
    with pytest.raises(NetworkError, match="'second' .fc. has 256 bytes of weights 'w', and 'first' 128; layers that"):
        replace(network, layers=tuple(replace(each, shared="w") for each in network.layers))


def test_a_program_of_them_is_refused():
    found = price_of(twice(), [["first", "second"]], shared_buffer=1024)
    with pytest.raises(Refusal, match="'first' .. 'second': weights of several layers"):
        check_supported(found)
    check_supported(price_of(twice(), [["first"], ["second"]], shared_buffer=1024))
