"""The compiled engine answers what the Python engine and the simulator answer, to the byte."""

from __future__ import annotations

import random
from unittest.mock import patch

import pytest

import cocco
import workloads
from cocco.bounds.cheapest import cheapest_plans
from cocco.effort.settings import Settings
from cocco.problem.objective import Objective
from cocco.problem.problem import Problem, on_hardware
from cocco.problem.space import SeparateBuffers, SharedBuffer
from cocco.search.genetic.engine import FastEngine, make_engine
from cocco.search.genetic.genetic import genetic
from cocco.search.kernel.choice import has_kernel
from simulator.accelerator import Accelerator
from simulator.model.cost import total
from simulator.model.pricing import Price, SubgraphModel
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import connected_parts
from simulator.technology import Technology
from tests.helpers.judged import random_network_of
from tests.helpers.parts import each_seed, few_seeds, first_of
from tests.helpers.random_problems import random_net, random_twin
from tests.helpers.twin_search import assert_same_search
from workloads import Builder
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


@each_seed(20, 24)
def test_engines_agree_on_random_problems(seed):
    """Shared and separate buffers, fixed hardware, cores, batch, metrics, tile rules, several networks."""
    problem = random_twin(seed)
    initial = [list(range(problem.size))] if seed % 5 == 0 else ()
    assert_same_search(problem, Settings(population=24, elite=3), 130, 1 + seed % 3, initial)


@each_seed(4, 24)
def test_engines_agree_on_the_genetic_algorithm_of_the_paper(seed):
    """Random partitions drawn uniformly, no elite, one population."""
    assert_same_search(random_twin(seed), Settings.paper(24), 96, 1 + seed % 3)


@pytest.mark.parametrize("bandwidth", [16, 2**16])
@pytest.mark.parametrize("metric", ["latency-sum", "energy"])
def test_engines_agree_where_slots_outgrow_64_bits(bandwidth, metric):
    """Two layers of 2^18 x 2^18 weights on one multiplier, 2^36 cycles for each of 2^11 samples.

    At 2^16 bytes per cycle one layer takes 2^63 slots; at 16 bytes it takes 2^51.
    """
    builder = Builder("wide")
    builder.fc("second", builder.fc("first", builder.input("x", 1, 1, 2**18), 2**18), 2**18)
    technology = Technology(dram_bytes_per_cycle=bandwidth, pe_rows=1, pe_columns=1, pe_inputs=1, pe_outputs=1)
    chip = Accelerator(shared_buffer=2**40, batch=2**11, technology=technology)
    question = {"method": "ga", "metric": metric, "samples": 20}
    fast, slow = (cocco.partition(builder.build(), chip, engine=name, **question) for name in ("fast", "reference"))
    assert fast.cost == slow.cost and fast.plans == slow.plans
    assert fast.evaluation.latency_cycles == 2**48
    assert fast.engine == ("fast" if bandwidth == 16 else "reference")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24, 600))
def test_engines_agree_on_many_random_problems(seed):
    assert_same_search(random_twin(seed), Settings(population=30, elite=3), 300, 1 + seed % 3)


@pytest.mark.parametrize("name", first_of(["resnet50", "transformer"], 1))
def test_engines_agree_on_networks_of_the_paper(name):
    objective = Objective("energy", 0.002, (1.0,))
    problem = Problem((workloads.load(name),), Accelerator(shared_buffer=1), SharedBuffer().buffers, objective)
    assert_same_search(problem, Settings(population=30, elite=4), 80, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", workloads.PAPER_NETWORKS)
@pytest.mark.parametrize("mode", range(4))
def test_engines_agree_on_all_networks_in_all_modes(name, mode):
    """Shared and separate spaces, fixed hardware, cores and batch, for 1, 2 and 3 threads."""
    machine, space, alpha = (
        (Accelerator(shared_buffer=1), SharedBuffer().buffers, 0.002),
        (Accelerator(global_buffer=1, weight_buffer=1), SeparateBuffers().buffers, 0.002),
        (Accelerator(global_buffer=2**20, weight_buffer=1152 * 1024), {}, None),
        (Accelerator(shared_buffer=1, cores=4, batch=2), SharedBuffer().buffers, 0.002),
    )[mode]
    problem = Problem((workloads.load(name),), machine, space, Objective("energy", alpha, (1.0,)))
    assert_same_search(problem, Settings(population=30, elite=4), 80, 1 + mode % 3)


@pytest.mark.parametrize("seed", first_of(range(60), 20))
def test_prices_are_those_of_the_simulator(seed):
    """Every connected part of random runs of layers, in random capacities; short answers are short in both."""
    like = random_twin(4 * seed + seed % 2)
    problem = Problem((random_net(seed),), like.accelerator, {}, Objective("ema", None, (1.0,)), like.tile_rule)
    engine, rng = FastEngine(problem, Settings()), random.Random(seed)
    machine, rules, network = problem.accelerator, problem.rules[0], problem.networks[0]
    for _ in range(20):
        capacity, weight_capacity = int(2 ** rng.uniform(3, 17)), int(2 ** rng.uniform(1, 15))
        first = rng.randrange(problem.size)
        for part in connected_parts(network, range(first, rng.randint(first, problem.size - 1) + 1)):
            price = SubgraphModel(rules, part).price(capacity, weight_capacity)
            found = engine.compiled.price(part, capacity, weight_capacity)
            if isinstance(price, Price):
                assert found == total([price], machine)
            else:
                assert found is None


def check_traffic(seed: int) -> int:
    """Price runs of layers that are held with both engines, and return how many there were."""
    network, rng = random_network_of(seed), random.Random(seed)
    technology = Technology(tiles=(rng.choice((1, 2, 3, 4, 8, 16)),))
    several = {"cores": rng.choice((2, 3)), "batch": rng.choice((1, 2))} if rng.random() < 0.2 else {}
    machine = Accelerator(shared_buffer=10**7, technology=technology, **several)
    rule: TileRule = "paper" if rng.random() < 0.2 else "exact"
    problem = Problem((network,), machine, {}, Objective("ema", None, (1.0,)), rule)
    engine, rules = FastEngine(problem, Settings()), problem.rules[0]
    first, held = rng.randrange(problem.size), 0
    for part in connected_parts(network, range(first, rng.randint(first, problem.size - 1) + 1)):
        price = SubgraphModel(rules, part).price(10**7, 10**7)
        found = engine.compiled.price(part, 10**7, 10**7)
        assert found == (total([price], machine) if isinstance(price, Price) else None)
        held += found is not None
    return held


@few_seeds(150, 500)
def test_what_is_held_moves_as_the_simulator_says(seeds):
    """Graphs of all operators, in tiles of one size each; some on several cores or by the paper's tile rule."""
    assert sum(check_traffic(seed) for seed in seeds) > 4 * len(seeds) // 5


@pytest.mark.slow
@pytest.mark.parametrize("block", range(50))
def test_what_is_held_moves_as_the_simulator_says_on_thousands_of_graphs(block):
    assert sum(check_traffic(seed) for seed in range(1000 + 200 * block, 1200 + 200 * block)) > 160


def test_rows_read_again_under_deep_padding_are_those_of_the_simulator():
    """A pool under deep padding: 5 rows of 3, 80 bytes in and 48 out."""
    b = workloads.Builder("low")
    b.avgpool("pool", b.input("x", 3, 8, 2), (3, 2), (2, 1), (2, 0, 2, 1))
    problem = Problem((b.build(),), Accelerator(shared_buffer=96), {}, Objective("ema", None, (1.0,)))
    price = SubgraphModel(problem.rules[0], [0]).price(96, 0)
    assert isinstance(price, Price)
    engine = FastEngine(problem, Settings())
    found = engine.compiled.price([0], 96, 0)
    assert found is not None and found[0] == 80 + 48
    assert found == total([price], problem.accelerator)


def test_a_whole_search_is_the_same_for_any_engine_and_threads():
    problem = random_twin(2)
    settings = Settings(population=20, elite=2, patience=3)
    traces = [genetic(problem, 700, 3, settings, engine=make_engine("reference", problem, settings))]
    traces += [genetic(problem, 700, 3, settings, engine=make_engine("fast", problem, settings, n)) for n in (1, 2, 3)]
    for trace in traces[1:]:
        assert trace.best == traces[0].best
        assert trace.seen().points.equals(traces[0].seen().points) and trace.seen().history.equals(
            traces[0].seen().history
        )


def test_a_network_beyond_64_bits_is_searched_by_the_python_engine():
    """A map of 2^20 x 2^20 elements: the byte counts of its last resort do not fit."""
    side = 2**19
    layer = Layer("a", "conv", ("x",), side, side, 1, 1, (3, 3), (1, 1), (1, 1, 1, 1))
    network = Network("vast", (Tensor("x", side, side, 1),), (layer,))
    problem = Problem((network,), Accelerator(shared_buffer=100), {}, Objective("ema", None, (1.0,)))
    assert make_engine("fast", problem, Settings()).name == "reference"


@few_seeds(25, 60)
def test_what_is_near_64_bits_is_priced_alike_or_left_to_python(seeds):
    """Pools of 2 to 9 coprime strides read one map, in a chain or side by side: their steps multiply."""
    outcomes = {True: 0, False: 0}
    for seed in seeds:
        rng, side = random.Random(seed), 2**13
        strides = rng.sample((2, 3, 5, 7, 11, 13, 61, 101, 103, 107, 109, 113, 127, 131, 137, 139), rng.randint(2, 9))
        layers, sides = [Layer("stem", "maxpool", ("x",), side, 1, 1, 1)], {"stem": side}
        for s in strides:
            before, kernel = rng.choice(("stem", "stem", layers[-1].name)), rng.choice((1, 1, s, 2 * s))
            if sides[before] >= kernel:
                sides[f"p{s}"] = rows = (sides[before] - kernel) // s + 1
                layers.append(Layer(f"p{s}", "maxpool", (before,), rows, 1, 1, 1, (kernel, 1), (s, 1)))
        network = Network("coprime", (Tensor("x", side, 1, 1),), tuple(layers))
        problem = on_hardware(network, Accelerator(shared_buffer=2**40, max_regions=None))
        parts, engine = connected_parts(network, range(len(layers))), FastEngine(problem, Settings())
        for part in parts:
            price = SubgraphModel(problem.rules[0], part).price(2**40, 0)
            try:
                found = engine.compiled.price(part, 2**40, 0)
            except OverflowError:
                outcomes[False] += 1
                continue
            assert found == (total([price], problem.accelerator) if isinstance(price, Price) else None)
            outcomes[True] += isinstance(price, Price)
    assert min(outcomes.values()) > len(seeds) // 6, outcomes


def test_steps_beyond_64_bits_are_answered_all_the_same():
    """Pools of coprime strides side by side: the least common multiple of their steps outgrows the machine's word."""
    strides = (101, 103, 107, 109, 113, 127, 131, 137, 139)
    side = 2**17
    layers = [Layer("stem", "maxpool", ("x",), side, 1, 1, 1)]
    layers += [Layer(f"p{s}", "maxpool", ("stem",), (side - 1) // s + 1, 1, 1, 1, (1, 1), (s, 1)) for s in strides]
    problem = Problem(
        (Network("coprime", (Tensor("x", side, 1, 1),), tuple(layers)),),
        Accelerator(shared_buffer=2**20),
        {},
        Objective("ema", None, (1.0,)),
    )
    assert_same_search(problem, Settings(population=10, elite=1), 30, initial=[[0] * len(layers)])
    with patch("cocco.bounds.cheapest.exact_way", side_effect=AssertionError("not in 64 bits")):
        found = cheapest_plans(problem, engine="fast")
    assert found == cheapest_plans(problem, engine="reference") and found.is_proven
