"""Extents that the numbers of a network decide (rows that a mask chooses) are the most that they can be."""

from __future__ import annotations

from typing import Any

from workloads.network.layers.layer import Note
from workloads.network.layers.shapes import MAX_EXTENT


def with_most(program: Any) -> list[Note]:
    """Give each array of a program whose extents are undecided the largest of them, where there is one; return notes.

    Our choice: what is computed is at most this, and a plan must have room for it. The largest are of all undecided
    numbers at once, so that what a mask chooses, padded with what it leaves out, has the extent of the whole.
    """
    import torch

    notes: dict[str, Note] = {}

    def number(extent: Any) -> Any:
        inner = getattr(extent, "node", None)
        free = getattr(getattr(inner, "expr", None), "free_symbols", ())
        if inner is None or not free or not all(str(symbol).startswith("u") for symbol in free):
            return extent
        most = {symbol: inner.shape_env.bound_sympy(symbol).upper for symbol in free}
        found = inner.expr.subs(most)
        if not found.is_Integer or found > MAX_EXTENT:
            return extent
        for symbol, value in most.items():
            notes.setdefault(str(symbol), Note(node.name, f"{value}, the most that its numbers can choose", "extent"))
        return int(found)

    def decided(made: Any) -> Any:
        is_tensor: bool = isinstance(made, torch.Tensor)
        if not is_tensor or all(type(extent) is int for extent in made.shape):
            return number(made)
        shape = tuple(map(number, made.shape))
        if not all(type(extent) is int for extent in shape):
            return made
        with made.fake_mode:
            return torch.empty(shape, dtype=made.dtype, device=made.device)

    for node in program.graph.nodes:
        if "val" in node.meta:
            node.meta["val"] = torch.utils._pytree.tree_map(decided, node.meta["val"])
    return list(notes.values())
