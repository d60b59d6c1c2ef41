"""Which layers come before which, and which form a narrow chain (cocco.bounds.patterns.tables)."""

from __future__ import annotations

from cocco.candidates.sets import Cones, members
from cocco.search.exact.question import KeepQuestion, sets_of_consumers, sets_of_producers


class LayerOrder(Cones):
    """Which layers come before which."""

    def __init__(self, question: KeepQuestion) -> None:
        network = question.network
        super().__init__(network.producers)
        self.count = len(network.layers)
        self.reads, self.readers = sets_of_producers(network), sets_of_consumers(network)

    def narrow(self, left: int, most_free: int) -> int:
        """Return a large subset of these layers in which none is unordered against more than `most_free` others."""
        while left:
            free = [((left & ~self.up[v] & ~self.down[v]).bit_count(), v) for v in members(left)]
            most, v = max(free)
            if most <= most_free:
                break
            left &= ~(1 << v)
        return left

    def late(self, layers: int, others: int, most_free: int) -> tuple[tuple[int, int], ...]:
        """Return the late layers, those of the others that only these layers read, each with its trigger.

        The trigger is the first of these layers after which at most `most_free` of them are unordered against the late
        layer.
        """
        found: dict[int, int] = {}
        for f in members(others):
            if not self.readers[f] or self.readers[f] & ~layers:
                continue
            before, free = layers, layers & ~self.up[f] & ~self.down[f]
            for r in members(self.readers[f]):
                before &= self.up[r] & ~self.readers[f]
            counts = [((free & ~self.up[a]).bit_count(), -a) for a in members(before)]
            counts = [each for each in counts if each[0] <= most_free]
            if counts:
                trigger = -max(counts)[1]
                found[trigger] = found.get(trigger, 0) | 1 << f
        return tuple(sorted(found.items()))
