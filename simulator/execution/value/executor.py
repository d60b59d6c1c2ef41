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

from simulator.execution.count.layer_facts import state_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.pace import derive_pace
from simulator.execution.count.part import COLUMNS, ROWS, Part
from simulator.execution.count.scheme import Cells
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


class Ring:
    """A region whose rows and columns are each a ring: cells that know which element they hold."""

    def __init__(self, name: str, channels: int, shape: tuple[int, int]) -> None:
        self.name, self.shape = name, shape  #: of the tensor; rows and columns
        self.values = np.zeros((channels, *shape), dtype=np.int64)
        self.holds = np.full(shape, -1, dtype=np.int64)

    def cells(self, rows: Span, columns: Span) -> tuple[np.ndarray, np.ndarray]:
        """Return the cells where the elements of a block are stored."""
        down, across = (max(1, extent) for extent in self.shape)
        return np.ix_(np.arange(*rows) % down, np.arange(*columns) % across)  # type: ignore[return-value]

    def has(self, rows: Span, columns: Span) -> bool:
        """Whether all elements of a block are here."""
        return np.array_equal(self.holds[self.cells(rows, columns)], _elements(rows, columns))

    def read(self, rows: Span, columns: Span) -> Block:
        """Return a block that is here."""
        return self.values[(slice(None), *self.cells(rows, columns))]

    def write(self, rows: Span, columns: Span, values: Block) -> None:
        """Store a block, overwriting what was there."""
        cells = self.cells(rows, columns)
        self.values[(slice(None), *cells)] = values
        self.holds[cells] = _elements(rows, columns)

    def is_whole(self) -> bool:
        """Whether nothing else overwrote a cell: nothing can here."""
        return True


class TensorMemory:
    """The MAIN and SIDE region of one tensor, or of a core's part of it."""

    def __init__(self, name: str, channels: int, region: Room) -> None:
        self.name, self.channels = name, channels
        self.main, self.side = Ring(name, channels, region.main), Ring(name, channels, region.side)

    def read(self, rows: Span, columns: Span) -> Block:
        """Return a block of MAIN."""
        if self._is_too_large(rows, columns):
            raise Miss(f"tensor {self.name!r}: a reader wants {_show(rows, columns)}, MAIN holds {self.main.shape}")
        if not self.main.has(rows, columns):
            held = self.main.holds[self.main.cells(rows, columns)]
            wrong = np.argwhere(held != _elements(rows, columns))[0]
            found = held[tuple(wrong)]
            instead = "nothing" if found < 0 else f"[{found >> 32}, {found & 0xFFFFFFFF}]"
            raise Miss(
                f"tensor {self.name!r}: a reader wants {_show(rows, columns)}, but element "
                f"[{rows[0] + wrong[0]}, {columns[0] + wrong[1]}] is not in MAIN ({instead} is in its place)"
            )
        return self.main.read(rows, columns)

    def write(self, rows: Span, columns: Span, values: Block) -> None:
        """Write a block into MAIN, overwriting what was there."""
        if self._is_too_large(rows, columns):
            raise Miss(f"tensor {self.name!r}: an update of {_show(rows, columns)} exceeds MAIN of {self.main.shape}")
        self.main.write(rows, columns, values)

    def save(self, rows: Span, columns: Span) -> None:
        """Copy the last rows of a block that is in MAIN to SIDE, for the next row of tiles (path 2 of Fig. 7)."""
        kept = self.side.shape[0]
        if kept and rows[1] > 0:
            rows = max(0, rows[1] - kept), rows[1]
            self.side.write(rows, columns, self.read(rows, columns))

    def restore(self, rows: Span, columns: Span) -> int:
        """Copy the rows above these from SIDE back to MAIN, as far as both have room (path 1 of Fig. 7).

        Return the number of elements copied.
        """
        top = max(0, rows[0] - self.side.shape[0], rows[1] - self.main.shape[0])
        if not self.side.shape[0] or top >= rows[0]:
            return 0
        rows = top, rows[0]
        if not self.side.has(rows, columns):
            raise Miss(f"tensor {self.name!r}: SIDE does not hold {_show(rows, columns)}")
        values = self.side.read(rows, columns)
        if not np.array_equal(values, self.side.values[(slice(None), *self.side.cells(rows, columns))]):
            raise Miss(f"tensor {self.name!r}: SIDE was overwritten")
        self.write(rows, columns, values)
        return (rows[1] - rows[0]) * (columns[1] - columns[0])

    def check(self) -> None:
        """Raise Miss if another tensor overwrote a byte."""
        if not (self.main.is_whole() and self.side.is_whole()):
            raise Miss(f"tensor {self.name!r}: bytes of its region were overwritten")

    def _is_too_large(self, rows: Span, columns: Span) -> bool:
        return rows[1] - rows[0] > self.main.shape[0] or columns[1] - columns[0] > self.main.shape[1]


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
        self.states = {v: _state_of(part, v, channels[v]) for v in part.layers if state_of(part.network.layers[v])[0]}
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
        restored = memory.restore(rows, columns)
        if restored:
            self.counts.side_read[u] += restored
        if rows[1] > rows[0]:
            self.counts.updates[u] += 1
            rows_at_once = rows[1] - rows[0] if self.part.readers[u] else self.steps[ROWS][u]
            for first in range(rows[0], rows[1], rows_at_once):
                self._make(u, (first, min(first + rows_at_once, rows[1])), columns)
        memory.save(rows, columns)

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
            u, rows, columns, lambda p, r, c: self._window(p, u, r, c), lambda p: self._whole(p, u),
            lambda state: self.states[u].write((rows[1] - 1, rows[1]), columns, state),
        )  # fmt: skip
        self.memory[u].write(rows, columns, values)
        if u in self.stored:
            self.counts.dram_written[u] += elements
            self.stored[u][(slice(None), *place)] = self.memory[u].read(rows, columns)

    def _window(self, producer: int, reader: int, rows: Span, columns: Span) -> Block:
        if producer == reader:  # the row before, of a recurrent layer, or the state that it left
            return self.states.get(reader, self.memory[reader]).read(rows, columns)
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


def _state_of(part: Part, v: int, channels: int) -> TensorMemory:
    """Return the memory of what a scan carries: one row, which is that of the row that left it."""
    return TensorMemory(f"{part.name(v)} (state)", channels, Cells(1, 1, 0, 0, channels))


def dram_map(arithmetic: Arithmetic, tensor: int) -> Block:
    """Return an empty map of this tensor as DRAM holds it."""
    shape = arithmetic.network.tensors[tensor]
    return np.zeros((arithmetic.channels[tensor], shape.height, shape.width), dtype=np.int64)


def _elements(rows: Span, columns: Span) -> np.ndarray:
    """Return the identity of each element of a block: row and column combined into one number."""
    return (np.arange(*rows)[:, None] << 32) | np.arange(*columns)[None, :]


def _show(rows: Span, columns: Span) -> str:
    return f"[{rows[0]}:{rows[1]}, {columns[0]}:{columns[1]}]"
