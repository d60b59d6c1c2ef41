"""Greedy fusion, step by step on prices that are written by hand."""

from __future__ import annotations

import math
import random
from itertools import permutations

import networkx as nx

from cocco.problem.problem import Problem, on_hardware
from cocco.search.baselines.greedy import greedy
from cocco.search.genetic.operators.repair import repair
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from simulator.connected import CONNECTED
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain, dag, diamond, fixed, priced


def test_the_greatest_benefit_goes_first():
    """1-2 saves 8 and 0-1 saves 5; after 1-2 nothing else saves, though 0-1 with 2-3 would save 10."""
    problem = fixed(chain(4))
    costs = priced(problem, {(0, 1): 15, (1, 2): 12, (2, 3): 15})
    assert greedy(problem, costs) == ([0, 1, 1, 3], 32.0)


def test_ties_go_to_the_smallest_pair():
    problem = fixed(chain(3))
    assert greedy(problem, priced(problem, {(0, 1): 15, (1, 2): 15})) == ([0, 0, 2], 25.0)


def test_no_benefit_is_no_reason_to_fuse():
    problem = fixed(chain(3))
    assert greedy(problem, priced(problem, {})) == ([0, 1, 2], 30.0)


def test_a_pair_with_a_detour_is_not_fused():
    """0 and 2 are neighbours, but 1 runs after 0 and before 2."""
    problem = fixed(dag([[], [0], [1, 0]]))
    assert greedy(problem, priced(problem, {(0, 2): 1})) == ([0, 1, 2], 30.0)
    assert greedy(problem, priced(problem, {(0, 2): 1, (0, 1): 19, (0, 1, 2): 25})) == ([0, 0, 0], 25.0)


def test_partitions_are_valid_on_random_graphs():
    for seed in range(60):
        problem = random_problem(seed)
        labels, cost = greedy(problem, SubgraphCosts(problem))
        assert repair(problem, labels) == labels
        alone = SubgraphCosts(problem)
        assert cost <= sum(alone.costs((v,)) for v in range(problem.size)) * (1 + 1e-12)


def test_the_choices_are_those_of_the_definition():
    """The definition, word for word, with networkx: prices are drawn, so that pairs are freed by other fusions."""
    for seed in range(40):
        rng = random.Random(seed)
        network = dag([rng.sample(range(v), min(v, rng.randint(0, 3))) for v in range(12)])
        problem = fixed(network, connected=CONNECTED[seed % 2])
        costs = SubgraphCosts(problem)
        costs.costs = lambda group: random.Random(f"{seed} {group}").randint(4, 6) * len(group) ** 0.8  # noqa: B023
        costs.may_fit = lambda group: True
        assert greedy(problem, costs)[0] == _fused_by_definition(problem, costs), seed


def _fused_by_definition(problem: Problem, costs: SubgraphCosts) -> list[int]:
    labels = list(range(problem.size))
    while True:
        graph = nx.DiGraph([(labels[u], labels[v]) for u, v in problem.edges if labels[u] != labels[v]])
        graph.add_nodes_from(labels)
        pairs = {(labels[u], labels[v]) for each in problem.siblings for u, v in permutations(each, 2)}
        beside = {(u, v) for u, v in pairs if u < v and not {(u, v), (v, u)} & {*graph.edges}}
        found, chosen = 0.0, None
        for first, second in sorted({*graph.edges, *beside}):
            members = {label: tuple(v for v in range(problem.size) if labels[v] == label) for label in (first, second)}
            saved = math.fsum(costs.costs(each) for each in members.values())
            saved -= costs.costs(tuple(sorted(members[first] + members[second])))
            others = graph.copy()
            if (first, second) in graph.edges:
                others.remove_edge(first, second)
            if saved > found and not nx.has_path(others, first, second) and not nx.has_path(others, second, first):
                found, chosen = saved, (first, second)
        if chosen is None:
            return labels
        labels = [min(chosen) if label in chosen else label for label in labels]


def test_networks_stay_apart():
    both = on_hardware([chain(3, "a"), diamond("b")], Accelerator(shared_buffer=65536))
    assert greedy(both, SubgraphCosts(both))[0] == [0, 0, 0, 3, 3, 3, 3]
