"""What connects the layers of a subgraph: edges, common inputs, concatenations; such subgraphs run as priced."""

from __future__ import annotations

import pytest

import workloads
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.connected import connected_parts
from simulator.execution.verify import verify
from simulator.partition.errors import PartitionError
from tests.helpers.every_kept_plan import is_connected
from tests.helpers.parts import each_seed, few_seeds, in_parts
from tests.helpers.random_graphs import random_network
from tests.helpers.random_siblings import parts_of, random_siblings
from tests.helpers.search_graphs import branches, diamond


def test_layers_that_read_one_tensor_are_joined():
    """n1 and n2 read n0: one part by our rule, two by the paper's, which joins them by n0 or n3 inside."""
    network = diamond()
    assert connected_parts(network, [1, 2]) == [[1, 2]]
    assert connected_parts(network, [1, 2], "paper") == [[1], [2]]
    assert connected_parts(network, [0, 1, 2], "paper") == [[0, 1, 2]]
    assert connected_parts(network, [1, 2, 3], "paper") == [[1, 2, 3]]


def test_the_branches_of_a_concatenation_are_joined_and_those_of_a_sum_are_not():
    assert connected_parts(branches("concat"), [0, 1]) == [[0, 1]]
    assert connected_parts(branches("concat"), [0, 1], "paper") == [[0], [1]]
    assert connected_parts(branches("add"), [0, 1]) == [[0], [1]]


@each_seed(20, 30)
def test_parts_are_those_of_the_definition(seed):
    """Each part is connected, and no two parts together are, of every third layer of a random graph and of all."""
    network = random_network(seed, 10, whole=seed % 2 == 1)
    for rule in ("all", "paper"):
        for step in (1, 2, 3):
            parts = [tuple(part) for part in connected_parts(network, range(0, len(network.layers), step), rule)]
            assert all(is_connected(network, part, rule) for part in parts)
            assert not any(
                is_connected(network, one + other, rule) for i, one in enumerate(parts) for other in parts[:i]
            )


def test_a_whole_module_is_a_subgraph():
    """The four branches of inception_3a read pool2 once; the module's parts by edges would load it four times."""
    network = workloads.load("googlenet")
    plan = Partition.from_groups(network, [["inception_3a_*"]])
    chip = Accelerator(shared_buffer=1024 * KiB)
    (module,) = (each for each in evaluate(network, plan, chip).subgraphs if len(each.layers) == 7)
    assert module.ema_input_bytes == network.tensors[network.index["pool2"]].size_bytes
    assert verify(network, plan, chip).verified


def test_the_papers_rule_refuses_it_and_names_itself():
    network = workloads.load("googlenet")
    plan = Partition.from_groups(network, [["inception_3a_*"]])
    for machine in ({"connected": "paper"}, {"plans": "paper"}):
        with pytest.raises(PartitionError, match="the paper's rule") as caught:
            evaluate(network, plan, Accelerator(shared_buffer=1024 * KiB, **machine))
        assert "'inception_3a_1x1'" in str(caught.value) and "\n" not in str(caught.value)


def check(seeds) -> tuple[int, int, int]:
    """Execute plans; return how many subgraphs ran that no edge connects; by a concatenation alone; on cores."""
    ran = alone = cores = 0
    for seed in seeds:
        network, plan, machine = random_siblings(seed)
        found = parts_of(network, plan)
        if not found or not evaluate(network, plan, machine).fits:
            continue
        result = verify(network, plan, machine)
        assert result.verified, (seed, result.message)
        for parts in found:
            read = [{u for v in part for u in network.producers[v]} for part in parts]
            alone += not any(one & other for i, one in enumerate(read) for other in read[:i])
            cores += machine.cores > 1
            ran += 1
    return ran, alone, cores


@few_seeds(30, 75)
def test_subgraphs_that_no_edge_connects_run_as_priced(seeds):
    """Values, every number, several cores, samples, kept tensors, both kinds of memory."""
    ran, alone, cores = check(seeds)
    assert ran > 2 * len(seeds) // 5 and alone > len(seeds) // 37 and cores > 2 * len(seeds) // 15


@pytest.mark.slow
@pytest.mark.parametrize("seeds", in_parts(1_000, 4_000))
def test_thousands_of_subgraphs_that_no_edge_connects_run_as_priced(seeds):
    assert check(seeds)[0] > 0
