"""Weights inside a file are skipped before anything is parsed, wherever they are."""

from __future__ import annotations

import pytest

import workloads
from tests.helpers.onnx_graphs import LIGHT, Graph, TensorProto, helper, onnx
from workloads import NetworkError
from workloads.importing.onnx.wire import LARGE, MAX_ENTRIES, without_weights

SHAPE = (64, 64, 3, 3)  # 147456 bytes of floats


def filled(name, field):
    """A tensor with its data in a field of the format."""
    tensor = TensorProto(name=name, data_type=1, dims=SHAPE)
    count = 64 * 64 * 9
    if field == "raw_data":
        tensor.raw_data = bytes(4 * count)
    else:
        tensor.float_data.extend([1.5] * count)
    return tensor


@pytest.mark.parametrize("field", ["raw_data", "float_data"])
@pytest.mark.parametrize("place", ["initialiser", "attribute"])
def test_large_data_are_left_out_and_nothing_else(tmp_path, field, place):
    g = Graph()
    if place == "initialiser":
        g.stored.append(filled("w", field))
    else:
        g.nodes.append(helper.make_node("Constant", [], ["w"], name="w", value=filled("w", field)))
    path = g.save(tmp_path, g.node("Relu", g.node("Conv", g.input("x", "N", 64, 9, 9), "w")))
    kept = without_weights(path)
    assert path.stat().st_size > 2 * LARGE > len(kept)
    model, whole = onnx.ModelProto.FromString(kept), onnx.load(str(path))
    for each in (model, whole):
        for tensor in [*each.graph.initializer, *(a.t for node in each.graph.node for a in node.attribute)]:
            tensor.ClearField(field)
    assert model == whole
    assert workloads.load(path).weight_bytes == 64 * 64 * 9


@pytest.mark.parametrize("name", ["densenet121", "squeezenet"])
def test_a_file_without_weights_stays_what_it_is(name):
    path = LIGHT / f"light_{name}.onnx"
    assert without_weights(path) == path.read_bytes()


def test_a_file_of_countless_empty_nodes_is_refused(tmp_path):
    """2 bytes for each node of the file, some hundred for each when parsed."""
    nodes = b"\x0a\x00" * (MAX_ENTRIES + 1)
    size = len(nodes)
    head = b"\x3a" + bytes([size & 127 | 128, size >> 7 & 127 | 128, size >> 14 & 127 | 128, size >> 21])
    (tmp_path / "many.onnx").write_bytes(head + nodes)
    with pytest.raises(NetworkError, match="many.onnx: has more than 1048576 entries"):
        workloads.load(tmp_path / "many.onnx")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x0b", "byte 0 begins no field"),
        (b"\x3a\xff\x01ab", "ends behind its message"),
        (b"\x80" * 12, "does not end"),
        (b"\x08", "does not end"),
    ],
)
def test_what_is_no_protobuf_says_where(tmp_path, data, words):
    (tmp_path / "bad.onnx").write_bytes(data)
    with pytest.raises(NetworkError, match=words):
        workloads.load(tmp_path / "bad.onnx")
