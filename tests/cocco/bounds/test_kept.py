"""The cheapest plan with kept tensors: against every plan of random problems, and on networks of the paper."""

from __future__ import annotations

from functools import lru_cache

import pytest

import workloads
from cocco.bounds.cheapest import cheapest_plans, keep_question
from cocco.problem.problem import Problem, on_hardware
from simulator import Accelerator, Partition
from simulator.model.cost import METRICS, total
from simulator.model.priced import price_partition
from simulator.model.pricing import Price
from tests.helpers.every_kept_plan import cheapest
from tests.helpers.parts import few_seeds, over_seeds
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain, diamond


def cost_of(problem: Problem, partitions: tuple[Partition, ...]) -> float:
    """Return Formula 1 of partitions by the way that `evaluate` takes."""
    cost = 0.0
    for network, partition, weight in zip(problem.networks, partitions, problem.objective.weights):
        for price in price_partition(network, partition, problem.accelerator, problem.tile_rule).prices:
            assert isinstance(price, Price)
            totals = total([price], problem.accelerator)
            cost += weight * METRICS[problem.objective.metric](totals, problem.accelerator)
    return cost


def check(seed: int, most_layers: int) -> tuple[int, int]:
    """Compare with every plan; return how many there are, and how many intervals the cheapest has."""
    problem = random_problem(seed, most_layers)
    if problem.size > most_layers:
        return 0, 0
    question = keep_question(problem)
    found = cheapest_plans(problem)
    least, plans = cheapest(question._replace(price=lru_cache(None)(question.price)))
    assert found.cost == pytest.approx(least, rel=1e-12), seed
    if found.partitions is None:  # a layer that runs in no order
        assert found.plans[-1].status == "infeasible"
        return plans, 0
    assert cost_of(problem, found.partitions) == pytest.approx(least, rel=1e-12), seed
    return plans, len(found.plans[0].spans)


@few_seeds(80, 200)
def test_no_plan_is_cheaper_on_random_problems(seeds):
    """Up to 4 layers: separate and shared, all metrics, cores, batches, both tile rules, few regions."""
    results = [check(seed, 4) for seed in seeds]
    assert sum(spans for _, spans in results) > len(seeds) // 5
    assert sum(plans for plans, _ in results) > 10 * len(seeds)


test_no_plan_is_cheaper_on_more_random_problems = over_seeds(
    lambda seed: check(seed, 5 if seed < 2_000 else 6), 120, 2_200
)


def test_networks_run_one_after_the_other():
    machine = Accelerator(shared_buffer=2048)
    alone = [cheapest_plans(on_hardware(network, machine)).cost for network in (chain(5, "a"), diamond("b"))]
    both = on_hardware([chain(5, "a"), diamond("b")], machine, weights=[2.0, 3.0])
    found = cheapest_plans(both)
    assert found.partitions is not None and [each.network_name for each in found.partitions] == ["a", "b"]
    assert found.cost == pytest.approx(2.0 * alone[0] + 3.0 * alone[1], rel=1e-12)


def test_a_spent_budget_proves_nothing():
    found = cheapest_plans(on_hardware(chain(5), Accelerator(shared_buffer=2048)), max_steps=100)
    assert not found.is_proven and found.partitions is None
    assert "100 steps" in found.plans[-1].reason


def test_vgg16_is_proven():
    """At 896 KB: 140.99 MB, 141.71 without nests, 145.39 with nothing kept either. Regression values of the model."""
    problem = on_hardware(workloads.load("vgg16"), Accelerator(shared_buffer=896 * 1024), metric="ema")
    found = cheapest_plans(problem)
    assert found.is_proven and found.cost == 140_986_024
    assert cost_of(problem, found.partitions or ()) == found.cost
