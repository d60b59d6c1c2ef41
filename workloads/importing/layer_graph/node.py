"""The nodes of a layer-graph/1, each with the keys that all have, unique and in topological order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workloads.errors import NetworkError, shown
from workloads.network.layers.ops import OPS
from workloads.network.layers.shapes import MAX_EXTENT, Shape, check_name

NODE_OPS = OPS | {"input", "embed", "pad"}
DEFAULTS = {"stride": [1, 1], "padding": [0, 0, 0, 0], "dilation": [1, 1], "groups": 1}  #: of a convolution


@dataclass(frozen=True)
class Node:
    """One node with the four keys that all have, checked; `content` has the rest."""

    name: str
    op: str
    inputs: tuple[str, ...]
    out_shape: tuple[int, ...]
    content: Mapping[str, Any]

    @property
    def shape(self) -> Shape:
        """(height, width, channels): [1, C, H, W], [1, L, D] or [1, D]."""
        if len(self.out_shape) == 4:
            return self.out_shape[2], self.out_shape[3], self.out_shape[1]
        return (self.out_shape[1] if len(self.out_shape) == 3 else 1), 1, self.out_shape[-1]

    def shape_in_heads(self) -> Shape:
        """(height, width, channels) of [1, heads, L, M]."""
        return self.out_shape[2], 1, self.out_shape[1] * self.out_shape[3]

    def get(self, key: str) -> Any:
        """The value of a key that must be there, but for what a convolution may leave out."""
        if key not in self.content and key in DEFAULTS and self.op in ("conv", "conv_transpose"):
            return DEFAULTS[key]
        if key not in self.content:
            raise NetworkError(f"node {self.name!r} ({self.op}) has no key {key!r}")
        return self.content[key]

    def number(self, key: str, limit: int = MAX_EXTENT) -> int:
        """An integer of at least 1."""
        value = self.get(key)
        if type(value) is not int or not 0 < value <= limit:
            raise self.wrong(key, value, f"an integer from 1 to {limit}")
        return value

    def numbers(self, key: str, count: int, least: int = 1) -> list[int]:
        """A list of this many integers, none below `least`."""
        value = self.get(key)
        if type(value) is not list or len(value) != count:
            raise self.wrong(key, value, f"a list of {count} integers")
        for part in value:
            if type(part) is not int or not least <= part <= MAX_EXTENT:
                raise self.wrong(key, value, f"a list of {count} integers from {least} to {MAX_EXTENT}")
        return value

    def pair(self, key: str) -> tuple[int, int]:
        """Two integers of at least 1: rows and columns."""
        rows, columns = self.numbers(key, 2)
        return rows, columns

    def flag(self, key: str) -> bool:
        """Whether a key says so; it need not be there."""
        value = self.content.get(key, False)
        if type(value) is not bool:
            raise self.wrong(key, value, "true or false")
        return value

    def wrong(self, key: str, value: object, rule: str) -> NetworkError:
        """The error for a value that breaks a rule."""
        return NetworkError(f"node {self.name!r} ({self.op}) has {key} {shown(value)}; it must be {rule}")


def nodes_of(entries: Sequence[Any]) -> list[Node]:
    """Return the nodes of a file; raises NetworkError naming the node, the rule and the value."""
    nodes = [_node(entry, position) for position, entry in enumerate(entries)]
    _check_order(nodes)
    return nodes


def _node(entry: Any, position: int) -> Node:
    """Check the keys that every node has."""
    if type(entry) is not dict:
        raise NetworkError(f"node {position} is {shown(entry)}; it must be a mapping with name, op, inputs, out_shape")
    if "name" not in entry:
        raise NetworkError(f"node {position} has no key 'name'")
    name = entry["name"]
    check_name(f"node {position}", name)
    for key in ("op", "inputs", "out_shape"):
        if key not in entry and (key, entry.get("op")) != ("inputs", "input"):
            raise NetworkError(f"node {name!r} has no key {key!r}")
    op, inputs, out_shape = entry["op"], entry.get("inputs", []), entry["out_shape"]
    if type(op) is not str or op not in NODE_OPS:
        raise NetworkError(f"node {name!r} has unknown op {shown(op)}; known are {', '.join(sorted(NODE_OPS))}")
    if type(inputs) is not list or not all(type(source) is str for source in inputs):
        raise NetworkError(f"node {name!r} ({op}) has inputs {shown(inputs)}; it must be a list of node names")
    if type(out_shape) is not list or not 2 <= len(out_shape) <= 4:
        raise NetworkError(
            f"node {name!r} ({op}) has out_shape {shown(out_shape)}; it must be a list of 2 to 4 integers, batch first"
        )
    for extent in out_shape:
        if type(extent) is not int or not 0 < extent <= MAX_EXTENT:
            raise NetworkError(
                f"node {name!r} ({op}) has out_shape {shown(out_shape)}; each must be an integer from 1 to 2**20"
            )
    if out_shape[0] != 1:
        raise NetworkError(f"node {name!r} ({op}) has out_shape {shown(out_shape)}; its batch, the first, must be 1")
    return Node(name, op, tuple(inputs), tuple(out_shape), entry)


def _check_order(nodes: Sequence[Node]) -> None:
    """Raise NetworkError unless names are unique and every node stands after the nodes it reads."""
    by_name: dict[str, Node] = {}
    for node in nodes:
        if node.name in by_name:
            raise NetworkError(f"node {node.name!r} is defined twice; names must be unique")
        by_name[node.name] = node
    defined: set[str] = set()
    for node in nodes:
        for source in node.inputs:
            if source not in by_name:
                raise NetworkError(f"node {node.name!r} ({node.op}) reads {shown(source)}, which no node is named")
            if source not in defined:
                cycle = _cycle(by_name, node.name, source)
                reason = f"they form a cycle: {cycle}" if cycle else "nodes must stand in topological order"
                raise NetworkError(f"node {node.name!r} ({node.op}) stands before its input {source!r}; {reason}")
        defined.add(node.name)


def _cycle(by_name: Mapping[str, Node], start: str, source: str) -> str:
    """The path start <- source <- ... <- start as text, at most 8 names of it; empty where there is none."""
    reader, stack = {source: start}, [source]
    while stack:
        name = stack.pop()
        if name == start:
            path = [start, reader[start]]
            while path[-1] != start:
                path.append(reader[path[-1]])
            names = [shown(step) for step in path]
            return " -> ".join(names if len(names) <= 8 else [*names[:6], "...", names[-1]])
        for other in by_name[name].inputs:
            if other in by_name and other not in reader:
                reader[other] = name
                stack.append(other)
    return ""
