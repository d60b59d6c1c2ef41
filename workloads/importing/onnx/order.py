"""The nodes of an ONNX graph in the order in which they can be read, and what errors call them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from workloads.errors import NetworkError, shown


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
