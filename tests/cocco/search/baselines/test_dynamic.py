"""DP over linear orders: runs, their connected parts, and iterated order DP."""

from __future__ import annotations

from cocco.candidates.genome import groups_of, random_labels
from cocco.candidates.stream import Stream
from cocco.problem.problem import on_hardware
from cocco.search.baselines.dynamic import _random_order, depth_order, dissolved, dynamic, improve
from cocco.search.genetic.operators.repair import repair
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import Script, chain, dag, fixed, priced


def test_depth_is_the_longest_distance_from_an_input():
    """Layer 2 reads the input and has depth 0; layer 3 reads 1 and 2, and stands behind 1."""
    assert depth_order(fixed(dag([[], [0], [], [1, 2]]))) == [0, 2, 1, 3]


def test_networks_stay_one_after_the_other():
    both = on_hardware([chain(2, "a"), chain(2, "b")], Accelerator(shared_buffer=65536))
    assert depth_order(both) == [0, 1, 2, 3]
    assert dynamic(both, SubgraphCosts(both), [0, 1, 2, 3])[0] == [0, 0, 2, 2]


def test_the_cheapest_cut_is_found():
    """0-1 and 2-3 save 5 each, 1-2 saves 8: greedy takes 8, DP takes 10."""
    problem = fixed(chain(4))
    costs = priced(problem, {(0, 1): 15, (1, 2): 12, (2, 3): 15})
    assert dynamic(problem, costs, [0, 1, 2, 3]) == ([0, 0, 2, 2], 30.0)


def test_a_run_that_is_not_connected_is_charged_by_its_parts():
    """In the order 0, 1, 2, 3 of two chains 0-2 and 1-3 the run of all four is two subgraphs, one as both read x."""
    problem = fixed(dag([[], [], [0], [1]]), connected="paper")
    costs = priced(problem, {(0, 2): 15, (1, 3): 14, (0, 1, 2, 3): 1})
    assert dynamic(problem, costs, [0, 1, 2, 3]) == ([0, 1, 0, 1], 29.0)
    problem = fixed(dag([[], [], [0], [1]]))
    costs = priced(problem, {(0, 2): 15, (1, 3): 14, (0, 1, 2, 3): 28})
    assert dynamic(problem, costs, [0, 1, 2, 3]) == ([0, 0, 0, 0], 28.0)


def test_a_run_goes_on_past_a_subgraph_that_does_not_fit():
    """1-2 does not fit but 0-1-2 does: fitting is not monotone (SIDE vanishes when a tile spans the map)."""
    problem = fixed(chain(3))
    costs = priced(problem, {(1, 2): None, (0, 1, 2): 7})
    assert dynamic(problem, costs, [0, 1, 2]) == ([0, 0, 0], 7.0)


def test_random_orders_keep_subgraphs_in_one_piece_and_producers_first():
    for seed in range(40):
        problem = random_problem(seed)
        stream = Stream(seed, 0, 0)
        labels = repair(problem, random_labels(problem, stream))
        order = _random_order(problem, labels, stream)
        place = {v: i for i, v in enumerate(order)}
        assert sorted(order) == list(range(problem.size))
        assert all(place[p] < place[v] for p, v in problem.edges)
        for group in groups_of(labels):
            places = sorted(place[v] for v in group)
            assert places[-1] - places[0] == len(group) - 1


def test_a_walk_dissolves_the_subgraphs_that_it_visits():
    """Start at layer 0, two steps; from subgraph 0 the only neighbour is 2, whose neighbours are 0 and 4."""
    problem = fixed(chain(6))
    stream = Script(0, 2, 0, 1)
    assert dissolved(problem, [0, 0, 2, 2, 4, 4], stream, 3) == [0, 1, 2, 3, 4, 4]
    assert stream.is_used_up()


def test_improving_never_makes_worse_and_repeats_itself():
    for seed in range(40):
        problem = random_problem(seed)
        costs = SubgraphCosts(problem)
        labels = list(range(problem.size))
        start = sum(costs.costs((v,)) for v in labels)
        first = improve(problem, costs, labels, Stream(seed, 0, 0), 5)
        assert repair(problem, first[0]) == first[0]
        assert first[1] <= start * (1 + 1e-12)
        assert first == improve(problem, costs, labels, Stream(seed, 0, 0), 5)


def test_improving_finds_an_order_that_depth_does_not_have():
    """Two branches of 3: by depth they alternate, so no run is one branch alone; other orders have it."""
    problem = fixed(dag([[], [0], [0], [1], [2], [3], [4], [5, 6]]))
    costs = priced(problem, {(1, 3, 5): 12, (2, 4, 6): 12, (1, 2, 3, 4, 5, 6): 70})
    labels, cost = dynamic(problem, costs, [0, 1, 2, 3, 4, 5, 6, 7])
    assert improve(problem, costs, labels, Stream(0, 0, 0), 30)[1] == 44.0 <= cost


def test_one_layer_is_one_subgraph():
    problem = fixed(dag([[]]))
    costs = SubgraphCosts(problem)
    labels, cost = dynamic(problem, costs, [0])
    assert improve(problem, costs, labels, Stream(0, 0, 0), 3) == ([0], cost)
