"""The nodes of an ONNX graph in the order in which they can be read, the branch of an If, and their names in errors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from workloads.errors import NetworkError, shown
from workloads.importing.values import Value


def chosen_branch(node: Any, condition: Value | None) -> Any:
    """Return the graph that replaces an If; raises NetworkError if its condition is unknown.

    Exporters leave such a choice where an extent was not known to them: whether a dimension is 1 and goes, whether a
    state is empty. A condition that the caller gives, or the network computes, stays control flow.
    """
    if node.op_type != "If" or condition is None or condition.data is None or condition.is_given:
        raise NetworkError("is control flow, which a layer graph has not; export the model without it")
    if condition.data.size != 1:
        raise NetworkError(f"has {condition.data.size} conditions; one is known")
    name = "then_branch" if condition.data.reshape(-1)[0] else "else_branch"
    graph = next((a.g for a in node.attribute if a.name == name and a.HasField("g")), None)
    if graph is None or len(graph.output) != len(node.output):
        raise NetworkError(f"has no {name} of {len(node.output)} outputs")
    check_names(graph)
    return graph


def check_names(graph: Any) -> None:
    """Raise NetworkError where a name is no text: protobuf hands on bytes that are not UTF-8."""
    infos = [*graph.input, *graph.output, *graph.initializer]
    nodes = graph.node
    names = [each.name for each in (*infos, *nodes)] + [node.op_type for node in nodes]
    for name in (*names, *(name for node in nodes for name in (*node.input, *node.output))):
        if type(name) is not str:
            raise NetworkError(f"has the name {shown(name)}, which is no text")


def ordered(nodes: Sequence[Any], known: Collection[str]) -> Sequence[Any]:
    """Return the nodes with every one behind what it reads; raises NetworkError where they form a cycle.

    known: names that no node makes.
    """
    makers: dict[str, int] = {}
    for i, node in enumerate(nodes):
        for name in filter(None, node.output):
            if makers.setdefault(name, i) != i:
                raise NetworkError(f"defines {shown(name)} twice")
    waits, readers = [0] * len(nodes), [[] for _ in nodes]  # type: ignore[var-annotated]
    for i, node in enumerate(nodes):
        for name in set(node.input):
            if name in makers and name not in known:
                waits[i] += 1
                readers[makers[name]].append(i)
    ready = [i for i in range(len(waits)) if not waits[i]]
    if all(makers.get(name, -1) < i for i, node in enumerate(nodes) for name in node.input):
        return nodes
    order = []
    for i in ready:
        order.append(nodes[i])
        for reader in readers[i]:
            waits[reader] -= 1
            if not waits[reader]:
                ready.append(reader)
    if len(order) < len(waits):
        stuck = next(node for i, node in enumerate(nodes) if waits[i])
        raise NetworkError(f"{title(stuck)} waits for itself: the graph has a cycle")
    return order


def title(node: Any) -> str:
    """Return what an error calls a node."""
    return f"node {shown(node.name or next(iter(node.output), ''))} ({node.op_type[:64]})"
