"""What a layer reads of its operands at least, and what the pieces of its maps take on chip, axis by axis.

Statements about every schedule: of a subgraph that is held (simulator/model/updates.py), and of a loop order.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from simulator.model.loops import Axis, meet
from simulator.model.subgraph import Geometry


class Window(NamedTuple):
    """The windows of a layer over one axis of an operand."""

    outputs: int
    extent: int  #: of the operand
    reach: int
    stride: int
    padding: int
    upsample: int

    @property
    def slack(self) -> int:
        """Elements that a tile and the next both want at least."""
        return max(0, (self.reach - self.stride) // self.upsample)

    def held(self, piece: int) -> int:
        """Return the elements of the operand that are on chip at least, if the layer makes so many outputs at once.

        Where these are one step (or the merged ones of a row operation), the operand advances by their stride over
        upsampling and has its slack besides. Where they are the first update, which takes its lead along, so does that
        of the operand: all up to the end of the last window.
        """
        step = -(-piece * self.stride // self.upsample) + self.slack
        first = -(-(piece * self.stride + self.reach - self.stride - max(0, self.padding)) // self.upsample)
        return max(1, min(step, first, self.extent))


def window_of(geometry: Geometry, axis: int, layer: int, producer: int) -> Window:
    """Return the windows of a layer over an axis of an operand that it reads through them."""
    return Window(geometry.extent[axis][layer], geometry.extent[axis][producer], *[
        each[axis][layer] for each in (geometry.reach, geometry.stride, geometry.padding, geometry.upsample)
    ])  # fmt: skip


@lru_cache(maxsize=1 << 12)
def least_read(window: Window, pieces: int) -> int:
    """Return the elements read at least where the outputs are made in so many pieces or more, in a held subgraph.

    All from the first to the last, and again at each border between two pieces what both read, below 0 where elements
    lie between them (traffic.window_elements). So many borders less one there are at least: the cheapest ones, and all
    others below 0.

    Examples
    --------
    Three taps on 8 elements, padded: 8, and 2 more at each border.

    >>> [least_read(Window(8, 8, 3, 1, 1, 1), pieces) for pieces in (1, 2, 4)]
    [8, 10, 14]
    """
    whole, sums = _borders(window)
    return max(0, whole + min(sums[pieces - 1 :]))


def least_met(window: Window, axis: Axis) -> int:
    """Return the elements read at least, whatever the order and the pieces: loops read only what a window meets."""
    return min(least_read(window, 1), meet(axis, axis.windows).union)


@lru_cache(maxsize=1 << 10)
def _borders(window: Window) -> tuple[int, list[int]]:
    """Return the elements from the first to the last window, and what so many of the cheapest borders add."""

    def inside(element: int) -> int:
        return min(max(element, 0), window.extent)

    def begin(output: int) -> int:
        return inside(-((window.padding - output * window.stride) // window.upsample))

    def end(outputs: int) -> int:
        return inside(-((window.padding - window.reach - (outputs - 1) * window.stride) // window.upsample))

    borders = sorted(end(output) - begin(output) for output in range(1, window.outputs))
    return end(window.outputs) - begin(0), list(accumulate(borders, initial=0))
