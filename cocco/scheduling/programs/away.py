"""A bound for every order: bytes that must be away while some stretch of operators runs, whoever leaves (ours).

Between operators a and b run all that follow a and precede b, in any order of the whole. What they make and read, and
what was made before a and is read after b, has some least peak P over the orders of the stretch. In a scratchpad of C
bytes, tensors of P - C bytes are away at once then, and each of those leaves and comes back for twice its bytes, once
where the host has a copy. One tensor may serve several stretches, so the least that moves is a cover problem. The
stretch of a single operator needs no search: what must be there at its step.
"""

from __future__ import annotations

from typing import NamedTuple

from cocco.candidates.sets import bits, members
from cocco.scheduling.graph import Graph
from cocco.scheduling.programs.solver import cp_sat, has_cp_sat, solve
from cocco.scheduling.searches.peak import reach

STATES = 50_000  #: finished sets of all stretches together; our choice
GATES_APART = 12  #: operators between two gates; our choice
REACH = 4  #: how many gates further a stretch may end; our choice
COVER_LIMIT = 5.0  #: deterministic time of the cover problem; our choice


class Stretch(NamedTuple):
    """So many bytes must be away at once, of these tensors (a mask)."""

    bytes: int
    tensors: int


def must_move(graph: Graph, capacity: int, peak: int = 0, states: int = STATES) -> int:
    """Return bytes that every schedule of any order spills and retrieves at least.

    peak: a proved bound of the least peak without spilling, if one is known. states: finished sets, of all stretches.

    >>> from cocco.scheduling.graph import graph_of
    >>> from simulator.schedule.schedule import Operator
    >>> sizes = {"x": (2, ()), "a": (4, ("x",)), "b": (3, ("a",)), "c": (3, ("b",)), "d": (2, ("c", "a"))}
    >>> graph = graph_of([Operator(name, reads, size) for name, (size, reads) in sizes.items()])
    >>> [must_move(graph, capacity) for capacity in (9, 10)]
    [8, 0]
    """
    found = [*_steps(graph, capacity), *_stretches(graph, capacity, states)]
    if peak > capacity:
        found.append(Stretch(peak - capacity, (1 << len(graph)) - 1))
    return _cover(graph, found) if found else 0


def _steps(graph: Graph, capacity: int) -> list[Stretch]:
    """Return what must be away at single steps: made before, read after, no operand."""
    found = []
    for o in range(len(graph)):
        idle = [
            a for a in members(graph.ancestors[o] & ~graph.read_mask[o]) if graph.reader_mask[a] & graph.descendants[o]
        ]
        over = graph.need[o] + sum(graph.size[a] for a in idle) - capacity
        if over > 0:
            found.append(Stretch(over, bits(idle)))
    return found


def _stretches(graph: Graph, capacity: int, states: int) -> list[Stretch]:
    """Return what must be away between gates, operators that stand in no doubt before or after nearly all others."""
    gates, found = _gates(graph), []
    for distance in range(1, REACH + 1):
        for first, last in zip(gates, gates[distance:]):
            peak, seen = _peak_between(graph, first, last, capacity, states)
            states -= seen
            if peak > capacity:
                found.append(Stretch(peak - capacity, _present(graph, first, last)))
            if states <= 0:
                return found
    return found


def _peak_between(graph: Graph, first: int | None, last: int | None, capacity: int, states: int) -> tuple[int, int]:
    """Return the least peak of a stretch, or what is refuted until the states are spent; and how many it took."""
    part, done, goal = _part(graph, first, last)
    low, spent = max([capacity, *(part.need[o] for o in members(goal & ~done))]), 0
    while True:
        order, seen, least_more = reach(part, low, states - spent, done, goal)
        spent += seen
        if order is not None or spent >= states:
            return low, spent
        low = least_more


def _part(graph: Graph, first: int | None, last: int | None) -> tuple[Graph, int, int]:
    """Return a stretch as a graph, the tensors that are there at its start, and all but what follows it, as masks.

    Only what must be there counts: operators that may run outside are left out, and tensors that one of them makes are
    there at the steps that read them. What is read after the stretch is kept by a last operator, too large to run.
    """
    everything = (1 << len(graph)) - 1
    early = 0 if first is None else graph.ancestors[first] | 1 << first
    late = 0 if last is None else graph.descendants[last]
    inside = everything if first is None else graph.descendants[first]
    inside &= everything if last is None else graph.ancestors[last] | 1 << last
    there = [a for a in members(early) if graph.reader_mask[a] & (inside | late)]
    own = list(members(inside))
    index = {a: i for i, a in enumerate([*there, *own])}
    reads = [tuple(index[a] for a in graph.reads[o] if a in index) for o in own]
    weight = [graph.weight[o] + sum(graph.size[a] for a in graph.reads[o] if a not in index) for o in own]
    kept = tuple(index[a] for a in index if graph.reader_mask[a] & late)
    size = [graph.size[a] for a in index]
    part = Graph(
        (), (*size, sum(size) + sum(weight)), (*[0] * len(there), *weight, 0), (*[()] * len(there), *reads, kept),
        (False,) * (len(index) + 1),
    )  # fmt: skip
    return part, (1 << len(there)) - 1, (1 << len(index)) - 1


def _gates(graph: Graph) -> list[int | None]:
    """Return a chain of operators, each after the one before, with None for the start and the end of all."""
    count = len(graph)
    doubt = [count - 1 - (graph.ancestors[o] | graph.descendants[o]).bit_count() for o in range(count)]
    chain: list[int] = []
    before = [graph.ancestors[o].bit_count() for o in range(count)]
    for o in sorted(range(count), key=lambda each: (doubt[each], each)):
        near = graph.ancestors[o] | graph.descendants[o]
        if all(near >> other & 1 and abs(before[o] - before[other]) >= GATES_APART for other in chain):
            chain.append(o)
    return [None, *sorted(chain), None]


def _present(graph: Graph, first: int | None, last: int | None) -> int:
    """Return the tensors that may be there between two operators: made before the second, read after the first."""
    early = 0 if first is None else graph.ancestors[first] | 1 << first
    late = 0 if last is None else graph.descendants[last] | 1 << last
    return bits(a for a in range(len(graph)) if not late >> a & 1 and graph.reader_mask[a] & ~early)


def _cover(graph: Graph, stretches: list[Stretch]) -> int:
    """Return the least that tensors cost of which each stretch has its bytes; a bound of it, by hand or solver."""
    by_hand = max(each.bytes * _price(graph, each.tensors) for each in stretches)
    taken = total = 0
    for each in sorted(stretches, key=lambda each: -each.bytes):
        if not each.tensors & taken:  # stretches without a common tensor add up
            taken, total = taken | each.tensors, total + each.bytes * _price(graph, each.tensors)
    by_hand = max(by_hand, total)
    if not has_cp_sat():
        return by_hand
    model = cp_sat().CpModel()
    wanted = sorted(set(members(bits(a for each in stretches for a in members(each.tensors)))))
    leaves = {a: model.new_bool_var("") for a in wanted}
    for each in stretches:
        model.add(sum(graph.size[a] * leaves[a] for a in members(each.tensors)) >= each.bytes)
    model.minimize(sum(graph.size[a] * _price(graph, 1 << a) * leaves[a] for a in wanted))
    return max(by_hand, solve(model, COVER_LIMIT).bound)


def _price(graph: Graph, tensors: int) -> int:
    """Return how often the bytes of each of these tensors cross at least, if it leaves."""
    return 1 if tensors & graph.copied else 2
