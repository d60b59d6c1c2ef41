"""One sweep over the tiles of a map, counted: which rows and columns come, stay and come back, as sets.

Rows and columns are independent: every row of tiles sweeps the same columns. So each axis runs once, tile by tile, on
sets of rows (a bit for each), and positions are their products.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from operator import or_
from typing import NamedTuple

from simulator.execution.layer.common.plan import cuts
from simulator.execution.layer.common.windows import Line, masks, union

Lines = tuple[Line, Line]


class Sweep(NamedTuple):
    """What a sweep moves and holds of one channel, in positions."""

    tiles: int  #: computed one by one; of block-row, each row of a block
    loads: int  #: from DRAM
    copies: int  #: into SIDE and out of it
    windows: int  #: read for all tiles
    main: int  #: held at most
    side: int = 0
    stays: int = 0  #: held until the next sweep, next to MAIN


class Ring(NamedTuple):
    """What a ring along one axis takes in, and holds at most."""

    loads: int
    most: int


def sweep(lines: Lines, tile: tuple[int, int], mode: str) -> Sweep:
    """Return what a sweep moves whose input stays from tile to tile as the mode says.

    Examples
    --------
    >>> axis = Line(8, 8, taps=3, padding=1)
    >>> sweep((axis, axis), (2, 8), "ring")
    Sweep(tiles=4, loads=64, copies=0, windows=112, main=32, side=0, stays=0)
    """
    rows, columns = masks(lines[0], tile[0]), masks(lines[1], tile[1])
    tiles, windows = len(rows) * len(columns), _visits(rows) * _visits(columns)
    down, across = _ring(rows), _ring(columns)
    tall, wide = max(map(int.bit_count, rows)), max(map(int.bit_count, columns))
    if mode == "whole":
        all_met = union(rows).bit_count() * union(columns).bit_count()
        return Sweep(tiles, all_met, 0, windows, all_met)
    if mode == "ring":  # tiles as wide as the map
        return Sweep(tiles, down.loads * wide, 0, windows, down.most * wide)
    if mode == "side":
        fresh, copied, side = _side(rows)
        return Sweep(
            tiles, fresh * across.loads, copied * across.loads, windows, tall * across.most, side * across.loads
        )
    if mode == "slide":
        return Sweep(tiles, _visits(rows) * across.loads, 0, windows, tall * across.most)
    if mode == "block-row":
        single, all_across = masks(lines[0], 1), _visits(columns)
        rings = [_ring(single[each.start : each.stop]) for each in cuts(len(single), tile[0])]
        loads, most = sum(ring.loads for ring in rings), max(ring.most for ring in rings)
        return Sweep(len(single) * len(columns), loads * all_across, 0, _visits(single) * all_across, most * wide)
    return Sweep(tiles, windows, 0, windows, tall * wide)


def sweep_with_rows(lines: Lines, tile: tuple[int, int], kept: int, is_first: bool) -> Sweep:
    """Return a sweep of a ring next to the first rows of the input, which stay and are there unless it is the first."""
    rows, wide = masks(lines[0], tile[0]), masks(lines[1], tile[1])[0].bit_count()
    stays = first_rows(union(rows), kept)
    ring = _ring(rows, stays, 0 if is_first else stays)
    return Sweep(len(rows), ring.loads * wide, 0, _visits(rows) * wide, ring.most * wide, 0, stays.bit_count() * wide)


@lru_cache(maxsize=1 << 12)
def pour(line: Line) -> tuple[int, int, int]:
    """Return what input rows that come one by one add to output rows.

    Pairs of a row and an output row that meets it, additions to sums that are begun, and sums in the buffer at most.
    """
    wanted = masks(line, 1)
    begun: set[int] = set()
    pairs = additions = 0
    most = 1  # an output row that meets none is an empty sum, written out at the end
    for row in range(line.extent):
        added = {i for i, mask in enumerate(wanted) if mask >> row & 1}
        pairs, additions = pairs + len(added), additions + len(added & begun)
        begun |= added
        most = max(most, len(begun))
        begun = {i for i in begun if wanted[i] >> (row + 1)}
    return pairs, additions, most


@lru_cache(maxsize=1 << 12)
def _ring(needs: Sequence[int], stays: int = 0, held: int = 0) -> Ring:
    """Run a ring: what is needed comes in unless it is there, what is needed later remains."""
    loads = most = 0
    for need, below in zip(needs, _later(needs)):
        loads += (need & ~held).bit_count()
        held |= need
        most = max(most, (held & ~stays).bit_count())
        held &= below | stays
    return Ring(loads, most)


@lru_cache(maxsize=1 << 12)
def _side(needs: Sequence[int]) -> tuple[int, int, int]:
    """Run rows of tiles next to SIDE: rows from DRAM, rows copied into it and out of it, and rows in it at most."""
    side = fresh = copied = most = 0
    for need, below in zip(needs, _later(needs)):
        fresh += (need & ~side).bit_count()
        copied += (need & side).bit_count() + (need & below).bit_count()
        side = (side & ~need) | (need & below)
        most = max(most, side.bit_count())
    return fresh, copied, most


def _later(needs: Sequence[int]) -> list[int]:
    """Return for each tile what the ones after it need."""
    return list(accumulate(reversed((*needs[1:], 0)), or_))[::-1]


def _visits(needs: Sequence[int]) -> int:
    return sum(map(int.bit_count, needs))


def first_rows(mask: int, count: int) -> int:
    """Return the first bits of a mask, so many."""
    found = 0
    for _ in range(min(count, mask.bit_count())):
        found |= mask & -mask
        mask &= mask - 1
    return found
