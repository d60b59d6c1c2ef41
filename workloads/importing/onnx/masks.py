"""The masks of a file that are made of positions alone: what stands before a softmax, where its numbers are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from workloads.importing.masks import hidden_by, mask_of
from workloads.importing.values import Value
from workloads.network.layers.mask import Mask

FAR = 12  #: nodes between a softmax and the product of its scores, at most; our choice
PRODUCTS = ("MatMul", "Gemm", "Einsum")


def masks_of(nodes: Sequence[tuple[Any, Sequence[str]]], values: Mapping[str, Value]) -> dict[str, Mask]:
    """Return the masks by the names of the layers that a softmax was read as.

    nodes: each with its layers; values: of what each name in the file was read as.
    """
    makers, found = {name: node for node, _ in nodes for name in node.output if name}, dict[str, Mask]()
    for node, names in nodes:
        if node.op_type != "Softmax":
            continue
        seen: np.ndarray | None = None
        for step in _way(node, makers, values):
            left = _left(step, values)
            if left is not None:
                seen = left if seen is None else seen & left
        mask = None if seen is None else mask_of(seen)
        if mask is not None:
            found |= dict.fromkeys(names, mask)
    return found


def _way(node: Any, makers: Mapping[str, Any], values: Mapping[str, Value]) -> Iterator[Any]:
    """Yield the nodes from a softmax up to the product of its scores."""
    for _ in range(FAR):
        maps = [name for name in node.input if name and not values[name].is_constant]
        if len(maps) != 1 or maps[0] not in makers or makers[maps[0]].op_type in PRODUCTS:
            return
        node = makers[maps[0]]
        yield node


def _left(node: Any, values: Mapping[str, Value]) -> np.ndarray | None:
    """Return which scores a node leaves, None where it hides none that are known."""
    data = [values[name].data if name else None for name in node.input]
    if node.op_type == "Add":
        added = next((each for each in data if each is not None and each.ndim > 1), None)
        if added is None or not ((added == 0) | hidden_by(added)).all():
            return None
        return ~hidden_by(added)
    if node.op_type == "Where" and len(data) == 3 and data[0] is not None and data[0].ndim > 1:
        for put, is_seen in ((data[2], True), (data[1], False)):
            if put is not None and hidden_by(put).all():
                return data[0].astype(bool) == is_seen
    return None
