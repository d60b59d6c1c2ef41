"""COSMA's divide and conquer (Sec. IV), its break nodes found automatically: a comparison for the windows.

The order is cut where at most two tensors are live; each segment is solved by TIGHT alone, what goes across a cut held
where it was. The paper picks its break nodes by hand and does not say how long its segments are.
"""

from __future__ import annotations

from collections.abc import Sequence

from cocco.scheduling.graph import Graph
from cocco.scheduling.pieces.windows import Windowed, improved
from cocco.scheduling.plan import Plan
from cocco.scheduling.programs.breaks import narrow_steps
from cocco.scheduling.programs.solver import is_over

LONGEST = 40  #: operators of a segment, where the cuts allow; our choice: what the solver closes in seconds
SEGMENT_LIMIT = 10.0  #: deterministic time of a segment; our choice


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
