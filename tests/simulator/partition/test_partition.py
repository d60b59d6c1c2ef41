"""Partitions: which are valid, how they are ordered, and what the messages name."""

from __future__ import annotations

import json

import pytest

from simulator import Partition, PartitionError
from tests.helpers.graphs import add, chain, conv, resnet_block
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network


def diamond() -> Network:
    """x -> a -> {b, c} -> d (add)."""
    shape = (4, 4, 8)
    return Network(
        "diamond",
        (Tensor("x", *shape),),
        (
            conv("a", "x", shape, 8),
            conv("b", "a", shape, 8),
            conv("c", "a", shape, 8),
            add("d", ("b", "c"), shape),
        ),
    )


def test_layers_that_are_not_named_run_alone():
    plan = Partition.from_groups(chain(), [["b", "a"]])
    assert plan.names == (("a", "b"), ("c",))


def test_communities_of_the_graph_are_groups():
    """x is a model input, a node of the graph like the others; it belongs to no subgraph."""
    network = diamond()
    graph = network.to_networkx()
    plan = Partition.from_groups(network, [set(graph) - {"d"}, graph.subgraph(["d"])])
    assert plan.names == (("a", "b", "c"), ("d",))


def test_layerwise_has_one_subgraph_per_layer():
    assert Partition.layerwise(diamond()).names == (("a",), ("b",), ("c",), ("d",))


def test_ready_subgraphs_run_in_the_order_of_their_first_layers():
    """shortcut is layer 0, a is layer 1: both are ready at once, whatever the order they are given in."""
    plan = Partition.from_groups(resnet_block(), [["c", "add"], ["a", "b"], ["shortcut"]])
    assert plan.names == (("shortcut",), ("a", "b"), ("c", "add"))


def test_equal_sets_of_sets_are_equal_partitions():
    first = Partition.from_groups(diamond(), [["a", "b"], ["d", "c"]])
    assert first == Partition.from_groups(diamond(), [["c", "d"], ["b", "a"]])
    assert len(first) == 2


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([["a", "nope"]], ["subgraph 0", "unknown layer 'nope'"]),
        ([["a"], ["b", "a"]], ["layer 'a'", "subgraph 0", "subgraph 1"]),
        ([["a", "a"]], ["layer 'a'", "again"]),
        ([["a", "d"]], ["subgraph 0", "not connected", "common input or concatenation", "'a'", "'d'"]),
        ([["a", "b", "d"]], ["wait for each other", "'a'", "'c'"]),
        ([["a"], []], ["subgraph 1", "empty"]),
        ([["a"], ["x"]], ["subgraph 1", "empty"]),
        (["abc"], ["subgraph 0", "'abc'", "list"]),
        ([[1]], ["subgraph 0", "1", "names"]),
    ],
)
def test_what_is_wrong_is_named(groups, words):
    with pytest.raises(PartitionError) as caught:
        Partition.from_groups(diamond(), groups)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


def test_a_close_name_is_suggested():
    with pytest.raises(PartitionError, match="did you mean 'shortcut'"):
        Partition.from_groups(resnet_block(), [["shortcat"]])


def test_a_missing_layer_is_named_when_ids_are_given():
    with pytest.raises(PartitionError, match="'c' is missing"):
        Partition.from_ids(diamond(), [[0], [1], [3]])
    with pytest.raises(PartitionError, match="layer id 9"):
        Partition.from_ids(diamond(), [[0, 9]])


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_saving_and_loading_gives_the_same_partition(tmp_path, suffix):
    plan = Partition.from_groups(diamond(), [["a", "b"], ["c", "d"]])
    path = tmp_path / f"plan{suffix}"
    plan.save(path)
    assert Partition.load(path, diamond()) == plan
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "mapping"),
        ({"network": "diamond"}, "'subgraphs'"),
        ({"network": "other", "subgraphs": []}, "'other'"),
        ({"network": "diamond", "subgraphs": {"a": 1}}, "list of lists"),
        ({"network": "diamond", "subgraphs": ["a"]}, "list of lists"),
        ({"network": "diamond", "subgraphs": [], "extra": 1}, "'extra'"),
        ({"network": "diamond", "subgraphs": [["zz"]]}, "'zz'"),
    ],
)
def test_a_malformed_file_is_named_with_its_fault(tmp_path, content, words):
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="plan.json") as caught:
        Partition.load(path, diamond())
    assert words in str(caught.value) and "\n" not in str(caught.value)
