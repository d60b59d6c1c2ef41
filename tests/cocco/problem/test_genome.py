"""Genomes: labels by smallest layers, and random ones that repair makes valid."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cocco.candidates.genome import Genome, canonical, groups_of, random_capacities, random_labels
from cocco.candidates.stream import Stream
from cocco.search.genetic.operators.repair import repair
from tests.helpers.search_graphs import SPACE, chain, networks, spaced


def test_groups_and_labels():
    assert groups_of([0, 0, 2, 0, 2]) == [[0, 1, 3], [2, 4]]
    assert canonical([7, 7, 3, 7, 3]) == [0, 0, 2, 0, 2]


def test_equal_partitions_are_equal_genomes():
    assert Genome(canonical([5, 1, 5]), (3,)) == Genome(canonical([0, 9, 0]), (3,))
    assert Genome([0, 1], (3,)).key != Genome([0, 1], (2,)).key


@given(networks(12), st.integers(0, 1000))
def test_random_partitions_are_valid_after_repair(network, child):
    problem = spaced(network)
    labels = repair(problem, random_labels(problem, Stream(0, 0, child)))
    (plan,) = problem.partitions(groups_of(labels))  # raises where it is not valid
    assert sorted(v for group in plan.subgraphs for v in group) == list(range(problem.size))


def test_random_genomes_have_small_and_large_subgraphs():
    """Of 200 partitions of a chain of 20 some have hardly any subgraph, some hardly any fusion."""
    problem = spaced(chain(20))
    counts = [len(groups_of(random_labels(problem, Stream(0, 0, child)))) for child in range(200)]
    assert min(counts) <= 3
    assert max(counts) >= 18


def test_random_capacities_reach_every_candidate():
    problem = spaced(chain(2))
    drawn = {random_capacities(problem, Stream(0, 0, child)) for child in range(300)}
    assert drawn == {(i,) for i in range(len(SPACE.candidates))}
