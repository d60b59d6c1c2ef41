"""The four mutations: the paper's Figure 9c-e in small, and validity on random DAGs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocco.candidates.genome import Genome, canonical, groups_of, random_capacities, random_labels
from cocco.candidates.stream import Stream
from cocco.search.genetic.operators.mutation import (
    merge_subgraphs,
    modify_node,
    mutate_capacity,
    shift_layers,
    split_subgraph,
)
from cocco.search.genetic.operators.repair import repair
from tests.helpers.search_graphs import Script, chain, dag, diamond, fixed, networks, spaced

PAIRS = Genome([0, 0, 2, 2, 4, 4], ())


def groups(genome):
    return groups_of(genome.labels)


def test_modify_node_moves_a_layer_to_the_neighbouring_subgraph():
    """Fig. 9c: layer 2 of {0, 1}, {2, 3}, {4, 5} feeds or reads one other subgraph, that of 1."""
    assert groups(modify_node(fixed(chain(6)), PAIRS, Script(2, 0))) == [[0, 1, 2], [3], [4, 5]]


def test_modify_node_opens_a_new_subgraph():
    """The choice after the neighbours is a new subgraph; the one left behind is named anew."""
    assert modify_node(fixed(chain(6)), PAIRS, Script(2, 1)).labels == [0, 0, 2, 3, 4, 4]


def test_split_subgraph_cuts_in_topological_order():
    """Fig. 9d: the second subgraph of several layers, {2, 3, 4}, cut after its first layer."""
    genome = Genome([0, 0, 2, 2, 2, 5], ())
    assert groups(split_subgraph(fixed(chain(6)), genome, Script(1, 0))) == [[0, 1], [2], [3, 4], [5]]


def test_split_subgraph_leaves_single_layers():
    genome = Genome([0, 1, 2], ())
    assert split_subgraph(fixed(chain(3)), genome, Script()) == genome


def test_merge_subgraphs_joins_the_ends_of_an_edge():
    """Fig. 9e: edges between subgraphs are 1 -> 2 and 3 -> 4; the second one merges {2, 3} and {4, 5}."""
    assert groups(merge_subgraphs(fixed(chain(6)), PAIRS, Script(1))) == [[0, 1], [2, 3, 4, 5]]


def test_merge_subgraphs_takes_what_lies_between():
    """0 -> 1 -> 2 -> 3 and 0 -> 3 -> 4: {0} and {3} with the path {1}, {2}, or they would wait for each other."""
    problem = fixed(dag([[], [0], [1], [2, 0], [3]]))
    genome = Genome([0, 1, 2, 3, 4], ())
    edge = [(0, 1), (1, 2), (2, 3), (0, 3), (3, 4)].index((0, 3))
    assert groups(merge_subgraphs(problem, genome, Script(edge))) == [[0, 1, 2, 3], [4]]


def test_merge_subgraphs_goes_through_whole_subgraphs():
    """0 -> 1, 2 -> 3 and 0 -> 3, with {1, 2} in between only as one subgraph: connected through 4."""
    problem = fixed(dag([[], [0], [], [2, 0], [1, 2]]))
    genome = Genome([0, 1, 1, 3, 1], ())
    assert groups(merge_subgraphs(problem, genome, Script(problem.edges.index((0, 3))))) == [[0, 1, 2, 3, 4]]


def test_merge_subgraphs_of_everything_changes_nothing():
    genome = Genome([0, 0, 0, 0], ())
    assert merge_subgraphs(fixed(diamond()), genome, Script()) == genome


def test_shift_layers_takes_along_what_depends_on_the_layer():
    """A chain of pairs; the second crossing edge is 3 -> 4. The high bit set: 3 goes to {4, 5}, else 4 to {2, 3}."""
    problem = fixed(chain(6))
    assert groups(shift_layers(problem, PAIRS, Script(1, 1 << 63))) == [[0, 1], [2], [3, 4, 5]]
    assert groups(shift_layers(problem, PAIRS, Script(1, 0))) == [[0, 1], [2, 3, 4], [5]]


def test_shift_layers_takes_no_more_than_it_must():
    """{0}, {1, 2, 3} of a diamond: 1 goes to {0} alone. {0, 1, 2}, {3}: 1 goes to {3}; 0 would take 1 and 2 along."""
    problem = fixed(diamond())
    assert shift_layers(problem, Genome([0, 1, 1, 1], ()), Script(0, 0)).labels == [0, 0, 2, 2]
    assert shift_layers(problem, Genome([0, 0, 0, 3], ()), Script(0, 1 << 63)).labels == [0, 1, 0, 1]
    short = fixed(dag([[], [0], [0], [0, 1, 2]]))
    assert short.edges.index((0, 3)) == 2
    assert shift_layers(short, Genome([0, 0, 0, 3], ()), Script(0, 1 << 63)).labels == [0, 0, 0, 0]


def test_mutate_capacity_stays_among_the_candidates():
    problem = spaced(chain(2))  # nine candidates
    steps = [(4, 3, 7), (4, -9, 0), (8, 1, 8), (0, 0, 0)]
    for before, step, after in steps:
        assert mutate_capacity(problem, Genome([0, 1], (before,)), 0, Script(step)).capacities == (after,)


@pytest.mark.parametrize("mutate", [modify_node, split_subgraph, merge_subgraphs, shift_layers])
@given(network=networks(12), number=st.integers(0, 1000))
def test_mutants_are_canonical_and_valid_after_repair(mutate, network, number):
    problem = spaced(network)
    stream = Stream(number, 0, 0)
    genome = Genome(repair(problem, random_labels(problem, stream)), random_capacities(problem, stream))
    before = Genome(genome.labels.copy(), genome.capacities)
    mutant = mutate(problem, genome, stream)
    assert genome == before
    assert canonical(mutant.labels) == mutant.labels
    problem.partitions(groups_of(repair(problem, mutant.labels)))


@given(network=networks(12), number=st.integers(0, 1000))
def test_a_merge_of_a_valid_partition_needs_no_repair(network, number):
    problem = spaced(network)
    stream = Stream(number, 0, 0)
    genome = Genome(repair(problem, random_labels(problem, stream)), (0,))
    merged = merge_subgraphs(problem, genome, stream)
    assert repair(problem, merged.labels) == merged.labels
