"""One core's part of a tensor, with values: MAIN and SIDE as rings of the core's own channels and columns."""

from __future__ import annotations

import numpy as np

from simulator.execution.count.miss import Miss, Span
from simulator.execution.count.scheme import Cells
from simulator.execution.value.arithmetic import Block


class CoreMemory:
    """Cells that know which element they hold; columns count in the direction of the core's sweep."""

    def __init__(self, name: str, channels: range, cells: Cells) -> None:
        self.name, self.channels = name, channels
        if len(channels) > cells.channels:
            raise Miss(f"tensor {name!r}: {len(channels)} channels exceed the {cells.channels} of a core's region")
        self.main = Ring(name, len(channels), (cells.rows, cells.columns))
        self.side = Ring(name, len(channels), (cells.kept, cells.width))

    def read(self, rows: Span, columns: Span, channels: list[int]) -> Block:
        """Return some of the core's channels of a block of MAIN."""
        first = self.channels.start
        return self.main.read(rows, columns)[[each - first for each in channels]]

    def write(self, rows: Span, columns: Span, values: Block) -> None:
        """Put a block of all the core's channels into MAIN."""
        self.main.write(rows, columns, values)

    def save(self, rows: Span, columns: Span) -> None:
        """Copy the last rows of a block that is in MAIN to SIDE."""
        kept = self.side.shape[0]
        if kept and rows[1] > 0:
            rows = (max(0, rows[1] - kept), rows[1])
            self.side.write(rows, columns, self.main.read(rows, columns))

    def restore(self, rows: Span, columns: Span) -> int:
        """Copy back the rows above these, as far as SIDE and MAIN have room; return the number of elements copied."""
        top = max(0, rows[0] - self.side.shape[0], rows[1] - self.main.shape[0])
        if not self.side.shape[0] or top >= rows[0]:
            return 0
        self.main.write((top, rows[0]), columns, self.side.read((top, rows[0]), columns))
        return (rows[0] - top) * (columns[1] - columns[0])


class Ring:
    """A region whose rows and columns are each a ring."""

    def __init__(self, name: str, channels: int, shape: tuple[int, int]) -> None:
        self.name, self.shape = name, shape
        self.values = np.zeros((channels, *shape), dtype=np.int64)
        self.holds = np.full(shape, -1, dtype=np.int64)

    def read(self, rows: Span, columns: Span) -> Block:
        """Return a block; raises Miss if one of its elements is not there."""
        self._check_room("a reader wants", rows, columns)
        cells = self.cells(rows, columns)
        if not np.array_equal(self.holds[cells], _elements(rows, columns)):
            raise Miss(f"tensor {self.name!r}: rows {rows}, columns {columns} are not all there")
        return self.values[(slice(None), *cells)]

    def write(self, rows: Span, columns: Span, values: Block) -> None:
        """Store a block; raises Miss if it does not fit."""
        self._check_room("an update has", rows, columns)
        cells = self.cells(rows, columns)
        self.values[(slice(None), *cells)] = values
        self.holds[cells] = _elements(rows, columns)

    def _check_room(self, what: str, rows: Span, columns: Span) -> None:
        if rows[1] - rows[0] > self.shape[0] or columns[1] - columns[0] > self.shape[1]:
            raise Miss(f"tensor {self.name!r}: {what} rows {rows}, columns {columns}, the region has {self.shape}")

    def cells(self, rows: Span, columns: Span) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells of the elements of a block."""
        down, across = self.shape
        return np.ix_(np.arange(*rows) % max(1, down), np.arange(*columns) % max(1, across))  # type: ignore[return-value]


def _elements(rows: Span, columns: Span) -> np.ndarray:
    """Return the identity of each element of a block: row and column combined into one number."""
    return (np.arange(*rows)[:, None] << 32) | np.arange(*columns)[None, :]
