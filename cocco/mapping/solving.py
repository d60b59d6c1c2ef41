"""CoSA in one shot: formulate, solve, decode, let the judge look; tighten what it refuses, and solve again."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from cocco.mapping.cosa import SHARES, Formulation, formulate
from cocco.mapping.decoding import decode
from cocco.mapping.program import SOLVERS, Solution, Solver, solve, value
from cocco.mapping.result import MappingResult, Status
from cocco.mapping.rules import Rules
from simulator.mapping import Architecture, LayerShape, Level, evaluate

MAX_ROUNDS = 20  #: our choice; where the judge refuses at all, one or two are enough
DEFAULT_LIMIT = 20.0  #: units of deterministic time, about seconds; our choice


class SolverLimits(NamedTuple):
    """Which solver, and how far it goes."""

    solver: Solver = "highs"
    units: float = DEFAULT_LIMIT


def map_cosa(
    shape: LayerShape, arch: Architecture, rules: Rules, limits: SolverLimits, literal: bool = False
) -> MappingResult:
    """Return the mapping of least objective whose exact footprints fit.

    Raises ValueError for depth-wise work, which the program knows nothing about, and for an unknown solver.
    """
    if shape.is_depthwise:
        raise ValueError("depth-wise work has no mapping by cosa; use the closed form (--method closed)")
    if limits.solver not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {limits.solver!r}")
    tight: dict[tuple[int, str], float] = {}
    effort = 0
    for rounds in range(1, MAX_ROUNDS + 1):
        form = formulate(shape, arch, rules, tight, literal)
        solution = solve(form.program, limits.solver, limits.units)
        effort += solution.effort
        if not solution.values:
            status: Status = "gave_up" if solution.status == "gave_up" else "infeasible"
            return MappingResult(None, None, status, arch, evaluations=rounds - 1, rounds=rounds, effort=effort)
        machine = _with_shares(arch, form, solution)
        mapping = decode(form, solution.values, machine)
        cost = evaluate(mapping, shape, machine)
        if cost.valid:
            parts = {name: value(part, solution.values) for name, part in form.parts.items()}
            objective = rules.total(parts)
            assert solution.status in ("optimal", "feasible")
            return MappingResult(
                mapping, cost, solution.status, machine, objective, parts, min(solution.bound, objective),
                rounds, 1, rounds, effort,
            )  # fmt: skip
        assert cost.excess, cost.violations  # lanes and bounds are exact in the program
        for place, excess in cost.excess.items():
            tight[place] = tight.get(place, 0.0) + math.log2(excess)
    return MappingResult(None, None, "gave_up", arch, evaluations=MAX_ROUNDS, rounds=MAX_ROUNDS, effort=effort)


def _with_shares(arch: Architecture, form: Formulation, solution: Solution) -> Architecture:
    """Return the architecture with the shares of the outermost buffer that were decided, if they were."""
    if not form.shares:
        return arch
    share = (1 + max(range(SHARES - 1), key=lambda i: solution.values[form.shares[i]])) / SHARES
    outer: Level = replace(arch.levels[-2], stores={"I": share, "O": 1 - share})
    return replace(arch, levels=(*arch.levels[:-2], outer, arch.levels[-1]))
