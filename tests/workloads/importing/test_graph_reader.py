"""Every malformed layer-graph gets one line that names the file, the node, the rule and the value."""

import copy
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.random_networks import QUICK, networks
from workloads.errors import NetworkError
from workloads.importing.layer_graph.files import decode, encode
from workloads.loading import load

GRAPH = {
    "format": "layer-graph/1",
    "name": "net",
    "nodes": [
        {"name": "image", "op": "input", "inputs": [], "out_shape": [1, 3, 8, 8]},
        {"name": "pad", "op": "pad", "inputs": ["image"], "out_shape": [1, 3, 10, 10], "padding": [1, 1, 1, 1]},
        {
            "name": "conv", "op": "conv", "inputs": ["pad"], "out_shape": [1, 6, 8, 8], "kernel": [3, 3],
            "stride": [1, 1], "padding": [0, 0, 0, 0], "dilation": [1, 1], "groups": 1, "in_channels": 3,
        },
        {
            "name": "pool", "op": "maxpool", "inputs": ["conv"], "out_shape": [1, 6, 4, 4], "kernel": [2, 2],
            "stride": [2, 2], "padding": [0, 0, 0, 0],
        },
        {"name": "add", "op": "add", "inputs": ["pool", "pool"], "out_shape": [1, 6, 4, 4]},
        {"name": "cat", "op": "concat", "inputs": ["add", "pool"], "out_shape": [1, 12, 4, 4]},
        {"name": "fc", "op": "fc", "inputs": ["cat"], "out_shape": [1, 10], "in_features": 192, "out_features": 10},
        {"name": "text", "op": "input", "inputs": [], "out_shape": [1, 5, 8]},
        {"name": "qk", "op": "matmul", "inputs": ["text", "text"], "out_shape": [1, 2, 5, 5]},
        {"name": "soft", "op": "softmax", "inputs": ["qk"], "out_shape": [1, 2, 5, 5]},
    ],
}  # fmt: skip
POSITION = {node["name"]: i for i, node in enumerate(GRAPH["nodes"])}


def changed(name: str, /, **values):
    """GRAPH with other values in one node."""
    graph = copy.deepcopy(GRAPH)
    graph["nodes"][POSITION[name]].update(values)
    return graph


def without(name: str, key: str):
    graph = copy.deepcopy(GRAPH)
    del graph["nodes"][POSITION[name]][key]
    return graph


def appended(**node):
    graph = copy.deepcopy(GRAPH)
    graph["nodes"].append(node)
    return graph


def embed(name, inputs):
    return {"name": name, "op": "embed", "inputs": inputs, "out_shape": [1, 5, 8]}


MALFORMED = {
    "another version": ({**GRAPH, "format": "layer-graph/2"}, ["'layer-graph/2'", "'layer-graph/1'"]),
    "a format that is no text": ({**GRAPH, "format": 1}, ["format 1"]),
    "no format": ({"name": "net", "nodes": []}, ["no key 'format'"]),
    "no name": ({"format": "layer-graph/1", "nodes": []}, ["no key 'name'"]),
    "no nodes": ({"format": "layer-graph/1", "name": "net"}, ["no key 'nodes'"]),
    "a name that is no text": ({**GRAPH, "name": 5}, ["network", "5", "printable text"]),
    "nodes that are no list": ({**GRAPH, "nodes": {"conv": {}}}, ["'net'", "{'conv': {}}", "list"]),
    "empty nodes": ({**GRAPH, "nodes": []}, ["'net'", "no layers"]),
    "inputs only": ({**GRAPH, "nodes": GRAPH["nodes"][:1]}, ["'net'", "no layers"]),
    "a node that is no mapping": ({**GRAPH, "nodes": [["conv"]]}, ["node 0", "['conv']", "mapping"]),
    "a node without a name": (without("conv", "name"), ["node 2", "'name'"]),
    "a node whose name is a number": (changed("conv", name=3), ["node 2", "3", "printable text"]),
    "a node without an op": (without("conv", "op"), ["'conv'", "no key 'op'"]),
    "a node without inputs": (without("conv", "inputs"), ["'conv'", "no key 'inputs'"]),
    "a node without a shape": (without("conv", "out_shape"), ["'conv'", "no key 'out_shape'"]),
    "an unknown op": (changed("conv", op="conv2d"), ["'conv'", "'conv2d'", "avgpool", "softmax"]),
    "an op that is a list": (changed("conv", op=["conv"]), ["'conv'", "['conv']"]),
    "inputs that are text": (changed("conv", inputs="image"), ["'conv'", "inputs 'image'", "list"]),
    "inputs of numbers": (changed("conv", inputs=[0]), ["'conv'", "inputs [0]"]),
    "a layer that reads nothing": (changed("pool", inputs=[]), ["'pool'", "inputs []", "at least 1"]),
    "an input that reads": (changed("text", inputs=["image"]), ["'text'", "['image']", "empty"]),
    "a repeated name": (changed("pool", name="conv"), ["'conv'", "twice"]),
    "a dangling input": (changed("add", inputs=["pool", "poool"]), ["'add'", "'poool'", "no node"]),
    "a node that reads itself": (changed("add", inputs=["add", "pool"]), ["'add'", "cycle: 'add' -> 'add'"]),
    "a cycle": (changed("pool", inputs=["add"]), ["'pool'", "'add'", "cycle: 'pool' -> 'add' -> 'pool'"]),
    "no topological order": (
        {**GRAPH, "nodes": [GRAPH["nodes"][i] for i in (0, 1, 3, 2, 4)]}, ["'pool'", "'conv'", "topological order"],
    ),
    "a shape that is a number": (changed("conv", out_shape=6), ["'conv'", "out_shape 6"]),
    "a shape of five extents": (changed("conv", out_shape=[1, 6, 8, 8, 1]), ["'conv'", "[1, 6, 8, 8, 1]", "2 to 4"]),
    "a shape of one extent": (changed("fc", out_shape=[10]), ["'fc'", "[10]", "2 to 4"]),
    "a batch of two": (changed("image", out_shape=[2, 3, 8, 8]), ["'image'", "[2, 3, 8, 8]", "batch"]),
    "a fractional extent": (changed("image", out_shape=[1, 3, 8.5, 8]), ["'image'", "8.5"]),
    "a whole number as a fraction": (changed("image", out_shape=[1, 3, 8.0, 8]), ["'image'", "8.0"]),
    "a zero extent": (changed("image", out_shape=[1, 0, 8, 8]), ["'image'", "[1, 0, 8, 8]"]),
    "a negative extent": (changed("image", out_shape=[1, 3, -8, 8]), ["'image'", "-8"]),
    "an extent that is not a number": (changed("image", out_shape=[1, 3, math.nan, 8]), ["'image'", "nan"]),
    "an infinite extent": (changed("image", out_shape=[1, 3, math.inf, 8]), ["'image'", "inf"]),
    "an extent that is true": (changed("image", out_shape=[True, 3, 8, 8]), ["'image'", "True"]),
    "an extent that is text": (changed("image", out_shape=[1, "3", 8, 8]), ["'image'", "'3'"]),
    "an absurd extent": (changed("image", out_shape=[1, 3, 2**20 + 1, 8]), ["'image'", "1048577", "2**20"]),
    "an extent of 5000 digits": (changed("image", out_shape=[1, 3, 10**5000, 8]), ["'image'", "2**20"]),
    "an absurd tensor": (changed("image", out_shape=[1, 2**20, 2**20, 8]), ["'image'", "2**40"]),
    "a convolution without a kernel": (without("conv", "kernel"), ["'conv'", "no key 'kernel'"]),
    "a convolution without channels": (without("conv", "in_channels"), ["'conv'", "no key 'in_channels'"]),
    "a pool without a kernel": (without("pool", "kernel"), ["'pool'", "no key 'kernel'"]),
    "a pad without a padding": (without("pad", "padding"), ["'pad'", "no key 'padding'"]),
    "a kernel that is a number": (changed("conv", kernel=3), ["'conv'", "kernel 3", "2 integers"]),
    "a kernel of three": (changed("conv", kernel=[3, 3, 3]), ["'conv'", "[3, 3, 3]", "2 integers"]),
    "a kernel of zero": (changed("conv", kernel=[0, 3]), ["'conv'", "kernel [0, 3]", "from 1"]),
    "a kernel of true": (changed("conv", kernel=[True, 3]), ["'conv'", "[True, 3]"]),
    "an absurd kernel": (changed("conv", kernel=[2**30, 3]), ["'conv'", "1073741824"]),
    "a kernel larger than its map": (changed("conv", kernel=[11, 3]), ["'conv'", "kernel 11", "does not fit"]),
    "a fractional stride": (changed("conv", stride=[1, 1.5]), ["'conv'", "stride [1, 1.5]"]),
    "a padding of two": (changed("conv", padding=[1, 1]), ["'conv'", "padding [1, 1]", "4 integers"]),
    "a padding that is nothing": (changed("conv", padding=None), ["'conv'", "padding None"]),
    "an absurd padding": (changed("conv", padding=[-(2**21), 0, 0, 0]), ["'conv'", "-2097152"]),
    "a padding that crops more than there is": (changed("pool", padding=[-9, 0, 0, 0]), ["'pool'", "crops", "-9"]),
    "groups of zero": (changed("conv", groups=0), ["'conv'", "groups 0"]),
    "groups that do not divide": (changed("conv", groups=2), ["'conv'", "divisible", "2"]),
    "other channels than the input's": (changed("conv", in_channels=4), ["'conv'", "in_channels 4", "have 3"]),
    "a convolution a row too high": (changed("conv", out_shape=[1, 6, 9, 8]), ["'conv'", "height 9", "follows 8"]),
    "a pool beyond floor and ceil": (changed("pool", out_shape=[1, 6, 4, 6]), ["'pool'", "width 6", "follows 4"]),
    "a pool of other channels": (changed("pool", out_shape=[1, 5, 4, 4]), ["'pool'", "6 channels", "5"]),
    "an addition of another shape": (changed("add", out_shape=[1, 6, 4, 5]), ["'add'", "4x5x6", "4x4x6"]),
    "an addition of unequal shapes": (changed("add", inputs=["pool", "conv"]), ["'add'", "4x4x6", "8x8x6"]),
    "a softmax of two": (changed("soft", inputs=["qk", "qk"]), ["'soft'", "1 input"]),
    "a softmax of other heads": (changed("soft", out_shape=[1, 5, 5, 2]), ["'soft'", "[1, 5, 5, 2]", "[1, 2, ...]"]),
    "a matmul of one": (changed("qk", inputs=["text"]), ["'qk'", "inputs ['text']", "2"]),
    "heads that do not divide": (changed("qk", out_shape=[1, 3, 5, 5]), ["'qk'", "heads", "3"]),
    "a matmul of another shape": (changed("qk", out_shape=[1, 2, 5, 6]), ["'qk'", "5x1x12", "5x1x10"]),
    "a concat of another shape": (changed("cat", out_shape=[1, 11, 4, 4]), ["'cat'", "[1, 11, 4, 4]", "4x4x12"]),
    "a concat of unequal maps": (changed("cat", inputs=["add", "conv"]), ["'cat'", "4x4", "8x8"]),
    "other features than the input's": (changed("fc", in_features=100), ["'fc'", "in_features 100", "192"]),
    "features that are not the shape's": (changed("fc", out_features=11), ["'fc'", "out_features 11", "10"]),
    "a fully connected layer without features": (without("fc", "in_features"), ["'fc'", "no key 'in_features'"]),
    "a flattening layer that keeps the map": (changed("fc", out_shape=[1, 10, 4, 4]), ["'fc'", "height|out_features"]),
    "a pad of another shape": (changed("pad", out_shape=[1, 3, 9, 10]), ["'pad'", "[1, 3, 9, 10]", "10x10x3"]),
    "a pad that nobody reads": (
        appended(name="end", op="pad", inputs=["conv"], out_shape=[1, 6, 9, 8], padding=[1, 0, 0, 0]),
        ["'end'", "no reader"],
    ),
    "a pad that an addition reads": (
        appended(name="sum", op="add", inputs=["pad", "pad"], out_shape=[1, 3, 10, 10]), ["'pad'", "'sum'", "(add)"],
    ),
    "a pad that a pad reads": (
        appended(name="more", op="pad", inputs=["pad"], out_shape=[1, 3, 12, 12], padding=[1, 1, 1, 1]),
        ["'pad'", "'more'", "(pad)"],
    ),
    "a pad beside another input": (changed("conv", inputs=["pad", "pad"]), ["'conv'", "'pad'", "alone"]),
    "a padding that crops what a pad adds": (changed("conv", padding=[-1, 0, 0, 0]), ["'conv'", "padding -1", "(1)"]),
    "an embedding of a layer": (appended(**embed("table", ["conv"])), ["'table'", "'conv'", "model inputs"]),
}  # fmt: skip


def test_the_graph_that_the_cases_change_is_sound():
    assert [layer.name for layer in decode(GRAPH).layers] == ["conv", "pool", "add", "fc", "qk", "soft"]


@pytest.mark.parametrize("case", MALFORMED)
def test_a_malformed_graph_is_named(case):
    content, fragments = MALFORMED[case]
    with pytest.raises(NetworkError) as error:
        decode(content)
    message = str(error.value)
    assert "\n" not in message
    assert len(message) < 400
    missing = [part for part in fragments if not any(option in message for option in part.split("|"))]
    assert missing == [], message


def test_the_message_names_the_file_first(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text(json.dumps(changed("conv", op="conv2d")))
    with pytest.raises(NetworkError) as error:
        load(path)
    assert str(error.value).startswith(f"{path}: node 'conv' has unknown op 'conv2d'")


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ('{"format": "layer-graph/1", "nodes": [{"na', "is not JSON"),
        ("\x00\x01", "is not JSON"),
        ("[" * 100_000, "nests values"),
        ("[1, 2]", "must hold a mapping"),
        ('{"format": NaN}', "NaN"),
        ('{"format": "layer-graph/1", "format": "layer-graph/1"}', "repeats the key 'format'"),
    ],
)
def test_a_file_that_is_no_graph_is_named(tmp_path, text, fragment):
    path = tmp_path / "broken.json"
    path.write_text(text)
    with pytest.raises(NetworkError) as error:
        load(path)
    message = str(error.value)
    assert message.startswith(f"{path}: ")
    assert fragment in message
    assert "\n" not in message


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(NetworkError, match="none.json: cannot be read: No such file"):
        load(tmp_path / "none.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(NetworkError, match="folder.json: cannot be read: Is a directory"):
        load(tmp_path / "folder.json")


def test_a_long_chain_of_nodes_is_no_recursion():
    """5000 additions in a row, and the same as one cycle: named, not a RecursionError."""
    nodes = [GRAPH["nodes"][0]]
    for i in range(5000):
        nodes.append({"name": f"n{i}", "op": "add", "inputs": [nodes[-1]["name"]] * 2, "out_shape": [1, 3, 8, 8]})
    assert len(decode({**GRAPH, "nodes": nodes}).layers) == 5000
    nodes[1] = {**nodes[1], "inputs": ["n4999", "n4999"]}
    with pytest.raises(NetworkError, match=r"'n0'.*cycle: 'n0' -> 'n1' -> .*\.\.\. -> 'n0'"):
        decode({**GRAPH, "nodes": nodes})


def test_concats_cannot_multiply_into_a_bomb():
    """Concats of 4096 parts, read by 300 convolutions: 1.2 million operands."""
    nodes = [{"name": "x", "op": "input", "inputs": [], "out_shape": [1, 1, 1, 1]}]
    for i in range(12):
        nodes.append(
            {"name": f"c{i}", "op": "concat", "inputs": [nodes[-1]["name"]] * 2, "out_shape": [1, 2 ** (i + 1), 1, 1]}
        )
    for i in range(300):
        nodes.append({**GRAPH["nodes"][2], "name": f"r{i}", "inputs": ["c11"], "out_shape": [1, 1, 1, 1],
                      "kernel": [1, 1], "in_channels": 4096})  # fmt: skip
    with pytest.raises(NetworkError, match="more than 1048576 edges"):
        decode({**GRAPH, "nodes": nodes})


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 300), st.floats(), st.text(max_size=3), st.just(10**5000),
    st.lists(st.integers(-2, 9), max_size=5), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
    st.sampled_from(["image", "conv", "pad", "concat", "matmul", "embed", "n0", "first"]),
)  # fmt: skip


@QUICK
@given(networks(), st.data())
def test_a_graph_with_junk_in_it_is_read_or_named(network, data):
    """Whatever stands in one place of a graph: a network, or a NetworkError of one line; nothing else."""
    content = encode(network)
    node = data.draw(st.sampled_from([content, *content["nodes"]]))
    key = data.draw(st.sampled_from(sorted(node)))
    if data.draw(st.booleans()) and isinstance(node[key], list) and node[key]:
        node[key][data.draw(st.integers(0, len(node[key]) - 1))] = data.draw(JUNK)
    else:
        node[key] = data.draw(JUNK)
    try:
        again = encode(decode(content))
    except NetworkError as error:
        assert "\n" not in str(error) and len(str(error)) < 800
    else:
        assert decode(again) == decode(content)
