"""Split a wide component into scopes that are proved one by one: each held subgraph is in that of its first layer.

A subgraph whose first layer is v, in any order, has only layers that may share a subgraph with v and that some path of
joined layers leads to which fits (paths.py). So if no set of layers within the scope of any block of first layers is
worth more than it pays, no subgraph is. If a set falls short, only prices of the block's layers are lowered: every such
subgraph has one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocco.bounds.floors.forced import Hulls
from cocco.bounds.parts.paths import Paths

PARTS = 4  #: blocks of first layers in as many layers as may be looked at together; our choice


class Scope(NamedTuple):
    """A block of first layers, and all layers that a subgraph with one of them as its first may have."""

    firsts: tuple[int, ...]
    layers: tuple[int, ...]


def scopes_of(layers: Sequence[int], hulls: Hulls, paths: Paths, most: int) -> list[Scope]:
    """Return the scopes of a component, ascending ids: one of all its layers where these are no more than `most`.

    Which layer is the first of a set depends on an order: that of the ids or of the distance from the first layer,
    whichever gives smaller scopes.
    """
    if len(layers) <= most:
        return [Scope(tuple(layers), tuple(layers))]
    reached = {v: paths.room_to(v).keys() for v in layers}

    def cut(order: Sequence[int]) -> list[Scope]:
        found, step = list[Scope](), max(1, most // PARTS)
        for start in range(0, len(order), step):
            firsts = order[start : start + step]
            inside = [
                w
                for i, w in enumerate(order[start:])
                if any(w in reached[v] and hulls.may_share((v, w), held=True) for v in firsts[: i + 1])
            ]
            found.append(Scope(tuple(sorted(firsts)), tuple(sorted({*firsts, *inside}))))
        return found

    ways = cut(layers), cut(by_distance(layers, paths))
    return min(ways, key=lambda scopes: sum([len(scope.layers) ** 2 for scope in scopes]))


def by_distance(layers: Sequence[int], paths: Paths) -> list[int]:
    """Return layers by how many neighbours lie between the first one and them."""
    left, order = dict.fromkeys(layers), list[int]()
    while left:
        ring = [next(iter(left))]
        while ring:
            order += ring
            for v in ring:
                del left[v]
            ring = list(dict.fromkeys([w for v in ring for w in paths.near[v] if w in left]))
    return order
