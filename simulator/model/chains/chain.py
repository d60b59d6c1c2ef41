"""A chain of layers in plain integers: two dense layers, with layers in between that keep channels apart.

x -> openers (one, or two whose results are multiplied or added) -> depth-wise convolution or pool, if any -> closer ->
addition of x, if any. E is what the openers make together, D what the closer reads; M channels each.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from simulator.model.chains.rows import ChainBand, band_of
from simulator.model.layer.axes import Axis
from simulator.model.subgraph.tiles import equal_sizes


class _Fields(NamedTuple):
    """What a `Chain` is made of."""

    axes: tuple[Axis, Axis | None, Axis]  #: rows of the openers, of the middle layer, of the closer
    openers: int
    inputs: int  #: channels of x
    middle: int  #: channels of E and D
    outputs: int
    x_width: int  #: columns
    e_width: int
    d_width: int
    out_width: int
    opener_taps: int
    middle_taps: int  #: of a depth-wise convolution; 0 without weights
    closer_taps: int
    x_bits: int
    first_bits: int  #: of what the first of two openers makes
    e_bits: int
    d_bits: int
    opener_bits: int  #: of weights
    second_bits: int  #: of weights, of the other opener
    middle_bits: int
    closer_bits: int
    opener_sums: int  #: bytes of a sum, of all openers together
    adds_x: int  #: whether x is added to what the closer makes
    e_operations: int  #: of a row of E, one sample: of openers and join
    d_operations: int  #: of a row of D, of the middle layer
    e_extra: int = 0  #: the same in units of energy beyond INT8 (technology.operation_units)
    d_extra: int = 0
    e_cycles: tuple[int, int, int] = (0, 0, 0)  #: of all of E, all samples: of each layer that makes it
    d_cycles: int = 0


class Chain(_Fields):
    """A chain as its loops see it, and what its tiles need, computed once."""

    @cached_property
    def has_middle(self) -> bool:
        """Whether E and D differ."""
        return self.axes[1] is not None

    @cached_property
    def bands(self) -> tuple[ChainBand, ...]:
        """The tiles that are tried, from the tallest."""
        height = self.axes[2].windows
        tiles = [(rows, self.out_width) for rows in equal_sizes(height)]
        return tuple(band_of(self.axes, tile, bool(self.adds_x)) for tile in tiles)

    @cached_property
    def x_rows(self) -> int:
        """Rows of x."""
        return self.axes[0].extent

    @cached_property
    def e_rows(self) -> int:
        """Rows of E."""
        return self.axes[0].windows

    @cached_property
    def d_rows(self) -> int:
        """Rows of D, 0 where it is E."""
        return 0 if self.axes[1] is None else self.axes[1].windows

    @cached_property
    def band_count(self) -> int:
        """How many there are."""
        return len(self.bands)
