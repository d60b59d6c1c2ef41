"""Order and residency together, state by state: a beam that sees spills (our choice; exact where nothing is cut off).

State: the finished operators, the tensors that are away, those with a copy on the host. A transition runs a ready
operator, its operands back; where the step does not fit, one of the smallest sets of idle tensors leaves, and its spill
and its return are paid at once. What could stay leaves at the first step that does not fit, so no plan is lost.

**Safe rule**: a ready operator that fits next to all that is there, with its operands there, runs at once where nothing
reads its result, or where it is no larger than an operand that dies and has no copy on the host: from then on it can
take that operand's place in any plan, for no more bytes.
"""

from __future__ import annotations

from typing import NamedTuple

from cocco.candidates.sets import members
from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import Plan, plan_of_gaps, uses_of
from cocco.scheduling.searches.drops import Drops
from cocco.scheduling.searches.peak import OrderWalk

WIDTH = 40  #: states of a layer that go on; our choice: 100 find no less on NASNet
PRESSURES = (1.0, 0.0, 2.0)  #: our choice: what a resident byte counts relative to a moved one, one beam for each


class Move(NamedTuple):
    """One step of a path: the operator, the tensors that leave at it, and what was before."""

    operator: int
    dropped: int
    before: Move | None


class BeamState(NamedTuple):
    """Where a path stands. All sets are masks."""

    done: int
    ready: int
    live: int  #: made, and read by an operator that has not run
    away: int
    copied: int
    cost: int
    move: Move | None


class BeamPlan(NamedTuple):
    """The plan at the end of the best path."""

    plan: Plan
    cost: int
    is_optimal: bool  #: whether no state was cut off: then no plan of any order is cheaper


class Transitions:
    """The transitions of one graph in one capacity."""

    def __init__(self, graph: Graph, capacity: int) -> None:
        self.graph, self.capacity = graph, capacity
        self.walk, self.drops = OrderWalk(graph), Drops(graph)

    def start(self) -> BeamState:
        """Return the state in which nothing has run."""
        return self.settle(BeamState(0, self.walk.sources, 0, 0, self.graph.copied, 0, None))

    def settle(self, state: BeamState) -> BeamState:
        """Run by the safe rule until nothing more is safe."""
        again = True
        while again:
            again = False
            for o in members(state.ready):
                if self._is_safe(state, o):
                    state, again = self._run(state, o, 0), True
        return state

    def following(self, state: BeamState) -> list[BeamState]:
        """Return every state one operator later, settled."""
        graph, found = self.graph, []
        for o in members(state.ready):
            reads = graph.read_mask[o]
            there = state.live & ~state.away | reads
            over = self.drops.bytes_of(there) + graph.size[o] + graph.weight[o] - self.capacity
            for mask in self.drops.choices(there & ~reads, over) if over > 0 else (0,):
                found.append(self.settle(self._run(state, o, mask)))
        return found

    def _run(self, state: BeamState, o: int, dropped: int) -> BeamState:
        graph = self.graph
        done = state.done | 1 << o
        live = state.live | (1 << o if graph.readers[o] else 0)
        for a in graph.reads[o]:
            if not graph.reader_mask[a] & ~done:
                live &= ~(1 << a)
        away = (state.away & ~graph.read_mask[o] | dropped) & live
        cost = state.cost + self.drops.price(dropped, state.copied) if dropped else state.cost
        copied = (state.copied | dropped) & (live | graph.copied & ~done)
        ready = self.walk.ready_after(o, done, state.ready)
        return BeamState(done, ready, live, away, copied, cost, Move(o, dropped, state.move))

    def _is_safe(self, state: BeamState, o: int) -> bool:
        graph, reads = self.graph, self.graph.read_mask[o]
        if state.away & reads:
            return False
        there = self.drops.bytes_of(state.live & ~state.away)
        if there + graph.size[o] + graph.weight[o] > self.capacity:
            return False
        if not graph.readers[o]:
            return True
        rest = ~(state.done | 1 << o)
        return any(
            not graph.reader_mask[a] & rest and not state.copied >> a & 1 and graph.size[a] >= graph.size[o]
            for a in graph.reads[o]
        )


def beam(graph: Graph, capacity: int, width: int = WIDTH) -> BeamPlan:
    """Return the cheapest plan that beams find in a scratchpad of at least M_R bytes; the next only looks for less.

    width: states of a layer (the number of finished operators) that go on.
    """
    found: BeamPlan | None = None
    for pressure in PRESSURES:
        new, is_complete = _beam(graph, capacity, width, pressure, found.cost if found else None)
        found = new or found
        if is_complete or (found and not found.cost):
            assert found is not None
            return found._replace(is_optimal=True)
    assert found is not None, "without a bound on its cost a beam always reaches the end"
    return found


def _beam(graph: Graph, capacity: int, width: int, pressure: float, below: int | None) -> tuple[BeamPlan | None, bool]:
    """Return the cheapest plan of one beam, if any costs less, and whether no state was cut off."""
    search, count = Transitions(graph, capacity), len(graph)
    layers: list[dict[int, list[BeamState]]] = [{} for _ in range(count + 1)]
    start = search.start()
    layers[start.done.bit_count()][start.done] = [start]
    is_complete = True
    for layer in layers[:count]:
        found = [state for group in layer.values() for state in group]
        if len(found) > width:
            is_complete = False
            held = search.drops.bytes_of
            found.sort(key=lambda each: (each.cost + pressure * held(each.live & ~each.away), each.done, each.away))
        for state in found[:width]:
            for new in search.following(state):
                if below is None or new.cost < below:
                    _enter(layers[new.done.bit_count()].setdefault(new.done, []), new)
        layer.clear()
    ends = [state for group in layers[count].values() for state in group]
    is_complete &= search.drops.is_complete
    if not ends:
        return None, is_complete
    best = min(ends, key=lambda each: each.cost)
    return BeamPlan(_plan(graph, best.move), best.cost, False), is_complete


def _enter(group: list[BeamState], new: BeamState) -> None:
    """Add a state to those with the same finished operators, unless one of them is as good in all; drop the worse."""
    for old in group:
        if old.cost <= new.cost and not new.away & ~old.away and not new.copied & ~old.copied:
            return
    group[:] = [old for old in group if old.cost < new.cost or old.away & ~new.away or old.copied & ~new.copied] + [new]


def _plan(graph: Graph, move: Move | None) -> Plan:
    moves: list[Move] = []
    while move is not None:
        moves.append(move)
        move = move.before
    moves.reverse()
    order = [each.operator for each in moves]
    uses = uses_of(graph, order)
    dropped = set()
    for step, each in enumerate(moves):
        for a in members(each.dropped):
            dropped.add((a, max(k for k, use in enumerate(uses[a]) if use < step)))
    return plan_of_gaps(graph, order, dropped)
