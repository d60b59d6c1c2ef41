"""COSMA's divide and conquer (Sec. IV), its break nodes found automatically: a comparison for the windows.

The order is cut where at most two tensors are live; each segment is solved by TIGHT alone, what goes across a cut held
where it was. The paper picks its break nodes by hand and does not say how long its segments are.
"""

from __future__ import annotations

from collections.abc import Sequence

from cocco.scheduling.graph import Graph
from cocco.scheduling.pieces.windows import Windowed, part_of, replaced
from cocco.scheduling.plan import Plan, cost_of
from cocco.scheduling.programs.breaks import narrow_steps
from cocco.scheduling.programs.solver import is_over
from cocco.scheduling.programs.tight import solve_part

LONGEST = 40  #: operators of a segment, where the cuts allow; our choice: what the solver closes in seconds
SEGMENT_LIMIT = 10.0  #: deterministic time of a segment; our choice


def divide(graph: Graph, plan: Plan, capacity: int, limit: float, deadline: float | None = None) -> Windowed:
    """Return the plan with every segment solved alone, one after the other."""
    count = proved = 0
    effort = 0.0
    for start, stop in bounds_of(graph, plan.order):
        if effort >= limit or is_over(deadline):
            break
        part = part_of(graph, plan, start, stop)
        answer = solve_part(graph, part, capacity, min(SEGMENT_LIMIT, limit - effort), (), plan, deadline)
        count, effort = count + 1, effort + answer.effort
        proved += answer.status == "optimal"
        if answer.cost is not None:
            changed = replaced(graph, plan, start, stop, answer)
            plan = changed if cost_of(graph, changed) <= cost_of(graph, plan) else plan
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
