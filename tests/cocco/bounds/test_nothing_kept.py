"""The cheapest partition with nothing kept: against all of small graphs, and on two networks of the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

import workloads
from cocco.bounds.cheapest import cheapest_plans
from cocco.candidates.genome import groups_of
from cocco.candidates.stream import Stream
from cocco.effort.budgets import LOOK_STEPS, PRICE_STEPS
from cocco.problem.problem import Problem, on_hardware
from cocco.search.baselines.dynamic import depth_order, dynamic, improve
from cocco.search.baselines.greedy import greedy
from cocco.search.genetic.operators.repair import repair
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain, fixed
from tests.helpers.small_problems import all_partitions

MEDIUM = Accelerator(global_buffer=1024 * 1024, weight_buffer=1152 * 1024)


def cost_of(costs: SubgraphCosts, labels: Sequence[int]) -> float:
    """Return Formula 1 of a partition; inf where a subgraph does not fit."""
    return sum(costs.costs(tuple(group)) for group in groups_of(labels))


def brute_force(problem: Problem, costs: SubgraphCosts) -> float:
    """Return the least cost of all valid partitions."""
    return min(sum([costs.costs(tuple(group)) for group in groups]) for groups in all_partitions(problem))


@pytest.mark.parametrize("seeds", [range(40), pytest.param(range(40, 400), marks=pytest.mark.slow)])
def test_exact_is_the_cheapest_of_all_partitions_on_random_graphs(seeds):
    """Up to 7 layers (877 partitions), separate and shared, all metrics, cores, both tile rules; others are no better.

    Costs are floats that were added in another order, so they agree to the last digits only.
    """
    fused = 0
    for seed in seeds:
        problem = random_problem(seed, most_layers=7)
        costs = SubgraphCosts(problem)
        found = cheapest_plans(problem, may_keep=False)
        if found.partitions is None:
            assert found.plans[-1].status == "infeasible"
            assert brute_force(problem, costs) == math.inf == found.cost, seed
            continue
        labels = problem.labels(found.partitions)
        assert repair(problem, labels) == labels
        assert found.cost == pytest.approx(cost_of(costs, labels), rel=1e-12)
        assert found.cost == pytest.approx(brute_force(problem, costs), rel=1e-12), seed
        assert all(plan.spans == () for plan in found.plans)
        fused += len(groups_of(labels)) < problem.size
        labels, value = dynamic(problem, costs, depth_order(problem))
        improved = improve(problem, costs, labels, Stream(seed, 0, 0), 3)[1]
        assert found.cost * (1 - 1e-12) <= improved <= value * (1 + 1e-12)
        assert found.cost * (1 - 1e-12) <= greedy(problem, costs)[1]
        assert cheapest_plans(problem).cost <= found.cost * (1 + 1e-12), seed
    assert fused > 0.45 * len(seeds)


@pytest.mark.parametrize(
    ("name", "ema_bytes", "in_nests"), [("vgg16", 143_780_520, 141_715_112), ("resnet50", 30_676_136, 30_525_608)]
)
def test_networks_are_proven(name, ema_bytes, in_nests):
    """At 1 MB + 1.125 MB (Sec. 5.2). Regression values of the model as it is; the paper gives none in bytes."""
    for plans, least in (("paper", ema_bytes), ("all", in_nests)):
        problem = on_hardware(workloads.load(name), replace(MEDIUM, plans=plans), metric="ema")
        assert cheapest_plans(problem, may_keep=False).cost == least


def test_steps_count_subgraphs_and_new_sets():
    """A chain of 4 in ample memory: 4 runs may come first, each of a set that is new and fits; all 4 layers is best."""
    problem, steps = fixed(chain(4)), 4 * (1 + LOOK_STEPS + PRICE_STEPS)
    (found,) = cheapest_plans(problem, may_keep=False).plans
    assert (found.subgraphs, found.states, found.steps) == ([(0, 1, 2, 3)], 5, steps)
    assert cheapest_plans(problem, max_steps=steps, may_keep=False).is_proven
    assert not cheapest_plans(problem, max_steps=steps - 1, may_keep=False).is_proven
