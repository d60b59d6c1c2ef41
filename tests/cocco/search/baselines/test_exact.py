"""The enumeration-based method against all valid partitions of small graphs, and on two networks of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pytest

import workloads
from cocco.candidates.genome import canonical, groups_of
from cocco.candidates.stream import Stream
from cocco.problem.problem import Problem, on_hardware
from cocco.search.baselines.dynamic import depth_order, dynamic, improve
from cocco.search.baselines.exact import LOOK_STEPS, PRICE_STEPS, exact
from cocco.search.baselines.greedy import greedy
from cocco.search.genetic.operators.repair import repair
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain, diamond, fixed

MEDIUM = Accelerator(global_buffer=1024 * 1024, weight_buffer=1152 * 1024)


def cost_of(costs: SubgraphCosts, labels: Sequence[int]) -> float:
    """Return Formula 1 of a partition; inf where a subgraph does not fit."""
    return sum(costs.costs(tuple(group)) for group in groups_of(labels))


def all_labels(count: int) -> Iterator[list[int]]:
    """Yield every way to put layers into sets, each named by its smallest layer."""
    stack = [[0]]
    while stack:
        labels = stack.pop()
        if len(labels) == count:
            yield labels
        else:
            stack += [[*labels, name] for name in sorted({*labels, len(labels)})]


def brute_force(problem: Problem, costs: SubgraphCosts) -> float:
    """Return the least cost of all valid partitions: repair leaves those alone, and only those."""
    least = math.inf
    for labels in all_labels(problem.size):
        cost = cost_of(costs, labels)
        if cost < least and repair(problem, labels) == labels:
            least = cost
    return least


@pytest.mark.parametrize("seeds", [range(80), pytest.param(range(80, 400), marks=pytest.mark.slow)])
def test_exact_is_the_cheapest_of_all_partitions_on_random_graphs(seeds):
    """Up to 7 layers (877 partitions), separate and shared, all metrics, cores, both tile rules; others are no better.

    Costs are floats that were added in another order, so they agree to the last digits only.
    """
    fused = 0
    for seed in seeds:
        problem = random_problem(seed, most_layers=7)
        costs = SubgraphCosts(problem)
        found = exact(problem, costs)
        if found.status == "infeasible":
            assert brute_force(problem, costs) == math.inf == found.cost, seed
            continue
        assert found.status == "optimal"
        assert repair(problem, found.labels) == found.labels
        assert found.cost == pytest.approx(cost_of(costs, found.labels), rel=1e-12)
        assert found.cost == pytest.approx(brute_force(problem, costs), rel=1e-12), seed
        labels, value = dynamic(problem, costs, depth_order(problem))
        improved = improve(problem, costs, labels, Stream(seed, 0, 0), 3)[1]
        assert found.cost * (1 - 1e-12) <= improved <= value * (1 + 1e-12)
        assert found.cost * (1 - 1e-12) <= greedy(problem, costs)[1]
        fused += len(groups_of(found.labels)) < problem.size
    assert fused > 0.45 * len(seeds)


@pytest.mark.parametrize(("name", "ema_bytes"), [("vgg16", 143_780_520), ("resnet50", 30_676_136)])
def test_networks_are_proven(name, ema_bytes):
    """At 1 MB + 1.125 MB (Sec. 5.2). Regression values of the model as it is; the paper gives none in bytes."""
    problem = on_hardware(workloads.load(name), MEDIUM, metric="ema")
    found = exact(problem, SubgraphCosts(problem))
    assert (found.status, found.cost) == ("optimal", ema_bytes)


def test_networks_run_one_after_the_other():
    """The union costs what the networks cost, weighted."""
    machine = Accelerator(shared_buffer=2048)
    alone = [on_hardware(network, machine) for network in (chain(5, "a"), diamond("b"))]
    costs = [exact(problem, SubgraphCosts(problem)).cost for problem in alone]
    both = on_hardware([chain(5, "a"), diamond("b")], machine, weights=[2.0, 3.0])
    found = exact(both, SubgraphCosts(both))
    assert found.cost == 2.0 * costs[0] + 3.0 * costs[1]
    assert canonical(found.labels) == found.labels


def test_a_chain_has_a_state_per_layer():
    """Ample memory: from {} to {0..k} for each k; 4 + 3 + 2 + 1 runs."""
    problem = fixed(chain(4))
    found = exact(problem, SubgraphCosts(problem))
    assert (found.labels, found.states, found.transitions) == ([0, 0, 0, 0], 5, 10)


def test_forced_singletons_take_one_step_each():
    """No pair with its 128 bytes of weights fits 120 bytes, so the diamond runs layer by layer in one order."""
    problem = fixed(diamond(), buffer_bytes=120)
    found = exact(problem, SubgraphCosts(problem))
    assert (found.labels, found.states, found.transitions) == ([0, 1, 2, 3], 5, 4)


NEW = LOOK_STEPS + PRICE_STEPS  # steps of a set that may fit


@pytest.mark.parametrize(
    ("budget", "reason"),
    [((3, 1000), "3 sets"), ((100, 5), "5 steps"), ((100, 4 * NEW + 3), "203 steps")],
)
def test_gives_up_where_a_budget_is_spent(budget, reason):
    problem = fixed(chain(4))
    found = exact(problem, SubgraphCosts(problem), *budget)
    assert (found.labels, found.cost, found.status) == (None, math.inf, "gave_up")
    assert reason in found.reason
    assert found.states <= budget[0]


def test_steps_count_transitions_and_new_sets():
    """A chain of 4: 10 transitions, to 10 different runs."""
    problem = fixed(chain(4))
    assert exact(problem, SubgraphCosts(problem)).steps == 10 + 10 * NEW
    assert exact(problem, SubgraphCosts(problem), max_steps=10 + 10 * NEW).status == "optimal"
    assert exact(problem, SubgraphCosts(problem), max_steps=9 + 10 * NEW).status == "gave_up"


def test_gives_up_where_one_state_has_too_many_candidates(monkeypatch):
    monkeypatch.setattr("cocco.search.baselines.exact.MAX_CANDIDATES", 3)
    problem = fixed(chain(4))
    found = exact(problem, SubgraphCosts(problem))
    assert found.status == "gave_up" and "3 subgraphs that can run next" in found.reason
