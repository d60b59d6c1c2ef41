"""The least peak of live bytes over all orders without spilling (MPMF, COSMA Sec. III-E1), by dynamic programming.

State: the set of finished operators; what is live follows from it. For a budget: is the full set reachable with every
step within it? Bisect the budget. **Safe rule**: a ready operator that fits and raises no live bytes runs at once,
without branching; moving it forward raises no later step.
"""

from __future__ import annotations

from typing import NamedTuple

from cocco.candidates.sets import bits, members
from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import peak_of, ready_after

PEAK_STATES = 1_000_000  #: over all budgets tried; then the beam decides
BEAM = 3_000  #: states of a layer, by live bytes, then peak


class Peak(NamedTuple):
    """The least peak found, and an order that has it."""

    bytes: int
    order: tuple[int, ...]
    is_proved: bool  #: whether no order has less


class PeakWay(NamedTuple):
    """A way to a set of finished operators: the last one, and what was before."""

    operator: int
    before: PeakWay | None


class OrderWalk:
    """Moves through sets of finished operators. `ready` and `live` are carried along, so a step costs little."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sources = sum(1 << o for o, operands in enumerate(graph.reads) if not operands)

    def ready_after(self, o: int, done: int, ready: int) -> int:
        """Return who is ready once o is done; done: with o, ready: before it."""
        ready &= ~(1 << o)
        for reader in self.graph.readers[o]:
            if not self.graph.read_mask[reader] & ~done:
                ready |= 1 << reader
        return ready

    def growth(self, o: int, done: int) -> int:
        """Return by how much the live bytes grow over the step of o; done: without o."""
        graph = self.graph
        grown = graph.size[o] if graph.readers[o] else 0
        for a in graph.reads[o]:
            if not graph.reader_mask[a] & ~done & ~(1 << o):
                grown -= graph.size[a]
        return grown

    def settle(self, done: int, ready: int, live: int, peak: int, budget: int, node: PeakWay | None) -> Settled:
        """Run by the safe rule until nothing more is safe."""
        graph, again = self.graph, True
        while again:
            again = False
            for o in members(ready):
                transient = live + graph.size[o] + graph.weight[o]
                if transient <= budget and (grown := self.growth(o, done)) <= 0:
                    done |= 1 << o
                    ready = self.ready_after(o, done, ready)
                    live, peak, node, again = live + grown, max(peak, transient), PeakWay(o, node), True
        return Settled(done, ready, live, peak, node)


class Settled(NamedTuple):
    """A state where nothing is safe to run."""

    done: int
    ready: int
    live: int
    peak: int
    node: PeakWay | None


def least_peak(graph: Graph, max_states: int = PEAK_STATES, beam: int = BEAM) -> Peak:
    """Return the least peak of live bytes without spilling; a beam answers where the states are too many.

    max_states: finished sets in all, counted. Parameters count at their operator's step.
    """
    default = tuple(range(len(graph)))
    best = Peak(peak_of(graph, default), default, False)
    low, left = max(graph.need), max_states
    while low < best.bytes:
        budget = (low + best.bytes - 1) // 2
        answer, states, least_more = reach(graph, budget, left)
        left -= states
        if left <= 0:
            order = _within_beam(graph, best.bytes, beam)
            return best if order is None else Peak(peak_of(graph, order), order, False)
        if answer is None:
            low = least_more
        else:
            best = Peak(peak_of(graph, answer), answer, False)
    return best._replace(is_proved=True)


def reach(
    graph: Graph, budget: int, limit: int, done: int = 0, goal: int | None = None
) -> tuple[tuple[int, ...] | None, int, int]:
    """Return an order within the budget or None, the states looked at, and the least budget that may do instead.

    Without an order, the least step that was refused is the next budget worth a try: nothing between changes a thing.
    done: whose tensors are there at the start. goal: the finished operators that end it; by default all.
    """
    walk, goal = OrderWalk(graph), (1 << len(graph)) - 1 if goal is None else goal
    live = sum(graph.size[a] for a in members(done))
    start = walk.settle(done, bits(ready_after(graph, done)), live, 0, budget, None)
    stack, seen, refused = [start], {start.done}, -1
    while stack:
        state = stack.pop()
        if state.done == goal:
            return _order(state.node), len(seen), budget
        following = []
        for o in members(state.ready):
            transient = state.live + graph.size[o] + graph.weight[o]
            if transient > budget:
                refused = transient if refused < 0 else min(refused, transient)
                continue
            done = state.done | 1 << o
            live = state.live + walk.growth(o, state.done)
            settled = walk.settle(
                done, walk.ready_after(o, done, state.ready), live, transient, budget, PeakWay(o, state.node)
            )
            if settled.done not in seen:
                seen.add(settled.done)
                following.append(settled)
        if len(seen) > limit:
            return None, len(seen), budget
        following.sort(key=lambda each: -each.live)
        stack += following  # the one with the least live bytes next: depth first finds an order soon
    return None, len(seen), refused


def _within_beam(graph: Graph, budget: int, width: int) -> tuple[int, ...] | None:
    """Return an order below the budget that a beam finds, if any; a layer: all states with as many operators done."""
    walk, count = OrderWalk(graph), len(graph)
    start = walk.settle(0, walk.sources, 0, 0, budget - 1, None)
    layers: list[dict[int, Settled]] = [{} for _ in range(count + 1)]
    layers[start.done.bit_count()][start.done] = start
    for layer in layers[:count]:
        for state in sorted(layer.values(), key=lambda each: (each.live, each.peak, each.done))[:width]:
            for o in members(state.ready):
                transient = state.live + graph.size[o] + graph.weight[o]
                if transient >= budget:
                    continue
                done = state.done | 1 << o
                live, peak = state.live + walk.growth(o, state.done), max(state.peak, transient)
                ready = walk.ready_after(o, done, state.ready)
                settled = walk.settle(done, ready, live, peak, budget - 1, PeakWay(o, state.node))
                following = layers[settled.done.bit_count()]
                if settled.done not in following or settled.peak < following[settled.done].peak:
                    following[settled.done] = settled
        layer.clear()
    return next((_order(each.node) for each in layers[count].values()), None)


def _order(node: PeakWay | None) -> tuple[int, ...]:
    found = []
    while node is not None:
        found.append(node.operator)
        node = node.before
    return tuple(reversed(found))
