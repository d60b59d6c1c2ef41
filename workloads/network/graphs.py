"""A network as a graph of networkx, and back: for people who draw, cut or rewrite it with tools of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from workloads.errors import NetworkError, shown
from workloads.network.layers.layer import Concat, Layer, Tensor

if TYPE_CHECKING:
    import networkx

INPUT = "input"  #: the operator of a model input, as in layer-graph/1


def to_graph(
    name: str, inputs: Sequence[Tensor], layers: Sequence[Layer], concats: tuple[Concat, ...]
) -> networkx.DiGraph[str]:
    """Return what `Network.to_networkx` does, of the fields of a network."""
    import networkx

    graph: networkx.DiGraph[str] = networkx.DiGraph(name=name, concats=concats)
    for tensor in inputs:
        graph.add_node(tensor.name, op=INPUT, **_fields(tensor))
    for layer in layers:
        graph.add_node(layer.name, **_fields(layer))
        for i, source in enumerate(layer.inputs):
            before = graph.edges[source, layer.name]["operands"] if graph.has_edge(source, layer.name) else ()
            graph.add_edge(source, layer.name, operands=(*before, i))
    return graph


def parts_of(graph: Any) -> tuple[str, tuple[Tensor, ...], tuple[Layer, ...], tuple[Concat, ...]]:
    """Return the fields of the network that a graph describes; raises NetworkError where it is none."""
    import networkx

    if not isinstance(graph, networkx.DiGraph) or graph.is_multigraph():
        raise NetworkError(f"a network must be a networkx.DiGraph, got {shown(graph)}")
    place = {name: i for i, name in enumerate(graph)}
    try:
        order = list(networkx.lexicographical_topological_sort(graph, key=place.__getitem__))
    except networkx.NetworkXUnfeasible:
        cycle = " -> ".join(str(a) for a, _ in networkx.find_cycle(graph))
        raise NetworkError(f"a network has no cycle, but the graph has {cycle} -> ...") from None
    inputs, layers = [], []
    for name in order:
        attributes = graph.nodes[name]
        if attributes.get("op") == INPUT:
            inputs.append(_made(Tensor, name, attributes))
        else:
            layers.append(_made(Layer, name, {**attributes, "inputs": _operands(graph, name)}))
    return graph.graph.get("name", "graph"), tuple(inputs), tuple(layers), tuple(graph.graph.get("concats", ()))


def _operands(graph: networkx.DiGraph[str], name: str) -> tuple[str, ...]:
    """Return the producers by their places among the operands; by the order of the edges where no edge has any."""
    edges = list(graph.in_edges(name, data="operands"))
    if all(places is None for _, _, places in edges):
        return tuple(source for source, _, _ in edges)
    found = sorted((i, source) for source, _, places in edges for i in (places or ()))
    if [i for i, _ in found] != list(range(len(found))) or any(not places for _, _, places in edges):
        raise NetworkError(
            f"layer {name!r} has operands {shown([i for i, _ in found])} on {len(edges)} edges; "
            "together they must be 0, 1, ... and each edge must have one"
        )
    return tuple(source for _, source in found)


def _fields(data: Tensor | Layer) -> dict[str, Any]:
    return {each.name: getattr(data, each.name) for each in fields(data) if each.name not in ("name", "inputs")}


def _made(kind: type[Any], name: str, attributes: dict[str, Any]) -> Any:
    """Return a tensor or layer of the attributes that it knows; others are information for people."""
    known = {each.name for each in fields(kind)}
    try:
        return kind(name=name, **{key: value for key, value in attributes.items() if key in known - {"name"}})
    except TypeError:
        missing = [key for key in ("op", "height", "width", "channels", "in_channels") if key in known - {*attributes}]
        raise NetworkError(f"node {name!r} has no attribute {missing[0]!r}") from None
