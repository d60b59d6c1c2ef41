"""The cheapest plan that has addresses: against every plan of small random problems, in memories made too small."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

import pytest

import cocco
import workloads
from cocco.allocation.allocate import allocate
from cocco.allocation.conflict import Packing, contracted
from cocco.bounds.cheapest import cheapest_plans, keep_question, near_graph
from cocco.exploration.placing import cheapest as placed_plans
from cocco.exploration.placing.cheapest import placed_plan
from cocco.problem.problem import Problem
from cocco.search.exact.moves import Memo
from cocco.search.exact.plans_below import near_plans
from cocco.search.exact.window import Limits
from simulator import Accelerator, Partition
from simulator.allocation.judge import Buffer
from simulator.model.buffer_plan import plan_buffers
from tests.helpers.every_kept_plan import all_orders, all_spans, cost_of_plan
from tests.helpers.parts import few_seeds, in_parts
from tests.helpers.random_buffers import random_buffers
from tests.helpers.random_problems import random_problem

MANY = 10**6


def small_problem(seed: int, most_layers: int) -> Problem | None:
    problem = random_problem(seed, most_layers)
    is_asked = len(problem.networks) == 1 and problem.accelerator.cores == 1 and problem.size <= most_layers
    return replace(problem, keep="auto") if is_asked else None


def has_addresses(problem: Problem, plan: Partition, capacity: int) -> bool:
    """Return whether what a plan holds for its activations finds addresses in so many bytes."""
    held = plan_buffers(problem.networks[0], plan, problem.accelerator, problem.tile_rule)
    assert held is not None
    found = allocate(next(iter(held.buffers.values())), capacity, explain=False)
    assert found.status != "gave_up"
    return found.allocation is not None


def check(seed: int, most_layers: int, share: float, monkeypatch: pytest.MonkeyPatch) -> tuple[bool, bool]:
    """Compare with every plan; return whether there was a question, and whether the cheapest plan had no addresses."""
    problem = small_problem(seed, most_layers)
    first = None if problem is None else cheapest_plans(problem)
    if problem is None or first is None or first.partitions is None:
        return False, False
    question, below = keep_question(problem), 1.5 * first.cost + 1
    capacity = int(problem.accelerator.activation_capacity * share) // 8 * 8
    priced = question._replace(price=lru_cache(None)(question.price))
    plans = []
    for order in all_orders(question.network, question.connected):
        for spans in all_spans(question.network, order) if question.may_keep else [[]]:
            cost = cost_of_plan(priced, order, spans)
            if cost < below:
                plans.append((cost, len(plans), order, spans))
    least = math.inf
    for cost, _, order, spans in sorted(plans):
        if has_addresses(problem, Partition.from_ids(question.network, order, problem.metric, spans), capacity):
            least = cost
            break

    def packing(_: int, most: int) -> Packing:
        return Packing(capacity, most)

    def is_placed(_: object, plan: Partition) -> bool:
        return has_addresses(problem, plan, capacity)

    monkeypatch.setattr(placed_plans, "Packing", packing)
    monkeypatch.setattr(placed_plans, "PLANS_TRIED", MANY)
    monkeypatch.setattr(placed_plans._Search, "_is_placed", is_placed)
    found = placed_plan(problem, below, MANY, "fast", False)
    assert found is not None
    if least == math.inf:
        assert found.plan is None and found.bound >= below * (1 - 1e-12), seed
    else:
        assert found.plan is not None and found.bound == pytest.approx(least, rel=1e-12), seed
    return True, least > first.cost * (1 + 1e-9)


@few_seeds(60, 160)
def test_no_plan_with_addresses_is_cheaper(seeds: range, monkeypatch: pytest.MonkeyPatch):
    results = [check(seed, 4, (0.9, 0.75, 0.6, 0.5)[seed % 4], monkeypatch) for seed in seeds]
    assert sum(asked for asked, _ in results) > len(seeds) // 4
    assert sum(changed for _, changed in results) > len(seeds) // 8 - 5


@pytest.mark.slow
@pytest.mark.parametrize("seeds", in_parts(160, 4_000))
def test_no_plan_with_addresses_is_cheaper_in_more_problems(seeds: range, monkeypatch: pytest.MonkeyPatch):
    for seed in seeds:
        check(seed, 5, (0.95, 0.85, 0.7, 0.6, 0.4)[seed % 5], monkeypatch)


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
