"""The cheapest plan that has addresses: against every plan of small random problems, in memories made too small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import islice

import pytest

import cocco
import workloads
from cocco.allocation.address_map import address_map
from cocco.allocation.allocate import allocate
from cocco.allocation.conflict import Packing, contracted
from cocco.bounds.cheapest import cheapest_plans, keep_question, near_graph
from cocco.exploration.placing import cheapest as placed_plans
from cocco.exploration.placing.cheapest import placed_plan
from cocco.problem.problem import Problem
from cocco.search.exact.moves import Memo
from cocco.search.exact.plans_below import near_plans
from cocco.search.exact.window import Limits
from simulator import Accelerator, Partition, Technology
from simulator.allocation.judge import Buffer
from simulator.execution.verify import verify
from simulator.metrics import Metric
from simulator.model.buffer_plan import plan_buffers
from tests.helpers.every_kept_plan import all_orders, all_spans, cost_of_plan
from tests.helpers.parts import few_seeds, in_parts
from tests.helpers.random_buffers import random_buffers
from tests.helpers.random_problems import random_problem
from tests.helpers.spare_plans import Known, plans_with_spare
from workloads import Bits, Builder
from workloads.network.network import Network

MANY = 10**6


def small_problem(seed: int, most_layers: int, word: int = 8) -> Problem | None:
    problem = random_problem(seed, most_layers)
    is_asked = len(problem.networks) == 1 and problem.accelerator.cores == 1 and problem.size <= most_layers
    machine = replace(problem.accelerator, technology=Technology(buffer_word_bytes=word))
    return replace(problem, keep="auto", accelerator=machine) if is_asked else None


def has_addresses(problem: Problem, plan: Partition, capacity: int) -> bool:
    """Return whether what a plan holds for its activations finds addresses in so many bytes."""
    held = plan_buffers(problem.networks[0], plan, problem.accelerator, problem.tile_rule)
    assert held is not None
    found = allocate(next(iter(held.buffers.values())), capacity, explain=False)
    assert found.status != "gave_up"
    return found.allocation is not None


def check(
    seed: int, most_layers: int, share: float, monkeypatch: pytest.MonkeyPatch, word: int = 8
) -> tuple[bool, bool]:  # fmt: skip
    """Compare with every plan; return whether there was a question, and whether the cheapest plan had no addresses."""
    problem = small_problem(seed, most_layers, word)
    first = None if problem is None else cheapest_plans(problem)
    if problem is None or first is None or first.partitions is None:
        return False, False
    below = 1.5 * first.cost + 1
    capacity = int(problem.accelerator.activation_capacity * share) // word * word

    def packing(_: int, most: int) -> Packing:
        return Packing(capacity, most)

    def is_placed(_: object, plan: Partition) -> bool:
        return has_addresses(problem, plan, capacity)

    monkeypatch.setattr(placed_plans, "Packing", packing)
    monkeypatch.setattr(placed_plans, "PLANS_TRIED", MANY)
    monkeypatch.setattr(placed_plans._Search, "_is_placed", is_placed)
    found = placed_plan(problem, below, MANY, "fast", False)
    assert found is not None
    if found.plan is None:
        assert found.bound >= below * (1 - 1e-12) and not found.is_cheapest, seed
    else:
        assert found.is_cheapest and has_addresses(problem, found.plan, capacity), seed
        priced = problem.evaluations([found.plan], problem.accelerator)
        assert problem.objective.judged(priced) == pytest.approx(found.bound, rel=1e-12), seed
    for plan in plans_below(problem, found.bound * (1 - 1e-9)):
        assert not has_addresses(problem, plan, capacity), (seed, plan.subgraphs, plan.keep, plan.spare)
    with monkeypatch.context() as patched:
        patched.setattr(placed_plans, "LIGHTER", 0)
        less = placed_plan(problem, below, MANY, "fast", False)
    assert less is not None, seed
    if found.plan is not None:  # of a smaller tile that takes less energy nothing is known then
        spans = [each.span for each in found.plan.keep]
        plain = Partition.from_ids(problem.networks[0], found.plan.subgraphs, problem.metric, spans)
        most = max(found.bound, problem.objective.judged(problem.evaluations([plain], problem.accelerator)))
    else:
        most = found.bound
    assert less.bound <= most * (1 + 1e-12), seed
    return True, found.bound > first.cost * (1 + 1e-9)


def plans_below(problem: Problem, below: float) -> Iterator[Partition]:
    """Yield every plan that costs less, also with bytes left free; of one with very many tiles some."""
    question, known = keep_question(problem), Known()
    priced = question._replace(price=lru_cache(None)(question.price))
    for order in all_orders(question.network, question.connected):
        for spans in all_spans(question.network, order) if question.may_keep else [[]]:
            if cost_of_plan(priced, order, spans) < below:
                plan = Partition.from_ids(question.network, order, problem.metric, spans)
                yield from islice(plans_with_spare(problem, plan, below, known), 300)


@few_seeds(60, 160)
def test_no_plan_with_addresses_is_cheaper(seeds: range, monkeypatch: pytest.MonkeyPatch):
    results = [check(seed, 4, (0.9, 0.75, 0.6, 0.5)[seed % 4], monkeypatch) for seed in seeds]
    assert sum(asked for asked, _ in results) > len(seeds) // 4
    assert sum(changed for _, changed in results) > len(seeds) // 8 - 5


@few_seeds(60, 1_000)
def test_no_plan_with_addresses_is_cheaper_in_wide_words(seeds: range, monkeypatch: pytest.MonkeyPatch):
    results = [check(seed, 4, (1.0, 0.8)[seed % 2], monkeypatch, (32, 64)[seed // 2 % 2]) for seed in seeds]
    assert sum(changed for _, changed in results) > len(seeds) // 30


@pytest.mark.slow
@pytest.mark.parametrize("seeds", in_parts(160, 4_000))
def test_no_plan_with_addresses_is_cheaper_in_more_problems(seeds: range, monkeypatch: pytest.MonkeyPatch):
    for seed in seeds:
        check(seed, 5, (0.95, 0.85, 0.7, 0.6, 0.4)[seed % 5], monkeypatch)


def two_layers() -> tuple[Network, Accelerator]:
    """Return layers for which a plan that leaves nothing free lacks a word."""
    b = Builder("two")
    x = b.input("x", 12, 1, 24)
    b.matmul("b", x, b.layernorm("a", x), transpose=True)
    network = b.build().with_bits(Bits(activations=16, sums=16))
    return network, Accelerator(shared_buffer=704, technology=Technology(buffer_word_bytes=64))


def three_layers() -> tuple[Network, Accelerator]:
    """Return layers in a memory of which seven bytes are no word."""
    b = Builder("three")
    x = b.input("x", 15, 1, 12)
    a = b.layernorm("a", x)
    b.conv_transpose("b", x, 8, 3, 1)
    b.add("c", [a, x])
    network = b.build()
    bits = Bits(32, 32, cache=2, sums=8), Bits(1, 32, cache=2, sums=24), Bits(32, 2, cache=2, sums=24)
    layers = tuple(replace(layer, bits=each) for layer, each in zip(network.layers, bits))
    return replace(network, layers=layers), Accelerator(shared_buffer=879, batch=2, connected="paper")


@pytest.mark.parametrize(
    ("made", "metric", "cost", "spare"),
    [
        (two_layers, "latency-sum", 90.0, (0, 1)),
        (three_layers, "energy", 393_152.3274815159, (0, 4)),
        (three_layers, "ema", 3_822.0, (0, 4)),
    ],
)
def test_a_plan_that_leaves_bytes_free_has_addresses_and_costs_less(
    made: Callable[[], tuple[Network, Accelerator]], metric: Metric, cost: float, spare: tuple[int, ...]
):
    network, chip = made()
    found = cocco.partition(network, chip, metric=metric)
    (plan,) = found.plans
    assert found.status == "optimal" and found.placed and plan.spare == spare
    assert found.cost == found.lower_bound == pytest.approx(cost)
    assert verify(network, plan, chip).verified
    held = address_map(network, plan, chip)
    assert held is not None and held.fits
    without = address_map(network, replace(plan, spare=()), chip)
    assert without is not None and not without.fits


def test_what_is_not_known_of_less_room_is_no_proof(monkeypatch: pytest.MonkeyPatch):
    """The answer is the cheapest plan that leaves nothing free, its bound that of plans by their bytes."""
    network, chip = three_layers()
    monkeypatch.setattr(placed_plans, "LIGHTER", 0)
    found = cocco.partition(network, chip, metric="energy")
    assert found.placed and found.status == "feasible" and not found.plans[0].spare
    assert found.lower_bound is not None and found.lower_bound < 393_152.4 < found.cost


@few_seeds(40, 120)
def test_both_engines_find_the_same_plans(seeds):
    """States, steps and what is left; and the cheapest way is the cheapest plan."""
    compared = 0
    for seed in seeds:
        problem = small_problem(seed, 6)
        first = None if problem is None else cheapest_plans(problem)
        if problem is None or first is None or first.partitions is None:
            continue
        below = 1.2 * first.cost + 1
        compiled, taken = near_graph(problem, below, MANY, MANY, "fast")
        readable, steps = near_plans(Memo(keep_question(problem)), Limits(MANY // 8, MANY, below), MANY)
        assert compiled == readable and taken == steps, seed
        assert compiled is not None and compiled.left[0] == pytest.approx(first.cost, rel=1e-12), seed
        compared += 1
    assert compared > len(seeds) // 4


def test_a_budget_that_is_spent_is_no_proof():
    problem = small_problem(3, 6) or small_problem(5, 6) or small_problem(7, 6)
    assert problem is not None
    assert near_graph(problem, 1e300, 10, MANY)[0] is None
    assert near_graph(problem, 1e300, MANY, 1)[0] is None


def test_what_is_left_of_a_conflict_has_no_addresses():
    """Never more than was asked about; each buffer of it no longer than it was."""
    conflicts = 0
    for seed in range(60):
        buffers = [each for each in random_buffers(seed, 12) if not each.gaps and each.offset is None]
        bound = allocate(buffers, 10**9, minimize=True).lower_bound_bytes if buffers else 0
        packing = Packing(bound * 9 // 10, MANY)
        if not buffers or packing.status(buffers, 10_000) != "infeasible":
            continue
        left = packing.reduced(buffers)
        before = {each.id: each for each in buffers}
        assert allocate(left, packing.capacity, explain=False).status == "infeasible", seed
        for each in left:
            assert each.size == before[each.id].size
            assert each.upper - each.lower <= before[each.id].upper - before[each.id].lower
        conflicts += 1
    assert conflicts > 20


def test_steps_that_say_nothing_are_left_out():
    buffers = [Buffer("a", 0, 9, 4), Buffer("b", 2, 3, 4), Buffer("c", 7, 8, 4)]
    assert [(each.lower, each.upper) for each in contracted(buffers)] == [(0, 2), (0, 1), (1, 2)]


@pytest.mark.slow
def test_googlenet_is_proved_with_its_addresses():
    """By bytes several plans cost the same: the first one that the search finds has no addresses within a budget."""
    found = cocco.explore(workloads.load("googlenet"), ranges=False)
    assert found.placed and found.status == "optimal" and found.cost == pytest.approx(2_898_929.2551)
    chip = Accelerator(shared_buffer=256 * 2**10)
    given = cocco.partition(workloads.load("googlenet"), chip)
    assert given.placed and given.status == "optimal"
