"""Both memories of a core, divided into regions, with all their counters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from simulator.execution.count.count import Count
from simulator.execution.count.layer_facts import operations, row_bytes
from simulator.execution.count.miss import Miss
from workloads.network.network import Network


class Memory:
    """A memory of fixed size in regions, each as large as the most that it ever holds; too much in total is a Miss."""

    def __init__(self, name: str, capacity: float) -> None:
        self.name, self.capacity = name, capacity
        self.used: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    @property
    def size_bytes(self) -> int:
        """Bytes of all regions."""
        return sum(self.most.values())

    def take(self, region: str, size: int) -> None:
        """Put this many bytes into a region; raises Miss if they do not fit."""
        self.used[region] += size
        if self.used[region] > self.most[region]:
            self.most[region] = self.used[region]
            if self.size_bytes > self.capacity:
                raise Miss(f"{region} grows to {self.used[region]} bytes: the {self.name} buffer has {self.capacity}")

    def give(self, region: str, size: int) -> None:
        """Free this many bytes of a region."""
        assert self.used[region] >= size, region
        self.used[region] -= size

    def hold(self, region: str, size: int) -> None:
        """Put this many bytes into a region and free them again."""
        self.take(region, size)
        self.give(region, size)


class Chip:
    """Both memories of a core, and the bytes that move.

    has_results: whether results have a region, as always unless the output is kept whole. is_written: whether they go
    to DRAM. results: bytes that were made.
    """

    def __init__(
        self,
        activation_room: float = math.inf,
        weight_room: float = math.inf,
        word: int = 1,
        has_results: bool = True,
        is_written: bool = True,
    ) -> None:
        self.has_results, self.is_written, self.results = has_results, is_written, 0
        self.activations, self.weights = Memory("activation", activation_room), Memory("weight", weight_room)
        self.word = word  #: channels to which a position is rounded up
        self.ema_weights = self.ema_inputs = self.ema_outputs = self.global_buffer = self.weight_buffer = 0
        self.global_written = self.weight_written = 0  #: of global_buffer and of weight_buffer
        self.rescalings = 0  #: operations on sums that are scaled anew
        self.ema_second = 0  #: of ema_inputs, what is the second operand of a product
        self.heard: list[tuple[str, bytes]] | None = None  #: what came from DRAM, in turn, where that is requested

    def rounded(self, channels: int, bits: int = 8) -> int:
        """Return the bytes that this many channels of a position take."""
        return row_bytes(-(-channels // self.word) * self.word, bits)

    def load_input(self, size: int) -> None:
        """Move activations from DRAM into their buffer."""
        self.ema_inputs += size
        self.write(size)

    def load_second(self, size: int) -> None:
        """Move a part of the second operand of a product from DRAM."""
        self.ema_second += size
        self.load_input(size)

    def hear(self, what: str, values: np.ndarray) -> None:
        """Record what comes from DRAM, if requested."""
        if self.heard is not None and values.size:
            self.heard.append((what, values.tobytes()))

    def write(self, size: int) -> None:
        """Write this many bytes to the activation buffer."""
        self.global_buffer += size
        self.global_written += size

    def copy(self, size: int) -> None:
        """Count bytes moved within the activation buffer and back, or sums: half of them are writes."""
        assert size % 2 == 0, size
        self.global_buffer += size // 2
        self.write(size // 2)

    def load_weights(self, size: int) -> None:
        """Move weights from DRAM into their buffer."""
        self.ema_weights += size
        self.weight_buffer += size
        self.weight_written += size

    def store(self, elements: int, size_bytes: int | None = None) -> None:
        """Write results to the buffer and, unless they only stay, to DRAM; one byte each by default."""
        size = elements if size_bytes is None else size_bytes
        self.results += elements
        self.ema_outputs += size * self.is_written
        self.write(size)
        self.global_buffer += size * self.is_written

    def hold_results(self, size: int) -> None:
        """Put results of a tile into their region, if they have one, and free them again."""
        if self.has_results:
            self.activations.hold("output", size)

    def like(self) -> Chip:
        """Return a chip for a part of the same layer, without limits."""
        return Chip(word=self.word, has_results=self.has_results, is_written=self.is_written)

    def add(self, other: Chip, times: int = 1) -> None:
        """Add what was counted elsewhere, this many times in sequence."""
        self.ema_weights += times * other.ema_weights
        self.ema_inputs += times * other.ema_inputs
        self.ema_second += times * other.ema_second
        self.ema_outputs += times * other.ema_outputs
        self.results += times * other.results
        self.rescalings += times * other.rescalings
        self.global_buffer += times * other.global_buffer
        self.global_written += times * other.global_written
        self.weight_buffer += times * other.weight_buffer
        self.weight_written += times * other.weight_written
        for mine, theirs in ((self.activations, other.activations), (self.weights, other.weights)):
            for region, size in theirs.most.items():
                mine.hold(region, size)

    def count(self, network: Network, v: int, batch: int, after: Sequence[int] = ()) -> Count:
        """Return the count for all samples of a layer, and of those that follow it."""
        made = sum(operations(network, each, self.results // batch) for each in (v, *after))
        return self.total(batch * made + self.rescalings)

    def total(self, operations: int, extra: int = 0) -> Count:
        """Return the count with so many operations, and what they take beyond INT8."""
        return Count(
            self.activations.size_bytes, self.weights.size_bytes, self.ema_weights, self.ema_inputs, self.ema_outputs,
            self.global_buffer, self.weight_buffer, 0, operations,
            global_written_bytes=self.global_written, weight_written_bytes=self.weight_written, operation_extra=extra,
        )  # fmt: skip
