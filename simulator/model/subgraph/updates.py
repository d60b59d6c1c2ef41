"""The pieces in which tensors are made: update i ends at element step i + lead, clipped to the map (model.md, 2).

The first update takes everything before it as well where that fits into every region; otherwise the early updates run
one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.integers import ceil_div, floor_div
from simulator.model.subgraph.regions import Tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Subgraph


class Updates(NamedTuple):
    """The updates of a tensor along one axis: up to element `first`, then step by step to the end of its map."""

    first: int  #: where the first update ends, unclipped
    step: int
    extent: int
    times: int  #: how often the tensor advances


def updates_of(first: int, step: int, extent: int) -> Updates:
    """Return the updates up to `first`, and step by step from there to the extent."""
    return Updates(first, step, extent, 1 + max(0, ceil_div(extent - first, step)))


def derive_updates(subgraph: Subgraph, tiling: Tiling) -> tuple[dict[int, Updates], dict[int, Updates]]:
    """Return the updates of every layer, of rows and of columns.

    Rows of one operation are made together, except for an output: its region holds one tile, so it goes tile by tile.
    """
    rows, columns = dict[int, Updates](), dict[int, Updates]()
    lay_updates(subgraph, tiling, ROWS, starts_full(subgraph, tiling, ROWS), rows)
    lay_updates(subgraph, tiling, COLUMNS, starts_full(subgraph, tiling, COLUMNS), columns)
    return rows, columns


def lay_updates(subgraph: Subgraph, tiling: Tiling, axis: int, is_full: bool, updates: dict[int, Updates]) -> None:
    """Put in the updates of every layer along one axis. is_full: from starts_full."""
    for v in subgraph.layers[: subgraph.layer_count]:
        extent = subgraph.geometry.extent[axis][v]
        tile = tiling.rows[v] if axis == ROWS else tiling.columns[v]
        step = tiling.merged[v] if axis == ROWS and subgraph.reader_count[v] else tile.step
        if are_at_once(tiling, axis):
            updates[v] = Updates(extent, extent, extent, 1)
        elif is_full and step + tile.lead > 0:
            updates[v] = updates_of(step + tile.lead, step, extent)
        else:
            updates[v] = updates_of(tile.lead - floor_div(tile.lead - 1, step) * step, step, extent)


def are_at_once(tiling: Tiling, axis: int) -> bool:
    """Return whether one update of a layer makes all of its map along one axis."""
    if tiling.rows_run_alone:
        return axis == COLUMNS
    return tiling.is_one_operation if axis == ROWS else False


def starts_full(subgraph: Subgraph, tiling: Tiling, axis: int) -> bool:
    """Return whether, for every tensor that is read, the first update fits together with everything before it."""
    for u in subgraph.tensors[: subgraph.tensor_count]:
        tile = tiling.rows[u] if axis == ROWS else tiling.columns[u]
        step = tiling.merged[u] if axis == ROWS else tile.step
        room = tiling.held[u] if axis == ROWS else tile.size
        if subgraph.reader_count[u] and min(step + tile.lead, subgraph.geometry.extent[axis][u]) > room:
            return False
    return True
