"""Tensors that stay on chip, whole, over several steps in the run of values: each in one place from first to last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import Lies, run_steps
from simulator.execution.value.addressed import AddressedMemory
from simulator.execution.value.arithmetic import Block
from simulator.execution.value.executor import TensorMemory
from simulator.model.subgraph.regions import Region
from simulator.partition.intervals import KeptInterval
from simulator.partition.partition import Partition
from workloads.network.network import Network


class Residents:
    """The values that the steps of a plan find and leave on chip and in DRAM.

    network: at the same scale as the values; sizes: bytes that the plan claims for each whole tensor; pairs: by step,
    an operand and the results that take its place.
    """

    def __init__(
        self,
        network: Network,
        partition: Partition,
        channels: list[int],
        inputs: dict[int, Block],
        sizes: dict[int, int],
        memory: AddressedMemory | None,
        pairs: Sequence[tuple[int, int] | None],
    ) -> None:
        self.network, self.channels, self.sizes, self.addressed = network, channels, sizes, memory
        self.pairs = pairs
        self.intervals: tuple[KeptInterval, ...] = partition.keep
        self.lies = run_steps(network, partition.subgraphs, [each.span for each in partition.keep])
        self.dram = dict(inputs)
        self.memory: dict[int, TensorMemory] = {}
        self.step = -1

    @property
    def here(self) -> Lies:
        """Where the tensors of the running step lie."""
        return self.lies[self.step]

    def begin(self, step: int) -> Residents:
        """Begin a step, and return self: what is kept from now on gets its memory, unless it takes that of another."""
        self.step = step
        for each in self.intervals:
            if each.from_step == step and each.tensor_id not in (self.pairs[step] or ()):
                self._place(each)
        return self

    def hand_over(self) -> None:
        """Give up the tensor whose place results of the step take, if they take one."""
        pair = self.pairs[self.step]
        if pair is not None:
            del self.memory[pair[0]]
            self._place(
                next(each for each in self.intervals if each.from_step == self.step and each.tensor_id == pair[1])
            )

    def _place(self, kept: KeptInterval) -> None:
        """Give a tensor its memory."""
        tensor = self.network.tensors[kept.tensor_id]
        shape = Region((tensor.height, tensor.width), (0, 0), 0, 0)
        whole = TensorMemory(kept.tensor, self.channels[kept.tensor_id], shape)
        if self.addressed is not None:
            whole = self.addressed.place(self.addressed.plan.places[kept], whole, self.sizes[kept.tensor_id])
        self.memory[kept.tensor_id] = whole

    def end(self) -> None:
        """End the step and drop what is no longer kept; raises Miss if bytes of a tensor were overwritten."""
        for whole in self.memory.values():
            whole.check()
        for each in self.intervals:
            if each.until_step == self.step:
                self.memory.pop(each.tensor_id, None)

    def read_whole(self, u: int) -> Block:
        """Return a whole tensor, from the chip or from DRAM; raises Miss if it is in neither."""
        tensor = self.network.tensors[u]
        if u in self.here.there:
            if u not in self.memory:
                raise Miss(f"tensor {tensor.name!r} is to be on chip, and was given up")
            return self.memory[u].read((0, tensor.height), (0, tensor.width))
        if u not in self.dram:
            raise Miss(f"tensor {tensor.name!r} is loaded, and DRAM does not have it")
        return self.dram[u]

    def write_whole(self, u: int, values: Block) -> None:
        """Put a whole tensor on chip if it is kept from now on, and into DRAM if it is written."""
        tensor, written = self.network.tensors[u], self.here.written
        if u in self.here.on_chip and u not in self.here.there:
            self.memory[u].write((0, tensor.height), (0, tensor.width), values)
        if written is not None and u in written:
            self.dram[u] = values

    def check_inputs(self, layers: tuple[int, ...], values: dict[int, Block]) -> None:
        """Raise Miss unless the inputs of a step are there and correct; inputs kept from now on are then on chip."""
        inside = set(layers)
        for u in {p for v in layers for p in self.network.producers[v]} - inside:
            found = self.read_whole(u)
            if not np.array_equal(found, values[u]):
                raise Miss(f"tensor {self.network.tensors[u].name!r}: what was kept differs from what was made")
            self.write_whole(u, found)
