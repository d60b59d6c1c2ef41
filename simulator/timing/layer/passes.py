"""What one pass over the tiles of a layer loads and makes, axis by axis, from the windows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from simulator.model.layer.axes import Axis


class Pass(NamedTuple):
    """What the tiles of an axis make and meet, in their order."""

    outputs: tuple[int, ...]
    met: tuple[int, ...]  #: rows of the input
    new: tuple[int, ...]  #: rows that no tile before it met


@lru_cache(maxsize=1 << 10)
def tiles_pass(axis: Axis, tile: int) -> Pass:
    """Return what tiles of this many outputs make and meet.

    Examples
    --------
    >>> tiles_pass(Axis(extent=8, windows=8, taps=3, padding=1), 3)
    Pass(outputs=(3, 3, 2), met=(4, 5, 3), new=(4, 3, 1))
    """
    seen: set[int] = set()
    outputs, met, new = [], [], []
    for first in range(0, axis.windows, tile):
        windows = range(first, min(first + tile, axis.windows))
        rows = {row for window in windows for row in axis.met(window)}
        outputs.append(len(windows))
        met.append(len(rows))
        new.append(len(rows - seen))
        seen |= rows
    return Pass(tuple(outputs), tuple(met), tuple(new))


class Poured(NamedTuple):
    """What each input row does when it comes once and is added to all outputs that meet it."""

    added: tuple[int, ...]  #: outputs that meet it
    finished: tuple[int, ...]  #: outputs of which it is the last; those that meet no row come at the end


@lru_cache(maxsize=1 << 10)
def rows_poured(axis: Axis) -> Poured:
    """Return this for each row that some window meets; one empty row if none does.

    Examples
    --------
    >>> rows_poured(Axis(extent=5, windows=2, taps=3, stride=2))
    Poured(added=(1, 1, 2, 1, 1), finished=(0, 0, 1, 0, 1))
    """
    windows = [list(axis.met(window)) for window in range(axis.windows)]
    rows = sorted({row for met in windows for row in met}) or [0]
    places = {row: place for place, row in enumerate(rows)}
    added, finished = [0] * len(rows), [0] * len(rows)
    for met in windows:
        for row in met:
            added[places[row]] += 1
        finished[places[max(met)] if met else -1] += 1
    return Poured(tuple(added), tuple(finished))


def coming_rows(stay: Sequence[tuple[int, int]], counts: Sequence[int], first: int) -> list[int]:
    """Return how many rows come with each of these counts of rows, the first of which is `first`; others stay."""
    ends = pairwise(accumulate(counts, initial=first))
    return [b - a - sum(max(0, min(b, d) - max(a, c)) for c, d in stay) for a, b in ends]


def pieces(extent: int, size: int) -> list[int]:
    """Return the lengths of the steps of a loop; the last takes what is left.

    Examples
    --------
    >>> pieces(5, 2)
    [2, 2, 1]
    """
    return [min(size, extent - first) for first in range(0, extent, size)]


def fetched(mode: str, rows: Pass, columns: Pass) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the rows and the columns that each tile loads: all that it meets, or those that are not there yet."""
    is_new = mode in ("ring", "side", "whole")
    return rows.new if is_new else rows.met, columns.met if mode in ("block", "block-row") else columns.new


def block_rows(axis: Axis, tile: int) -> list[tuple[int, ...]]:
    """Return the input rows that each row of a block loads, block by block.

    Examples
    --------
    >>> block_rows(Axis(extent=12, windows=12, taps=3, padding=1), 5)
    [(2, 1, 1, 1, 1), (3, 1, 1, 1, 1), (3, 0)]
    """
    found = []
    for first in range(0, axis.windows, tile):
        seen: set[int] = set()
        rows = []
        for window in range(first, min(first + tile, axis.windows)):
            new = set(axis.met(window)) - seen
            seen |= new
            rows.append(len(new))
        found.append(tuple(rows))
    return found
