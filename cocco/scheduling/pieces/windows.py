"""Sliding-window re-optimisation of a plan, for graphs that TIGHT cannot take whole (our choice; no break nodes).

A window of an order is solved by TIGHT with the world outside fixed: who is resident before and after it, whose spill
is paid anyway. What is not worse is accepted, so the plan never gets worse. Windows of two sizes take turns: a second
size gains where the first has come to rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import Plan, cost_of, runs_of, trimmed
from cocco.scheduling.programs.solver import is_over
from cocco.scheduling.programs.tight import Part, PartAnswer, solve_part

SIZES = (24, 36)  #: steps of a window; our choice
WINDOW_LIMIT = 2.0  #: deterministic time of one window; our choice
MAX_PASSES = 12  #: over the whole order; our choice

Polish = Callable[[Plan], Plan]


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
        before, size = cost_of(graph, plan), SIZES[number % len(SIZES)]
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
        if idle == len(SIZES) or effort >= limit or is_over(deadline) or not cost_of(graph, plan):
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


def part_of(graph: Graph, plan: Plan, start: int, stop: int) -> Part:
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
    return Part(plan.order[start:stop], start, frozenset(here), frozenset(leaving), frozenset(paid))


def replaced(graph: Graph, plan: Plan, start: int, stop: int, answer: PartAnswer) -> Plan:
    """Return the plan with the answer of a window in its place."""
    order = (*plan.order[:start], *answer.order, *plan.order[stop:])
    runs = list(plan.runs)
    for a, inside in answer.resident.items():
        steps = {step for first, last in plan.runs[a] for step in range(first, last + 1)}
        steps = {step for step in steps if not start <= step < stop} | set(inside)
        runs[a] = runs_of(sorted(steps))
    return trimmed(graph, Plan(order, tuple(runs)))
