"""Repair: small cases by hand, and on random DAGs that everything comes out valid and what is valid stays."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cocco.candidates.genome import canonical, connected_parts, groups_of
from cocco.search.genetic.operators.repair import break_cycles, repair, split_disconnected
from tests.helpers.search_graphs import branches, chain, dag, diamond, fixed, networks


def test_a_disconnected_subgraph_falls_into_its_parts():
    """{0, 2} of 0 -> 1 -> 2 is held together by nothing inside."""
    assert split_disconnected(fixed(chain(4)), [0, 1, 0, 0]) == [0, 1, 2, 2]


def test_parts_that_meet_late_are_one():
    """1 and 2 meet in 3 only: {1, 2, 3} is connected, {1, 2} is not, by the paper's rule."""
    problem = fixed(diamond(), connected="paper")
    assert split_disconnected(problem, [0, 1, 1, 1]) == [0, 1, 1, 1]
    assert split_disconnected(problem, [0, 1, 1, 3]) == [0, 1, 2, 3]
    assert connected_parts(problem, [1, 2]) == [[1], [2]]
    assert connected_parts(problem, [1, 2, 3]) == [[1, 2, 3]]


def test_siblings_are_one():
    """1 and 2 read 0, and 3 reads them as a concatenation; of two inputs and a sum nothing joins 0 and 1."""
    assert split_disconnected(fixed(diamond()), [0, 1, 1, 3]) == [0, 1, 1, 3]
    assert connected_parts(fixed(diamond()), [1, 2]) == [[1, 2]]
    problem = fixed(branches("concat"))
    assert connected_parts(problem, [0, 1]) == [[0, 1]] and split_disconnected(problem, [0, 0, 2]) == [0, 0, 2]
    problem = fixed(branches("add"))
    assert connected_parts(problem, [0, 1]) == [[0], [1]] and split_disconnected(problem, [0, 0, 2]) == [0, 1, 2]


def test_a_cycle_is_cut_at_the_earliest_layer():
    """{0, 1, 3} and {2} wait for each other: 0 and 1 run, then 2, then 3."""
    assert break_cycles(fixed(diamond()), [0, 0, 2, 0]) == [0, 0, 2, 3]


def test_the_rest_of_a_cut_subgraph_stays_together():
    """0 -> 1 -> 2 -> 3 -> 4 and 0 -> 2: {0, 2, 3, 4} waits for {1}; 0 is cut off."""
    problem = fixed(dag([[], [0], [0, 1], [2], [3]]))
    assert repair(problem, [0, 1, 0, 0, 0]) == [0, 1, 2, 2, 2]


def test_two_subgraphs_that_wait_for_each_other():
    """0 -> 2, 1 -> 3, 0 -> 1, 2 -> 3 with {0, 3} and {1, 2}: nothing joins 0 and 3; 1 and 2 are siblings."""
    network = dag([[], [0], [0], [1, 2]])
    assert repair(fixed(network, connected="paper"), [0, 1, 1, 0]) == [0, 1, 2, 3]
    assert repair(fixed(network), [0, 1, 1, 0]) == [0, 1, 1, 3]


@given(networks(12), st.data())
def test_any_labels_become_a_valid_partition(network, data):
    """Partition.from_ids raises unless it is valid; labels are the smallest layers; a second repair changes nothing."""
    problem = fixed(network)
    labels = data.draw(st.lists(st.integers(0, 4), min_size=problem.size, max_size=problem.size))
    repaired = repair(problem, labels)
    problem.partitions(groups_of(repaired))
    assert canonical(repaired) == repaired
    assert repair(problem, repaired) == repaired


@given(networks(12), st.data())
def test_repair_only_splits(network, data):
    problem = fixed(network)
    labels = data.draw(st.lists(st.integers(0, 3), min_size=problem.size, max_size=problem.size))
    repaired = repair(problem, labels)
    assert all(len({labels[v] for v in group}) == 1 for group in groups_of(repaired))
