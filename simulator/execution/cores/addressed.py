"""Runs a partition at its addresses on several cores: one byte array per core and memory, one address map for all.

The map is that of the core with the most channels or columns. Every core has its regions at the same addresses, and
whatever a team reads and writes goes through the bytes (addressed.py). Tensors that stay on chip over several steps
lie in those of core 0.
"""

from __future__ import annotations

import numpy as np

from simulator.execution.cores.memory import CoreMemory, Ring
from simulator.execution.value.addressed import AddressedMemory, Addresses, ByteCells, Bytes
from simulator.execution.value.arithmetic import Block
from simulator.execution.value.executor import Miss, Span
from simulator.model.buffer_plan import BufferPlan


class AddressedCores(AddressedMemory):
    """The byte arrays of core 0 and of all other cores."""

    def __init__(self, plan: BufferPlan, addresses: Addresses) -> None:
        super().__init__(plan, addresses)
        self.others = [AddressedMemory(plan, addresses) for _ in range(1, plan.accelerator.cores)]

    def begin(self, step: int) -> None:
        """Load the weights of a step in all cores."""
        super().begin(step)
        for each in self.others:
            each.begin(step)

    def end(self) -> None:
        """Raise Miss unless regions and weights of every core still hold what was last written to them."""
        super().end()
        for each in self.others:
            each.end()

    def at_address(self, core: int, tensor: int, given: CoreMemory) -> CoreMemory:
        """Return a core's part of a tensor at its address; it stays as long as the step runs."""
        if not given.channels:
            return given
        memory = self.others[core - 1] if core else self
        claimed, place, mark = memory.region(tensor)
        found = AddressedCore(given, place[: claimed.main_bytes], place[claimed.main_bytes :], mark)
        memory.add(found)
        return found


class AddressedCore(CoreMemory):
    """MAIN and SIDE of one core's part of a tensor, as views of its bytes."""

    def __init__(self, given: CoreMemory, main: Bytes, side: Bytes, mark: int) -> None:
        self.name, self.channels = given.name, given.channels
        self.main: _ByteRing = _ByteRing(given.main, main, mark & 0xFFFF)
        self.side: _ByteRing = _ByteRing(given.side, side, mark >> 16)

    def check(self) -> None:
        """Raise Miss if a byte is not what this core last wrote."""
        if not (self.main.bytes.is_whole() and self.side.bytes.is_whole()):
            raise Miss(f"tensor {self.name!r}: bytes of its region were overwritten")


class _ByteRing(Ring):
    """A ring whose elements are also stored as bytes."""

    def __init__(self, given: Ring, place: Bytes, mask: int) -> None:
        self.name, self.shape, self.values, self.holds = given.name, given.shape, given.values, given.holds
        self.bytes = ByteCells(self.values, place, mask)

    def read(self, rows: Span, columns: Span) -> Block:
        """Return a block, read from its bytes."""
        super().read(rows, columns)  # raises where the schedule does not have the elements there
        return self.bytes.read(self.cells(rows, columns), self.name)

    def write(self, rows: Span, columns: Span, values: Block) -> None:
        """Store a block, as numbers and as bytes."""
        super().write(rows, columns, np.asarray(values))
        self.bytes.write(self.cells(rows, columns))
