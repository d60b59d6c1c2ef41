"""Output tiles of a subgraph that is held: squares, and bands of the full width (Cocco leaves the tile open).

Our choice: take the largest of each kind that fits, because it moves the least through the buffers. Bands of equal
height ceil(H / n) pay where the next square does not fit, or where squares end at 64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

TileShape = tuple[int, int]  #: rows and columns


def equal_sizes(extent: int) -> list[int]:
    """Return the distinct sizes ceil(extent / n), largest first.

    Examples
    --------
    >>> equal_sizes(14)
    [14, 7, 5, 4, 3, 2, 1]
    """
    sizes = [extent]
    while sizes[-1] > 1:
        sizes.append(-(-extent // ((extent - 1) // (sizes[-1] - 1) + 1)))
    return sizes


@dataclass(frozen=True)
class Candidates:
    """The tiles of a subgraph whose tallest and widest outputs have this many rows and columns."""

    squares: tuple[int, ...]  #: sides, from the largest
    rows: int
    columns: int

    def area(self, tile: TileShape) -> int:
        """Return the elements of the map that a tile covers."""
        return min(tile[0], self.rows) * min(tile[1], self.columns)

    def largest(self, need: Callable[[TileShape], int], room: int) -> list[TileShape]:
        """Return the largest square that fits in this room and, if it is larger, the tallest band that fits."""

        def fits(tile: TileShape) -> bool:
            return need(tile) <= room

        square = next(((side, side) for side in self.squares if fits((side, side))), None)
        area = 0 if square is None else self.area(square)
        bands = [(rows, self.columns) for rows in equal_sizes(self.rows) if rows * self.columns > area]
        band = _first(bands, fits)
        return [tile for tile in (square, band) if tile is not None]


def _first(bands: Sequence[TileShape], fits: Callable[[TileShape], bool]) -> TileShape | None:
    """Return the first band that fits, by bisection: lower bands take less, with a few exceptions."""
    if not bands or not fits(bands[-1]):
        return None
    low, high = 0, len(bands) - 1
    while low < high:
        middle = (low + high) // 2
        if fits(bands[middle]):
            high = middle
        else:
            low = middle + 1
    return bands[high]
