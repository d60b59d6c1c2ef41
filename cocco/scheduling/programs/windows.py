"""Plans piece by piece, for graphs that TIGHT cannot take whole: sliding windows, and COSMA's divide and conquer.

A window of an order is solved by TIGHT with the world outside fixed: who is resident before and after it, whose spill
is paid anyway. What is not worse is accepted, so the plan never gets worse. Windows of two sizes take turns: a second
size gains where the first has come to rest (our choice; no break nodes).

Divide and conquer (COSMA, Sec. IV), its break nodes found automatically, is a comparison for them: the order is cut
where at most two tensors are live; each segment is solved by TIGHT alone, what goes across a cut held where it was. The
paper picks its break nodes by hand and does not say how long its segments are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import Plan, cost_of, runs_of, trimmed
from cocco.scheduling.programs.parts import narrow_steps
from cocco.scheduling.programs.solver import is_over
from cocco.scheduling.programs.tight import PartAnswer, TightPart, solve_part

WINDOW_SIZES = (24, 36)  #: steps of a window; our choice
WINDOW_LIMIT = 2.0  #: deterministic time of one window; our choice
MAX_PASSES = 12  #: over the whole order; our choice

Polish = Callable[[Plan], Plan]
LONGEST = 40  #: operators of a segment, where the cuts allow; our choice: what the solver closes in seconds
SEGMENT_LIMIT = 10.0  #: deterministic time of a segment; our choice


class Windowed(NamedTuple):
    """The plan after all passes, and what it took."""

    plan: Plan
    windows: int  #: solved
    proved: int  #: of them closed by the solver
    effort: float  #: deterministic time


def slide(
    graph: Graph, plan: Plan, capacity: int, limit: float, polish: Polish, deadline: float | None = None
) -> Windowed:
    """Return a plan that costs no more: windows of both sizes over the order until none gains, within the limit.

    polish: improves the residency of a whole order after each pass. limit: deterministic time, all windows together.
    """
    count = proved = idle = 0
    effort = 0.0
    for number in range(MAX_PASSES):
        before, size = cost_of(graph, plan), WINDOW_SIZES[number % len(WINDOW_SIZES)]
        for start in range(0, len(graph), size // 2):
            stop = min(start + size, len(graph))
            if effort >= limit or is_over(deadline) or not _moves_inside(plan, start, stop):
                continue
            allowed = min(WINDOW_LIMIT, limit - effort)
            plan, answer = improved(graph, plan, (start, stop), capacity, allowed, deadline)
            count, effort = count + 1, effort + answer.effort
            proved += answer.status == "optimal"
        polished = polish(plan)
        if cost_of(graph, polished) < cost_of(graph, plan):
            plan = polished
        idle = idle + 1 if cost_of(graph, plan) == before else 0
        if idle == len(WINDOW_SIZES) or effort >= limit or is_over(deadline) or not cost_of(graph, plan):
            break
    return Windowed(plan, count, proved, effort)


def improved(
    graph: Graph, plan: Plan, window: tuple[int, int], capacity: int, limit: float, deadline: float | None
) -> tuple[Plan, PartAnswer]:
    """Return the plan with the steps [start, stop) solved anew, if it costs no more, and what the solver said."""
    answer = solve_part(graph, part_of(graph, plan, *window), capacity, limit, (), plan, deadline)
    if answer.cost is not None:
        changed = replaced(graph, plan, *window, answer)
        plan = changed if cost_of(graph, changed) <= cost_of(graph, plan) else plan
    return plan, answer


def _moves_inside(plan: Plan, start: int, stop: int) -> bool:
    """Return whether anything is retrieved in the window or right after it: else it has nothing to gain."""
    return any(start <= first <= stop for runs in plan.runs for first, _ in runs[1:])


def part_of(graph: Graph, plan: Plan, start: int, stop: int) -> TightPart:
    """Return the window [start, stop) of a plan with what the steps around it hold fixed."""
    created = set(plan.order[stop:])
    here, leaving, paid = set(), set(), set()
    for a, runs in enumerate(plan.runs):
        for k, (first, last) in enumerate(runs):
            if first < start <= last + 1:
                here.add(a)
            if first <= stop <= last and a not in created:
                leaving.add(a)
            if k and not start <= first <= stop:
                paid.add(a)
    return TightPart(plan.order[start:stop], start, frozenset(here), frozenset(leaving), frozenset(paid))


def replaced(graph: Graph, plan: Plan, start: int, stop: int, answer: PartAnswer) -> Plan:
    """Return the plan with the answer of a window in its place."""
    order = (*plan.order[:start], *answer.order, *plan.order[stop:])
    runs = list(plan.runs)
    for a, inside in answer.resident.items():
        steps = {step for first, last in plan.runs[a] for step in range(first, last + 1)}
        steps = {step for step in steps if not start <= step < stop} | set(inside)
        runs[a] = runs_of(sorted(steps))
    return trimmed(graph, Plan(order, tuple(runs)))


def divide(graph: Graph, plan: Plan, capacity: int, limit: float, deadline: float | None = None) -> Windowed:
    """Return the plan with every segment solved alone, one after the other."""
    count = proved = 0
    effort = 0.0
    for segment in bounds_of(graph, plan.order):
        if effort >= limit or is_over(deadline):
            break
        plan, answer = improved(graph, plan, segment, capacity, min(SEGMENT_LIMIT, limit - effort), deadline)
        count, effort = count + 1, effort + answer.effort
        proved += answer.status == "optimal"
    return Windowed(plan, count, proved, effort)


def bounds_of(graph: Graph, order: Sequence[int]) -> list[tuple[int, int]]:
    """Return the segments [start, stop) between narrow steps, as long as LONGEST allows."""
    ends = [step + 1 for step in narrow_steps(graph, order)]
    found, start = [], 0
    for end, following in zip(ends, [*ends[1:], len(order) + LONGEST]):
        if end == len(order) or following - start > LONGEST:
            found.append((start, end))
            start = end
    return found
