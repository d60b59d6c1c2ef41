"""The four baselines of COSMA (Sec. V-A2): a given order, the linear allocator, Belady's or greedy replacement.

Linear allocator (TFLite's): a tensor takes the smallest free gap that fits, the lowest on ties. At a step the missing
operands come first, then the parameters, then the result. Where no gap fits, tensors that the operator does not need
leave until one does. Belady: the one used furthest in the future first. Greedy: the window of addresses with the least
bytes to move. **Repack rule** (our choice; undefined in the paper, and it shapes every reduction): where only what the
operator needs is left and still no gap fits, all of it leaves and returns packed from address 0; what was there before
the step is spilled (where the host has no copy) and retrieved, and that is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from cocco.scheduling.graph import Graph
from cocco.scheduling.packing import Stay
from cocco.scheduling.plan import Plan, uses_of

Replacement = Literal["belady", "greedy"]


class LinearPlan(NamedTuple):
    """A plan with the address of every stay; how often it repacked."""

    plan: Plan
    addresses: dict[Stay, int]
    repacks: int


class _Memory:
    """Who lies where while the order runs. A name is a tensor, or ~operator for its parameters."""

    def __init__(self, graph: Graph, order: Sequence[int], capacity: int, alignment: int) -> None:
        self.graph, self.capacity, self.alignment = graph, capacity, alignment
        self.uses = uses_of(graph, order)
        self.place: dict[int, int] = {}  #: name -> address
        self.since: dict[int, int] = {}
        self.runs: list[list[tuple[int, int]]] = [[] for _ in order]
        self.addresses: dict[Stay, int] = {}
        self.has_copy = list(graph.has_copy)
        self.repacks = 0

    def size(self, name: int) -> int:
        return self.graph.size[name] if name >= 0 else self.graph.weight[~name]

    def enter(self, name: int, step: int, address: int) -> None:
        self.place[name], self.since[name] = address, step

    def leave(self, name: int, last: int) -> None:
        """Let a tensor go after a step; one that came in this very step was never there."""
        address, first = self.place.pop(name), self.since.pop(name)
        if first > last:
            return
        if name < 0:
            self.addresses[Stay(~name, first, last, True)] = address
        else:
            self.addresses[Stay(name, first, last)] = address
            self.runs[name].append((first, last))

    def evict(self, name: int, step: int) -> None:
        self.leave(name, step - 1)
        self.has_copy[name] = True

    def gaps(self) -> Iterator[tuple[int, int]]:
        """Yield (address, bytes) of every free stretch, its start aligned."""
        low = 0
        for name in sorted(self.place, key=self.place.__getitem__):
            yield low, self.place[name] - low
            low = -(-(self.place[name] + self.size(name)) // self.alignment) * self.alignment
        yield low, self.capacity - low

    def best_gap(self, size: int) -> int | None:
        fits = [(room, low) for low, room in self.gaps() if room >= size]
        return min(fits)[1] if fits else None

    def next_use(self, tensor: int, step: int) -> int:
        return next(use for use in self.uses[tensor] if use > step)

    def window(self, size: int, needed: set[int]) -> tuple[int, list[int]] | None:
        """Return the address and the tensors that leave where the fewest bytes move; None if needed ones are all over.

        Some best window starts at 0, at the end of a tensor, or ends where a tensor starts.
        """
        ends = [self.place[name] + self.size(name) for name in self.place]
        starts = {0, self.capacity - size, *ends, *(self.place[name] - size for name in self.place)}
        aligned = {-(-start // self.alignment) * self.alignment for start in starts if start >= 0}
        best: tuple[int, int, list[int]] | None = None
        for low in sorted(aligned):
            if low + size > self.capacity:
                continue
            hit = [name for name, at in self.place.items() if at < low + size and low < at + self.size(name)]
            if needed.intersection(hit):
                continue
            moved = sum(self.size(name) * (1 if self.has_copy[name] else 2) for name in hit)
            if best is None or moved < best[0]:
                best = (moved, low, hit)
        return best[1:] if best else None


def linear(
    graph: Graph, order: Sequence[int], capacity: int, replacement: Replacement, alignment: int = 1
) -> LinearPlan | None:
    """Return what the baseline does with an order; None where an operator does not fit even packed from address 0.

    That is nowhere from M_R on.
    """
    memory = _Memory(graph, order, capacity, alignment)
    for step, o in enumerate(order):
        needed = {*graph.reads[o], o} | ({~o} if graph.weight[o] else set())
        missing = [a for a in graph.reads[o] if a not in memory.place]
        coming = [*missing, *([~o] if graph.weight[o] else []), o]
        if not all(_make_room(memory, name, step, needed, replacement) for name in coming):
            if not _repack(memory, [*graph.reads[o], *coming[len(missing) :]], step):
                return None
        if graph.weight[o]:
            memory.leave(~o, step)
        for a in (*graph.reads[o], o):
            if memory.uses[a][-1] == step:
                memory.leave(a, step)
    return LinearPlan(Plan(tuple(order), tuple(map(tuple, memory.runs))), memory.addresses, memory.repacks)


def _make_room(memory: _Memory, name: int, step: int, needed: set[int], replacement: Replacement) -> bool:
    """Place a tensor, evicting where it must be; False where what the operator needs is in the way."""
    size = memory.size(name)
    address = memory.best_gap(size)
    if address is None and replacement == "greedy":
        window = memory.window(size, needed)
        if window is None:
            return False
        address, leaving = window
        for each in leaving:
            memory.evict(each, step)
    while address is None:
        idle = [each for each in memory.place if each not in needed]
        if not idle:
            return False
        memory.evict(max(idle, key=lambda each: (memory.next_use(each, step), each)), step)
        address = memory.best_gap(size)
    memory.enter(name, step, address)
    return True


def _repack(memory: _Memory, names: Sequence[int], step: int) -> bool:
    """Let everything leave and put what the operator needs from address 0 on."""
    memory.repacks += 1
    for name in list(memory.place):
        if name >= 0 and memory.since[name] < step:
            memory.evict(name, step)
        else:
            memory.leave(name, step - 1)
    low = 0
    for name in sorted(names, key=lambda each: -memory.size(each) % memory.alignment):  # the largest gap: behind none
        if low + memory.size(name) > memory.capacity:
            return False
        memory.enter(name, step, low)
        low = -(-(low + memory.size(name)) // memory.alignment) * memory.alignment
    return True
