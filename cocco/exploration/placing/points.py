"""Give addresses to points of fronts and answers under limits: a point without them is changed, as in `explore`.

A changed point may cost more. Then others may be better, and these get their addresses in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cocco.exploration.answers.front import FrontPoint, best_points
from cocco.exploration.placing.repair import repaired_plans
from cocco.problem.plane import Plane

Key = Callable[[tuple[float, ...]], tuple[float, ...]]


def placed_point(plane: Plane, point: FrontPoint) -> FrontPoint:
    """Return a point changed until all kept tensors have addresses (`placed`, if found); `moved` lists the changes."""
    if point.placed is not None or not any(plan.keep for plan in point.plans):
        return point
    problem = plane.problem
    plans, moved, placed = repaired_plans(problem, point.accelerator, point.plans, needs_pairs=False)
    point = replace(point, moved=moved, placed=placed)
    if not moved:
        return point
    evaluations = problem.evaluations(plans, point.accelerator)
    return replace(
        point, values=plane.judged(evaluations), plans=tuple(each.plan for each in evaluations), evaluations=evaluations
    )


def placed_front(plane: Plane, points: Sequence[FrontPoint]) -> tuple[tuple[FrontPoint, ...], bool]:
    """Return the points that no other beats once all have addresses, and whether none became worse by that."""
    pool, is_same = list(points), True
    while True:
        best, is_done = best_points(pool), True
        for point in best:
            found = placed_point(plane, point)
            if found is not point:
                is_same &= found.values == point.values and bool(found.placed)
                is_done &= found.values == point.values
                pool = [found if each is point else each for each in pool]
        if is_done:
            return best_points(pool), is_same


def best_placed(plane: Plane, points: Sequence[FrontPoint], key: Key) -> FrontPoint:
    """Return the best point that has addresses; one without only if no other is left."""
    pool = list(points)
    while True:
        point = min(pool, key=lambda each: (each.placed is False, key(each.values)))
        found = placed_point(plane, point)
        if found is point:
            return point
        pool = [found if each is point else each for each in pool]
