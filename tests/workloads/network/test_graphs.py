"""Networks as graphs of networkx, and back."""

from __future__ import annotations

import networkx
import pytest

import workloads
from workloads import Builder, Network, NetworkError


@pytest.mark.parametrize("name", workloads.names())
def test_every_network_comes_back_equal(name):
    network = workloads.load(name)
    graph = network.to_networkx()
    assert networkx.is_directed_acyclic_graph(graph)
    assert len(graph) == len(network.layers) + len(network.inputs)
    assert Network.from_networkx(graph) == network


def test_an_operand_that_repeats_keeps_its_places():
    b = Builder("twice")
    x, y = b.input("x", 4, 4, 8), b.input("y", 4, 4, 8)
    b.add("sum", [x, y, x])
    graph = b.build().to_networkx()
    assert graph.edges["x", "sum"]["operands"] == (0, 2)
    assert Network.from_networkx(graph).layers[0].inputs == ("x", "y", "x")


def graph_of(*edges, **attributes):
    """Return a graph of 8x8x16 maps: x is a model input, others are convolutions; attributes of the last edge."""
    graph = networkx.DiGraph(name="by hand")
    graph.add_node("x", op="input", height=8, width=8, channels=16)
    for edge in edges:
        for name in edge:
            if name not in graph:
                graph.add_node(name, op="conv", height=8, width=8, channels=16, in_channels=16, color="red")
        graph.add_edge(*edge)
    graph.edges[edges[-1]].update(attributes)
    return graph


def test_nodes_may_stand_in_any_order():
    graph = graph_of(("a", "b"), ("x", "a"))
    assert [layer.name for layer in Network.from_networkx(graph).layers] == ["a", "b"]


def test_what_networkx_rewrites_is_a_network_again():
    graph = workloads.load("googlenet").to_networkx()
    part = networkx.relabel_nodes(graph, {name: f"net/{name}" for name in graph})
    part.graph["concats"] = ()
    assert Network.from_networkx(part).macs == workloads.load("googlenet").macs


@pytest.mark.parametrize(
    "graph, words",
    [
        ([], r"must be a networkx.DiGraph, got \[\]"),
        (networkx.MultiDiGraph(), "must be a networkx.DiGraph"),
        (graph_of(("x", "a"), ("a", "b"), ("b", "a")), "no cycle, but the graph has"),
        (graph_of(("x", "a"), operands=(1,)), r"'a' has operands \[1\] on 1 edges"),
        (networkx.DiGraph([("x", "a")]), "node 'x' has no attribute 'op'"),
        (networkx.DiGraph(), "'graph' has no layers"),
    ],
)
def test_what_is_no_network_is_refused_in_one_line(graph, words):
    with pytest.raises(NetworkError, match=words) as error:
        Network.from_networkx(graph)
    assert "\n" not in str(error.value)
