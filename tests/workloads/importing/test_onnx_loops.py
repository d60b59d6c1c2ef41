"""Loops of ONNX whose steps are known are their steps; others are refused."""

from __future__ import annotations

import pytest

import workloads
from tests.helpers.onnx_graphs import Graph, TensorProto, helper
from workloads import NetworkError

REAL, BOOL, INT = TensorProto.FLOAT, TensorProto.BOOL, TensorProto.INT64


def info(name, kind=REAL, shape=()):
    return helper.make_tensor_value_info(name, kind, shape)


def scan(graph, **attributes):
    """State [1, 4] and rows [5, 4]: state = relu(W (state + row)), and each state is a row of the second output."""
    nodes = [
        helper.make_node("Add", ["state", "row"], ["sum"]),
        helper.make_node("MatMul", ["sum", graph.weight(4, 4)], ["made"]),
        helper.make_node("Relu", ["made"], ["next"]),
        helper.make_node("Squeeze", ["next"], ["kept"]),
    ]
    body = helper.make_graph(nodes, "body", [info("state"), info("row")], [info("next"), info("kept")])
    state, rows = graph.input("start", 1, 4), graph.input("rows", 5, 4)
    return graph.node("Scan", state, rows, outputs=2, body=body, num_scan_inputs=1, **attributes)


@pytest.mark.parametrize("back", [[0], [1]])
def test_a_scan_is_its_steps(tmp_path, back):
    g = Graph()
    _, rows = scan(g, scan_input_directions=back)
    network = workloads.load(g.save(tmp_path, g.node("Relu", rows)))
    found = [layer.op for layer in network.layers]
    assert (found.count("fc"), found.count("add"), network.macs) == (5, 5, 5 * 16)
    assert (network.layers[-1].op, network.layers[-1].channels) == ("concat", 20)


def loop(graph, count, goes_on, ends_after=9):
    """A map, a 1x1 convolution in each step; the condition is whether the step's number is under a bound."""
    nodes = [
        helper.make_node("Conv", ["state", graph.weight(4, 4, 1, 1)], ["next"]),
        helper.make_node("Less", ["number", graph.numbers(ends_after, shape=())], ["more"]),
    ]
    body = helper.make_graph(
        nodes, "body", [info("number", INT), info("before", BOOL), info("state")], [info("more", BOOL), info("next")]
    )
    return graph.node("Loop", count, goes_on, graph.input("x", "N", 4, 6, 6), body=body)


@pytest.mark.parametrize(("ends_after", "steps"), [(9, 3), (1, 2)])
def test_a_loop_of_known_steps_is_its_steps(tmp_path, ends_after, steps):
    """Three are said; where the condition is known to fail, those until it does."""
    g = Graph()
    network = workloads.load(g.save(tmp_path, g.node("Relu", loop(g, g.numbers(3, shape=()), "", ends_after))))
    assert [layer.op for layer in network.layers] == ["conv"] * steps and network.macs == steps * 36 * 16


def test_a_loop_whose_steps_are_given_is_refused(tmp_path):
    g = Graph()
    path = g.save(tmp_path, g.node("Relu", loop(g, g.input("count", kind=INT), "")))
    with pytest.raises(NetworkError, match=r"\(Loop\): is control flow"):
        workloads.load(path)
