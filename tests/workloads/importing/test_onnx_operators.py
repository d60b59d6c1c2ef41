"""What each operator of ONNX becomes: small models, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

import workloads
from tests.helpers.onnx_graphs import Graph, TensorProto, helper
from workloads import NetworkError


def layers(tmp_path, graph, *outputs, **options):
    """Return the layers by name."""
    network = workloads.load(graph.save(tmp_path, *outputs), **options)
    return {layer.name: layer for layer in network.layers}


def image(graph, height=8, width=8, channels=4):
    return graph.input("x", "N", channels, height, width)


def test_what_belongs_to_a_convolution_is_folded(tmp_path):
    g = Graph()
    conv = g.node("Conv", image(g), g.weight(16, 4, 3, 3), g.weight(16), pads=[1, 1, 1, 1])
    norm = g.node("BatchNormalization", conv, *(g.weight(16) for _ in range(4)))
    scaled = g.node("Add", g.node("Mul", norm, g.weight(16, 1, 1)), g.weight(16, 1, 1))
    out = g.node("Identity", g.node("Dropout", g.node("Cast", g.node("Relu", scaled), to=1)))
    network = workloads.load(g.save(tmp_path, out))
    assert [layer.name for layer in network.layers] == [conv]
    assert [note.op for note in network.notes if note.how == "folded"] == [
        "BatchNormalization", "Mul", "Add", "Relu", "Cast", "Dropout", "Identity",
    ]  # fmt: skip
    assert network.inputs[0].height == 8 and network.weight_bytes == 16 * 4 * 9


@pytest.mark.parametrize(
    ("shape", "attributes", "expected"),
    [
        ((16, 4, 3, 3), {"strides": [2, 2], "pads": [0, 1, 1, 1]}, (4, 4, 16)),  # (8 + 1 - 3) // 2 + 1; asymmetric
        ((16, 4, 3, 3), {"dilations": [2, 2]}, (4, 4, 16)),  # reach 5
        ((4, 1, 3, 3), {"group": 4}, (6, 6, 4)),
        ((8, 2, 1, 1), {"group": 2}, (8, 8, 8)),
        ((16, 4, 4, 4), {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, (4, 4, 16)),
        ((16, 4, 3, 3), {"auto_pad": "VALID"}, (6, 6, 16)),
    ],
)
def test_convolutions_of_two_dimensions(tmp_path, shape, attributes, expected):
    g = Graph()
    (layer,) = layers(tmp_path, g, g.node("Conv", image(g), g.weight(*shape), **attributes)).values()
    assert (layer.height, layer.width, layer.channels) == expected


def test_the_odd_padding_goes_after_or_before(tmp_path):
    """Kernel 4, stride 2 on 8: (4 - 1) 2 + 4 - 8 = 2 in total for 8, 3 for 7."""
    for auto, sides in (("SAME_UPPER", (1, 2)), ("SAME_LOWER", (2, 1))):
        g = Graph()
        conv = g.node("Conv", image(g, 7, 7), g.weight(4, 4, 4, 4), auto_pad=auto, strides=[2, 2])
        layer = layers(tmp_path, g, conv)[conv]
        assert (layer.padding[0], layer.padding[2]) == sides


def test_a_convolution_of_one_dimension_runs_along_rows(tmp_path):
    g = Graph()
    conv = g.node("Conv", g.input("x", 1, 40, 100), g.weight(64, 40, 5), pads=[2, 2], strides=[2])
    network = workloads.load(g.save(tmp_path, conv))
    layer = network.layers[0]
    assert (layer.height, layer.width, layer.channels, layer.kernel) == (50, 1, 64, (5, 1))
    assert (network.inputs[0].height, network.inputs[0].channels) == (100, 40)


def test_a_transposed_convolution_and_resizes(tmp_path):
    g = Graph()
    up = g.node("ConvTranspose", image(g), g.weight(4, 8, 4, 4), strides=[2, 2], pads=[1, 1, 1, 1])
    scale = g.node("Resize", up, "", g.numbers(1.0, 1.0, 1.5, 2.0), mode="linear")
    size = g.node("Resize", scale, "", "", g.numbers(1, 8, 48, 16), mode="nearest")
    found = layers(tmp_path, g, size)
    assert (found[up].height, found[up].macs) == (16, 8 * 8 * 16 * 4 * 8)
    assert (found[scale].height, found[scale].width, found[scale].upsample) == (24, 32, (3, 2))
    assert (found[size].height, found[size].width, found[size].stride) == (48, 16, (1, 2))


def test_pools_with_ceil_mode_and_global_pools(tmp_path):
    g = Graph()
    pool = g.node("MaxPool", image(g), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1)
    average = g.node("AveragePool", pool, kernel_shape=[2, 2], strides=[2, 2])
    out = g.node("GlobalAveragePool", average)
    found = layers(tmp_path, g, out)
    assert [(layer.op, layer.height, layer.kernel) for layer in found.values()] == [
        ("maxpool", 4, (3, 3)), ("avgpool", 2, (2, 2)), ("avgpool", 1, (2, 2)),
    ]  # fmt: skip


def test_padding_goes_into_the_convolution_that_reads_it_or_stays(tmp_path):
    g = Graph()
    padded = g.node("Pad", image(g), g.numbers(0, 0, 1, 2, 0, 0, 3, 4))
    conv = g.node("Conv", padded, g.weight(8, 4, 3, 3), pads=[1, 1, 1, 1])
    alone = g.node("Sigmoid", g.node("Pad", conv, g.numbers(0, 0, 1, 1, 0, 0, 1, 1)))
    found = layers(tmp_path, g, alone)
    assert found[conv].padding == (2, 3, 4, 5)
    assert [(layer.op, layer.height, layer.padding) for layer in found.values()][1] == ("maxpool", 14, (1, 1, 1, 1))


def test_gelu_is_free_and_a_layernorm_made_of_pieces_is_one_layer(tmp_path):
    """x erf-GELU: x * 0.5 * (1 + erf(x / sqrt 2)); (x - mean) / sqrt(var + eps) * gamma + beta; RMS norm as well."""
    g = Graph()
    dense = g.node("MatMul", g.input("x", 1, 5, 16), g.weight(16, 32))
    bell = g.node("Add", g.node("Erf", g.node("Div", dense, g.numbers(1.4))), g.numbers(1.0))
    gelu = g.node("Mul", g.node("Mul", dense, bell), g.numbers(0.5))
    off = g.node("Sub", gelu, g.node("ReduceMean", gelu, axes=[-1]))
    variance = g.node("ReduceMean", g.node("Pow", off, g.numbers(2.0)), axes=[-1])
    norm = g.node("Div", off, g.node("Sqrt", g.node("Add", variance, g.numbers(1e-5))))
    out = g.node("MatMul", g.node("Add", g.node("Mul", norm, g.weight(32)), g.weight(32)), g.weight(32, 8))
    square = g.node("ReduceMean", g.node("Mul", out, out), axes=[-1])
    rms = g.node("Mul", out, g.node("Reciprocal", g.node("Sqrt", square)))
    found = layers(tmp_path, g, rms)
    assert [layer.op for layer in found.values()] == ["fc", "layernorm", "fc", "layernorm"]


def attention(g, x, features, heads, rows, is_fused, hide=None):
    """Multi-head attention as exporters write it, with a constant mask; hide: what is done to scores in its place."""
    part = features // heads
    if is_fused:
        qkv = g.node("Reshape", g.node("MatMul", x, g.weight(features, 3 * features)),
                     g.numbers(1, rows, 3, heads, part))  # fmt: skip
        turned = g.node("Transpose", qkv, perm=[2, 0, 3, 1, 4])
        query, key, value = (g.node("Gather", turned, g.numbers(i, shape=()), axis=0) for i in range(3))
    else:
        split = [
            g.node("Transpose", g.node("Reshape", g.node("MatMul", x, g.weight(features, features)),
                                       g.numbers(1, -1, heads, part)), perm=[0, 2, 1, 3]) for _ in range(3)
        ]  # fmt: skip
        query, key, value = split
    scores = g.node("MatMul", query, g.node("Transpose", key, perm=[0, 1, 3, 2]))
    scores = g.node("Mul", scores, g.numbers(0.125))
    masked = hide(g, scores, rows) if hide else g.node("Add", scores, g.weight(1, 1, rows, rows))
    context = g.node("MatMul", g.node("Softmax", masked, axis=-1), value)
    joined = g.node("Reshape", g.node("Transpose", context, perm=[0, 2, 1, 3]), g.numbers(1, rows, features))
    return g.node("Add", g.node("MatMul", joined, g.weight(features, features)), x)


@pytest.mark.parametrize("is_fused", [False, True])
def test_attention_is_that_of_the_built_in_transformer(tmp_path, is_fused):
    """A fused qkv projection is one layer for each part; heads, masks and reshapes leave nothing behind."""
    g = Graph()
    out = attention(g, g.input("x", "batch", 6, 16), 16, 4, 6, is_fused)
    found = layers(tmp_path, g, out)
    assert [layer.op for layer in found.values()] == ["fc", "fc", "fc", "matmul", "softmax", "matmul", "fc", "add"]
    projections = [layer for layer in found.values() if layer.op == "fc"]
    assert {(layer.channels, layer.in_channels, layer.inputs) for layer in projections[:3]} == {(16, 16, ("x",))}
    scores, context = (layer for layer in found.values() if layer.op == "matmul")
    assert (scores.height, scores.channels, scores.groups, scores.macs) == (6, 24, 4, 6 * 6 * 16)
    assert (context.height, context.channels, context.groups, context.macs) == (6, 16, 4, 6 * 6 * 16)


def added(g, scores, rows):
    """A window of 3, in numbers that are added."""
    numbers = [0.0 if query - 3 < key <= query else -1e9 for query in range(rows) for key in range(rows)]
    return g.node("Add", scores, g.numbers(*numbers, shape=(1, 1, rows, rows)))


def chosen(g, scores, rows):
    """The same, computed from positions by the graph itself."""
    keys = g.node("Range", g.numbers(0, shape=()), g.numbers(rows, shape=()), g.numbers(1, shape=()))
    queries = g.node("Reshape", keys, g.numbers(rows, 1))
    near = g.node("Greater", keys, g.node("Sub", queries, g.numbers(3)))
    seen = g.node("And", g.node("LessOrEqual", keys, queries), near)
    return g.node("Where", seen, scores, g.numbers(float("-inf")))


def lowered(g, scores, rows):
    """The same, as torch exports it: the lower triangle of ones, without what lies further below."""
    ones = g.node("ConstantOfShape", g.numbers(rows, rows), value=helper.make_tensor("", 1, [1], [1.0]))
    lower, far = (g.node("Trilu", ones, g.numbers(below, shape=()), upper=0) for below in (0, -3))
    seen = g.node("Equal", g.node("Sub", lower, far), g.numbers(1.0))
    return g.node("Add", scores, g.node("Where", seen, g.numbers(0.0), g.numbers(float("-inf"))))


@pytest.mark.parametrize("hide", [added, chosen, lowered])
def test_an_attention_has_the_mask_that_is_made_of_positions(tmp_path, hide):
    """6 queries see 1, 2, 3, 3, 3 and 3 keys."""
    g = Graph()
    path = g.save(tmp_path, attention(g, g.input("x", "batch", 6, 16), 16, 4, 6, True, hide))
    network = workloads.load(path)
    masked = [layer for layer in network.layers if layer.mask]
    assert [layer.op for layer in masked] == ["matmul", "softmax", "matmul"]
    assert [(layer.macs, layer.light_ops) for layer in masked] == [(15 * 16, 0), (0, 15 * 4), (15 * 16, 0)]
    assert [(note.op, note.how) for note in network.notes if note.how == "masked"] == [("window 3", "masked")]
    assert not any(layer.mask for layer in workloads.load(path, masks="none").layers)


def test_a_map_becomes_a_sequence_without_a_layer(tmp_path):
    """[1, C, H, W] -> [1, C, HW] -> [1, HW, C]: positions stay rows and columns of the map, in their order."""
    g = Graph()
    patches = g.node("Conv", image(g, 16, 16, 3), g.weight(16, 3, 4, 4), strides=[4, 4])
    tokens = g.node("Transpose", g.node("Reshape", patches, g.numbers(1, 16, -1)), perm=[0, 2, 1])
    found = layers(tmp_path, g, attention(g, g.node("Add", tokens, g.weight(1, 16, 16)), 16, 2, 16, True))
    assert [layer.op for layer in found.values()] == [
        "conv", "add", "fc", "fc", "fc", "matmul", "softmax", "matmul", "fc", "add",
    ]  # fmt: skip  # the first sum is that with the table of positions, which is read
    assert all((layer.height, layer.width) == (4, 4) for layer in found.values())


def test_a_class_token_in_front_of_a_map_rearranges_it_and_is_cut_off_again(tmp_path):
    g = Graph()
    patches = g.node("Conv", image(g, 16, 16, 3), g.weight(16, 3, 4, 4), strides=[4, 4])
    tokens = g.node("Transpose", g.node("Reshape", patches, g.numbers(1, 16, -1)), perm=[0, 2, 1])
    joined = g.node("Concat", g.weight(1, 1, 16), tokens, axis=1)
    first = g.node("Gather", g.node("MatMul", joined, g.weight(16, 16)), g.numbers(0, shape=()), axis=1)
    found = list(layers(tmp_path, g, g.node("Gemm", first, g.weight(10, 16), transB=1)).values())
    assert [layer.op for layer in found] == ["conv", "rearrange", "fc", "slice", "fc"]
    assert (found[1].height, found[1].width, found[1].whole) == (17, 1, (0, 1))
    assert (found[3].height, found[3].padding) == (1, (0, 0, -16, 0))
    assert (found[4].in_channels, found[4].channels) == (16, 10)


def test_windows_are_blocks_of_positions(tmp_path):
    """Windows of 2x2 out of a 4x4 map, each multiplied with itself: no copy, 4 blocks of 4 positions."""
    g = Graph()
    x = g.node("Conv", image(g, 4, 4, 4), g.weight(4, 4, 1, 1))
    six = g.node("Reshape", x, g.numbers(1, 4, 2, 2, 2, 2))
    windows = g.node("Reshape", g.node("Transpose", six, perm=[0, 2, 4, 3, 5, 1]), g.numbers(4, 4, 4))
    scores = g.node("MatMul", windows, g.node("Transpose", windows, perm=[0, 2, 1]))
    found = list(layers(tmp_path, g, scores).values())
    assert [layer.op for layer in found] == ["conv", "matmul"]
    assert found[-1].blocks == 4 and found[-1].macs == 4 * 4 * 4 * 4


def test_a_channel_shuffle_is_free(tmp_path):
    g = Graph()
    x = g.node("Reshape", image(g, 4, 4, 6), g.numbers(1, 2, 3, 4, 4))
    mixed = g.node("Reshape", g.node("Transpose", x, perm=[0, 2, 1, 3, 4]), g.numbers(1, 6, 4, 4))
    found = layers(tmp_path, g, g.node("Conv", mixed, g.weight(6, 1, 3, 3), group=6))
    assert [layer.op for layer in found.values()] == ["conv"]


def test_channels_are_joined_split_and_cut(tmp_path):
    g = Graph()
    x = image(g)
    a = g.node("Conv", x, g.weight(8, 4, 1, 1))
    first, second = g.node("Split", a, g.numbers(3, 5), outputs=2, axis=1)
    both = g.node("Concat", g.node("Conv", first, g.weight(4, 3, 1, 1)), second, x, axis=1)
    out = g.node("Slice", g.node("Conv", both, g.weight(8, 13, 1, 1)), g.numbers(0), g.numbers(6), g.numbers(1))
    found = layers(tmp_path, g, out)
    assert [(layer.op, layer.channels) for layer in found.values()] == [
        ("conv", 3), ("conv", 5), ("conv", 4), ("conv", 8), ("slice", 6),
    ]  # fmt: skip
    assert [layer.inputs for layer in found.values()][:2] == [("x",), ("x",)]


def test_every_second_channel_is_a_slice(tmp_path):
    """Rotary embeddings: (x1 cos - x2 sin, x2 cos + x1 sin) of the even and the odd channels of each head."""
    g = Graph()
    x = g.node("MatMul", g.input("x", 1, 5, 16), g.weight(16, 16))
    heads = g.node("Reshape", x, g.numbers(1, 5, 2, 8))
    even, odd = (g.node("Slice", heads, g.numbers(i), g.numbers(8), g.numbers(-1), g.numbers(2)) for i in range(2))
    turned = g.node("Concat", g.node("Neg", odd), even, axis=-1)
    out = g.node("Add", g.node("Mul", heads, g.weight(8)), g.node("Mul", turned, g.weight(8)))
    found = list(layers(tmp_path, g, out).values())
    assert [(layer.op, layer.channels) for layer in found] == [
        ("fc", 16), ("slice", 8), ("slice", 8), ("concat", 16), ("add", 16),
    ]  # fmt: skip


def test_shapes_are_computed_by_the_graph_itself(tmp_path):
    """Reshape to (Shape(x)[0], -1), as exporters of PyTorch write flatten."""
    g = Graph()
    x = g.node("Relu", image(g, 2, 3, 4))
    batch = g.node("Gather", g.node("Shape", x), g.numbers(0, shape=()), axis=0)
    shape = g.node("Concat", g.node("Unsqueeze", batch, g.numbers(0)), g.numbers(-1), axis=0)
    out = g.node("Gemm", g.node("Reshape", x, shape), g.weight(24, 10))
    (layer,) = layers(tmp_path, g, out).values()
    assert (layer.op, layer.kernel, layer.weight_bytes) == ("fc", (2, 3), 240)


def test_an_embedding_and_a_table_of_positions_are_model_inputs(tmp_path):
    g = Graph()
    tokens = g.input("tokens", 1, 7, kind=TensorProto.INT64)
    mask = g.node("Cast", g.input("mask", 1, 1, 1, 7, kind=TensorProto.INT64), to=1)
    words = g.node("Gather", g.weight(100, 16), tokens)
    places = g.node("Gather", g.weight(7, 16), g.numbers(*range(7)))
    x = g.node("Mul", g.node("Add", words, places), g.node("Reshape", mask, g.numbers(1, 7, 1)))
    network = workloads.load(g.save(tmp_path, g.node("MatMul", x, g.weight(16, 4))))
    assert [(t.name, t.height, t.channels) for t in network.inputs] == [(words, 7, 16), ("w1", 7, 16)]
    assert [layer.op for layer in network.layers] == ["add", "fc"]


def test_a_gate_is_broadcast(tmp_path):
    g = Graph()
    x = g.node("Conv", image(g), g.weight(8, 4, 1, 1))
    gate = g.node("Sigmoid", g.node("Conv", g.node("ReduceMean", x, axes=[2, 3]), g.weight(8, 8, 1, 1)))
    out = g.node("Mul", x, gate)
    found = layers(tmp_path, g, out)
    assert [layer.op for layer in found.values()] == ["conv", "avgpool", "conv", "mul"]
    assert found[out].whole == (1,)


def test_only_what_the_outputs_need_is_kept(tmp_path):
    g = Graph()
    x = image(g)
    kept, _ = g.node("Conv", x, g.weight(8, 4, 1, 1)), g.node("Conv", x, g.weight(9, 4, 1, 1))
    assert list(layers(tmp_path, g, kept)) == [kept]


def test_an_unknown_operator_is_named_or_hands_its_input_on(tmp_path):
    g = Graph()
    odd = g.node("NonMaxSuppressionOfMine", g.node("Conv", image(g), g.weight(8, 4, 1, 1)))
    path = g.save(tmp_path, g.node("Conv", odd, g.weight(2, 8, 1, 1)))
    with pytest.raises(
        NetworkError, match=r"'nonmaxsuppressionofmine\d' \(NonMaxSuppressionOfMine\): is not understood"
    ) as error:
        workloads.load(path)
    assert "--unsupported passthrough" in str(error.value) and "\n" not in str(error.value)
    network = workloads.load(path, unsupported="passthrough")
    assert len(network.layers) == 2 and "passed" in {note.how for note in network.notes}


def test_symbolic_extents_other_than_the_batch_are_given_or_an_error(tmp_path):
    g = Graph()
    path = g.save(tmp_path, g.node("MatMul", g.input("x", "batch", "words", 16), g.weight(16, 4)))
    with pytest.raises(NetworkError, match="input 'x' with the unknown extent 'words'"):
        workloads.load(path)
    assert workloads.load(path, extents={"words": 9}).layers[0].height == 9


def test_weights_that_are_inputs_of_the_graph_are_weights(tmp_path):
    """Exported without parameters: what has no symbolic batch is one."""
    g = Graph()
    conv = g.node("Conv", g.input("x", "N", 3, 8, 8), g.input("stem.weight", 8, 3, 3, 3))
    out = g.node("Add", conv, g.input("table", 1, 8, 1, 1))
    assert [layer.op for layer in layers(tmp_path, g, out).values()] == ["conv"]


@pytest.mark.parametrize(
    ("sizes", "attributes", "expected"),
    [
        ((31, 7), {"axes": [2, 3]}, (31, 7)),
        ((7, 31), {"axes": [-1, -2]}, (31, 7)),
        ((31, 7), {"axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}, (5, 7)),  # 15 x 20 by 7 / 20: 5.25
        ((31, 7), {"axes": [2, 3], "keep_aspect_ratio_policy": "not_smaller"}, (31, 41)),  # by 31 / 15: 41.3
    ],
)
def test_a_resize_to_sizes_of_some_dimensions(tmp_path, sizes, attributes, expected):
    g = Graph()
    up = g.node("Resize", image(g, 15, 20), "", "", g.numbers(*sizes), **attributes)
    layer = layers(tmp_path, g, up)[up]
    assert (layer.height, layer.width, layer.channels) == (*expected, 4)


def test_scales_are_single_precision_and_so_is_their_product(tmp_path):
    """1.4 is 1.39999998 as a float, but 15 times that is 21, as in PyTorch, whose float is a double."""
    g = Graph()
    up = g.node("Resize", image(g, 15, 10), "", g.numbers(1.0, 1.0, 1.4, 0.7))
    layer = layers(tmp_path, g, up)[up]
    assert (layer.height, layer.width) == (21, 7)


@pytest.mark.parametrize("axes", [[2], [2, 2], [2, 7]])
def test_sizes_that_do_not_belong_to_the_dimensions_are_refused(tmp_path, axes):
    g = Graph()
    up = g.node("Resize", image(g), "", "", g.numbers(16, 16), axes=axes)
    with pytest.raises(NetworkError, match="has 2 sizes or scales for the dimensions"):
        layers(tmp_path, g, up)


def test_a_kernel_that_is_not_that_of_the_weights_is_refused(tmp_path):
    g = Graph()
    conv = g.node("Conv", image(g), g.weight(4, 4, 3, 3), kernel_shape=[5, 5])
    with pytest.raises(NetworkError, match=r"has kernel_shape \[5, 5\] and weights of \[3, 3\]"):
        layers(tmp_path, g, conv)


def test_a_name_that_two_nodes_make_is_no_cycle(tmp_path):
    g = Graph()
    out = g.node("Relu", g.node("Relu", image(g)))
    g.nodes[1].output[0] = g.nodes[0].output[0]
    with pytest.raises(NetworkError, match=f"defines '{g.nodes[0].output[0]}' twice"):
        layers(tmp_path, g, out)


@pytest.mark.parametrize("op", ["Expand", "Tile"])
def test_a_pooled_map_that_is_repeated_over_all_positions_is_a_resize(tmp_path, op):
    g = Graph()
    x = image(g, 6, 5)
    pool = g.node("GlobalAveragePool", x)
    every = g.node(op, pool, g.numbers(1, 4 if op == "Expand" else 1, 6, 5))
    found = layers(tmp_path, g, g.node("Conv", g.node("Concat", every, x, axis=1), g.weight(3, 8, 1, 1)))
    assert [(layer.op, layer.height, layer.width) for layer in found.values()] == [
        ("avgpool", 1, 1), ("resize", 6, 5), ("conv", 6, 5),
    ]  # fmt: skip


def test_a_pool_over_time_has_frames(tmp_path):
    """8 frames of 6 x 6, windows of 2 x 2 x 2 that touch: 4 frames of 3 x 3."""
    g = Graph()
    clip = g.input("x", "N", 4, 8, 6, 6)
    found = layers(tmp_path, g, g.node("MaxPool", clip, kernel_shape=[2, 2, 2], strides=[2, 2, 2]))
    (layer,) = found.values()
    assert (layer.op, layer.height, layer.width, layer.channels) == ("maxpool", 12, 3, 4)
    assert (layer.frames.count, layer.frames.kernel, layer.frames.outputs) == (8, 2, 4)


@pytest.mark.parametrize(
    ("kinds", "name"), [((10,), "fp16"), ((16,), "bf16"), ((1,), "int8"), ((10, 1), "int8")], ids=str
)
def test_16_bits_are_priced_as_such_where_all_matrices_have_them(tmp_path, kinds, name):
    g = Graph()
    y = g.input("x", 1, 16)
    for kind in kinds:
        y = g.node("MatMul", y, g.weight(16, 16))
        g.stored[-1].data_type = kind
    network = workloads.load(g.save(tmp_path, y))
    assert network.number_types()["weights"] == network.number_types()["activations"] == (name,)
    assert network.weight_bytes == len(kinds) * 256 * (1 if name == "int8" else 2)


@pytest.mark.parametrize("is_turned", [False, True])
def test_causal_padding_is_that_of_the_convolution(tmp_path, is_turned):
    """Two zeros before a sequence, in either order of its dimensions, and an activation: rows of the window."""
    g = Graph()
    x = g.node("Conv", g.input("x", 1, 4, 32), g.weight(8, 4, 1))
    if is_turned:
        x = g.node("Pad", g.node("Transpose", x, perm=[0, 2, 1]), g.numbers(0, 2, 0, 0, 0, 0))
        x = g.node("Transpose", g.node("Relu", x), perm=[0, 2, 1])
    else:
        x = g.node("Relu", g.node("Pad", x, g.numbers(0, 0, 2, 0, 0, 0)))
    found = list(layers(tmp_path, g, g.node("Conv", x, g.weight(8, 8, 3))).values())
    assert [layer.op for layer in found] == ["conv", "conv"] and found[1].padding == (2, 0, 0, 0)


def test_rows_that_change_places_and_back_are_the_map(tmp_path):
    g = Graph()
    x = g.node("Conv", image(g, 6, 6, 4), g.weight(4, 4, 1, 1))
    for count in (2, 4):
        last = g.node("Slice", x, g.numbers(count), g.numbers(6), g.numbers(2))
        first = g.node("Slice", x, g.numbers(0), g.numbers(count), g.numbers(2))
        x = g.node("Conv", g.node("Concat", last, first, axis=2), g.weight(4, 4, 1, 1))
    found = layers(tmp_path, g, g.node("Conv", x, g.weight(4, 4, 3, 3)))
    assert [layer.op for layer in found.values()] == ["conv"] * 4


@pytest.mark.parametrize(("turns", "a", "b"), [
    ({}, (1, 5, 6), (6, 6)), ({"transA": 1}, (1, 6, 5), (6, 6)), ({"transB": 1}, (1, 5, 6), (7, 6)),
    ({"transA": 1, "transB": 1}, (1, 6, 5), (7, 6)), ({"transBatchA": 1}, (5, 1, 6), (6, 7)),
])  # fmt: skip
def test_a_fused_product_takes_its_operands_turned(tmp_path, turns, a, b):
    """Of five rows of 6; square weights tell no difference in shape."""
    g = Graph()
    out = g.node("FusedMatMul", g.input("x", *a), g.weight(*b), domain="com.microsoft", **turns)
    found = layers(tmp_path, g, out)
    assert found[out].macs == 5 * 6 * found[out].channels
    assert [layer.op for layer in found.values()] == ["rearrange"] * ("transA" in turns) + ["fc"]


@pytest.mark.parametrize("groups", [1, 2])
def test_a_kernel_that_the_graph_computes_is_a_product_of_windows(tmp_path, groups):
    """Four kernels of 4 / groups x 3 x 3 on a map of 8 x 8 give 6 x 6."""
    g = Graph()
    x, size = g.input("x", 1, 4, 8, 8), 4 * (4 // groups) * 9
    made = g.node("Conv", g.input("y", 1, 4, 8, 8), g.weight(size, 4, 8, 8))
    kernel = g.node("Reshape", made, g.numbers(4, 4 // groups, 3, 3))
    out = g.node("Conv", x, kernel, group=groups)
    network = workloads.load(g.save(tmp_path, out))
    assert network.macs == size * 4 * 64 + 36 * size


def test_all_unknown_extents_are_named_at_once(tmp_path):
    g = Graph()
    out = g.node("Add", g.node("MatMul", g.input("x", 1, "words", 8), g.weight(8, 8)), g.input("y", 1, None, 8))
    match = r"'x' with the unknown extent 'words' and the input 'y' .* --extent words=N --extent y.1=N"
    with pytest.raises(NetworkError, match=match):
        workloads.load(g.save(tmp_path, out))


def test_nodes_of_a_graph_are_rows_beside_its_edges(tmp_path):
    g = Graph()
    nodes = g.node("MatMul", g.input("x", 34, 16), g.weight(16, 4))
    out = g.node("Gather", nodes, g.node("Flatten", g.input("edges", 2, 78, kind=TensorProto.INT64)))
    assert workloads.load(g.save(tmp_path, out)).macs == 34 * 64


def test_a_shape_in_external_data_is_named(tmp_path):
    import onnx

    g = Graph()
    out = g.node("MatMul", g.node("Reshape", g.input("x", 1, 4, 8), g.numbers(1, 8, 4)), g.weight(4, 4))
    path = g.save(tmp_path, out)
    model = onnx.load(path)
    model.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array([1, 8, 4]), "c0"))  # as bytes
    onnx.save_model(model, path, save_as_external_data=True, location="x.bin", size_threshold=0)
    with pytest.raises(NetworkError, match="lie in external data, which is not read; save tensors of up to 1 KB"):
        workloads.load(path)


def test_boxes_of_a_map_are_sampled_by_one_layer(tmp_path):
    """100 boxes of 7 x 7 from 16 x 16 x 8, by a product of 392 x 10: the map and the boxes are read once."""
    g = Graph()
    boxes, picture = g.input("boxes", 100, 4), g.node("Relu", g.input("x", 1, 8, 16, 16))
    made = g.node("RoiAlign", picture, boxes, g.input("whose", 100, kind=TensorProto.INT64),
                  output_height=7, output_width=7, sampling_ratio=2, spatial_scale=0.25)  # fmt: skip
    network = workloads.load(g.save(tmp_path, g.node("Gemm", g.node("Flatten", made), g.weight(392, 10))))
    assert [(layer.op, layer.inputs[:2]) for layer in network.layers][0] == ("rearrange", ("x", "boxes"))
    assert network.macs == 100 * 3920 and [layer.op for layer in network.layers] == ["rearrange", "fc"]


def test_an_input_lies_as_what_reads_it_behind_its_padding(tmp_path):
    g = Graph()
    x = g.input("x", 1, 4, 32)
    padded = g.node("Pad", x, g.numbers(0, 0, 2, 0, 0, 0))
    found = layers(tmp_path, g, g.node("Add", x, g.node("Conv", padded, g.weight(4, 4, 3))))
    assert [layer.op for layer in found.values()] == ["conv", "add"]
