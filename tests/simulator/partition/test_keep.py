"""Partitions with kept intervals: order, what entries stand for, files, and what the messages name."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workloads
from simulator import KeptInterval, Partition, PartitionError
from tests.helpers.graphs import add, chain, conv, resnet_block
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan, random_order
from tests.helpers.random_plans import random_plan
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network

SHAPE = (4, 4, 8)


def forked() -> Network:
    """x -> {a, b, c}; a -> d; b -> e; {c, d, a} -> f (add); {e, f} -> g (add)."""
    return Network(
        "forked",
        (Tensor("x", *SHAPE),),
        (
            conv("a", "x", SHAPE, 8),
            conv("b", "x", SHAPE, 8),
            conv("c", "x", SHAPE, 8),
            conv("d", "a", SHAPE, 8),
            conv("e", "b", SHAPE, 8),
            add("f", ("c", "d", "a"), SHAPE),
            add("g", ("e", "f"), SHAPE),
        ),
    )


ORDER = [["b", "e"], ["a"], ["c"], ["d"], ["f", "g"]]


def spans(plan: Partition) -> list[tuple[str, int, int]]:
    return [(each.tensor, each.from_step, each.until_step) for each in plan.keep]


def test_a_bare_name_is_kept_from_its_maker_to_its_last_reader():
    """a is made in step 1 and read in steps 3 (d) and 4 (f)."""
    plan = Partition.from_groups(forked(), ORDER, keep=["a"])
    assert plan.keep == (KeptInterval("a", "a", "f", 0, 1, 4),)


def test_a_model_input_is_kept_from_the_first_step_that_reads_it():
    plan = Partition.from_groups(forked(), ORDER, keep=["x"])
    assert plan.keep == (KeptInterval("x", "b", "c", 7, 0, 2),)


def test_from_and_until_name_any_layer_of_their_steps():
    """g does not read c; f, in the same step, does. The names that come back are of layers that make or read."""
    entry = {"tensor": "c", "from": "c", "until": "g"}
    assert spans(Partition.from_groups(forked(), ORDER, keep=[entry])) == [("c", 2, 4)]
    plan = Partition.from_groups(forked(), ORDER, keep=[{"tensor": "x", "from": "e", "until": "a"}])
    assert plan.keep[0].to_json() == {"tensor": "x", "from": "b", "until": "a"}


def test_until_alone_begins_at_the_maker_and_from_alone_ends_at_the_last_reader():
    plan = Partition.from_groups(forked(), ORDER, keep=[{"tensor": "a", "until": "d"}, {"tensor": "x", "from": "a"}])
    assert spans(plan) == [("a", 1, 3), ("x", 1, 2)]


def test_a_tensor_may_have_several_intervals():
    """x is read in steps 0, 1, 2, 3 of the layers one by one: kept over 0..1, dropped, loaded again in 2."""
    network = Network("four", (Tensor("x", *SHAPE),), tuple(conv(name, "x", SHAPE, 8) for name in "abcd"))
    keep = [{"tensor": "x", "from": "c", "until": "d"}, {"tensor": "x", "until": "b"}]
    plan = Partition.from_groups(network, [["a"], ["b"], ["c"], ["d"]], keep=keep)
    assert spans(plan) == [("x", 0, 1), ("x", 2, 3)]


def test_with_keep_the_subgraphs_run_as_they_are_written():
    """Without, c (layer 2) would run before b and e are done."""
    assert Partition.from_groups(forked(), ORDER, keep=["a"]).names == tuple(map(tuple, ORDER))
    assert Partition.from_groups(forked(), ORDER).names != tuple(map(tuple, ORDER))


def test_layers_that_are_not_named_run_between_as_in_the_usual_order():
    """Written: e, then d. Ready at first: a, b, c by their place; e as soon as b is done, d after e."""
    plan = Partition.from_groups(forked(), [["e"], ["d"]], keep=["a"])
    assert plan.names == (("a",), ("b",), ("c",), ("e",), ("d",), ("f",), ("g",))


def test_an_empty_keep_is_no_keep():
    plain = Partition.from_groups(forked(), ORDER)
    assert Partition.from_groups(forked(), ORDER, keep=[]) == plain and plain.keep == ()
    assert hash(plain) == hash((plain.network_name, plain.subgraphs, plain.names, plain.metric))
    assert repr(plain) == "Partition(forked, 7 layers in 5 subgraphs)"


def test_order_and_intervals_make_partitions_differ():
    one = Partition.from_groups(forked(), ORDER, keep=["a", "x"])
    same = Partition.from_groups(forked(), ORDER, keep=["x", {"tensor": "a", "until": "g"}])
    assert one == same and hash(one) == hash(same)
    assert one != Partition.from_groups(forked(), ORDER, keep=["a"])
    assert one != Partition.from_groups(forked(), [ORDER[1], ORDER[0], *ORDER[2:]], keep=["a", "x"])
    assert len({one, same, Partition.from_groups(forked(), ORDER)}) == 2


def test_people_see_what_is_kept():
    plan = Partition.from_groups(forked(), ORDER, keep=["a", "x"])
    assert repr(plan) == "Partition(forked, 7 layers in 5 subgraphs, 2 kept)"
    assert plan.summary().endswith("\n  kept on chip: x from b until c, a until f")
    assert list(plan.to_frame()["kept"]) == ["x", "x a", "x a", "a", "a"]
    assert list(Partition.from_groups(forked(), ORDER).to_frame()) == ["layers", "count"]


@pytest.mark.parametrize(
    ("groups", "edge"),
    [
        ([["d"], ["a"]], "subgraph 0 runs 'd' before its input 'a' (subgraph 1)"),
        ([["b"], ["f"], ["c"], ["d"]], "subgraph 1 runs 'f' before its input 'c' (subgraph 2)"),
        ([["e"], ["f", "g"], ["a"]], "subgraph 1 runs 'f' before its input 'a' (subgraph 2)"),
        ([["g"], ["b"]], "subgraph 0 runs 'g' before what its input 'e' needs, 'b' (subgraph 1)"),
    ],
)
def test_an_order_that_is_not_topological_is_an_error_that_names_the_edge(groups, edge):
    Partition.from_groups(forked(), groups)
    with pytest.raises(PartitionError) as caught:
        Partition.from_groups(forked(), groups, keep=["x"])
    assert str(caught.value).startswith(edge) and "\n" not in str(caught.value)


def test_subgraphs_that_wait_for_each_other_are_named_as_without_keep():
    with pytest.raises(PartitionError, match="wait for each other"):
        Partition.from_groups(forked(), [["a", "f"], ["d"]], keep=["x"])


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("zz", ["keep 0", "unknown tensor 'zz'", "network 'forked'"]),
        (5, ["keep 0 is 5", "name of a tensor"]),
        (None, ["keep 0 is None"]),
        (["a"], ["keep 0 is ['a']"]),
        ({"until": "f"}, ["keep 0", "'tensor'"]),
        ({"tensor": "a", "to": "f"}, ["keep 0", "unknown key 'to'"]),
        ({"tensor": "a", 5: "f"}, ["keep 0", "unknown key 5"]),
        ({"tensor": 7}, ["keep 0", "'tensor' 7"]),
        ({"tensor": "a", "until": None}, ["keep 0", "'until' None"]),
        ({"tensor": "a", "until": "zz"}, ["keep 0", "'until'", "unknown layer 'zz'"]),
        ({"tensor": "a", "until": "x"}, ["keep 0", "'until' 'x'", "model input"]),
        ("g", ["keep 0", "'g'", "no step after step 4"]),
        ("f", ["keep 0", "'f'", "no step after step 4"]),
        ({"tensor": "a", "until": "c"}, ["keep 0", "'a'", "step 2 (with 'c')", "does not read it"]),
        ({"tensor": "c", "from": "a"}, ["keep 0", "'c'", "step 1 (with 'a')", "neither makes nor reads it"]),
        ({"tensor": "a", "from": "f", "until": "d"}, ["keep 0", "'a'", "step 4", "step 3", "ends before it begins"]),
        ({"tensor": "a", "from": "f"}, ["keep 0", "'a'", "step 4", "ends where it begins"]),
        ({"tensor": "a", "until": "a"}, ["keep 0", "'a'", "step 1", "does not read it from outside"]),
        ({"tensor": "f", "from": "f", "until": "g"}, ["keep 0", "'f'", "no step after step 4"]),
    ],
)
def test_an_interval_that_is_none_is_named(entry, words):
    with pytest.raises(PartitionError) as caught:
        Partition.from_groups(forked(), ORDER, keep=[entry])
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_a_close_tensor_is_suggested():
    with pytest.raises(PartitionError, match="did you mean 'pool1'"):
        Partition.from_groups(resnet_block(), [], keep=["pool2"])


@pytest.mark.parametrize(
    "keep",
    [
        ["a", "a"],
        [{"tensor": "a", "until": "d"}, {"tensor": "a", "from": "d"}],
        ["x", {"tensor": "x", "from": "a", "until": "c"}],
    ],
)
def test_intervals_of_one_tensor_share_no_step(keep):
    with pytest.raises(PartitionError, match="keep 0 and keep 1 both have '[ax]' at step") as caught:
        Partition.from_groups(forked(), ORDER, keep=keep)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", ["abc", 5, None, {"tensor": "a"}])
def test_keep_is_a_list(keep):
    with pytest.raises(TypeError, match="keep must be a list"):
        Partition.from_groups(forked(), ORDER, keep=keep)


@pytest.mark.parametrize(
    ("span", "words"),
    [
        ((0, 1), "a tensor id, a first and a last step"),
        ((99, 0, 1), "tensor id 99"),
        ((0, 0, 9), "step 9"),
        ((-1, 0, 1), "tensor id -1"),
        ((0, True, 2), "a tensor id, a first and a last step"),
        ((0, 0, 0), "step 0 (with 'a') until step 0"),
        ((0, 0, 2), "does not read it"),
    ],
)
def test_intervals_by_ids_are_checked_too(span, words):
    with pytest.raises(PartitionError) as caught:
        Partition.from_ids(chain(), [[0], [1], [2]], keep=[span])
    message = str(caught.value)
    assert "\n" not in message and (words in message or (span == (0, 0, 0) and "does not read it" in message))


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_order_and_intervals_survive_a_file(tmp_path, suffix):
    plan = Partition.from_groups(forked(), ORDER, keep=["a", {"tensor": "x", "from": "a", "until": "c"}])
    path = tmp_path / f"plan{suffix}"
    plan.save(path)
    assert Partition.load(path, forked()) == plan
    assert json.loads(path.read_text())["keep"] == [
        {"tensor": "a", "from": "a", "until": "f"},
        {"tensor": "x", "from": "a", "until": "c"},
    ]


def test_a_file_without_keep_is_what_it_was(tmp_path):
    path = tmp_path / "plan.json"
    Partition.from_groups(chain(), [["a", "b"]]).save(path)
    assert path.read_text() == '{"network": "chain", "subgraphs": [\n  ["a", "b"],\n  ["c"]\n]}\n'


def test_a_file_is_read_as_people_write_it(tmp_path):
    path = tmp_path / "plan.yaml"
    path.write_text(
        "network: resnet50\n"
        "subgraphs:\n"
        "  - [conv1, pool1]\n"
        '  - ["s1b1_*"]\n'
        "  - [s1b2_a]\n"
        "keep: [pool1, {tensor: s1b1_add, until: s1b2_a}]\n"
    )
    plan = Partition.load(path, workloads.load("resnet50"))
    assert spans(plan) == [("pool1", 0, 1), ("s1b1_add", 1, 2)]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("subgraphs: []\nkeep: a\n", ["'keep' is 'a'", "list"]),
        ("subgraphs: []\nkeep: {a: b}\n", ["'keep' is", "list"]),
        ("subgraphs: []\nkeep: [zz]\n", ["keep 0", "'zz'"]),
        ("subgraphs: []\nkeep: [a]\nrest: greedy\n", ["'rest: greedy' and 'keep'"]),
        ("subgraphs: [[d], [a]]\nkeep: [a]\n", ["'d' before its input 'a'"]),
    ],
)
def test_a_malformed_file_is_named_with_its_fault(tmp_path, text, words):
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    with pytest.raises(PartitionError, match="plan.yaml") as caught:
        Partition.load(path, forked())
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_every_plan_with_intervals_survives_names_and_spans(seed):
    """What from_ids made comes back from names, from the interval objects, and in any order of the entries."""
    network = random_network(seed, most_layers=8, whole=True)
    plan = random_kept_plan(network, seed)
    backwards = plan.keep[::-1]
    assert Partition.from_groups(network, plan.names, keep=backwards) == plan
    assert Partition.from_groups(network, plan.names, keep=[each.to_json() for each in backwards]) == plan
    assert Partition.from_ids(network, plan.subgraphs, keep=[each.span for each in backwards]) == plan


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6))
def test_an_order_is_refused_if_and_only_if_an_edge_runs_backwards(seed):
    """Some subgraphs of a topological order, shuffled or not; the others are not named."""
    network, rng = random_network(seed, most_layers=8), random.Random(seed)
    order = random_order(network, random_plan(network, seed), rng)
    single = [group for group in order if len(group) == 1]
    written = [group for group in order if group not in single or rng.random() < 0.6]
    if rng.random() < 0.7:
        rng.shuffle(written)
    names = [network.names(group) for group in written]
    keep = _any_interval(network, order)
    cyclic = _cyclic_once_chained(network, written)
    try:
        found = Partition.from_groups(network, names, keep=keep)
    except PartitionError as error:
        assert keep and cyclic and " runs " in str(error) and "\n" not in str(error)
    else:
        assert not (keep and cyclic)
        assert sorted(found.subgraphs) == sorted(order)
        at = [found.subgraphs.index(group) for group in written]
        assert not keep or at == sorted(at)


def _any_interval(network: Network, order: list[tuple[int, ...]]) -> list[str]:
    step = {v: i for i, group in enumerate(order) for v in group}
    read = [v for v in range(len(network.layers)) if any(step[w] != step[v] for w in network.consumers[v])]
    return list(network.names(read[:1]))


def _cyclic_once_chained(network: Network, written: list[tuple[int, ...]]) -> bool:
    import networkx

    owner = {v: i for i, group in enumerate(written) for v in group}
    graph = networkx.DiGraph(zip(range(len(written)), range(1, len(written))))
    for v, producers in enumerate(network.producers):
        for p in producers:
            if p < len(network.layers):
                ends = owner.get(p, ("alone", p)), owner.get(v, ("alone", v))
                if ends[0] != ends[1]:
                    graph.add_edge(*ends)
    return not networkx.is_directed_acyclic_graph(graph)
