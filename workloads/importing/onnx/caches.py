"""Inputs of an ONNX graph that hold the rows of earlier steps: keys and values that new rows are put below."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: operators that hand elements on as they are, or scaled; what only asks for a shape does not read
MOVING = frozenset("Cast Concat Div Expand Identity Mul Reshape Squeeze Tile Transpose Unsqueeze".split())
MULTIPLYING = frozenset(("Attention", "FusedMatMul", "MatMul"))
PAST = (4, 5)  #: inputs of Attention: earlier keys and values

Readers = Mapping[str, list[tuple[Any, int]]]


def readers_of(nodes: Iterable[Any]) -> dict[str, list[tuple[Any, int]]]:
    """Return for each name the nodes that read it, and as which input."""
    found: dict[str, list[tuple[Any, int]]] = {}
    for node in nodes:
        for position, name in enumerate(node.input):
            found.setdefault(name, []).append((node, position))
    return found


def is_cache(name: str, rank: int, readers: Readers) -> bool:
    """Whether new rows are put below those of an input [1, heads, rows, features], and products read all of them."""
    for node, position in readers.get(name, []):
        if rank != 4:
            return False
        if node.op_type == "Attention" and position in PAST:
            return True
        axis = next((a.i for a in node.attribute if a.name == "axis"), 0)
        is_pair = node.op_type == "Concat" and len(node.input) == 2 and len(node.output) == 1
        if is_pair and position == 0 and axis % rank == rank - 2:
            return _is_attended(node.output[0], readers)
    return False


def _is_attended(name: str, readers: Readers) -> bool:
    """Whether nothing but products reads an array, as it is or moved."""
    stack, seen, is_multiplied = [name], {name}, False
    while stack:
        for node, _ in readers.get(stack.pop(), []):
            if node.op_type in MULTIPLYING:
                is_multiplied = True
            elif node.op_type in MOVING:
                stack += [each for each in node.output if each not in seen]
                seen.update(node.output)
            elif node.op_type != "Shape":
                return False
    return is_multiplied
