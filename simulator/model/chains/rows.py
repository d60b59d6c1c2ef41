"""The rows of x and of both middle maps that the tiles of a chain make, read and hold, in two ways.

Anew: a tile makes all rows of the middle maps that it reads; they are gone when their chunk of channels comes again.
In rings: rows stay for later tiles, so that each is made once. A set of rows is an integer with a bit for each.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from simulator.model.layer.axes import Axis


class ChainRows(NamedTuple):
    """What tiles make, read and hold; sums are over all tiles of a sample."""

    x_most: int  #: rows of x there at once, from those that this or a later tile reads
    x_tile: int  #: rows of x that a tile reads for what it opens, at most
    x_read: int  #: the same, summed
    e_most: int  #: rows of what the openers make (E) there at once
    e_made: int
    e_read: int  #: by the middle layer
    e_tiles: int  #: tiles that make a row of it
    d_most: int  #: rows of what the middle layer makes (D); E again where there is none
    d_made: int
    d_read: int  #: by the closer
    d_tiles: int


class ChainBand(NamedTuple):
    """Tiles of so many rows of the output, as wide as the map."""

    tile: tuple[int, int]  #: rows and columns
    rows: int
    tiles: int  #: how many there are
    anew: ChainRows
    ring: ChainRows


@lru_cache(maxsize=1 << 12)
def band_of(axes: tuple[Axis, Axis | None, Axis], tile: tuple[int, int], reads_x: bool) -> ChainBand:
    """Return what tiles of this many output rows need.

    axes: the rows of the openers, of the middle layer and of the closer. tile: rows and columns of the output, all
    columns. reads_x: whether the same rows of x are added to the output.

    Examples
    --------
    Expansion, 3x3 depth-wise and projection of 14 rows, in tiles of 7: each needs a row of the other.

    >>> plain, window = Axis(14, 14), Axis(14, 14, taps=3, padding=1)
    >>> band = band_of((plain, window, plain), (7, 14), False)
    >>> band.anew.e_made, band.ring.e_made
    (16, 14)
    """
    found = []
    for is_ring in (False, True):
        of = tiles_of(axes, tile[0], is_ring, reads_x)
        e_most, d_most = (
            (_ring(made, read) if is_ring else _most(made))
            for made, read in ((of.e_made, of.e_read), (of.d_made, of.d_read))
        )
        found.append(
            ChainRows(
                _ring(of.wanted, of.wanted), _most(of.x), _sum(of.x), e_most, _sum(of.e_made), _sum(of.e_read),
                sum(map(bool, of.e_made)), d_most, _sum(of.d_made), _sum(of.d_read), sum(map(bool, of.d_made)),
            )
        )  # fmt: skip
    return ChainBand(tile, tile[0], len(of.x), *found)


class ChainTiles(NamedTuple):
    """The rows that each tile makes and reads, as sets."""

    x: list[int]  #: read for what is opened
    wanted: list[int]  #: of x, those that are added to the output among them
    e_made: list[int]
    e_read: list[int]
    d_made: list[int]
    d_read: list[int]


def tiles_of(axes: tuple[Axis, Axis | None, Axis], rows: int, is_ring: bool, reads_x: bool) -> ChainTiles:
    """Return the rows of tiles of so many output rows."""
    opener, middle, closer = (None if axis is None else _masks(axis) for axis in axes)
    assert opener is not None and closer is not None
    found, e_there, d_there = ChainTiles([], [], [], [], [], []), 0, 0
    for first in range(0, axes[2].windows, rows):
        tile = ((1 << min(first + rows, axes[2].windows)) - 1) ^ ((1 << first) - 1)
        d_read = _meet(closer, tile)
        d_made = d_read & ~d_there
        e_read = d_read if middle is None else _meet(middle, d_made)
        e_made = e_read & ~e_there
        x = _meet(opener, e_made)
        if is_ring:
            d_there, e_there = d_there | d_made, e_there | e_made
        for every, each in zip(found, (x, x | tile * reads_x, e_made, e_read, d_made, d_read)):
            every.append(each)
    return found


@lru_cache(maxsize=1 << 8)
def _masks(axis: Axis) -> tuple[int, ...]:
    """Return the rows that each window meets; nothing where each meets its own."""
    if axis == Axis(axis.windows, axis.windows):
        return ()
    return tuple(sum(1 << row for row in axis.met(window)) for window in range(axis.windows))


def _meet(windows: tuple[int, ...], rows: int) -> int:
    """Return the rows that these windows meet."""
    met = 0 if windows else rows
    while windows and rows:
        last = rows & -rows
        met |= windows[last.bit_length() - 1]
        rows ^= last
    return met


def _sum(masks: list[int]) -> int:
    return sum(map(int.bit_count, masks))


def _most(masks: list[int]) -> int:
    return max(map(int.bit_count, masks))


def _ring(comes: list[int], read: list[int]) -> int:
    """Return how many rows are there at once, at most: those that came by now and are read now or later."""
    later, most, there = [0] * (len(read) + 1), 0, 0
    for i in reversed(range(len(read))):
        later[i] = later[i + 1] | read[i]
    for new, wanted in zip(comes, later):
        there = (there | new) & wanted
        most = max(most, there.bit_count())
    return most
