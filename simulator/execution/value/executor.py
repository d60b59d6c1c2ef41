"""Runs a subgraph tile by tile in the regions it claims: the proof that a plan works (Cocco, Fig. 6 and 7).

Every tensor lives in a MAIN and a SIDE region of exactly the claimed elements, and nowhere else on chip. Each cell
knows which element it holds; reading an element that was overwritten or never made is a `Miss`. DRAM counts what
crosses. The order of events is derived in pace.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from simulator.execution.count.miss import Miss
from simulator.execution.count.pace import derive_pace
from simulator.execution.count.part import COLUMNS, ROWS, Part
from simulator.execution.value.arithmetic import Arithmetic, Block

Span = tuple[int, int]


class Room(Protocol):
    """What a tensor has on chip, in rows and columns."""

    @property
    def main(self) -> tuple[int, int]:
        """MAIN."""

    @property
    def side(self) -> tuple[int, int]:
        """SIDE; (0, 0) where there is none."""


@dataclass
class Counts:
    """What an execution counted: elements of the executed channels, per tensor or (producer, layer) edge."""

    dram_read: Counter[int] = field(default_factory=Counter)
    dram_written: Counter[int] = field(default_factory=Counter)
    window_read: Counter[tuple[int, int]] = field(default_factory=Counter)
    whole_read: Counter[tuple[int, int]] = field(default_factory=Counter)
    side_read: Counter[int] = field(default_factory=Counter)
    updates: Counter[int] = field(default_factory=Counter)


class TensorMemory:
    """The MAIN and SIDE region of one tensor: cells that know which element they hold."""

    def __init__(self, name: str, channels: int, region: Room) -> None:
        self.name = name
        self.main_shape, self.side_shape = region.main, region.side
        self.main = np.zeros((channels, *region.main), dtype=np.int64)
        self.main_holds = np.full(region.main, -1, dtype=np.int64)
        self.side = np.zeros((channels, *region.side), dtype=np.int64)
        self.side_holds = np.full(region.side, -1, dtype=np.int64)

    def read(self, rows: Span, columns: Span) -> Block:
        """Return a block of MAIN."""
        if rows[1] - rows[0] > self.main_shape[0] or columns[1] - columns[0] > self.main_shape[1]:
            raise Miss(f"tensor {self.name!r}: a reader wants {_show(rows, columns)}, MAIN holds {self.main_shape}")
        cells = ring_cells(rows, columns, self.main_shape)
        held = self.main_holds[cells]
        if not np.array_equal(held, _elements(rows, columns)):
            wrong = np.argwhere(held != _elements(rows, columns))[0]
            found = held[tuple(wrong)]
            instead = "nothing" if found < 0 else f"[{found >> 32}, {found & 0xFFFFFFFF}]"
            raise Miss(
                f"tensor {self.name!r}: a reader wants {_show(rows, columns)}, but element "
                f"[{rows[0] + wrong[0]}, {columns[0] + wrong[1]}] is not in MAIN ({instead} is in its place)"
            )
        return self.main[(slice(None), *cells)]

    def write(self, rows: Span, columns: Span, values: Block) -> None:
        """Write a block into MAIN, overwriting what was there."""
        if rows[1] - rows[0] > self.main_shape[0] or columns[1] - columns[0] > self.main_shape[1]:
            raise Miss(f"tensor {self.name!r}: an update of {_show(rows, columns)} exceeds MAIN of {self.main_shape}")
        cells = ring_cells(rows, columns, self.main_shape)
        self.main[(slice(None), *cells)] = values
        self.main_holds[cells] = _elements(rows, columns)

    def save(self, rows: Span, columns: Span) -> None:
        """Copy the last rows of a block that is in MAIN to SIDE, for the next row of tiles (path 2 of Fig. 7)."""
        rows = (max(rows[0], rows[1] - self.side_shape[0]), rows[1])
        cells = ring_cells(rows, columns, self.side_shape)
        self.side[(slice(None), *cells)] = self.read(rows, columns)
        self.side_holds[cells] = _elements(rows, columns)

    def restore(self, rows: Span, columns: Span) -> int:
        """Copy rows from SIDE back to MAIN (path 1 of Fig. 7); return the number of elements copied."""
        cells = ring_cells(rows, columns, self.side_shape)
        if not np.array_equal(self.side_holds[cells], _elements(rows, columns)):
            raise Miss(f"tensor {self.name!r}: SIDE does not hold {_show(rows, columns)}")
        self.write(rows, columns, self.side[(slice(None), *cells)])
        return (rows[1] - rows[0]) * (columns[1] - columns[0])

    def check(self) -> None:
        """Raise Miss if another tensor overwrote a byte: impossible here."""


class Execution:
    """The execution of one subgraph. `dram` holds whole maps by tensor id; `stored` is what the run writes back.

    steps: elements of an update of each tensor, of rows and of columns. stays: the memories of tensors that are on chip
    whole, by tensor id; there: those that an earlier step left.
    """

    def __init__(
        self,
        part: Part,
        steps: Sequence[Mapping[int, int]],
        regions: Mapping[int, Room],
        arithmetic: Arithmetic,
        dram: Mapping[int, Block],
        stays: Mapping[int, TensorMemory] | None = None,
        there: Set[int] = frozenset(),
    ) -> None:
        self.part, self.steps, self.regions = part, steps, regions
        self.arithmetic, self.there = arithmetic, there
        self.inputs = set(part.inputs)
        self.dram = {u: _loaded(dram, u, part) for u in part.inputs if u not in there}
        tensors, channels = part.network.tensors, arithmetic.channels
        self.memory = {u: TensorMemory(tensors[u].name, channels[u], regions[u]) for u in part.tensors}
        self.memory |= {u: whole for u, whole in (stays or {}).items() if u in self.memory}
        self.made = {u: np.zeros((tensors[u].height, tensors[u].width), dtype=bool) for u in part.tensors}
        self.stored = {v: np.zeros_like(dram_map(arithmetic, v)) for v in part.outputs}
        self.counts = Counts()

    def run(self) -> Counts:
        """Run all tiles; raises Miss at the first element that is not where the plan claims it."""
        width = self.part.extent[COLUMNS]
        room = [{u: region.main[axis] for u, region in self.regions.items()} for axis in (ROWS, COLUMNS)]
        full_width = all(room[COLUMNS][u] == width[u] for u in self.part.tensors)
        if full_width:
            for event in derive_pace(self.part, ROWS, self.steps[ROWS]).events(room[ROWS]):
                self._advance(event.tensor, (event.start, event.stop), (0, width[event.tensor]))
        else:
            columns = derive_pace(self.part, COLUMNS, self.steps[COLUMNS]).events(room[COLUMNS])
            for operation in self._row_operations(room[ROWS]):
                for event in columns:
                    self._advance(event.tensor, operation[event.tensor], (event.start, event.stop))
        self._check_complete()
        return self.counts

    def _row_operations(self, room: dict[int, int]) -> list[dict[int, Span]]:
        height = self.part.extent[ROWS]
        everything = all(room[u] == height[u] for u in self.part.tensors)
        if everything and not self.part.needed_whole:
            return [{u: (0, height[u]) for u in self.part.tensors}]
        return derive_pace(self.part, ROWS, self.steps[ROWS]).merged().operations(room)

    def _advance(self, u: int, rows: Span, columns: Span) -> None:
        """Restore the kept rows of these columns, make or load the new rows, and save the last ones for later."""
        memory = self.memory[u]
        kept = memory.side_shape[0]
        if kept:
            top = max(0, rows[0] - kept, rows[1] - memory.main_shape[0])
            if top < rows[0]:
                self.counts.side_read[u] += memory.restore((top, rows[0]), columns)
        if rows[1] > rows[0]:
            self.counts.updates[u] += 1
            rows_at_once = rows[1] - rows[0] if self.part.readers[u] else self.steps[ROWS][u]
            for first in range(rows[0], rows[1], rows_at_once):
                self._make(u, (first, min(first + rows_at_once, rows[1])), columns)
        if kept and rows[1] > 0:
            memory.save((max(0, rows[1] - kept), rows[1]), columns)

    def _make(self, u: int, rows: Span, columns: Span) -> None:
        place = np.s_[rows[0] : rows[1], columns[0] : columns[1]]
        if self.made[u][place].any():
            raise Miss(f"tensor {self.memory[u].name!r}: {_show(rows, columns)} is made twice")
        self.made[u][place] = True
        elements = (rows[1] - rows[0]) * (columns[1] - columns[0])
        if u in self.there:
            return
        if u in self.inputs:
            self.counts.dram_read[u] += elements
            self.memory[u].write(rows, columns, self.dram[u][:, rows[0] : rows[1], columns[0] : columns[1]])
            return
        values = self.arithmetic.block(
            u, rows, columns, lambda p, r, c: self._window(p, u, r, c), lambda p: self._whole(p, u)
        )
        self.memory[u].write(rows, columns, values)
        if u in self.stored:
            self.counts.dram_written[u] += elements
            self.stored[u][(slice(None), *place)] = self.memory[u].read(rows, columns)

    def _window(self, producer: int, reader: int, rows: Span, columns: Span) -> Block:
        self.counts.window_read[producer, reader] += (rows[1] - rows[0]) * (columns[1] - columns[0])
        return self.memory[producer].read(rows, columns)

    def _whole(self, producer: int, reader: int) -> Block:
        height, width = self.made[producer].shape
        self.counts.whole_read[producer, reader] += height * width
        return self.memory[producer].read((0, height), (0, width))

    def _check_complete(self) -> None:
        for u, made in self.made.items():
            if not made.all():
                raise Miss(f"tensor {self.memory[u].name!r}: element {tuple(np.argwhere(~made)[0])} is never made")


def _loaded(dram: Mapping[int, Block], u: int, part: Part) -> Block:
    """Return a map from DRAM; raises Miss if it was never written."""
    if u not in dram:
        raise Miss(f"tensor {part.name(u)!r} is loaded, and DRAM does not have it")
    return dram[u]


def dram_map(arithmetic: Arithmetic, tensor: int) -> Block:
    """Return an empty map of this tensor as DRAM holds it."""
    shape = arithmetic.network.tensors[tensor]
    return np.zeros((arithmetic.channels[tensor], shape.height, shape.width), dtype=np.int64)


def ring_cells(rows: Span, columns: Span, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the cells where elements are stored: each region is a ring in both directions."""
    return np.ix_(np.arange(*rows) % shape[0], np.arange(*columns) % shape[1])  # type: ignore[return-value]


def _elements(rows: Span, columns: Span) -> np.ndarray:
    """Return the identity of each element of a block: row and column combined into one number."""
    return (np.arange(*rows)[:, None] << 32) | np.arange(*columns)[None, :]


def _show(rows: Span, columns: Span) -> str:
    return f"[{rows[0]}:{rows[1]}, {columns[0]}:{columns[1]}]"
