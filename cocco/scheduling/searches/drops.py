"""Which tensors leave when a step does not fit: all smallest choices, and what they cost."""

from __future__ import annotations

from cocco.candidates.sets import members
from cocco.scheduling.graph import Graph

MAX_CHOICES = 200  #: of a step; our choice: so many only where ten tensors of one size lie idle together


class Drops:
    """All ways to free bytes, remembered: the same question comes up in many states."""

    def __init__(self, graph: Graph, most: int = MAX_CHOICES) -> None:
        self.graph, self.most = graph, most
        self.is_complete = True  #: whether no list of choices was cut off
        self._known: dict[tuple[int, int], list[int]] = {}
        self._bytes: dict[int, int] = {0: 0}

    def choices(self, idle: int, over: int) -> list[int]:
        """Return the subsets (masks) of the idle tensors of at least so many bytes that have none to spare.

        Every optimal plan is among those that drop such a set at the first step that does not fit: what could stay
        can as well leave later. Empty where all idle tensors are too few.
        """
        key = (idle, over)
        if key not in self._known:
            self._known[key] = self._enumerate(idle, over)
        return self._known[key]

    def bytes_of(self, mask: int) -> int:
        """Return the bytes of a set of tensors."""
        if mask not in self._bytes:
            low = mask & -mask
            self._bytes[mask] = self.bytes_of(mask ^ low) + self.graph.size[low.bit_length() - 1]
        return self._bytes[mask]

    def price(self, mask: int, copied: int) -> int:
        """Return what it costs that these leave and come back: the spill unless there is a copy, the retrieval."""
        return self.bytes_of(mask) + self.bytes_of(mask & ~copied)

    def _enumerate(self, idle: int, over: int) -> list[int]:
        size = self.graph.size
        tensors = sorted(members(idle), key=lambda a: (-size[a], a))
        after = [0] * (len(tensors) + 1)
        for i in reversed(range(len(tensors))):
            after[i] = after[i + 1] + size[tensors[i]]
        found: list[int] = []

        def extend(i: int, mask: int, missing: int) -> None:
            if missing <= 0:
                found.append(mask)  # sizes descend, so the last one, the smallest, is needed: none is to spare
                return
            if after[i] < missing or len(found) >= self.most:
                return
            extend(i + 1, mask | 1 << tensors[i], missing - size[tensors[i]])
            extend(i + 1, mask, missing)

        extend(0, 0, over)
        self.is_complete &= len(found) < self.most
        return found
