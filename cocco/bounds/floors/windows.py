"""The least that a layer reads of its operands, and what pieces of its maps take on chip, axis by axis.

These hold for every schedule: of a held subgraph (simulator/model/subgraph/updates.py), and of a loop order.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from simulator.model.layer.loops import Axis, meet
from simulator.model.subgraph.subgraph import Geometry


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
        """The least elements that a tile and the next one both need."""
        return max(0, (self.reach - self.stride) // self.upsample)

    def held(self, piece: int) -> int:
        """Return the least elements of the operand on chip if the layer makes so many outputs at once.

        If these are one step (or the merged steps of a row operation), the operand advances by their stride over
        upsampling and holds its slack in addition. If they are the first update, which includes its lead, the operand's
        first update includes its lead as well: all elements up to the end of the last window.
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
    """Return the least elements read if the outputs are made in so many pieces or more, in a held subgraph.

    These are all from the first to the last, plus what both pieces read at each border (below 0 if elements lie between
    them: traffic.window_elements). There is at least one border fewer than pieces: the cheapest ones count, and all
    others that are below 0.

    Examples
    --------
    Three taps on 8 elements, padded: 8, and 2 more at each border.

    >>> [least_read(Window(8, 8, 3, 1, 1, 1), pieces) for pieces in (1, 2, 4)]
    [8, 10, 14]
    """
    whole, sums = _borders(window)
    return max(0, whole + min(sums[pieces - 1 :]))


def least_met(window: Window, axis: Axis) -> int:
    """Return the least elements read in any order and any pieces: loops read only what a window meets."""
    return min(least_read(window, 1), meet(axis, axis.windows).union)


@lru_cache(maxsize=1 << 10)
def _borders(window: Window) -> tuple[int, list[int]]:
    """Return the elements from the first to the last window, and what each number of cheapest borders adds."""

    def inside(element: int) -> int:
        return min(max(element, 0), window.extent)

    def begin(output: int) -> int:
        return inside(-((window.padding - output * window.stride) // window.upsample))

    def end(outputs: int) -> int:
        return inside(-((window.padding - window.reach - (outputs - 1) * window.stride) // window.upsample))

    borders = sorted(end(output) - begin(output) for output in range(1, window.outputs))
    return end(window.outputs) - begin(0), list(accumulate(borders, initial=0))
