"""GAP for CP-SAT: for a given order, one binary for each gap between two uses of a tensor (COSMA, Eqs. 16 and 17)."""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

from cocco.scheduling.graph import Graph
from cocco.scheduling.packing import Stay
from cocco.scheduling.plan import Plan, plan_of_gaps, uses_of
from cocco.scheduling.programs.solver import SolverAnswer, cp_sat, solve


class Gapped(NamedTuple):
    """What CP-SAT found for an order: a plan, or None; no plan of this order costs less than the bound."""

    solved: SolverAnswer
    plan: Plan | None
    bound: int


def solve_gaps(
    graph: Graph,
    order: Sequence[int],
    capacity: int,
    limit: float,
    conflicts: Sequence[Sequence[Stay]] = (),
    hint: Plan | None = None,
    deadline: float | None = None,
) -> Gapped:
    """Return the best residency of an order within so much deterministic time.

    conflicts: stays that cannot lie together: of each, a tensor must leave on the way. Then a gap without a step inside
    counts too: leaving there is a move to another address.
    """
    model: Any = cp_sat().CpModel()
    unit = gcd(*graph.size, *graph.weight)
    uses = uses_of(graph, order)
    gone: dict[tuple[int, int], Any] = {}
    for a, steps in enumerate(uses):
        for k in range(len(steps) - 1):
            if conflicts or steps[k + 1] > steps[k] + 1:
                gone[a, k] = model.new_bool_var(f"g{a}_{k}")
    spilled = {a: model.new_bool_var(f"s{a}") for a, _ in gone if not graph.has_copy[a]}
    for (a, _), away in gone.items():
        if a in spilled:
            model.add_implication(away, spilled[a])
    kept: list[list[tuple[int, Any]]] = [[] for _ in order]
    for (a, k), away in gone.items():
        for step in range(uses[a][k] + 1, uses[a][k + 1]):
            kept[step].append((graph.size[a] // unit, away))
    for step, o in enumerate(order):
        room = capacity // unit - graph.need[o] // unit
        if sum(size for size, _ in kept[step]) > room:
            model.add(sum(size * (1 - away) for size, away in kept[step]) <= room)
    for conflict in conflicts:
        inside = [
            gone[stay.tensor, k]
            for stay in conflict
            if not stay.is_weight
            for k, step in enumerate(uses[stay.tensor][:-1])
            if stay.first <= step and uses[stay.tensor][k + 1] <= stay.last
        ]
        model.add_at_least_one(inside)
    if hint is not None:
        _suggest(model, gone, uses, hint)
    model.minimize(
        sum(graph.size[a] // unit * each for a, each in spilled.items())
        + sum(graph.size[a] // unit * away for (a, _), away in gone.items())
    )
    solved = solve(model, limit, deadline)
    if solved.cost is None:
        return Gapped(solved, None, solved.bound * unit)
    dropped = {cell for cell, away in gone.items() if solved.is_set(away)}
    return Gapped(solved, plan_of_gaps(graph, order, dropped), solved.bound * unit)


def _suggest(model: Any, gone: dict[tuple[int, int], Any], uses: list[list[int]], hint: Plan) -> None:
    for (a, k), away in gone.items():
        is_away = not any(first <= uses[a][k] and uses[a][k + 1] <= last for first, last in hint.runs[a])
        model.add_hint(away, is_away)
