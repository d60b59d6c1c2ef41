"""Break nodes, found automatically (the paper picks them by hand; COSMA, Sec. IV)."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.scheduling.graph import Graph, members
from cocco.scheduling.plan import uses_of

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
