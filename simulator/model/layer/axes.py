"""The input rows that the windows of a layer read ("meet") along one axis, tap by tap.

A tile of t outputs meets the union of their windows, without the holes of dilation and the empty rows of spread maps.
Loop orders (orders.py, groups.py) need only six numbers about the tiles of an axis.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from math import gcd
from typing import NamedTuple


class Axis(NamedTuple):
    """One axis of a layer: which input rows each output row meets."""

    extent: int  #: rows of the input
    windows: int  #: rows of the output
    taps: int = 1
    stride: int = 1
    dilation: int = 1
    padding: int = 0  #: before the first row; negative crops
    upsample: int = 1  #: the window slides over the map with upsample - 1 empty rows in between

    def met(self, window: int) -> range:
        """Return the input rows that a window meets.

        Row r lies at position r u, tap f of the window at i s - pad + f d: the rows that meet one are d / gcd(u, d)
        apart.

        Examples
        --------
        >>> list(Axis(extent=8, windows=8, taps=3, dilation=2, padding=2).met(3))
        [1, 3, 5]
        """
        start = window * self.stride - self.padding
        common = gcd(self.upsample, self.dilation)
        first, apart = max(0, -(-start // self.upsample)), self.dilation // common
        if start % common:
            return range(first, first)
        first += (start // common * pow(self.upsample // common, -1, apart) - first) % apart
        stop = (start + (self.taps - 1) * self.dilation) // self.upsample + 1
        first = min(first, self.extent)
        return range(first, max(first, min(stop, self.extent)), apart)


class Met(NamedTuple):
    """What the tiles of an axis meet, in rows of the input."""

    tiles: int
    visits: int  #: rows met, summed over the tiles
    most: int  #: rows that one tile meets, at most
    union: int  #: rows that some tile meets
    ring: int  #: rows met by now and from now on, at most: held where each is to be read once
    live: int  #: rows met before a tile and needed by it or later, at most


RING, WHOLE_ROWS, SIDE, SLIDE, BLOCK, BLOCK_ROW = "ring", "rows", "side", "slide", "block", "block-row"
WHOLE, ROW, WORD = "whole", "row", "word"


class Mode(NamedTuple):
    """What stays of the input from tile to tile, in elements of one channel."""

    name: str
    held: int
    reads: int  #: from DRAM in one pass over the tiles
    side: int  #: copied to SIDE and back in one pass


class Grid(NamedTuple):
    """The tiles of a map and what their windows meet, in elements of one channel: from `grid_of`."""

    tile: tuple[int, int]
    rows: Met
    columns: Met
    tiles: int  #: how many there are
    windows: int  #: elements met, summed over the tiles
    union: int  #: elements that some tile meets
    area: int  #: outputs of a tile
    modes: tuple[Mode, ...]  #: see `_modes_of`
    blocks: tuple[Mode, ...]  #: how much of its input a block holds: all that it meets, or what one row of it meets
    whole: Mode  #: that keeps all of the input that any window meets

    @property
    def mode_count(self) -> int:
        """How many modes there are."""
        return len(self.modes)

    @property
    def block_count(self) -> int:
        """How many modes of a block there are."""
        return len(self.blocks)


@lru_cache(maxsize=1 << 14)
def grid_of(rows: Axis, columns: Axis, tile: tuple[int, int]) -> Grid:
    """Return the grid of tiles with this many rows and columns of outputs."""
    down, across, row = meet(rows, tile[0]), meet(columns, tile[1]), meet(rows, 1)
    union, windows = down.union * across.union, down.visits * across.visits
    blocks = [Mode(BLOCK, down.most * across.most, windows, 0)]
    if tile[0] > 1 and row.ring < down.most:
        blocks.append(Mode(BLOCK_ROW, row.ring * across.most, windows, 0))
    return Grid(
        tile, down, across, down.tiles * across.tiles, windows, union, tile[0] * tile[1],
        tuple(_modes_of(down, across)), tuple(blocks), Mode(WHOLE, union, union, 0),
    )  # fmt: skip


def _modes_of(rows: Met, columns: Met) -> Iterator[Mode]:
    """Yield what can stay of the input from tile to tile, taken row by row.

    ring: tiles of full width; rows that are needed again stay. rows: tiles of full width; nothing stays (holes of
    dilation make a ring longer than a window). side: MAIN slides along the columns, SIDE keeps rows for the next row of
    tiles. slide: the same without SIDE. block: nothing stays.
    """
    if columns.tiles == 1:
        yield Mode(RING, rows.ring * columns.union, rows.union * columns.union, 0)
        if rows.most < rows.ring:
            yield Mode(WHOLE_ROWS, rows.most * columns.union, rows.visits * columns.union, 0)
        return
    main = rows.most * columns.ring
    if rows.live:
        again = 2 * (rows.visits - rows.union) * columns.union
        yield Mode(SIDE, main + rows.live * columns.union, rows.union * columns.union, again)
    yield Mode(SLIDE, main, rows.visits * columns.union, 0)
    if columns.most < columns.ring:
        yield Mode(BLOCK, rows.most * columns.most, rows.visits * columns.visits, 0)


@lru_cache(maxsize=1 << 14)
def meet(axis: Axis, tile: int) -> Met:
    """Return what tiles of this many outputs meet; the last tile has the outputs that are left.

    Examples
    --------
    >>> meet(Axis(extent=8, windows=8, taps=3, padding=1), 4)
    Met(tiles=2, visits=10, most=5, union=8, ring=5, live=2)
    """
    bounds = _bounds(axis)
    if bounds is None:
        return _meet_with_holes(axis, tile)
    firsts, stops = bounds[0][::tile], bounds[1][tile - 1 :: tile]
    if len(stops) < len(firsts):
        stops.append(bounds[1][-1])
    met = [stop - first for first, stop in zip(firsts, stops)]
    live = max((stop - first for first, stop in zip(firsts[1:], stops)), default=0)
    return Met(len(met), sum(met), max(met), stops[-1] - firsts[0], max(met), live)


@lru_cache(maxsize=1 << 10)
def _bounds(axis: Axis) -> tuple[list[int], list[int]] | None:
    """Return first and last row + 1 of each window, None where they leave rows out."""
    windows = [axis.met(i) for i in range(axis.windows)]
    firsts, stops = [each.start for each in windows], [each.stop for each in windows]
    is_orderly = firsts == sorted(firsts) and stops == sorted(stops)  # not where windows between others meet nothing
    has_holes = any(each.step > 1 for each in windows) or any(b > a for a, b in zip(stops, firsts[1:]))
    return (firsts, stops) if is_orderly and not has_holes else None


def _meet_with_holes(axis: Axis, tile: int) -> Met:
    first: dict[int, int] = {}
    last: dict[int, int] = {}
    visits = []
    for i in range(-(-axis.windows // tile)):
        met = {row for j in range(i * tile, min((i + 1) * tile, axis.windows)) for row in axis.met(j)}
        visits.append(len(met))
        for row in met:
            first.setdefault(row, i)
            last[row] = i
    arrived, left = [0] * len(visits), [0] * (len(visits) + 1)
    for row in first:
        arrived[first[row]] += 1
        left[last[row] + 1] += 1
    held = list(accumulate(came - went for came, went in zip(arrived, left)))
    live = max(now - came for now, came in zip(held, arrived))
    return Met(len(visits), sum(visits), max(visits), len(first), max(held), live)


@lru_cache(maxsize=1 << 10)
def in_flight(axis: Axis) -> tuple[int, int]:
    """Return how many outputs are begun and not finished, at most, where the input comes row by row, and additions.

    An output of n rows takes n - 1 additions to its running sum. One that meets no row is an empty sum, at the end.

    Examples
    --------
    >>> in_flight(Axis(extent=8, windows=4, taps=3, stride=2))
    (2, 7)
    """
    windows = [met for met in map(axis.met, range(axis.windows)) if met]
    begun, ended = [0] * (axis.extent + 1), [0] * (axis.extent + 1)
    for met in windows:
        begun[met[0]] += 1
        ended[met[-1] + 1] += 1
    flying = accumulate(start - end for start, end in zip(begun, ended))
    return max(1, *flying), sum(len(met) - 1 for met in windows)
