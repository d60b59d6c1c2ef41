"""Proofs against brute force: all partitions of small networks of every operator, on memories of every size.

No optimum is false, and no bound above one: each sum that a bound is made of is below that of every partition.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from itertools import product

import pytest

from cocco.bounds.cheapest import cheapest_plans
from cocco.bounds.floors.buffers import inside_of, least_inside, room_inside
from cocco.bounds.floors.forced import largest_hulls
from cocco.bounds.floors.least import lower_bound, totals_of
from cocco.exploration.memories.proof import prove
from cocco.problem.problem import in_memory, on_hardware, over_space
from cocco.problem.space import Range, SeparateBuffers, SharedBuffer
from cocco.search.kernel.choice import has_kernel
from simulator.model.pricing import Price
from tests.helpers.brute_force import CLOSE, Brute
from tests.helpers.parts import few_seeds, over_seeds
from tests.helpers.random_attention import random_decoder
from tests.helpers.random_tables import random_technology, shared_technology, with_logic
from tests.helpers.small_problems import small_machine, small_problem
from workloads import Builder, Network


def on_cores(problem, seed):
    """Return the problem on 2 to 4 cores, every second time with tables of what its buffers take."""
    rng = random.Random(seed)
    machine = replace(problem.accelerator, cores=rng.randint(2, 4), batch=rng.choice((1, 1, 2, 3)))
    technology = machine.technology
    if seed % 2:
        tables = (shared_technology if machine.is_shared else random_technology)(rng)
        names = ("activation_sram", "weight_sram", "dram_background_mw")
        technology = replace(technology, **{name: getattr(tables, name) for name in names})
    port = rng.choice((technology.crossbar_bytes_per_cycle, 1, 16))
    return replace(problem, accelerator=replace(machine, technology=replace(technology, crossbar_bytes_per_cycle=port)))


def check_hardware(seed, problem=None):
    """Both engines find the least of all partitions, and every sum of the bound is below that of all."""
    problem = problem or small_problem(seed)
    brute = Brute(problem)
    found = cheapest_plans(problem, may_keep=False, engine="reference")
    assert (found.plans[-1].status == "infeasible") == (brute.least == math.inf), seed
    assert found.cost == pytest.approx(brute.least, rel=CLOSE), seed
    if has_kernel():
        assert cheapest_plans(problem, may_keep=False, engine="fast") == found, seed
    if brute.least < math.inf:
        (least,) = totals_of(problem, largest_hulls(problem), problem.accelerator)
        for each in brute.totals:
            assert all(a <= b for a, b in zip(least, each)), (seed, least, each)
        assert 0 < lower_bound(problem) <= brute.least * (1 + CLOSE), seed
    if problem.tile_rule == "exact" and problem.accelerator.cores == 1:
        check_pieces(seed, brute)
    return brute


def check_pieces(seed, brute):
    """No subgraph of several layers that is held reads less of a buffer than its layers' least pieces say."""
    rules = brute.problem.rules[0]
    for group, price in brute.prices.items():
        if len(group) == 1 or not isinstance(price, Price) or price.loops is not None:
            continue
        room = brute.machine.activation_capacity
        least = [least_inside(inside_of(rules, v), room_inside(rules, v, room)) for v in group]
        results = rules.batch * sum(rules.geometry.size_bytes[v] for v in group)
        operands = price.global_buffer_bytes - price.ema_input_bytes - price.ema_output_bytes - results
        assert None not in least, (seed, group)
        assert sum(each.operands for each in least) <= operands, (seed, group)
        assert sum(each.weights for each in least) <= price.weight_buffer_bytes - price.ema_weight_bytes, (seed, group)


@few_seeds(41, [10_902, *range(100)])
def test_no_false_optimum_and_no_bound_above_one_on_given_hardware(seeds):
    """In 10,902 a subgraph holds the weights of one of two groups of channels; those of both have no room."""
    fused = nothing = 0
    for seed in seeds:
        brute = check_hardware(seed)
        nothing += brute.least == math.inf
        fused += any(len(group) > 1 and isinstance(price, Price) for group, price in brute.prices.items())
    assert fused > 3 * len(seeds) // 10 and nothing > len(seeds) // 100


def check_cores(seeds) -> int:
    """Return how many partitions fuse layers."""
    found = (check_hardware(seed, on_cores(small_problem(seed), seed)) for seed in seeds)
    return sum(any(len(group) > 1 and isinstance(each, Price) for group, each in one.prices.items()) for one in found)


def test_no_false_optimum_and_no_bound_above_one_on_several_cores():
    assert check_cores(range(60)) > 20


def test_no_false_optimum_where_logic_takes_energy_and_cores_share_channels():
    for seed in range(40):
        problem = small_problem(seed)
        check_hardware(seed, with_logic(on_cores(problem, seed) if seed % 4 == 3 else problem, seed))


def attention_problem(seed):
    """Return projections, an attention in blocks over a cache or none, an output and a residual sum, in some memory."""
    rng, b = random.Random(seed), Builder("attention")
    own, sharing, width = rng.choice((1, 2)), rng.choice((1, 2)), rng.choice((4, 8))
    features, length, past = 8 * rng.randint(1, 3), rng.randint(1, 12), rng.choice((0, 5, 30))
    x, second = b.input("x", length, 1, features), []
    query = b.fc("q", x, own * sharing * width)
    for part in "kv":
        rows = [b.input(f"{part}_cache", past, 1, own * width, kind="cache")] if past else []
        second.append([*rows, b.fc(part, x, own * width, appended=rng.random() < 0.5)])
    context = b.attention("attention", query, *second, own * sharing, own)
    b.add("sum", [b.fc("out", context, features), x])
    network = b.build()
    metric, machine = rng.choice(("ema", "energy", "latency-sum")), small_machine(rng, network)
    return on_hardware(network, replace(machine, cores=1), metric=metric)


def masked_problem(seed):
    """Return the same with a mask, as one layer or as three, whose nests move what the mask leaves."""
    rng = random.Random(seed)
    network = random_decoder(rng, in_blocks=rng.random() < 0.3, is_masked=True)
    count = next(v for v, layer in enumerate(network.layers) if layer.name == "out")
    network = Network("masked", network.inputs, network.layers[: count + 1])
    metric, machine = rng.choice(("ema", "energy", "energy", "latency-sum")), small_machine(rng, network)
    return on_hardware(network, replace(machine, cores=1), metric=metric)


def test_no_false_optimum_with_masks():
    checked = [check_hardware(seed, masked_problem(seed)) for seed in range(30)]
    assert sum(each.least < math.inf for each in checked) > 15


test_no_false_optimum_with_masks_on_hundreds = over_seeds(
    lambda seed: check_hardware(seed, masked_problem(seed)), 100, 700, 100
)


def test_no_false_optimum_with_attention_in_blocks():
    checked = [check_hardware(seed, attention_problem(seed)) for seed in range(40)]
    assert sum(each.least < math.inf for each in checked) > 20
    assert not any(len(group) > 1 and 3 in group and isinstance(price, Price) and price.loops is None
                   for each in checked for group, price in each.prices.items())  # it runs alone  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_no_false_optimum_on_several_cores_on_thousands(part):
    check_cores(range(30_000 + 300 * part, 30_300 + 300 * part))


test_no_false_optimum_on_thousands = over_seeds(check_hardware, 10_000, 14_000, 400)


def spaced(seed, count="one"):
    """Return a small problem over three to five memories in which every layer runs, and those on given hardware."""
    rng, given = random.Random(seed), small_problem(seed, 5)
    if count == "all":
        given = on_cores(given, seed)
    machine, step = given.accelerator, rng.choice((64, 256, 1024))
    if machine.is_shared:
        low = machine.shared_buffer
        space = SharedBuffer(low, low + rng.randint(2, 4) * step, step)
    else:
        low, weights = machine.global_buffer, machine.weight_buffer
        space = SeparateBuffers(Range(low, low + step, step), Range(weights, weights + step, step))
    problem = over_space(
        given.networks, space, alpha=rng.choice((0.002, 0.01, 1.0)), metric=given.objective.metric,
        tile_rule=given.tile_rule, machine=machine.machine, count=count,
    )  # fmt: skip
    return replace(problem, chosen_by=rng.choice((None, None, "ema", "energy", "latency-sum")))


def check_space(seed, count="one"):
    problem = spaced(seed, count)
    least, floor = math.inf, lower_bound(problem)
    (totals,) = totals_of(problem, largest_hulls(problem), problem.accelerator)
    for memory in product(*[range(len(sizes)) for sizes in problem.candidates]):
        brute = Brute(in_memory(problem, memory))
        assert all(a <= b for each in brute.totals for a, b in zip(totals, each)), (seed, memory)
        assert lower_bound(in_memory(problem, memory)) <= brute.least * (1 + CLOSE)
        least = min(least, problem.objective.cost(brute.least, problem.accelerator_of(memory)))
    assert floor <= least * (1 + CLOSE), seed
    for engine in ("fast", "reference") if has_kernel() else ("reference",):
        proof = prove(problem, None, engine, 10**7, 10**8)
        if least == math.inf:  # no memory runs it
            assert proof.best is None and proof.lower_bound == math.inf and not proof.is_optimal, seed
            continue
        assert proof.is_optimal and proof.best is not None, seed
        assert proof.best.cost == pytest.approx(least, rel=CLOSE), seed
        assert proof.lower_bound == proof.best.cost


@few_seeds(10, 25)
def test_no_false_optimum_where_the_memory_is_chosen(seeds):
    for seed in seeds:
        check_space(seed)


@few_seeds(8, 20)
def test_no_false_optimum_where_the_memory_of_all_cores_counts(seeds):
    for seed in seeds:
        check_space(seed, "all")


test_no_false_optimum_where_the_memory_of_all_cores_counts_on_many = over_seeds(
    lambda seed: check_space(seed, "all"), 40_000, 40_300, 60
)


test_no_false_optimum_where_the_memory_is_chosen_on_many = over_seeds(check_space, 20_000, 20_600, 60)
