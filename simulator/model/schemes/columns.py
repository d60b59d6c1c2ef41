"""Columns mirrored: each core has a band of columns and sweeps it towards its neighbour or away from it (section 7, M).

All cores do the same update at the same time. What a window reads beyond a border is in MAIN of the neighbour, and
crosses. Weights are dealt evenly and passed on at every update (rotated), or every working core holds them all (held).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from simulator.integers import floor_div
from simulator.model.schemes.bands import Band, Bands, band_of
from simulator.model.subgraph.regions import Region, Tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Subgraph
from simulator.model.subgraph.traffic import mirror, rows_again, window_elements, window_of_layer, window_sum
from simulator.model.subgraph.updates import Updates, derive_updates, starts_full, updates_of

Times = Mapping[int, list[int]]


class Sweep(NamedTuple):
    """The updates of one core along the columns of a layer, counted from its border; none where it has no columns."""

    band: Band
    updates: Updates


class ColumnsMet(NamedTuple):
    """The columns of a tensor that one core's windows meet, and how many of them lie with its neighbour."""

    columns: int
    crossing: int


def sweep_of(subgraph: Subgraph, tiling: Tiling, bands: Bands, v: int, core: int, is_full: bool) -> Sweep:
    """Return the updates of one core; the first takes everything before it as well, where that fits into every core."""
    tile = tiling.columns[v]
    band = band_of(bands, v, core, subgraph.geometry.extent[COLUMNS][v])
    if band.stop <= band.late:
        return Sweep(band, Updates(band.stop, 1, band.stop, 0))
    if tiling.rows_run_alone:
        return Sweep(band, Updates(band.stop, band.stop - band.late, band.stop, 1))
    update = 1 if is_full else min(1, -floor_div(tile.lead, tile.step))
    update = max(update, floor_div(band.late - tile.lead, tile.step) + 1)
    return Sweep(band, updates_of(tile.step * update + tile.lead, tile.step, band.stop))


def takes_all(subgraph: Subgraph, tiling: Tiling, bands: Bands) -> bool:
    """Return whether, for every tensor that is read, the first update fits together with everything before it."""
    for u in subgraph.tensors[: subgraph.tensor_count]:
        tile, most = tiling.columns[u], bands.most[u]
        if subgraph.reader_count[u] and min(tile.step + tile.lead, most) > min(tile.size, most):
            return False
    return True


def columns_met(subgraph: Subgraph, bands: Bands, v: int, u: int, core: int, sweep: Sweep) -> ColumnsMet:
    """Return the columns of tensor u that the windows of one core's sweep of layer v meet."""
    width = subgraph.geometry.extent[COLUMNS][u]
    own, window = band_of(bands, u, core, width), window_of_layer(subgraph.geometry, COLUMNS, v)
    low, high = -own.border, width - own.border
    if own.is_mirrored:
        window, low, high = mirror(window), own.border - width, own.border
    met = window_sum(window, low, high, sweep.band.late, sweep.updates)
    return ColumnsMet(met, met - window_sum(window, own.late, own.stop, sweep.band.late, sweep.updates))


def column_moves(
    subgraph: Subgraph, tiling: Tiling, regions: Mapping[int, Region], bands: Bands, cores: int
) -> tuple[tuple[int, int], dict[int, int], Times]:
    """Return what one sample moves on these cores: (buffer traffic without DRAM transfers, writes in it).

    Second, what crosses by layer, without weights; third, the updates of every core by layer.
    """
    geometry, (rows, _) = subgraph.geometry, derive_updates(subgraph, tiling)
    is_full = starts_full(subgraph, tiling, ROWS)
    sweeps = _sweeps(subgraph, tiling, bands, cores)
    written, read = sum(geometry.size_bytes[v] for v in subgraph.layers), 0
    crossing = dict.fromkeys(subgraph.layers, 0)
    for u in subgraph.tensors:
        for v, _, _ in subgraph.readers[u]:
            down = window_elements(geometry, ROWS, v, u, rows[v]) * geometry.row_bytes[u]
            for core, sweep in enumerate(sweeps[v]):
                if sweep.updates.times:
                    met = columns_met(subgraph, bands, v, u, core, sweep)
                    read += down * met.columns
                    crossing[v] += down * met.crossing
        if regions[u].side_bytes:
            again = rows_again(subgraph, tiling, u, regions[u].main[ROWS], regions[u].side[ROWS], is_full)
            copied = again * geometry.extent[COLUMNS][u] * geometry.row_bytes[u]
            read, written = read + copied, written + copied
    updates = {v: [rows[v].times * sweep.updates.times for sweep in sweeps[v]] for v in subgraph.layers}
    return (written + read, written), crossing, updates


def _sweeps(subgraph: Subgraph, tiling: Tiling, bands: Bands, cores: int) -> dict[int, list[Sweep]]:
    """Return the updates of every core, by layer."""
    is_full = takes_all(subgraph, tiling, bands)
    return {v: [sweep_of(subgraph, tiling, bands, v, core, is_full) for core in range(cores)] for v in subgraph.layers}


class Passed(NamedTuple):
    """Bytes of weights."""

    held: int  #: in a core, at most
    written: int  #: into all weight buffers
    reads: int  #: from them
    crossing: int


def rotate(subgraph: Subgraph, updates: Times, cores: int, rounds: list[int]) -> Passed:
    """Return what moves when all weights are dealt evenly to the cores of a machine and passed on at every update.

    updates: of the cores of a team; rounds: of each team.
    """
    reads, total = _weight_reads(subgraph, updates, rounds), subgraph.weight_bytes
    return Passed(-(-total // cores), total, reads, sum(weights_crossing(subgraph, updates, cores, rounds).values()))


def weights_crossing(subgraph: Subgraph, updates: Times, cores: int, rounds: list[int]) -> dict[int, int]:
    """Return the weights that cross for each layer when they are rotated.

    Core c has the bytes from W c / n to W (c + 1) / n of all.
    """
    weights, total, found, end = subgraph.geometry.weight_bytes, subgraph.weight_bytes, dict[int, int](), 0
    for v in subgraph.layers:
        first, end, found[v] = end, end + weights[v], 0
        for team, again in enumerate(rounds):
            for place, count in enumerate(updates[v]):
                core = team * len(updates[v]) + place
                low, high = total * core // cores, total * (core + 1) // cores
                found[v] += again * count * (weights[v] - max(0, min(high, end) - max(low, first)))
    return found


def _weight_reads(subgraph: Subgraph, updates: Times, rounds: list[int]) -> int:
    """Return the bytes that all updates of all cores read."""
    return sum(rounds) * sum(sum(times) * subgraph.geometry.weight_bytes[v] for v, times in updates.items())


def hold_all(subgraph: Subgraph, updates: Times, rounds: list[int]) -> Passed:
    """Return what moves when every core that makes something holds all weights: they cross once."""
    total = subgraph.weight_bytes
    working = len(rounds) * max(sum(count > 0 for count in times) for times in updates.values())
    return Passed(total, working * total, _weight_reads(subgraph, updates, rounds), (working - 1) * total)
