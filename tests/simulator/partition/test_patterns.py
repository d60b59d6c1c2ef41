"""Names, wildcards and ranges of hand-written partitions: what they stand for, and what the messages name."""

from __future__ import annotations

import fnmatch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from simulator import Partition, PartitionError
from simulator.partition.patterns import matches
from tests.helpers.graphs import resnet_block

PATTERNS = st.text("ab*?", max_size=8)


@given(PATTERNS, st.text("ab", max_size=8))
def test_wildcards_match_as_the_shell_s_do(pattern: str, name: str):
    assert matches(pattern, name) == fnmatch.fnmatchcase(name, pattern)


def test_a_wildcard_of_many_stars_does_not_explode():
    assert not matches("a*" * 200 + "b", "a" * 2000)


def test_a_wildcard_is_one_subgraph_of_all_that_match():
    network = workloads.load("resnet50")
    plan = Partition.from_groups(network, [["pool1", "s1b1_*"]])
    assert ("pool1", "s1b1_a", "s1b1_b", "s1b1_c", "s1b1_shortcut", "s1b1_add") in {
        tuple(group) for group in plan.names
    }


def test_a_range_follows_the_network_s_order_and_so_has_the_shortcut():
    """resnet_block: shortcut, a, b, c, add. On paths from a to add there would be no shortcut."""
    network = resnet_block()
    names = [layer.name for layer in network.layers]
    assert names == ["shortcut", "a", "b", "c", "add"]
    assert Partition.from_groups(network, [["shortcut..add"]]).names == (tuple(names),)
    assert Partition.from_groups(network, [["a..add"]]).names == (("shortcut",), ("a", "b", "c", "add"))
    assert Partition.from_groups(network, [["b .. b"]]) == Partition.layerwise(network)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_ranges_never_wait_for_each_other(data):
    """Disjoint intervals of a topological order can run one after the other; only connection may fail."""
    network = workloads.load(data.draw(st.sampled_from(["resnet50", "googlenet", "randwire_a"])))
    names = [layer.name for layer in network.layers]
    cuts = sorted(data.draw(st.sets(st.integers(1, len(names) - 1), max_size=12)))
    groups = [[f"{names[a]}..{names[b - 1]}"] for a, b in zip([0, *cuts], [*cuts, len(names)])]
    try:
        assert len(Partition.from_groups(network, groups)) == len(groups)
    except PartitionError as error:
        assert "is not connected" in str(error)


def test_a_name_that_a_layer_has_is_no_pattern():
    from dataclasses import replace

    network = resnet_block()
    layers = list(network.layers)
    layers[4] = replace(layers[4], name="a..b")
    odd = replace(network, layers=tuple(layers))
    assert Partition.from_groups(odd, [["c", "a..b"]]).names[-1] == ("c", "a..b")


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([["s9b*"]], ["subgraph 0", "no layer of network 'resnet50' matches 's9b*'"]),
        ([["conv1"], ["s1b1_add..s1b1_a"]], ["subgraph 1", "runs backwards", "write 's1b1_a..s1b1_add'"]),
        ([["conv1..pool2"]], ["range 'conv1..pool2'", "'pool2'", "did you mean 'pool5'"]),
        ([["..pool1"]], ["the end ''", "which is no layer"]),
        ([["conv1..input"]], ["the end 'input'"]),
        ([["conv1", "conv*"]], ["'conv1' is in subgraph 0 and again in subgraph 0 (by 'conv*')"]),
        ([["conv1..pool1"], ["pool?"]], ["'pool1' is in subgraph 0 (by 'conv1..pool1')", "subgraph 1 (by 'pool?')"]),
        ([["s1b1_a", "s1b2_*"]], ["not connected", "'s1b1_a'"]),
        ([["s1b1_[ab]"]], ["unknown layer 's1b1_[ab]'"]),
    ],
)  # fmt: skip
def test_a_pattern_that_says_nothing_sensible_is_named(groups, words):
    with pytest.raises(PartitionError) as caught:
        Partition.from_groups(workloads.load("resnet50"), groups)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("subgraphs: []\nrest: best\n", ["'rest' is", "best", "'layerwise' or 'greedy'"]),
        ("subgraphs: []\nrest: [greedy]\n", ["'rest'"]),
        ("subgraphs: []\nrests: greedy\n", ["unknown key 'rests'"]),
        ("subgraphs: []\nrest: greedy\n", ["cocco.load_partition"]),
        ("subgraphs: [[5]]\n", ["subgraph 0 has 5"]),
        ("subgraphs: [conv1]\n", ["list of lists"]),
    ],
)  # fmt: skip
def test_a_file_that_is_no_partition_is_named(tmp_path, text, words):
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(ValueError) as caught:
        Partition.load(path, workloads.load("resnet50"))
    for word in (str(path), *words):
        assert word in str(caught.value)
