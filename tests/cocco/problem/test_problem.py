"""Several networks side by side, and questions that are none."""

from __future__ import annotations

import pickle

import pytest

from cocco.bounds.cheapest import cheapest_plans
from cocco.problem.problem import in_memory, on_hardware, over_space
from cocco.problem.space import Range, SeparateBuffers, SharedBuffer
from simulator.accelerator import Accelerator
from simulator.partition.partition import Partition, PartitionError
from tests.helpers.search_graphs import chain, diamond, fixed, spaced


def test_layers_of_the_second_network_follow_those_of_the_first():
    problem = spaced(chain(2), diamond())
    assert problem.offsets == (0, 2, 6)
    assert problem.network_of == (0, 0, 1, 1, 1, 1)
    assert problem.producers == ((), (0,), (), (2,), (2,), (3, 4))
    assert problem.consumers == ((1,), (), (3, 4), (5,), (5,), ())
    assert problem.edges == ((0, 1), (2, 3), (2, 4), (3, 5), (4, 5))


def test_a_partition_of_the_union_is_one_of_each_network():
    problem = spaced(chain(2), diamond())
    plans = problem.partitions([[0, 1], [2, 3, 5, 4]])
    assert [plan.names for plan in plans] == [(("n0", "n1"),), (("n0", "n1", "n2", "n3"),)]
    assert problem.labels(plans) == [0, 0, 2, 2, 2, 2]


def test_the_machine_of_a_choice():
    problem = over_space(chain(2), SeparateBuffers(Range(10, 50, 10), Range(7, 21, 7)), cores=2, batch=4)
    machine = problem.accelerator_of((4, 1))
    assert machine == Accelerator(global_buffer=50, weight_buffer=14, cores=2, batch=4)
    assert fixed(chain(2), 77).accelerator_of(()) == Accelerator(shared_buffer=77)


def test_memories_share_rules_and_price_as_problems_made_anew():
    """One after the other, with both engines' layers made once; a copy of a problem has its fields alone."""
    space = over_space([chain(3), diamond()], SharedBuffer(256, 4096, 256), keep="auto")
    costs = []
    for memory in range(0, 16, 3):
        given = in_memory(space, (memory,))
        anew = on_hardware(list(given.networks), given.accelerator, metric=given.objective.metric, keep="auto")
        assert given == anew and given.rules is space.rules and anew.rules is not space.rules
        found, expected = cheapest_plans(given), cheapest_plans(anew)
        assert found == expected
        costs.append(found.cost)
    assert len(set(costs)) > 2
    again = pickle.loads(pickle.dumps(space))
    assert again == space and vars(again).keys() < vars(space).keys()


def test_questions_that_are_none():
    network, machine = chain(2), Accelerator(shared_buffer=100)
    with pytest.raises(ValueError, match="networks is empty"):
        over_space([])
    with pytest.raises(ValueError, match="network 'chain' is given twice; give it once, with a weight"):
        over_space([network, diamond(), network])
    with pytest.raises(ValueError, match="networks must be Network objects .* got 'resnet50' at 1"):
        over_space([network, "resnet50"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="networks must be a Network or a sequence of them"):
        over_space("resnet50")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="weights must be one per network, got 2 for 1 networks"):
        over_space(network, weights=[1.0, 2.0])
    with pytest.raises(ValueError, match="weights must be a sequence"):
        over_space(network, weights=1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="accelerator must be a simulator.Accelerator, got 1024"):
        on_hardware(network, 1024)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tile_rule must be one of exact, paper, got 'loose'"):
        on_hardware(network, machine, tile_rule="loose")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="space must be a SharedBuffer or SeparateBuffers, got Range"):
        over_space(network, Range(1, 2, 1))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="alpha must be a finite number"):
        over_space(network, alpha=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cores must be an integer from 1"):
        over_space(network, cores=0)


def test_initial_partitions_are_checked():
    problem = spaced(chain(3), diamond())
    first, second = Partition.layerwise(chain(3)), Partition.layerwise(diamond())
    with pytest.raises(ValueError, match="initial needs one partition for each of the 2 networks, got 1"):
        problem.labels([first])
    with pytest.raises(ValueError, match="initial needs a partition of network 'chain', got 'diamond'"):
        problem.labels([second, first])
    with pytest.raises(PartitionError, match="is not connected"):
        problem.labels([Partition("chain", ((0, 2), (1,)), (("n0", "n2"), ("n1",))), second])
