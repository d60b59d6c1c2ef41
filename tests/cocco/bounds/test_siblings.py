"""Readers of one tensor that are in a held subgraph: every one that runs has the layers that are asked for.

What runs as one loop nest without being held has a price of its own in the bounds, and none of these cuts.
"""

from __future__ import annotations

from itertools import combinations

import pytest

from cocco.bounds.floors.forced import Hulls
from cocco.bounds.parts.components import components
from cocco.bounds.parts.crossings import tensors_of
from cocco.bounds.parts.siblings import apart
from cocco.candidates.genome import connected_parts
from cocco.problem.problem import on_hardware
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import dag


def found_in(network, room: int):
    problem = on_hardware(network, Accelerator(shared_buffer=room, connected="paper"), metric="ema")
    costs = SubgraphCosts(problem)
    layers = list(range(problem.size))
    return list(apart(problem, costs, Hulls(problem, costs), tensors_of(problem), layers))


def test_two_readers_are_connected_by_what_reads_both():
    """n1 and n2 read n0, and n3 reads both: a subgraph of n1 and n2 has n0 or n3."""
    (found,) = found_in(dag([[], [0], [0], [1, 2]]), 1 << 20)
    assert (found.tensor, found.readers, found.cuts) == (0, (1, 2), (frozenset({3}),))


def test_readers_that_nothing_connects_are_not_together():
    """n1 and n2 read n0, and nothing reads them: one cut with no layer says never. The same where n3 leaves no room."""
    (found,) = found_in(dag([[], [0], [0]]), 1 << 20)
    assert found.cuts == (frozenset(),)
    (found,) = found_in(dag([[], [0], [0], [1, 2]]), 220)
    assert found.cuts == (frozenset(),)


def test_a_layer_before_the_tensor_connects_nothing():
    """n1 reads n0, and n2 and n3 read both of them: with n0 and n2 a subgraph has n1, too."""
    found = {each.tensor: each for each in found_in(dag([[], [0], [0, 1], [0, 1]]), 1 << 20) if each.readers == (2, 3)}
    assert found[1].cuts == (frozenset(),)
    assert found[0].cuts == (frozenset({1}),)


def check(seed: int) -> tuple[int, int]:
    """Return how many held subgraphs with two such readers were looked at, and how many pairs never meet."""
    problem = random_problem(seed, most_layers=7)
    if problem.size > 8:
        return 0, 0
    costs, tensors = SubgraphCosts(problem), tensors_of(problem)
    hulls, met, never = Hulls(problem, costs), 0, 0
    for layers in components(problem, hulls):
        found = list(apart(problem, costs, hulls, tensors, layers))
        never += sum(frozenset() in each.cuts for each in found)
        for size in range(2, len(layers) + 1):
            for group in combinations(layers, size):
                if len(connected_parts(problem, group)) > 1 or hulls.between(group).bit_count() != size:
                    continue
                if costs.costs(group) == float("inf") or not costs.may_hold(group):
                    continue
                for u, readers, cuts in found:
                    if u not in group and set(readers) <= set(group):
                        assert all(cut.intersection(group) for cut in cuts), (seed, group, u, readers)
                        met += 1
    return met, never


def test_a_nest_that_is_not_held_needs_no_path():
    """A convolution and the addition of what it read run as one nest where they cannot be held together."""
    assert check(30_224) == (0, 1)


def test_every_subgraph_that_runs_has_a_layer_of_each_cut():
    counts = [check(seed) for seed in range(100)]
    assert all(sum(each) > 15 for each in zip(*counts))


@pytest.mark.slow
def test_every_subgraph_that_runs_has_a_layer_of_each_cut_on_thousands():
    counts = [check(seed) for seed in range(30_000, 34_000)]
    assert all(sum(each) > 600 for each in zip(*counts))
