"""Columns mirrored: each core has a band of columns and sweeps it towards its neighbour or away from it (section 7, M).

All cores do the same update at the same time. What a window reads beyond a border is in MAIN of the neighbour, and
crosses. Weights are dealt evenly and passed on at every update (rotated), or every working core holds them all (held).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from typing import NamedTuple

from simulator.model.schemes.bands import Band, Bands
from simulator.model.subgraph.regions import Region, Tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Subgraph
from simulator.model.subgraph.traffic import rows_again, window_elements, window_of_layer, window_sum
from simulator.model.subgraph.updates import derive_updates, starts_full

Updates = Mapping[int, list[int]]


class Sweep(NamedTuple):
    """The updates of one core along the columns of a layer, counted from its border."""

    band: Band
    first: int  #: where the first that makes something ends
    step: int

    @property
    def times(self) -> int:
        """How many there are."""
        if not self.band.extent:
            return 0
        return 1 + max(0, -(-(self.band.stop - self.first) // self.step))


def _sweep_of(subgraph: Subgraph, tiling: Tiling, bands: Bands, tensor: int, core: int, is_full: bool) -> Sweep:
    """Return the updates of one core; the first takes everything before it as well, where that fits into every core."""
    tile = tiling.columns[tensor]
    band = bands.of(tensor, core, subgraph.geometry.extent[COLUMNS][tensor])
    if tiling.rows_run_alone:
        return Sweep(band, band.stop, max(1, band.extent))
    start = 1 if is_full else min(1, -(tile.lead // tile.step))
    update = max(start, (band.late - tile.lead) // tile.step + 1)
    return Sweep(band, tile.step * update + tile.lead, tile.step)


def _takes_all(subgraph: Subgraph, tiling: Tiling, bands: Bands) -> bool:
    """Return whether, for every tensor that is read, the first update fits together with everything before it."""
    return all(
        min(tile.step + tile.lead, bands.most[u]) <= min(tile.size, bands.most[u])
        for u, tile in tiling.columns.items()
        if subgraph.readers[u]
    )


def column_moves(
    subgraph: Subgraph, tiling: Tiling, regions: Mapping[int, Region], bands: Bands, cores: int
) -> tuple[tuple[int, int], int, Updates]:
    """Return what one sample moves on these cores: (buffer traffic without DRAM transfers, writes in it), and crossing.

    Third, the updates of every core, by layer.
    """
    geometry, (rows, _) = subgraph.geometry, derive_updates(subgraph, tiling)
    is_full = starts_full(subgraph, tiling, ROWS)
    sweeps = _sweeps(subgraph, tiling, bands, cores)
    written, read, crossing = sum(geometry.size_bytes[v] for v in subgraph.layers), 0, 0
    for u in subgraph.tensors:
        width = geometry.extent[COLUMNS][u]
        for v, _, _ in subgraph.readers[u]:
            down = window_elements(geometry, ROWS, v, u, rows[v]) * geometry.row_bytes[u]
            window = window_of_layer(geometry, COLUMNS, v)
            for core, sweep in enumerate(sweeps[v]):
                if not sweep.times:
                    continue
                own, way = bands.of(u, core, width), window.mirrored if sweep.band.is_mirrored else window
                where = sweep.band.late, sweep.first, sweep.step, sweep.band.stop
                met = window_sum(way, own.inside(width), *where)
                read += down * met
                crossing += down * (met - window_sum(way, (own.late, own.stop), *where))
        if regions[u].side_bytes:
            copied = rows_again(subgraph, tiling, regions[u], u, is_full) * width * geometry.row_bytes[u]
            read, written = read + copied, written + copied
    updates = {v: [rows[v].times * sweep.times for sweep in sweeps[v]] for v in subgraph.layers}
    return (written + read, written), crossing, updates


def _sweeps(subgraph: Subgraph, tiling: Tiling, bands: Bands, cores: int) -> dict[int, list[Sweep]]:
    """Return the updates of every core, by layer."""
    is_full = _takes_all(subgraph, tiling, bands)
    return {v: [_sweep_of(subgraph, tiling, bands, v, core, is_full) for core in range(cores)] for v in subgraph.layers}


class Passed(NamedTuple):
    """Bytes of weights."""

    held: int  #: in a core, at most
    written: int  #: into all weight buffers
    reads: int  #: from them
    crossing: int


def rotate(subgraph: Subgraph, updates: Updates, cores: int, rounds: list[int]) -> Passed:
    """Return what moves when all weights are dealt evenly to the cores of a machine and passed on at every update.

    updates: of the cores of a team; rounds: of each team. Core c has the bytes from W c / n to W (c + 1) / n of all.
    """
    weights = subgraph.geometry.weight_bytes
    total = subgraph.weight_bytes
    ends = dict(zip(subgraph.layers, accumulate(weights[v] for v in subgraph.layers)))
    reads = own = 0
    for v, times in updates.items():
        for team, again in enumerate(rounds):
            for place, count in enumerate(times):
                core = team * len(times) + place
                first, stop = total * core // cores, total * (core + 1) // cores
                reads += again * count * weights[v]
                own += again * count * max(0, min(stop, ends[v]) - max(first, ends[v] - weights[v]))
    return Passed(-(-total // cores), total, reads, reads - own)


def hold_all(subgraph: Subgraph, updates: Updates, rounds: list[int]) -> Passed:
    """Return what moves when every core that makes something holds all weights: they cross once."""
    weights, total = subgraph.geometry.weight_bytes, subgraph.weight_bytes
    working = len(rounds) * max(sum(count > 0 for count in times) for times in updates.values())
    reads = sum(rounds) * sum(sum(times) * weights[v] for v, times in updates.items())
    return Passed(total, working * total, reads, (working - 1) * total)


def column_crossing(subgraph: Subgraph, tiling: Tiling, bands: Bands, cores: int) -> dict[int, int]:
    """Return the bytes of one sample that cross for each layer, without weights: those of `column_moves` by reader."""
    geometry, (rows, _) = subgraph.geometry, derive_updates(subgraph, tiling)
    sweeps, found = _sweeps(subgraph, tiling, bands, cores), dict.fromkeys(subgraph.layers, 0)
    for u in subgraph.tensors:
        width = geometry.extent[COLUMNS][u]
        for v, _, _ in subgraph.readers[u]:
            down = window_elements(geometry, ROWS, v, u, rows[v]) * geometry.row_bytes[u]
            window = window_of_layer(geometry, COLUMNS, v)
            for core, sweep in enumerate(sweeps[v]):
                if sweep.times:
                    own, way = bands.of(u, core, width), window.mirrored if sweep.band.is_mirrored else window
                    where = sweep.band.late, sweep.first, sweep.step, sweep.band.stop
                    met = window_sum(way, own.inside(width), *where) - window_sum(way, (own.late, own.stop), *where)
                    found[v] += down * met
    return found


def weights_crossing(subgraph: Subgraph, updates: Updates, cores: int, rounds: list[int]) -> dict[int, int]:
    """Return the weights that cross for each layer when they are rotated: the crossing of `rotate`, layer by layer."""
    weights, found, end = subgraph.geometry.weight_bytes, {}, 0
    for v in subgraph.layers:
        first, end = end, end + weights[v]
        own = reads = 0
        for team, again in enumerate(rounds):
            for place, count in enumerate(updates[v]):
                mine = (subgraph.weight_bytes * (team * len(updates[v]) + place + at) // cores for at in (0, 1))
                low, high = mine
                reads += again * count * weights[v]
                own += again * count * max(0, min(high, end) - max(low, first))
        found[v] = reads - own
    return found
