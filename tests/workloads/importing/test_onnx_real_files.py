"""What files of exporters and of onnxruntime have: extents, batches, caches, attention, quantized operators."""

from __future__ import annotations

import pytest

import workloads
from cocco.cli import main
from simulator import Accelerator, Partition, evaluate
from simulator.execution import verify
from tests.helpers.onnx_graphs import Graph, TensorProto, helper
from workloads import NetworkError


def ops(network):
    return [layer.op for layer in network.layers]


def words(tmp_path):
    g = Graph()
    return g.save(tmp_path, g.node("MatMul", g.input("x", "batch", "words", 16), g.weight(16, 4)))


def test_extents_on_the_command_line(tmp_path, capsys):
    path = str(words(tmp_path))
    assert main(["show", path]) == 2
    assert "--extent words=N" in capsys.readouterr().err
    assert main(["show", path, "--extent", "words=9"]) == 0
    shown = capsys.readouterr().out
    assert "9 x 1 x 4" in shown and "words = 9" in shown
    assert main(["show", path, "--extent", "x.1=7"]) == 0
    assert "7 x 1 x 4" in capsys.readouterr().out


@pytest.mark.parametrize("given", ["word=9", "words", "words=0", "=3"])
def test_an_extent_that_names_nothing_is_an_error(tmp_path, capsys, given):
    assert main(["show", str(words(tmp_path)), "--extent", given, "--extent", "words=9"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_what_was_assumed_is_in_json_too(tmp_path, capsys):
    import json

    assert main(["show", str(words(tmp_path)), "--extent", "words=9", "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["notes"]
    assert {note["how"] for note in notes} == {"extent", "types", "counted"}


def test_a_batch_is_read_as_1_with_a_note(tmp_path, capsys):
    g = Graph()
    path = g.save(tmp_path, g.node("Conv", g.input("x", 8, 3, 6, 6), g.weight(4, 3, 1, 1)))
    assert workloads.load(path).macs == 36 * 12
    assert main(["show", str(path)]) == 0
    assert "read with a batch of 1: x (batch 8)" in capsys.readouterr().err


def test_a_test_and_a_choice_of_one_map_are_free(tmp_path):
    """Softmax of exporters: Where(IsNaN(y), 0, y)."""
    g = Graph()
    y = g.node("Softmax", g.node("MatMul", g.input("x", 1, 5, 16), g.weight(16, 4)), axis=-1)
    out = g.node("Where", g.node("IsNaN", y), g.numbers(0.0), y)
    assert ops(workloads.load(g.save(tmp_path, out))) == ["fc", "softmax"]


def test_elements_gathered_from_constants_have_the_shape_of_the_indices(tmp_path):
    g = Graph()
    picked = g.node("GatherElements", g.weight(1, 16), g.node("Expand", g.numbers(0), g.numbers(1, 4)), axis=1)
    out = g.node("Add", g.node("MatMul", g.input("x", 1, 5, 16), g.weight(16, 4)), picked)
    assert ops(workloads.load(g.save(tmp_path, out))) == ["fc"]


@pytest.mark.parametrize("past", [0, 6])
def test_attention_in_one_operator_with_earlier_keys(tmp_path, past):
    """3 rows, 4 query heads of 8, 2 of keys: scores and context are 2 x 3 x (past + 3) x 32 MACs."""
    g = Graph(opset=23)
    q = g.input("q", 1, 3, 32)
    k, v = (g.input(name, 1, 3, 16) for name in "kv")
    cache = [g.input(name, 1, 2, past, 8) for name in ("keys", "values")] if past else []
    names = g.node("Attention", q, k, v, *([""] + cache if past else []), outputs=3, q_num_heads=4, kv_num_heads=2)
    network = workloads.load(g.save(tmp_path, names[0]))
    assert network.macs == 2 * 3 * (past + 3) * 32
    assert sum(tensor.size_bytes for tensor in network.inputs) == 96 + 2 * 48 + 2 * 16 * past


def test_quantized_operators_are_their_layers(tmp_path):
    g = Graph()
    x = g.input("x", "N", 4, 8, 8)
    low, scale, zero = g.node("DynamicQuantizeLinear", x, outputs=3)
    conv = g.node("ConvInteger", low, g.weight(8, 4, 3, 3), zero, pads=[1, 1, 1, 1])
    real = g.node("Mul", g.node("Cast", conv, to=1), scale)
    one = g.numbers(1.0, shape=())
    linear = g.node("QLinearConv", real, one, one, g.weight(8, 8, 1, 1), one, one, one, one)
    both = g.node("QLinearAdd", linear, one, one, real, one, one, one, one)
    network = workloads.load(g.save(tmp_path, g.node("FusedConv", both, g.weight(2, 8, 1, 1), activation="Relu")))
    assert ops(network) == ["conv", "conv", "add", "conv"]
    assert network.weight_bytes == 288 + 64 + 16


@pytest.mark.parametrize(("op", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_recurrent_layers_have_their_weights_and_macs(tmp_path, op, gates):
    g = Graph()
    x = g.input("x", 5, 1, 6)
    every, _ = g.node(op, x, g.weight(2, gates * 8, 6), g.weight(2, gates * 8, 8), outputs=2, hidden_size=8,
                      direction="bidirectional")  # fmt: skip
    network = workloads.load(g.save(tmp_path, every))
    assert network.weight_bytes == 2 * gates * 8 * 14 and network.macs == 5 * network.weight_bytes
    forward, back = ["fc", "recurrent"], ["rearrange", "fc", "recurrent", "rearrange"]  # read from the last step
    assert ops(network)[:6] == forward + back
    assert [(layer.height, layer.width) for layer in network.layers if layer.op == "recurrent"] == [(5, 1)] * 2


@pytest.mark.parametrize("op", ["MatMul", "Gemm", "MatMulInteger", "QGemm"])
def test_weights_applied_to_given_numbers_are_a_layer(tmp_path, op):
    """Steps of time [1, 16] made of an integer: the product with 16 x 8 weights stays."""
    g = Graph()
    step = g.node("Cast", g.input("step", 1, 1, kind=TensorProto.INT64), to=1)
    waves = g.node("Sin", g.node("Mul", step, g.weight(1, 16)))
    between = [g.numbers(1.0, shape=()), g.numbers(0, shape=())] if op == "QGemm" else []
    network = workloads.load(g.save(tmp_path, g.node(op, waves, *between, g.weight(16, 8))))
    assert (ops(network), network.weight_bytes) == (["fc"], 128)


@pytest.mark.parametrize("op", ["NonZero", "Unique", "SplitToSequence"])
def test_what_changes_the_shape_hands_nothing_on(tmp_path, op):
    g = Graph()
    odd = g.node(op, g.node("Conv", g.input("x", 1, 4, 8, 8), g.weight(8, 4, 1, 1)))
    path = g.save(tmp_path, g.node("Conv", odd, g.weight(2, 8, 1, 1)))
    with pytest.raises(NetworkError, match="is not understood; export the model without it$"):
        workloads.load(path, unsupported="passthrough")


def test_a_window_that_does_not_slide_along_channels_has_two_dimensions(tmp_path):
    """Conv3D of 3 x 3 x 1 on [1, 1, 6, 6, 8] whose last dimension are channels: 8 maps, each to 4 with 36 weights."""
    g = Graph()
    rows = g.node("Transpose", g.input("x", "N", 8, 6, 6), perm=[0, 2, 3, 1])
    split = g.node("Reshape", rows, g.numbers(1, 1, 6, 6, 8))
    conv = g.node("Conv", split, g.weight(4, 1, 3, 3, 1), pads=[1, 1, 0, 1, 1, 0])
    pool = g.node("MaxPool", conv, kernel_shape=[2, 2, 1], strides=[2, 2, 1])
    network = workloads.load(g.save(tmp_path, g.node("Reshape", pool, g.numbers(1, 4, 9, 8))))
    conv, pool = network.layers
    assert (conv.op, conv.groups, conv.height, conv.width, conv.channels) == ("conv", 8, 6, 6, 32)
    assert conv.macs == 36 * 32 * 9
    assert (pool.op, pool.height, pool.width, pool.channels) == ("maxpool", 3, 3, 32)
    assert all(layer.frames is None for layer in network.layers)
    assert [(note.op, note.weights) for note in network.notes if note.how == "shared"] == [("batch of 8", 7 * 36)]
    together = Partition.from_groups(network, [[layer.name for layer in network.layers]])
    assert verify(network, together, Accelerator(shared_buffer=2**16)).verified


@pytest.mark.parametrize(("op", "kept"), [("ArgMax", 1), ("ArgMin", 1), ("TopK", 3)])
def test_the_first_of_a_row_by_size_are_a_softmax_and_a_slice(tmp_path, op, kept):
    g = Graph()
    scores = g.node("MatMul", g.input("x", 1, 5, 16), g.weight(16, 10))
    first = g.node("TopK", scores, g.numbers(3), outputs=2)[1] if op == "TopK" else g.node(op, scores, axis=-1)
    network = workloads.load(g.save(tmp_path, first))
    assert ops(network) == ["fc", "softmax", "slice"] and network.layers[-1].channels == kept


@pytest.mark.parametrize("op", ["Gather", "GatherElements"])
def test_what_a_map_chooses_of_another_is_needed_whole(tmp_path, op):
    """Both maps are operands of the rearrangement: neither branch vanishes."""
    g = Graph()
    x = g.input("x", 1, 5, 16)
    places = g.node("ArgMax", g.node("MatMul", x, g.weight(16, 10)), axis=-1)
    network = workloads.load(g.save(tmp_path, g.node(op, g.node("MatMul", x, g.weight(16, 4)), places, axis=-1)))
    (order,) = (layer for layer in network.layers if layer.op == "rearrange")
    assert len(order.inputs) == 2 and order.whole == (0, 1) and network.macs == 5 * 16 * 14


def test_numbers_that_a_map_chooses_are_a_function_of_it(tmp_path):
    g = Graph()
    places = g.node("ArgMax", g.node("MatMul", g.input("x", 1, 5, 16), g.weight(16, 10)), axis=-1)
    chosen = g.node("Gather", g.numbers(*map(float, range(10))), places)
    assert ops(workloads.load(g.save(tmp_path, chosen))) == ["fc", "softmax", "slice"]


def test_rows_of_a_table_that_a_map_chooses_are_refused(tmp_path):
    g = Graph()
    places = g.node("ArgMax", g.node("MatMul", g.input("x", 1, 5, 16), g.weight(16, 10)), axis=-1, keepdims=0)
    with pytest.raises(NetworkError, match="chooses rows of a table by a map"):
        workloads.load(g.save(tmp_path, g.node("Gather", g.weight(10, 16), places)))


def test_a_batch_is_1_wherever_its_name_stands(tmp_path):
    """A state [2, batch, 128] beside an input [batch, 16]."""
    g = Graph()
    x, state = g.input("x", "batch", 16), g.input("state", 2, "batch", 16)
    rows = g.node("Gather", state, g.numbers(0), axis=0)
    network = workloads.load(g.save(tmp_path, g.node("Add", x, g.node("Reshape", rows, g.numbers(1, 16)))))
    assert network.inputs and max(tensor.elements for tensor in network.inputs) == 32


def test_a_slice_may_end_before_every_number(tmp_path):
    """From the last channel to the first: the end is the least integer of 64 bits."""
    g = Graph()
    turned = g.node("Slice", g.input("x", 1, 4, 6, 6), g.numbers(-1), g.numbers(-(2**63)), g.numbers(1), g.numbers(-1))
    assert ops(workloads.load(g.save(tmp_path, g.node("Conv", turned, g.weight(8, 4, 1, 1)))))[-1] == "conv"


def test_a_quantized_recurrent_layer_has_its_weights_turned(tmp_path):
    """Weights [directions, 6, 4 x 8] and states [directions, 8, 4 x 8]."""
    g = Graph()
    every = g.node("DynamicQuantizeLSTM", g.input("x", 5, 1, 6), g.weight(2, 6, 32), g.weight(2, 8, 32), hidden_size=8,
                   direction="bidirectional")  # fmt: skip
    network = workloads.load(g.save(tmp_path, every))
    assert network.weight_bytes == 2 * 32 * 14 and network.macs == 5 * network.weight_bytes


def choice(g: Graph, condition):
    """An If: a convolution to 8 channels, or one to 4; the names of the branches' outputs differ."""
    branches = {}
    for name, channels in (("then_branch", 8), ("else_branch", 4)):
        weights = TensorProto(name=f"{name}.w", data_type=TensorProto.FLOAT, dims=[channels, 4, 1, 1])
        node = helper.make_node("Conv", ["x", weights.name], [f"{name}.y"], name=f"{name}.conv")
        out = helper.make_tensor_value_info(f"{name}.y", TensorProto.FLOAT, None)
        branches[name] = helper.make_graph([node], name, [], [out], [weights])
    return g.node("If", condition, **branches)


@pytest.mark.parametrize(("extent", "channels"), [(1, 8), (6, 4)])
def test_a_branch_that_the_shapes_choose_stands_in_the_place_of_its_node(tmp_path, extent, channels):
    """Exporters ask whether an extent is 1."""
    g = Graph()
    shape = g.node("Shape", g.input("x", "N", 4, extent, 6))
    is_one = g.node("Equal", g.node("Gather", shape, g.numbers(2, shape=())), g.numbers(1, shape=()))
    network = workloads.load(g.save(tmp_path, g.node("Relu", choice(g, is_one))))
    (layer,) = network.layers
    assert (layer.name, layer.channels, network.weight_bytes) == (
        f"{'then' if channels == 8 else 'else'}_branch.conv", channels, 4 * channels,
    )  # fmt: skip


def test_a_branch_that_the_caller_chooses_is_refused(tmp_path):
    g = Graph()
    g.input("x", "N", 4, 6, 6)
    path = g.save(tmp_path, choice(g, g.node("Equal", g.input("rate", kind=TensorProto.INT64), g.numbers(1, shape=()))))
    with pytest.raises(NetworkError, match="is control flow"):
        workloads.load(path)


def test_shared_weights_are_loaded_once_in_a_subgraph_and_show_says_that_they_are_shared(tmp_path, capsys):
    """Two convolutions with the same 16 weights of 4 x 4 channels."""
    g = Graph()
    weights = g.weight(4, 4, 1, 1)
    path = g.save(tmp_path, g.node("Conv", g.node("Conv", g.input("x", "N", 4, 6, 6), weights), weights))
    network = workloads.load(path)
    together = Partition.from_groups(network, [[layer.name for layer in network.layers]])
    price = evaluate(network, together, Accelerator(shared_buffer=2**16)).subgraphs[0]
    assert (network.weight_bytes, price.ema_weight_bytes, price.weight_bytes) == (32, 16, 16)
    assert main(["show", str(path)]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "weights of several layers" in line)
    assert "shared" in line and line.split()[-1] == "16"
