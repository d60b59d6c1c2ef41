"""CoSA in one shot: formulate, solve, decode, let the judge look; tighten what it refuses, and solve again."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

from cocco.mapping.cosa.cosa import SECOND_WEIGHTS, SHARES, SPATIAL, TEMPORAL, Formulation, formulate
from cocco.mapping.cosa.program import SOLVERS, Solution, Solver, solve, value
from cocco.mapping.result import MappingResult, Status
from cocco.mapping.rules import Rules
from simulator.mapping import Architecture, LayerMapping, LayerShape, Level, evaluate
from simulator.mapping.shapes import LOOPS

MAX_REFUSALS = 20  #: our choice; where the judge refuses at all, one or two are enough
DEFAULT_LIMIT = 20.0  #: units of deterministic time, about seconds; our choice


def decode(formulation: Formulation, values: tuple[float, ...], arch: Architecture) -> LayerMapping:
    """Return the mapping of a solution: the factors of a dimension at a level become one loop.

    At the ordered level it stands at the innermost rank of its dimension; elsewhere in the order R S P Q C K N G.
    """
    factors: dict[tuple[int, int], dict[str, int]] = {}
    for (d, f, i, k), variable in formulation.counts.items():
        often = round(values[variable])
        if often:
            at = factors.setdefault((i, k), {})
            at[d] = at.get(d, 1) * f.prime**often
    order: dict[str, int] = {}
    for z, rank in enumerate(formulation.ranks):
        for (d, _), variable in rank.items():
            if round(values[variable]):
                order.setdefault(d, z)
    ordered = len(arch.levels) - 2
    levels = []
    for i in range(len(arch.levels)):
        loops = [(d, f) for d, f in factors.get((i, TEMPORAL), {}).items()]
        place = (lambda loop: order[loop[0]]) if i == ordered else (lambda loop: LOOPS.index(loop[0]))
        levels.append((factors.get((i, SPATIAL), {}), sorted(loops, key=place)))
    return LayerMapping.of(levels)


class SolverLimits(NamedTuple):
    """Which solver, and how far it goes."""

    solver: Solver = "highs"
    units: float = DEFAULT_LIMIT


def map_cosa(
    shape: LayerShape, arch: Architecture, rules: Rules, limits: SolverLimits, literal: bool = False
) -> MappingResult:
    """Return the mapping of least objective whose exact footprints fit.

    Where the groups of a shape take fewer cycles one after another, that is the answer; it is no longer "optimal".
    Raises ValueError for an unknown solver.
    """
    if limits.solver not in SOLVERS:
        raise ValueError(f"solver must be one of {', '.join(SOLVERS)}, got {limits.solver!r}")
    found = _map(shape, arch, rules, limits, literal)
    if shape.groups == 1 or found.cost is None:
        return found
    alone = _map(replace(shape, k=shape.k // shape.groups, groups=1), arch, rules, limits, literal)
    return _fewer_cycles(found, alone, shape, rules)


def _fewer_cycles(found: MappingResult, alone: MappingResult, shape: LayerShape, rules: Rules) -> MappingResult:
    """Return the answer for all groups, or that for one, run once for each, where the judge prefers it."""
    rounds, effort = found.rounds + alone.rounds, found.effort + alone.effort
    found = replace(found, rounds=rounds, effort=effort, evaluations=found.evaluations + alone.evaluations)
    if found.cost is None or alone.mapping is None or alone.objective_parts is None:
        return found
    mapping = alone.mapping.with_groups(shape.groups)
    cost = evaluate(mapping, shape, alone.architecture)
    if (found.cost.cycles, found.cost.energy_pj) <= (cost.cycles, cost.energy_pj):
        return found
    bits = math.log2(shape.groups)
    parts = dict(alone.objective_parts)
    parts["compute"] += bits
    parts["traffic"] += (2 + SECOND_WEIGHTS) * bits  # the outermost loop moves all three tensors
    return replace(
        found, mapping=mapping, cost=cost, status="feasible", architecture=alone.architecture,
        objective=rules.total(parts), objective_parts=parts,
    )  # fmt: skip


def _map(shape: LayerShape, arch: Architecture, rules: Rules, limits: SolverLimits, literal: bool) -> MappingResult:
    """Formulate, solve and judge until the judge accepts."""
    tight: dict[tuple[int, str], float] = {}
    effort = 0
    for rounds in range(1, MAX_REFUSALS + 1):
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
    return MappingResult(None, None, "gave_up", arch, evaluations=MAX_REFUSALS, rounds=MAX_REFUSALS, effort=effort)


def _with_shares(arch: Architecture, form: Formulation, solution: Solution) -> Architecture:
    """Return the architecture with the shares of the outermost buffer that were decided, if they were."""
    if not form.shares:
        return arch
    share = (1 + max(range(SHARES - 1), key=lambda i: solution.values[form.shares[i]])) / SHARES
    outer: Level = replace(arch.levels[-2], stores={"I": share, "O": 1 - share})
    return replace(arch, levels=(*arch.levels[:-2], outer, arch.levels[-1]))
