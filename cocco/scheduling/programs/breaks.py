"""Break nodes, found automatically (the paper picks them by hand; COSMA, Sec. IV)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocco.scheduling.graph import Graph, members
from cocco.scheduling.plan import uses_of

MAX_LIVE = 2  #: tensors live at a break of the third kind


class Breaks(NamedTuple):
    """Where a graph or an order can be cut."""

    kind: str
    operators: tuple[int, ...]  #: cut behind each of them
    longest: int  #: operators of the longest segment


def comparable(graph: Graph) -> tuple[int, ...]:
    """Return the operators that stand before or after every other one in all orders (kind a)."""
    everything = (1 << len(graph)) - 1
    return tuple(
        o for o in range(len(graph)) if graph.ancestors[o] | graph.descendants[o] | 1 << o == everything
    )  # fmt: skip


def single_cuts(graph: Graph) -> tuple[int, ...]:
    """Return the comparable operators across which only their own tensor goes (kind b): exact splits of any order."""
    found = []
    for o in comparable(graph):
        before = graph.ancestors[o]
        if all(not graph.reader_mask[a] & ~before & ~(1 << o) for a in members(before)):
            found.append(o)
    return tuple(found)


def narrow_steps(graph: Graph, order: Sequence[int], most: int = MAX_LIVE) -> tuple[int, ...]:
    """Return the steps of an order after which at most so many tensors are still read (kind c)."""
    change = [0] * (len(order) + 1)
    for uses in uses_of(graph, order):
        if len(uses) > 1:
            change[uses[0]] += 1
            change[uses[-1]] -= 1
    found, live = [], 0
    for step in range(len(order)):
        live += change[step]
        if live <= most:
            found.append(step)
    return tuple(found)


def all_breaks(graph: Graph, order: Sequence[int]) -> tuple[Breaks, ...]:
    """Return the breaks of each kind, in falling strictness, with the longest segment that they leave."""
    step = {o: t for t, o in enumerate(order)}
    kinds = {
        "comparable with all": sorted(step[o] for o in comparable(graph)),
        "single-tensor cuts": sorted(step[o] for o in single_cuts(graph)),
        f"at most {MAX_LIVE} live": list(narrow_steps(graph, order)),
    }
    return tuple(
        Breaks(kind, tuple(order[t] for t in steps), _longest(steps, len(order))) for kind, steps in kinds.items()
    )


def _longest(steps: Sequence[int], count: int) -> int:
    ends = [-1, *steps, count - 1]
    return max(after - before for before, after in zip(ends, ends[1:]))


def segments(graph: Graph, order: Sequence[int], steps: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the operators of an order between cuts behind these steps."""
    ends = [-1, *steps, len(order) - 1]
    return [tuple(order[a + 1 : b + 1]) for a, b in zip(ends, ends[1:]) if b > a]
