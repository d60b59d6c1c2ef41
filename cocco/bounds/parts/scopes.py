"""Split a wide component into scopes that are proved one by one: each held subgraph is in that of its first layer.

A subgraph whose first layer is v has only layers that may share a subgraph with v. So if no set of layers within the
scope of any block of first layers is worth more than it pays, no subgraph is. If a set falls short, only prices of the
block's layers are lowered: every such subgraph has one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocco.bounds.floors.forced import Hulls

PARTS = 4  #: blocks of first layers in as many layers as may be looked at together; our choice


class Scope(NamedTuple):
    """A block of first layers, and all layers that a subgraph with one of them as its first may have."""

    firsts: tuple[int, ...]
    layers: tuple[int, ...]


def scopes_of(layers: Sequence[int], hulls: Hulls, most: int) -> list[Scope]:
    """Return the scopes of a component, ascending ids: one of all its layers where these are no more than `most`."""
    if len(layers) <= most:
        return [Scope(tuple(layers), tuple(layers))]
    found, step = [], max(1, most // PARTS)
    for start in range(0, len(layers), step):
        firsts = layers[start : start + step]
        inside = [w for w in layers[start:] if any(v <= w and hulls.may_share((v, w), held=True) for v in firsts)]
        found.append(Scope(tuple(firsts), tuple(sorted({*firsts, *inside}))))
    return found
