"""Random partitions as the paper draws them: valid without repair, and uniform where they can be counted."""

from __future__ import annotations

from collections import Counter

import pytest

from cocco.candidates.genome import uniform_labels
from cocco.candidates.stream import Stream
from cocco.search.genetic.operators.repair import repair
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_net
from tests.helpers.search_graphs import chain, dag, diamond, fixed


@pytest.mark.parametrize("seed", first_of(range(60), 20))
def test_what_is_drawn_is_valid(seed):
    """P(u) <= P(v) along each edge, subgraphs named by their first layers; repair changes nothing."""
    problem = fixed(random_net(seed))
    for child in range(10):
        labels = uniform_labels(problem, Stream(seed, 0, child))
        assert all(labels[p] <= labels[v] for p, v in problem.edges)
        assert repair(problem, labels) == labels


def drawn(network, draws):
    problem = fixed(network)
    return Counter(tuple(uniform_labels(problem, Stream(0, 0, child))) for child in range(draws))


def test_each_partition_of_a_chain_is_as_likely():
    """Each of two layers joins the one before or not: 4 partitions; 4,000 draws, 6 deviations of 27."""
    found = drawn(chain(3), 4000)
    assert len(found) == 4 and all(abs(count - 1000) < 165 for count in found.values())


def test_a_layer_joins_none_before_that_of_its_last_producer():
    """Layers 1 and 2 read 0 and begin subgraphs 1 and 2: then 3, which reads both, may join 2 or begin one, not 1."""
    found = drawn(diamond(), 4000)
    assert found[0, 1, 2, 2] and found[0, 1, 2, 3] and not found[0, 1, 2, 1]


def test_siblings_are_connected():
    """Layers 1 and 2 read 0: in 0, 1, 1 they are a subgraph by the input that they have in common."""
    found = drawn(dag([[], [0], [0]], "fork"), 4000)
    assert set(found) == {(0, 0, 0), (0, 0, 2), (0, 1, 0), (0, 1, 1), (0, 1, 2)}
