"""layer-graph/1: what is read from a file written by hand, and that writing and reading are inverse."""

import json

import pytest
from hypothesis import given

import workloads
from tests.helpers.random_networks import QUICK, networks
from workloads.errors import NetworkError
from workloads.importing.layer_graph.files import decode, encode, write
from workloads.loading import load
from workloads.network.builder import Builder
from workloads.network.layers.layer import Concat, Layer, Tensor
from workloads.network.network import Network


def node(name, op, inputs, out_shape, **more):
    return {"name": name, "op": op, "inputs": inputs, "out_shape": out_shape, **more}


def conv(name, inputs, out_shape, in_channels, kernel=1, stride=1, padding=(0, 0, 0, 0), dilation=1, groups=1):
    return node(
        name, "conv", inputs, out_shape, kernel=[kernel] * 2, stride=[stride] * 2, padding=list(padding),
        dilation=[dilation] * 2, groups=groups, in_channels=in_channels,
    )  # fmt: skip


def pool(name, inputs, out_shape, kernel, stride, padding=(0, 0, 0, 0), op="maxpool"):
    return node(name, op, inputs, out_shape, kernel=[kernel] * 2, stride=[stride] * 2, padding=list(padding))


IMAGE = node("image", "input", [], [1, 3, 8, 8])
TEXT = node("text", "input", [], [1, 10, 16])


def graph(*nodes):
    return {"format": "layer-graph/1", "name": "net", "nodes": list(nodes)}


@pytest.mark.parametrize("told", ["of ours", 3, None, [], ["one"], [{"node": "a"}], [{"node": 1, "op": "", "how": ""}]])
def test_a_key_notes_of_another_program_is_ignored(told):
    assert not decode(graph(IMAGE, conv("c", ["image"], [1, 4, 8, 8], 3)) | {"notes": told}).notes


def layers(*nodes):
    return {layer.name: layer for layer in decode(graph(*nodes)).layers}


@pytest.mark.parametrize("name", workloads.names())
def test_the_built_in_networks_come_back_equal(tmp_path, name):
    network = workloads.load(name)
    path = tmp_path / "network.json"
    write(network, path)
    assert load(path) == network


@QUICK
@given(networks())
def test_random_networks_come_back_equal(network):
    assert decode(json.loads(json.dumps(encode(network)))) == network


def test_the_file_has_one_node_per_line(tmp_path):
    path = tmp_path / "network.json"
    write(workloads.load("vgg16"), path)
    lines = path.read_text().splitlines()
    assert lines[0] == '{"format": "layer-graph/1", "name": "vgg16", "nodes": ['
    assert len(lines) == 1 + 22 + 1
    assert json.loads(lines[2].rstrip(",")) == conv("conv1_1", ["image"], [1, 64, 224, 224], 3, 3, 1, (1, 1, 1, 1))


def test_shapes_are_written_as_people_know_them():
    """[1, C, H, W] of a map, [1, D] of a classifier, [1, L, D] of a sequence, [1, heads, L, M] of attention."""
    b = Builder("net")
    x = b.input("image", 8, 8, 3)
    mean = b.global_avgpool("mean", b.maxpool("pool", x, 2))
    b.fc("fc", mean, 10)
    text = b.input("text", 5, 1, 16)
    b.softmax("four", b.matmul("scores", text, b.fc("k", text, 16), heads=4, transpose=True))
    b.softmax("one", b.matmul("single", text, text, transpose=True))
    written = {entry["name"]: entry for entry in encode(b.build())["nodes"]}
    assert {name: entry["out_shape"] for name, entry in written.items()} == {
        "image": [1, 3, 8, 8], "pool": [1, 3, 4, 4], "mean": [1, 3, 1, 1], "fc": [1, 10], "text": [1, 5, 16],
        "k": [1, 5, 16], "scores": [1, 4, 5, 5], "four": [1, 4, 5, 5], "single": [1, 5, 5], "one": [1, 5, 5],
    }  # fmt: skip
    assert written["pool"] == pool("pool", ["image"], [1, 3, 4, 4], 2, 2)
    assert written["fc"] == node("fc", "fc", ["mean"], [1, 10], in_features=3, out_features=10)


def test_a_dilated_pool_comes_back_equal():
    image = Tensor("image", 8, 8, 4)
    dilated = Layer("pool", "maxpool", ("image",), 4, 4, 4, 4, (3, 3), (1, 1), (0, 0, 0, 0), (2, 2))
    network = Network("net", (image,), (dilated,))
    assert decode(encode(network)) == network


def test_every_op_is_read(tmp_path):
    """One network with all of them; the extents are those of out_shape, [1, C, H, W] or [1, L, D]."""
    content = graph(
        IMAGE,
        TEXT,
        conv("conv", ["image"], [1, 4, 4, 4], 3, 3, 2, (0, 0, 1, 1)),
        pool("max", ["conv"], [1, 4, 2, 2], 2, 2),
        pool("avg", ["conv"], [1, 4, 2, 2], 3, 1, op="avgpool"),
        node("add", "add", ["max", "avg"], [1, 4, 2, 2]),
        node("mul", "mul", ["add", "add"], [1, 4, 2, 2]),
        node("lrn", "lrn", ["mul"], [1, 4, 2, 2]),
        node("fc", "fc", ["lrn"], [1, 10], in_features=16, out_features=10),
        node("q", "fc", ["text"], [1, 10, 16], in_features=16, out_features=16),
        node("qk", "matmul", ["q", "text"], [1, 4, 10, 10]),
        node("soft", "softmax", ["qk"], [1, 4, 10, 10]),
        node("pv", "matmul", ["soft", "text"], [1, 4, 10, 4]),
        node("norm", "layernorm", ["pv"], [1, 4, 10, 4]),
        node("out", "fc", ["norm"], [1, 10, 16], in_features=16, out_features=16),
    )
    path = tmp_path / "all.json"
    path.write_text(json.dumps(content))
    network = workloads.load(path)
    assert [layer.op for layer in network.layers] == [entry["op"] for entry in content["nodes"][2:]]
    found = {layer.name: layer for layer in network.layers}
    assert found["conv"] == Layer("conv", "conv", ("image",), 4, 4, 4, 3, (3, 3), (2, 2), (0, 0, 1, 1))
    assert found["fc"] == Layer("fc", "fc", ("lrn",), 1, 1, 10, 4, (2, 2))
    assert found["q"] == Layer("q", "fc", ("text",), 10, 1, 16, 16)
    assert found["qk"] == Layer("qk", "matmul", ("q", "text"), 10, 1, 40, 16, groups=4, whole=(1,))
    assert found["soft"] == Layer("soft", "softmax", ("qk",), 10, 1, 40, 40)
    assert found["pv"] == Layer("pv", "matmul", ("soft", "text"), 10, 1, 16, 40, groups=4, whole=(1,))
    assert decode(encode(network)) == network


def test_a_matmul_of_three_extents_has_one_head():
    found = layers(TEXT, node("qk", "matmul", ["text", "text"], [1, 10, 10]))
    assert (found["qk"].groups, found["qk"].channels, found["qk"].macs) == (1, 10, 10 * 10 * 16)


@pytest.mark.parametrize("op", ["conv", "conv_transpose"])
def test_a_convolution_may_leave_out_stride_padding_dilation_and_groups(op):
    """They are 1, 0, 1 and 1: all of them written out, one left out, or none there, it is the same network."""
    keys = {"stride": [1, 1], "padding": [0, 0, 0, 0], "dilation": [1, 1], "groups": 1}
    more = {"upsample": [1, 1]} if op == "conv_transpose" else {}

    def read_with(given):
        content = node("c", op, ["x"], [1, 4, 6, 6], kernel=[3, 3], in_channels=3, **given, **more)
        return decode(graph(node("x", "input", [], [1, 3, 8, 8]), content))

    written = read_with(keys)
    layer = written.layers[0]
    assert (layer.stride, layer.padding, layer.dilation, layer.groups) == ((1, 1), (0, 0, 0, 0), (1, 1), 1)
    assert read_with({}) == written
    for key in keys:
        assert read_with({name: value for name, value in keys.items() if name != key}) == written


def test_a_pool_may_not_leave_out_its_stride_or_padding():
    for key in ("stride", "padding"):
        given = {"kernel": [2, 2], "stride": [2, 2], "padding": [0, 0, 0, 0]}
        del given[key]
        with pytest.raises(NetworkError, match=f"node 'p' \\(maxpool\\) has no key '{key}'"):
            decode(graph(node("x", "input", [], [1, 3, 8, 8]), node("p", "maxpool", ["x"], [1, 3, 4, 4], **given)))


def test_a_pad_goes_into_its_readers():
    """8 + 1 + 2 rows: (11 - 3) / 2 + 1 = 5; the pool crops one row and column of the padded map's rim."""
    found = layers(
        IMAGE,
        node("pad", "pad", ["image"], [1, 3, 11, 11], padding=[1, 1, 2, 2]),
        conv("conv", ["pad"], [1, 4, 5, 5], 3, 3, 2),
        pool("pool", ["pad"], [1, 3, 5, 5], 2, 2, (0, 0, 0, 0)),
        conv("more", ["pad"], [1, 4, 13, 13], 3, 1, 1, (1, 1, 1, 1)),
    )
    assert found["conv"].inputs == ("image",)
    assert found["conv"].padding == (1, 1, 2, 2)
    assert found["pool"].padding == (1, 1, 2, 2)
    assert found["more"].padding == (2, 2, 3, 3)


def test_a_negative_pad_crops():
    found = layers(
        IMAGE,
        node("crop", "pad", ["image"], [1, 3, 8, 8], padding=[-1, -1, 1, 1]),
        pool("pool", ["crop"], [1, 3, 4, 4], 1, 2, op="avgpool"),
    )
    assert found["pool"] == Layer("pool", "avgpool", ("image",), 4, 4, 3, 3, (1, 1), (2, 2), (-1, -1, 1, 1))


def test_a_pad_may_read_a_concat_which_still_dissolves():
    network = decode(
        graph(
            IMAGE,
            conv("conv", ["image"], [1, 4, 8, 8], 3),
            node("cat", "concat", ["conv", "image"], [1, 7, 8, 8]),
            node("pad", "pad", ["cat"], [1, 7, 10, 10], padding=[1, 1, 1, 1]),
            conv("last", ["pad"], [1, 2, 8, 8], 7, 3),
        )
    )
    assert network.layers[1].inputs == ("conv", "image")
    assert network.concats == (Concat("cat", ("conv", "image"), 1),)


def test_ceil_mode_follows_from_the_declared_shape():
    """7 rows, 2x2 stride 2: 3 or 4."""
    seven = node("image", "input", [], [1, 3, 7, 7])
    assert layers(seven, pool("pool", ["image"], [1, 3, 3, 3], 2, 2))["pool"].height == 3
    assert layers(seven, pool("pool", ["image"], [1, 3, 4, 4], 2, 2))["pool"].height == 4
    assert layers(seven, pool("pool", ["image"], [1, 3, 4, 3], 2, 2))["pool"].width == 3


def test_a_concat_read_by_an_addition_is_a_layer_for_all():
    network = decode(
        graph(
            IMAGE,
            conv("a", ["image"], [1, 4, 8, 8], 3),
            node("cat", "concat", ["a", "a"], [1, 8, 8, 8]),
            node("sum", "add", ["cat", "cat"], [1, 8, 8, 8]),
            conv("last", ["cat"], [1, 2, 8, 8], 8),
        )
    )
    assert network.layers[1] == Layer("cat", "concat", ("a", "a"), 8, 8, 8, 8)
    assert network.layers[3].inputs == ("cat",)
    assert network.concats == ()


def test_an_embedding_is_a_model_input_and_drops_its_own():
    network = decode(
        graph(
            node("ids", "input", [], [1, 10]),
            node("mask", "input", [], [1, 10, 16]),
            node("tokens", "embed", ["ids"], [1, 10, 16]),
            node("positions", "embed", [], [1, 10, 16]),
            node("sum", "add", ["tokens", "positions", "mask"], [1, 10, 16]),
        )
    )
    assert network.inputs == (Tensor("mask", 10, 1, 16), Tensor("tokens", 10, 1, 16), Tensor("positions", 10, 1, 16))


def test_broadcast_operands_are_needed_whole():
    found = layers(
        IMAGE,
        pool("mean", ["image"], [1, 3, 1, 1], 8, 8, op="avgpool"),
        conv("gray", ["image"], [1, 1, 8, 8], 3),
        node("scale", "mul", ["image", "mean", "gray"], [1, 3, 8, 8]),
    )
    assert found["scale"].whole == (1,)


def test_information_for_people_is_ignored():
    plain = graph(IMAGE, conv("conv", ["image"], [1, 4, 8, 8], 3))
    noted = graph({**IMAGE, "fused": ["relu"], "outputs": 3}, {**plain["nodes"][1], "macs": -1, "weight_bytes": None})
    noted["made_by"] = {"hand": True}
    assert decode(noted) == decode(plain)


def test_a_product_of_maps_says_its_heads_beside_its_shape():
    """2x2 positions in 2 heads: scores of 2x2x8, softmax of them."""
    maps = Tensor("maps", 2, 2, 4)
    scores = Layer("scores", "matmul", ("maps", "maps"), 2, 2, 8, 4, groups=2, whole=(1,))
    network = Network("net", (maps,), (scores, Layer("softmax", "softmax", ("scores",), 2, 2, 8, 8)))
    nodes = encode(network)["nodes"]
    assert (nodes[1]["out_shape"], nodes[1]["heads"]) == ([1, 8, 2, 2], 2)
    assert decode(encode(network)) == network


def test_convolutions_of_several_producers_need_no_concat():
    network = decode(graph(IMAGE, conv("a", ["image"], [1, 4, 8, 8], 3), conv("b", ["a", "image"], [1, 2, 8, 8], 7)))
    assert network.layers[1].in_channels == 7
    assert decode(encode(network)) == network
