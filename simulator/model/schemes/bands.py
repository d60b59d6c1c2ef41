"""Bands of columns: where the borders between cores lie, and how a core advances and what it holds in a mirrored sweep.

Border b of tensor u lies at column r_u q b, with the co-prime rates r of stage 3 and one unit q for all tensors. Even
cores sweep up from their border, odd ones down to it, so at every border two cores either meet or part.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from simulator.model.subgraph.regions import Tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Subgraph
from simulator.model.subgraph.tiling import Tile, count_updates, derive_rates, derive_steps, derive_tiles
from simulator.model.subgraph.traffic import Window, window_of_layer


class Band(NamedTuple):
    """The columns of one core in the direction of its sweep, counted from the border where it begins."""

    border: int  #: in columns of the map: the first of an even core, the one after the last of an odd one
    late: int  #: columns from the border to the end of the map, where it lies beyond
    stop: int
    is_mirrored: bool

    @property
    def extent(self) -> int:
        """How many columns are the core's."""
        return self.stop - self.late

    def inside(self, width: int) -> tuple[int, int]:
        """Return where a map of so many columns begins and ends."""
        return (self.border - width, self.border) if self.is_mirrored else (-self.border, width - self.border)


class Bands(NamedTuple):
    """The columns of each tensor between two borders, and the most columns that each core has."""

    unit: dict[int, int]
    most: dict[int, int]

    def of(self, tensor: int, core: int, width: int) -> Band:
        """Return the columns of a core."""
        unit, is_mirrored = self.unit[tensor], core % 2 == 1
        if is_mirrored:
            border = unit * (core + 1)
            late = min(unit, max(0, border - width))
            return Band(border, late, unit, True)
        return Band(unit * core, 0, min(unit, max(0, width - unit * core)), False)


def derive_bands(subgraph: Subgraph, cores: int) -> Bands | None:
    """Return the bands for this many cores; None where columns cannot be shared: tensors needed whole, or on chip."""
    if subgraph.has_whole_edge or subgraph.on_chip:
        return None
    rates = derive_rates(subgraph, COLUMNS)
    if rates is None:
        return None
    width = subgraph.geometry.extent[COLUMNS]
    unit = -(-max(-(-width[u] // rate) for u, (_, rate) in rates.items()) // cores)
    units = {u: rate * unit for u, (_, rate) in rates.items()}
    return Bands(units, {u: min(width[u], each) for u, each in units.items()})


def mirrored_tiling(subgraph: Subgraph, tile: tuple[int, int], bands: Bands) -> Tiling | None:
    """Return the scheme of a core for sweeps in either direction: with leads and sizes that suffice for both."""
    rows, rates = derive_tiles(subgraph, ROWS, tile[ROWS]), derive_rates(subgraph, COLUMNS)
    if rows is None or rates is None:
        return None
    steps = derive_steps(subgraph, COLUMNS, tile[COLUMNS])
    columns = _both_ways(subgraph, steps, count_updates(steps, rates))
    alone = all(columns[u].size >= bands.most[u] for u in subgraph.tensors)
    merged = {u: rows[u].step if alone else rows[u].updates * rows[u].step for u in subgraph.tensors}
    held = {u: rows[u].size + (merged[u] - rows[u].step) * bool(subgraph.readers[u]) for u in subgraph.tensors}
    return Tiling(rows, columns, merged, held, alone, "exact")


def _both_ways(subgraph: Subgraph, steps: dict[int, int], updates: dict[int, int]) -> dict[int, Tile]:
    """Return lead(u) = max over v and both paddings a of (s lead(v) + F - s - a) / u, and the size to match."""
    found: dict[int, Tile] = {}
    for u in subgraph.layers[::-1] + subgraph.inputs:
        lead, oldest = 0, math.inf
        wanted = []
        for v, _, _ in subgraph.readers[u]:
            window = window_of_layer(subgraph.geometry, COLUMNS, v)
            for each in (window, window.mirrored):
                wanted.append(_end(each, found[v].lead))
                oldest = min(oldest, _begin(each, found[v].lead))
        lead = max(wanted, default=0)
        size = steps[u] if oldest == math.inf else max(steps[u], steps[u] + lead - int(oldest))
        found[u] = Tile(steps[u], size, lead, updates[u])
    return found


def _begin(window: Window, output: int) -> int:
    return -((window.padding - output * window.stride) // window.upsample)


def _end(window: Window, outputs: int) -> int:
    return -((window.padding - window.reach - (outputs - 1) * window.stride) // window.upsample)
