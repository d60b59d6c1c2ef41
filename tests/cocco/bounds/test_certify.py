"""Bounds by solvers: below the optimum of hundreds of random problems, and no subgraph is worth more than it costs."""

from __future__ import annotations

import sys
from itertools import combinations

import pytest

pytest.importorskip("ortools")
pytest.importorskip("scipy")

import cocco.bounds
from cocco.bounds import Certificate, certify
from cocco.bounds.certificate import unless_refuted
from cocco.bounds.cheapest import KeptOptimum, cheapest_plans
from cocco.bounds.floors.forced import Hulls
from cocco.bounds.floors.least import lower_bound
from cocco.bounds.parts.components import components
from cocco.bounds.parts.crossings import crossings, tensors_of
from cocco.bounds.prices.oracle import Oracle
from cocco.bounds.prices.partition_bound import plain_bound
from cocco.bounds.prices.tolls import makers, plain_tolls
from cocco.candidates.genome import connected_parts
from cocco.problem.problem import Problem, on_hardware, over_space
from cocco.problem.space import SharedBuffer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from simulator.model.subgraph.subgraph import Subgraph
from tests.helpers.parts import first_of, in_parts
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain, dag, diamond

SHORT = 2.0  #: deterministic time; far more than these take


def solved(problem: Problem) -> KeptOptimum:
    answer = cheapest_plans(problem, 20_000, 3_000_000, may_keep=False)
    assert answer.is_proven
    return answer


def layers_alone(problem: Problem) -> list[int]:
    return list(range(problem.size))


def test_a_chain_that_fits_by_twos_is_proven():
    """Three 3x3 convolutions, 1152 bytes for the weights of two: 1728 of weights, maps 2 * 512, and once 2 * 512.

    What is forced does not see it: any two neighbours may be together.
    """
    problem = on_hardware(chain(3), Accelerator(global_buffer=65536, weight_buffer=1152), metric="ema")
    certificate = certify(problem, layers_alone(problem), SHORT)
    assert lower_bound(problem) == 1728 + 1024
    assert (certificate.lower_bound, certificate.method) == (1728 + 1024 + 1024, "partition")
    assert certificate.lower_bound == solved(problem).cost


def test_components_end_where_neighbours_cannot_be_together():
    """Four layers of 64 bytes of weights; n0 and n1 with all between them exceed 128 bytes, as do the others.

    With nests, n1 and n2 may run together in less.
    """
    network = dag([[], [0], [1], [0, 2]])
    problem = on_hardware(network, Accelerator(global_buffer=65536, weight_buffer=192))
    assert components(problem, Hulls(problem, SubgraphCosts(problem))) == [[0, 1, 2, 3]]
    problem = on_hardware(network, Accelerator(global_buffer=65536, weight_buffer=100, plans="paper"))
    assert components(problem, Hulls(problem, SubgraphCosts(problem))) == [[0], [1], [2], [3]]
    problem = on_hardware(network, Accelerator(global_buffer=65536, weight_buffer=100))
    assert components(problem, Hulls(problem, SubgraphCosts(problem))) == [[0], [3], [1, 2]]


def test_crossings_are_those_of_the_simulator_on_random_graphs():
    for seed in range(60):
        problem = random_problem(seed)
        tensors, geometry = tensors_of(problem), problem.rules[0].geometry
        for size in range(1, 4):
            for group in combinations(range(problem.size), size):
                subgraph = Subgraph(geometry, group)
                once = sum(geometry.size_bytes[v] for v in group if geometry.network.is_output[v])
                assert crossings(tensors, group) + once == subgraph.input_bytes + subgraph.output_bytes


@pytest.mark.parametrize("start", [0, pytest.param(400, marks=pytest.mark.slow)])
def test_oracle_undercuts_every_subgraph_that_runs(start):
    """All sets of layers that the simulator can run, priced at random: none is below what the oracle proves."""
    checked = 0
    for seed in range(start, start + (60 if start == 0 else 600)):
        problem = random_problem(seed, most_layers=6)
        costs, tensors = SubgraphCosts(problem), tensors_of(problem)
        prices = [(seed * 31 + v * 17) % 7 * 40 - 20 for v in range(problem.size)]
        hulls, pairs = Hulls(problem, costs), makers(tensors)
        for layers in components(problem, hulls):
            if len(layers) == 1:
                continue
            found = Oracle(problem, costs, hulls, tensors, pairs, layers).worst(
                prices, plain_tolls(tensors, pairs), SHORT
            )
            for size in range(2, len(layers) + 1):
                for group in combinations(layers, size):
                    if len(connected_parts(problem, group)) == 1 and costs.costs(group) < float("inf"):
                        worth = sum(prices[v] for v in group)
                        is_convex = hulls.between(group).bit_count() == size
                        assert not is_convex or found.least <= crossings(tensors, group) - worth, (seed, group)
                        checked += is_convex
    assert checked > 200


@pytest.mark.parametrize("seeds", first_of([[*range(30), 71], range(100), *in_parts(1_000, 2_500, 500)], 1))
def test_certificate_is_below_the_optimum_of_random_problems_and_often_better_than_what_is_forced(seeds):
    """Separate and shared, cores, batches, whole operands, both tile rules, all metrics, streamed layers."""
    better = met = 0
    for seed in seeds:
        problem = random_problem(seed, most_layers=8)
        answer = cheapest_plans(problem, 20_000, 3_000_000, may_keep=False)
        if answer.partitions is None:
            assert answer.plans[-1].status == "infeasible"
            continue
        for labels in (problem.labels(answer.partitions), layers_alone(problem)):
            bound = certify(problem, labels, SHORT).lower_bound
            assert bound <= answer.cost * (1 + 1e-12), seed
        better += bound > lower_bound(problem)
        met += bound >= answer.cost * (1 - 1e-12) > lower_bound(problem)
    assert better > min(4, len(seeds) // 25) and met > 0


def test_any_effort_gives_a_valid_bound_and_the_same_one_again():
    problem = on_hardware(dag([[], [0], [0], [1, 2], [3], [3, 4], [5, 2]]), Accelerator(shared_buffer=900))
    best = solved(problem).cost
    for effort in (0.0, 1e-4, 1e-3, 1e-2, 1.0):
        first = certify(problem, layers_alone(problem), effort)
        assert lower_bound(problem) <= first.lower_bound <= best
        assert certify(problem, layers_alone(problem), effort) == first


def test_bounds_of_networks_add_up_with_their_weights():
    machine = Accelerator(global_buffer=65536, weight_buffer=1152)
    both = on_hardware([chain(3), diamond()], machine, weights=[2.0, 0.5])
    apart = [on_hardware(network, machine) for network in (chain(3), diamond())]
    bounds = [certify(problem, layers_alone(problem), SHORT).lower_bound for problem in apart]
    assert certify(both, layers_alone(both), SHORT).lower_bound == 2 * bounds[0] + 0.5 * bounds[1]


@pytest.mark.parametrize("metric", ["ema", "energy", "latency-sum"])
def test_certificate_holds_for_all_memories_where_one_is_chosen(metric):
    space = SharedBuffer(low=1024, high=2560, step=512)
    problem = over_space(dag([[], [0], [0], [1, 2], [3], [4, 0]], kernel=3), space, alpha=0.01, metric=metric)
    least = min(
        problem.objective.cost(solved(on_hardware(problem.networks, problem.accelerator_of([i]), metric=metric)).cost,
                               problem.accelerator_of([i]))
        for i in range(4)
    )  # fmt: skip
    assert lower_bound(problem) <= certify(problem, layers_alone(problem), SHORT).lower_bound <= least


def test_windows_add_sets_and_the_bound_stays_valid(monkeypatch):
    """With windows of 4 layers on chains of 12, of which 3 fit, at 1 and 2 bytes too few for 4."""
    monkeypatch.setattr("cocco.bounds.prices.partition_bound.WINDOW", 4)
    problem = on_hardware(chain(12), Accelerator(global_buffer=65536, weight_buffer=4 * 576 - 1))
    costs = SubgraphCosts(problem)
    bound = plain_bound(problem, costs, Hulls(problem, costs), tensors_of(problem), range(12), []).run(SHORT)
    assert bound.crossings <= 4 * 1024 - 512 and bound.crossings > 4 * 1024 - 512 - 16  # the output: in every plan
    assert certify(problem, layers_alone(problem), SHORT).lower_bound <= solved(problem).cost


def test_a_missing_solver_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ortools", None)
    problem = on_hardware(chain(2), Accelerator(shared_buffer=4096))
    with pytest.raises(ValueError, match=r"cocco\[solvers\]"):
        certify(problem, [0, 0])


def test_a_solver_without_time_proves_no_more_than_the_prices_say():
    problem = on_hardware(chain(8), Accelerator(global_buffer=65536, weight_buffer=1152))
    costs = SubgraphCosts(problem)
    tensors = tensors_of(problem)
    pairs = makers(tensors)
    oracle = Oracle(problem, costs, Hulls(problem, costs), tensors, pairs, range(8))
    assert -8 * 900 <= oracle.worst([900] * 8, plain_tolls(tensors, pairs), 0.0).least <= 1024 - 1800


def test_a_bound_that_a_plan_undercuts_is_left_out_and_reported():
    assert unless_refuted(90.0, 100.0, 50.0) == 90.0
    assert unless_refuted(100.0 * (1 + 1e-12), 100.0, 50.0) == 100.0
    with pytest.warns(RuntimeWarning, match=r"a plan costs 100, less than a lower bound of 101.*report"):
        assert unless_refuted(101.0, 100.0, 50.0) == 50.0


@pytest.mark.parametrize("keep", ["auto", "none"])
def test_no_answer_is_optimal_by_a_bound_above_its_cost(monkeypatch, keep):
    def too_high(problem, labels, effort=0.0, best=0.0):
        return Certificate(2 * best, "partition", 1, 1, 0.0)

    monkeypatch.setattr(cocco.bounds, "certify", too_high)
    network = dag([(), (0,), (0,), (1, 2)])
    with pytest.warns(RuntimeWarning, match="less than a lower bound"):
        found = cocco.partition(network, Accelerator(shared_buffer=700), method="greedy", prove=True, keep=keep)
    assert found.status == "feasible" and found.lower_bound < found.cost
