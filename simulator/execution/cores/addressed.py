"""Runs a partition at its addresses on several cores: one byte array per core and memory, one address map for all.

The map is that of the core with the most channels or columns. Every core has its regions at the same addresses, and
whatever a team reads and writes goes through the bytes (addressed.py). Tensors that stay on chip over several steps
lie in those of core 0.
"""

from __future__ import annotations

from simulator.execution.value.addressed import AddressedMemory, Addresses, lay
from simulator.execution.value.executor import TensorMemory
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

    def at_address(self, core: int, tensor: int, given: TensorMemory) -> TensorMemory:
        """Return a core's part of a tensor at its address; it stays as long as the step runs."""
        if given.channels:
            memory = self.others[core - 1] if core else self
            claimed, place, mark = memory.region(tensor)
            memory.add(lay(given, claimed.main_bytes, place, mark))
        return given
