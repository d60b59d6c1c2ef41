"""Runs a partition at its addresses: each memory is one byte array, so that an overlap destroys data.

An element fills all the bytes that the model gives it (repeating its executed channels), the rest of a region is filled
as well, and the bytes of weights must be unchanged when their subgraph ends. A region that overlaps another therefore
changes it, and a read, the comparison of outputs or the check at the end of the subgraph fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np

from simulator.execution.value.arithmetic import Block
from simulator.execution.value.executor import Execution, Miss, Ring, Span, TensorMemory
from simulator.model.buffer_plan import BufferPlan, Memory, tensor_id, weights_id
from simulator.model.subgraph.regions import Region

Bytes = np.ndarray  #: uint8
Cells = tuple[np.ndarray, np.ndarray]  #: which rows and columns of a region
Addresses = Mapping[Memory, Mapping[str, int]]  #: memory -> id of the buffer -> first byte
VALUE_BYTES = 2  #: of a number in memory; values are residues below 2**16


class AddressedMemory:
    """The byte arrays of one core, and what they hold while the subgraphs of a plan run one after the other."""

    def __init__(self, plan: BufferPlan, addresses: Addresses) -> None:
        self.plan, self.addresses = plan, addresses
        self.bytes = {memory: np.zeros(plan.capacity(memory), dtype=np.uint8) for memory in plan.buffers}
        self.weights: dict[str, Bytes] = {}
        self._step = 0
        self._running: list[TensorMemory] = []

    def begin(self, step: int) -> None:
        """Load the weights that arrive while this subgraph runs: its own, or those of the next one."""
        self._step, self._running = step, []
        memory, ids = self._weight_memory, (weights_id(step), weights_id(step + 1))
        for buffer in self.plan.buffers[memory]:
            if buffer.lower == step and buffer.id in ids:
                values = np.random.default_rng(buffer.upper).integers(0, 256, buffer.size, dtype=np.uint8)
                self._span(memory, buffer.id, buffer.size)[:] = values
                self.weights[buffer.id] = values

    def put(self, execution: Execution) -> None:
        """Make an execution read and write here, each tensor at its address."""
        for u, given in execution.memory.items():
            if not isinstance(given.main, ByteRing):  # a tensor on chip whole has its address already
                claimed, place, mark = self.region(u)
                lay(given, claimed.main_bytes, place[: claimed.main_bytes] if u in execution.states else place, mark)
        for v, given in execution.states.items():  # behind MAIN
            claimed, place, mark = self.region(v)
            lay(given, claimed.side_bytes, place[claimed.main_bytes :], mark >> 8)
        self._running = [*execution.memory.values(), *execution.states.values()]

    def region(self, tensor: int) -> tuple[Region, Bytes, int]:
        """Return what the running step claims for a tensor, its bytes, and a number unique to it."""
        name, claimed = tensor_id(self.plan.network, self._step, tensor), self.plan.holdings[self._step].regions[tensor]
        place = self._span(next(iter(self.plan.buffers)), name, claimed.main_bytes + claimed.side_bytes)
        return claimed, place, crc32(name.encode())

    def add(self, region: TensorMemory) -> None:
        """Check a region when the running step ends."""
        self._running.append(region)

    def place(self, name: str, given: TensorMemory, size: int) -> TensorMemory:
        """Return a tensor that is on chip whole, of this many bytes, at its address; it stays as long as it is used."""
        return lay(given, size, self._span(next(iter(self.plan.buffers)), name, size), crc32(name.encode()))

    def fill(self) -> None:
        """Fill the regions of a single layer, whose loops run in a separate memory; raises Miss on an overlap."""
        memory = next(iter(self.plan.buffers))
        filled = []
        for mark, buffer in enumerate(self.plan.live(memory, self._step)):
            if buffer.id == weights_id(self._step) or buffer.upper - buffer.lower > 1:
                continue  # a tensor kept over several steps keeps its bytes and is checked when the step ends
            place = self._span(memory, buffer.id, buffer.size)
            place[:] = mark
            filled.append((buffer.id, place, mark))
        for name, place, mark in filled:
            if not (place == mark).all():
                raise Miss(f"{name!r}: bytes of its region were overwritten")

    def end(self) -> None:
        """Raise Miss unless regions and weights still hold what was last written to them."""
        for each in self._running:
            each.check()
        memory = self._weight_memory
        name = weights_id(self._step)
        if name in self.weights:
            values = self.weights.pop(name)
            if not np.array_equal(self._span(memory, name, len(values)), values):
                raise Miss(f"weights of {len(values)} bytes at {self.addresses[memory][name]} were overwritten")

    @property
    def _weight_memory(self) -> Memory:
        return list(self.plan.buffers)[-1]

    def _span(self, memory: Memory, name: str, size: int) -> Bytes:
        start = self.addresses.get(memory, {}).get(name, -1)
        if not 0 <= start <= start + size <= len(self.bytes[memory]):
            raise Miss(f"{name!r} has no address within the {memory} memory (-1: none at all), got {start}")
        return self.bytes[memory][start : start + size]


class ByteRing(Ring):
    """A ring as a view of a memory's bytes; which elements it holds is recorded separately."""

    def __init__(self, given: Ring, place: Bytes, mask: int) -> None:
        self.name, self.shape, self.values, self.holds = given.name, given.shape, given.values, given.holds
        self.bytes = ByteCells(self.values, place, mask)

    def read(self, rows: Span, columns: Span) -> Block:
        """Return a block, read from its bytes."""
        return self.bytes.read(self.cells(rows, columns), self.name)

    def write(self, rows: Span, columns: Span, values: Block) -> None:
        """Store a block, as numbers and as bytes."""
        super().write(rows, columns, values)
        self.bytes.write(self.cells(rows, columns))

    def is_whole(self) -> bool:
        """Whether all bytes are as last written."""
        return self.bytes.is_whole()


def lay(memory: TensorMemory, main_bytes: int, place: Bytes, mark: int) -> TensorMemory:
    """Return the memory of a tensor with MAIN and SIDE in these bytes, one behind the other; it is empty."""
    memory.main = ByteRing(memory.main, place[:main_bytes], mark & 0xFFFF)
    memory.side = ByteRing(memory.side, place[main_bytes:], mark >> 16)
    return memory


class ByteCells:
    """The cells of one region in bytes: rows x columns x copies of an element; the remaining bytes are filled once.

    Numbers are stored under a mask of their tensor, so that equal data of two tensors differ. If an element has more
    executed channels than fit, the first are stored.
    """

    def __init__(self, values: Block, place: Bytes, mask: int) -> None:
        channels, rows, columns = values.shape
        count = rows * columns
        pitch = len(place) // count // VALUE_BYTES if count else 0
        if count and not pitch:
            raise Miss(f"{count} elements do not fit {len(place)} bytes")
        self.mask = np.uint16(mask)
        self.values = values  #: channels x rows x columns, what was written
        self.stored = min(channels, pitch)
        copies = pitch // self.stored if count else 0
        used = count * copies * self.stored * VALUE_BYTES
        self.cells = place[:used].view("<u2").reshape(rows, columns, copies, self.stored)
        self.cells[:] = self.mask
        self.rest = place[used:]
        self.rest[:] = self.mask & 0xFF

    def write(self, cells: Cells) -> None:
        """Write these cells from the values."""
        self.cells[cells] = self._bytes(self.values[(slice(None), *cells)])

    def read(self, cells: Cells, name: str) -> Block:
        """Return the values of cells; all copies must agree."""
        found = self.cells[cells]
        if not (found == found[:, :, :1]).all():
            raise Miss(f"tensor {name!r}: bytes of its region were overwritten")
        values = self.values[(slice(None), *cells)]
        values[: self.stored] = np.moveaxis((found[:, :, 0] ^ self.mask).astype(np.int64), -1, 0)
        return values

    def is_whole(self) -> bool:
        """Whether all bytes are as last written."""
        return bool((self.cells == self._bytes(self.values)).all() and (self.rest == self.mask & 0xFF).all())

    def _bytes(self, values: Block) -> np.ndarray:
        return (np.moveaxis(values[: self.stored], 0, -1).astype(np.uint16) ^ self.mask)[:, :, None, :]
