"""Presolve of TIGHT: parts between single-tensor cuts, those that need no spill, and those that are the same again.

Break nodes are found automatically (the paper picks them by hand; COSMA, Sec. IV).
"""

from __future__ import annotations

from collections.abc import Sequence

from cocco.candidates.sets import members
from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import uses_of
from cocco.scheduling.programs.tight import PartAnswer, TightPart

MAX_LIVE = 2  #: tensors live at a narrow step; our choice


def comparable(graph: Graph) -> tuple[int, ...]:
    """Return the operators that stand before or after every other one in all orders."""
    everything = (1 << len(graph)) - 1
    return tuple(o for o in range(len(graph)) if graph.ancestors[o] | graph.descendants[o] | 1 << o == everything)


def single_cuts(graph: Graph) -> tuple[int, ...]:
    """Return the comparable operators across which only their own tensor goes: exact splits of any order."""
    found = []
    for o in comparable(graph):
        before = graph.ancestors[o]
        if all(not graph.reader_mask[a] & ~before & ~(1 << o) for a in members(before)):
            found.append(o)
    return tuple(found)


def narrow_steps(graph: Graph, order: Sequence[int]) -> tuple[int, ...]:
    """Return the steps of an order after which at most MAX_LIVE tensors are still read."""
    change = [0] * (len(order) + 1)
    for uses in uses_of(graph, order):
        if len(uses) > 1:
            change[uses[0]] += 1
            change[uses[-1]] -= 1
    found, live = [], 0
    for step in range(len(order)):
        live += change[step]
        if live <= MAX_LIVE:
            found.append(step)
    return tuple(found)


def segments(order: Sequence[int], steps: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the operators of an order between cuts behind these steps."""
    ends = [-1, *steps, len(order) - 1]
    return [tuple(order[a + 1 : b + 1]) for a, b in zip(ends, ends[1:]) if b > a]


def parts_of(graph: Graph, order: Sequence[int]) -> list[TightPart]:
    """Return the parts between single-tensor cuts: exact, each solved alone; the tensor of a cut is there before."""
    cuts = set(single_cuts(graph))
    found, start, here = [], 0, frozenset[int]()
    for group in segments(order, [t for t, o in enumerate(order) if o in cuts]):
        found.append(TightPart(group, start, here))
        start, here = start + len(group), frozenset({group[-1]} if group[-1] in cuts else ())
    return found


def without_spills(graph: Graph, part: TightPart, capacity: int) -> PartAnswer | None:
    """Return the answer of 0 bytes where the part's own order keeps everything; None where that does not fit."""
    step = {o: part.start + t for t, o in enumerate(part.operators)}
    resident, live = {}, [graph.weight[o] for o in part.operators]
    for a in (*part.here, *part.operators):
        last = max((step[o] for o in graph.readers[a] if o in step), default=step.get(a, part.start - 1))
        resident[a] = list(range(step.get(a, part.start), last + 1))
        for t in resident[a]:
            live[t - part.start] += graph.size[a]
    if max(live) > capacity:
        return None
    return PartAnswer("optimal", 0.0, part.operators, resident, frozenset(), 0, 0)


def shape_of(graph: Graph, part: TightPart) -> object:
    """Return what makes two parts the same question: sizes and reads, operators by their place."""
    place = _places(part)
    reads = tuple(tuple(place[a] for a in graph.reads[o]) for o in part.operators)
    tensors = tuple((graph.size[a], graph.has_copy[a]) for a in place)
    return tensors, tuple(graph.weight[o] for o in part.operators), reads, len(part.here)


def translated(part: TightPart, twin: TightPart, answer: PartAnswer) -> PartAnswer:
    """Return the answer of a part of the same shape in the names and steps of this one; its effort is not spent."""
    name = dict(zip(_places(twin), _places(part)))
    shift = part.start - twin.start
    return answer._replace(
        effort=0.0,
        order=tuple(name[o] for o in answer.order),
        resident={name[a]: [t + shift for t in steps] for a, steps in answer.resident.items()},
        retrieved=frozenset((name[a], t + shift) for a, t in answer.retrieved),
    )


def _places(part: TightPart) -> dict[int, int]:
    """Number the tensors of a part: those that were there before, then the operators in their order."""
    return {a: i for i, a in enumerate((*sorted(part.here), *part.operators))}
