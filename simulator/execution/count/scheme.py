"""The regions of a subgraph in the consumption-centric scheme (Cocco, Sec. 3.1, Fig. 7), found by sweeping.

MAIN holds what lies between the oldest element that a pending update reads and the newest; SIDE the rows that the
next row of tiles reads again. Both are found by running the sweeps of rows and columns on a map without borders.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from simulator.execution.count.layer_facts import row_bytes, state_bytes, tensor_of
from simulator.execution.count.pace import Pace, derive_pace, derive_steps, paper_span
from simulator.execution.count.part import COLUMNS, ROWS, Part


@dataclass(frozen=True)
class Cells:
    """MAIN and SIDE of one tensor, in elements, and the channels stored per element."""

    rows: int
    columns: int
    kept: int  #: rows of SIDE, over the whole width
    width: int  #: of SIDE
    channels: int  #: of one sample, rounded up to the layout's alignment
    samples: int = 1
    bits: int = 8  #: of an element
    state: int = 0  #: bytes of what a scan carries from one update to the next, one sample

    @property
    def main(self) -> tuple[int, int]:
        """Rows and columns of MAIN."""
        return self.rows, self.columns

    @property
    def side(self) -> tuple[int, int]:
        """Rows and columns of SIDE."""
        return (self.kept, self.width) if self.kept else (0, 0)

    @property
    def size_bytes(self) -> int:
        """Bytes of both, and of a state."""
        cells = self.rows * self.columns + self.kept * self.width
        return (cells * row_bytes(self.channels, self.bits) + self.state) * self.samples


@dataclass(frozen=True)
class Scheme:
    """How a subgraph runs: the pace along each axis, and the region of each tensor.

    is_alone: every tensor is as wide as its map, so rows run as in one dimension. Otherwise one operation sweeps all
    columns, and the rows that a tensor advances in it are made together. is_single: one operation makes all rows.
    """

    part: Part
    rows: Pace
    columns: Pace
    cells: Mapping[int, Cells]
    tile: tuple[int, int]
    is_alone: bool
    is_single: bool

    @property
    def steps(self) -> tuple[Mapping[int, int], Mapping[int, int]]:
        """Elements of an update of each tensor: of rows, one update at a time, and of columns."""
        return derive_steps(self.part, ROWS, self.tile[ROWS]), self.columns.steps

    @property
    def update_count(self) -> int:
        """Updates of all tensors."""
        return sum(self._updates(ROWS, u) * self._updates(COLUMNS, u) for u in self.part.tensors)

    def _updates(self, axis: int, u: int) -> int:
        """Return the approximate number of updates of a tensor along an axis: the steps in its extent."""
        if (axis == ROWS and self.is_single) or (axis == COLUMNS and self.is_alone):
            return 1
        return -(-self.part.extent[axis][u] // (self.rows, self.columns)[axis].steps[u])

    @property
    def activation_bytes(self) -> int:
        """Bytes of all regions; tensors that are on chip whole have none but their state."""
        whole = self.part.lies.on_chip
        return sum(each.state * each.samples if u in whole else each.size_bytes for u, each in self.cells.items())


def derive_scheme(part: Part, tile: tuple[int, int], alignment: int, samples: int = 1) -> Scheme:
    """Return the scheme of a subgraph whose outputs have this tile (rows, columns).

    alignment: a multiple of this many channels per element; samples: how many advance in lock-step.
    """
    height, width = part.extent
    columns = derive_pace(part, COLUMNS, derive_steps(part, COLUMNS, tile[COLUMNS]))
    across = {u: min(columns.span(u), width[u]) for u in part.tensors}
    is_alone = all(across[u] == width[u] for u in part.tensors)
    rows = derive_pace(part, ROWS, derive_steps(part, ROWS, tile[ROWS]))
    rows = rows if is_alone else rows.merged()
    down = {u: min(rows.span(u) if part.readers[u] else tile[ROWS], height[u]) for u in part.tensors}
    is_single = not is_alone and not part.needed_whole and all(down[u] == height[u] for u in part.tensors)
    cells = {}
    for u in part.tensors:
        has_side = not is_single and across[u] < width[u]
        kept = min(rows.kept(u), height[u]) if has_side else 0
        tensor = tensor_of(part.network, u)
        channels = -(-tensor.channels // alignment) * alignment
        state = state_bytes(part.network.layers[u], channels) if u in part.operands else 0
        cells[u] = Cells(down[u], across[u], kept, width[u], channels, samples, tensor.bits, state)
    return Scheme(part, rows, columns, cells, tile, is_alone, is_single)


def paper_cells(scheme: Scheme) -> dict[int, Cells]:
    """Return MAIN and SIDE by the paper's rule: what one update reads, and the rows of it that are read again."""
    part, found, cells = scheme.part, {}, scheme.cells
    steps = [derive_steps(part, axis, scheme.tile[axis]) for axis in (ROWS, COLUMNS)]
    for u in part.tensors:
        rows, columns = (paper_span(part, axis, steps[axis], u) for axis in (ROWS, COLUMNS))
        height, width = (extent[u] for extent in part.extent)
        has_side = part.readers[u] and columns < width and rows < height
        kept = rows - steps[ROWS][u] if has_side else 0
        found[u] = replace(cells[u], rows=min(rows, height), columns=min(columns, width), kept=kept)
    return found
