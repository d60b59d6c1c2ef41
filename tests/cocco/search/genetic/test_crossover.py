"""Crossover: the paper's Figure 9b with both children, and validity on random DAGs."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cocco.candidates.genome import Genome, canonical, groups_of, random_capacities, random_labels
from cocco.candidates.stream import Stream
from cocco.search.genetic.operators.crossover import average_capacities, crossover
from cocco.search.genetic.operators.repair import repair
from tests.helpers.search_graphs import Script, chain, fixed, networks, spaced

MOM = Genome([0, 1, 1, 3, 3, 3], ())  # Fig. 9b, layers counted from 0: {1}, {2, 3}, {4, 5, 6}
DAD = Genome([0, 0, 2, 2, 4, 4], ())  # {1, 2}, {3, 4}, {5, 6}
FATHER, MOTHER = 1, 0


def test_figure_9b_child_1_opens_a_new_subgraph():
    """Layers 1 and 3 choose Dad, 5 chooses Mom's {4, 5, 6}; 4 is decided, so {5, 6} is new."""
    script = Script(FATHER, FATHER, MOTHER, 0)
    child = crossover(fixed(chain(6)), MOM, DAD, script)
    assert groups_of(child.labels) == [[0, 1], [2, 3], [4, 5]]
    assert script.is_used_up()


def test_figure_9b_child_2_merges_with_the_decided_layers():
    """The same, but {5, 6} joins the subgraph of layer 4: {3, 4, 5, 6}."""
    script = Script(FATHER, FATHER, MOTHER, 1, 0)
    child = crossover(fixed(chain(6)), MOM, DAD, script)
    assert groups_of(child.labels) == [[0, 1], [2, 3, 4, 5]]
    assert script.is_used_up()


def test_the_child_joins_the_subgraph_of_the_decided_layer_that_is_drawn():
    """Mom has one subgraph; after Dad's {0} and {1} the rest of it may join either."""
    mom, dad = Genome([0] * 4, ()), Genome([0, 1, 2, 3], ())
    joined = [crossover(fixed(chain(4)), mom, dad, Script(FATHER, FATHER, MOTHER, 1, i)) for i in (0, 1)]
    assert [child.labels for child in joined] == [[0, 1, 0, 0], [0, 1, 1, 1]]


def test_equal_parents_have_equal_children():
    parent = Genome([0, 0, 2, 2, 2, 5], (4,))
    problem = spaced(chain(6))
    assert all(crossover(problem, parent, parent, Stream(0, 0, child)) == parent for child in range(50))


def test_capacities_are_averaged_to_the_nearest_candidate():
    """(2 + 6) / 2 = 4; (2 + 5) / 2 lies between 3 and 4, and a coin decides."""
    mother, father = Genome([], (2, 2)), Genome([], (6, 5))
    assert average_capacities(mother, father, Script(0, 0)) == (4, 3)
    assert average_capacities(mother, father, Script(1, 1)) == (4, 4)


@given(networks(12), st.integers(0, 1000))
def test_children_are_canonical_and_valid_after_repair(network, number):
    problem = spaced(network)
    parents = []
    for child in (0, 1):
        stream = Stream(number, 0, child)
        labels = repair(problem, random_labels(problem, stream))
        parents.append(Genome(labels, random_capacities(problem, stream)))
    child = crossover(problem, *parents, Stream(number, 1, 0))
    assert canonical(child.labels) == child.labels
    problem.partitions(groups_of(repair(problem, child.labels)))
    low, high = sorted(parent.capacities[0] for parent in parents)
    assert low <= child.capacities[0] <= high
