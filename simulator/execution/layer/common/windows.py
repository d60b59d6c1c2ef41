"""Which rows and columns of the input each output of a layer meets, found tap by tap."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from workloads.network.layers.ops import WINDOW_OPS
from workloads.network.network import Network

Met = list[tuple[int, int]]  #: (tap, row)


class Line(NamedTuple):
    """The windows along one axis."""

    extent: int  #: of the input
    outputs: int
    taps: int = 1
    stride: int = 1
    dilation: int = 1
    padding: int = 0
    upsample: int = 1

    def met(self, output: int) -> Met:
        """Return the taps of an output that meet a row of the input, and the row."""
        found = []
        for tap in range(self.taps):
            place = output * self.stride - self.padding + tap * self.dilation
            if place % self.upsample == 0 and 0 <= place // self.upsample < self.extent:
                found.append((tap, place // self.upsample))
        return found


@lru_cache(maxsize=1 << 12)
def masks(line: Line, tile: int) -> tuple[int, ...]:
    """Return the rows that each tile of so many outputs meets, one bit for each.

    Examples
    --------
    >>> [f"{mask:08b}" for mask in masks(Line(8, 8, taps=3, padding=1), 4)]
    ['00011111', '11111000']
    """
    if tile > 1:
        each = masks(line, 1)
        return tuple(union(each[i : i + tile]) for i in range(0, line.outputs, tile))
    return tuple(union(1 << row for _, row in line.met(i)) for i in range(line.outputs))


def union(sets: Iterable[int]) -> int:
    """Return the bits of some sets together."""
    found = 0
    for each in sets:
        found |= each
    return found


def lines_of(network: Network, v: int) -> tuple[Line, Line]:
    """Return the windows of a layer along rows and columns; without windows, positions meet themselves."""
    layer = network.layers[v]
    outputs = layer.height, layer.width
    if layer.op not in WINDOW_OPS:
        return Line(outputs[0], outputs[0]), Line(outputs[1], outputs[1])
    source = network.tensors[network.operands[v][0]]
    rows, columns = (
        Line(extent, outputs[axis], layer.kernel[axis], layer.stride[axis], layer.dilation[axis], layer.padding[axis],
             layer.upsample[axis])
        for axis, extent in enumerate((source.height, source.width))
    )  # fmt: skip
    return rows, columns


class Windows:
    """Both axes, as masks over the map."""

    def __init__(self, lines: tuple[Line, Line]) -> None:
        self.lines = lines
        self.extent, self.outputs = (lines[0].extent, lines[1].extent), (lines[0].outputs, lines[1].outputs)

    @cached_property
    def taps(self) -> list[list[Met]]:
        """For each axis and output (tap, row) of all that it meets."""
        return [[line.met(i) for i in range(line.outputs)] for line in self.lines]

    @property
    def everything(self) -> np.ndarray:
        """The positions that some output meets."""
        return self.area(*map(range, self.outputs))

    def meet(self, axis: int, outputs: Iterable[int]) -> np.ndarray:
        """Return the rows (or columns) that some of these outputs meet, as a mask."""
        mask = np.zeros(self.extent[axis], dtype=bool)
        for i in outputs:
            for _, row in self.taps[axis][i]:
                mask[row] = True
        return mask

    def area(self, rows: Iterable[int], columns: Iterable[int]) -> np.ndarray:
        """Return the positions that a tile meets."""
        return np.outer(self.meet(0, rows), self.meet(1, columns))
