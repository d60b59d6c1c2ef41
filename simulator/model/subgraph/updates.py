"""The pieces in which tensors are made: update i ends at element step i + lead, clipped to the map (model.md, 2).

The first update takes everything before it as well where that fits into every region; otherwise the early updates run
one by one.
"""

from __future__ import annotations

from typing import NamedTuple

from simulator.model.subgraph.regions import Tiling, is_one_operation
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Subgraph


class Updates(NamedTuple):
    """The updates of a tensor along one axis: up to element `first`, then step by step to the end of its map."""

    first: int  #: where the first update ends, unclipped
    step: int
    extent: int

    @property
    def times(self) -> int:
        """How often the tensor advances."""
        return 1 + max(0, -(-(self.extent - self.first) // self.step))


def derive_updates(subgraph: Subgraph, tiling: Tiling) -> tuple[dict[int, Updates], dict[int, Updates]]:
    """Return the updates of every tensor, of rows and of columns.

    Rows of one operation are made together, except for an output: its region holds one tile, so it goes tile by tile.
    """
    rows, columns = (_at_once(subgraph, axis) for axis in (ROWS, COLUMNS))
    if not tiling.rows_run_alone:
        columns = _step_by_step(subgraph, tiling, COLUMNS)
    if tiling.rows_run_alone or not is_one_operation(subgraph, tiling):
        rows = _step_by_step(subgraph, tiling, ROWS)
    return rows, columns


def starts_full(subgraph: Subgraph, tiling: Tiling, axis: int) -> bool:
    """Return whether, for every tensor that is read, the first update fits together with everything before it."""
    extent = subgraph.geometry.extent[axis]
    for u in subgraph.tensors:
        if axis == ROWS:
            step, lead, room = tiling.merged[u], tiling.rows[u].lead, tiling.held[u]
        else:
            step, room, lead, _ = tiling.columns[u]
        if subgraph.readers[u] and min(step + lead, extent[u]) > room:
            return False
    return True


def _at_once(subgraph: Subgraph, axis: int) -> dict[int, Updates]:
    extent = subgraph.geometry.extent[axis]
    return {u: Updates(extent[u], extent[u], extent[u]) for u in subgraph.tensors}


def _step_by_step(subgraph: Subgraph, tiling: Tiling, axis: int) -> dict[int, Updates]:
    extent, tiles = subgraph.geometry.extent[axis], (tiling.rows, tiling.columns)[axis]
    is_full, found = starts_full(subgraph, tiling, axis), {}
    for u in subgraph.tensors:
        step = tiling.merged[u] if axis == ROWS and subgraph.readers[u] else tiles[u].step
        first = step + tiles[u].lead
        if first <= 0 or not is_full:
            first = (tiles[u].lead - 1) % step + 1
        found[u] = Updates(first, step, extent[u])
    return found
