"""A linear program over whole numbers, and the two open solvers that take it; limits are counted, never clocked.

In rows, real variables only occur with coefficients of 1 or -1, so that CP-SAT can count them in units of 1 / SCALE.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

SCALE = 10**6  #: coefficients of CP-SAT are whole numbers of this share; 1e-6 of a bit
SLACK = 30  #: of SCALE: what rounding can move a row of 60 factors; what this lets in too much, the judge refuses
FINER = 10**4  #: of the objective where real variables have a cost that is no whole number
OPTIMAL_GAP = 1e-6  #: relative; below it an answer is called optimal
NODES_PER_UNIT = 2_000  #: nodes of HiGHS for one unit of CP-SAT's deterministic time; our choice: about a second each
CONSTANT = -1  #: the key of the constant in a Linear

Linear = dict[int, float]  #: variable -> coefficient
Solver = Literal["cp", "highs"]
SOLVERS = ("cp", "highs")


class Solution(NamedTuple):
    """How a solver ended. values: of the variables; bound: no solution has a lower objective; effort: its nodes."""

    status: Literal["optimal", "feasible", "infeasible", "gave_up"]
    values: tuple[float, ...] = ()
    bound: float = -math.inf
    effort: int = 0


@dataclass
class Program:
    """Variables with their ranges, rows `sum of coefficients <= 0`, and what is minimized."""

    low: list[float] = field(default_factory=list)
    high: list[float] = field(default_factory=list)
    is_whole: list[bool] = field(default_factory=list)
    rows: list[Linear] = field(default_factory=list)
    equal: list[Linear] = field(default_factory=list)
    objective: Linear = field(default_factory=dict)

    def whole(self, high: int) -> int:
        """Return a new variable, a whole number from 0."""
        return self._variable(high, True)

    def real(self, high: float) -> int:
        """Return a new variable, a real number from 0."""
        return self._variable(high, False)

    def at_most(self, left: Linear, right: Linear | float = 0.0) -> None:
        """Demand left <= right."""
        self.rows.append(total((1, left), (-1, _linear(right))))

    def same(self, left: Linear, right: Linear | float) -> None:
        """Demand left = right."""
        self.equal.append(total((1, left), (-1, _linear(right))))

    def _variable(self, high: float, is_whole: bool) -> int:
        self.low.append(0)
        self.high.append(high)
        self.is_whole.append(is_whole)
        return len(self.low) - 1


def total(*parts: tuple[float, Linear]) -> Linear:
    """Return the sum of (times, expression)."""
    found: Linear = {}
    for times, part in parts:
        for variable, coefficient in part.items():
            found[variable] = found.get(variable, 0.0) + times * coefficient
    return found


def value(expression: Linear, values: tuple[float, ...]) -> float:
    """Return what an expression comes to."""
    return math.fsum(c * (1.0 if v == CONSTANT else values[v]) for v, c in expression.items())


def solve(program: Program, solver: Solver, limit: float) -> Solution:
    """Return the answer of one worker (extra `solvers`). limit: units of deterministic time, about seconds."""
    return {"cp": _solve_cp, "highs": _solve_highs}[solver](program, limit)


def _solve_cp(program: Program, limit: float) -> Solution:
    cp_model = _import("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    units = [1 if whole else SCALE for whole in program.is_whole]
    names = [model.new_int_var(0, math.ceil(high * unit), "") for high, unit in zip(program.high, units)]

    def scaled(row: Linear, slack: int, finer: int = 1) -> Any:
        """Return the row in whole numbers; its rounding must not forbid what fits exactly."""
        scale = SCALE * finer
        parts = [(names[v], round(c * scale / units[v])) for v, c in row.items() if v != CONSTANT and c]
        constant = round(row.get(CONSTANT, 0.0) * scale) - slack
        return cp_model.LinearExpr.weighted_sum(*zip(*parts)) + constant if parts else constant

    for row in program.rows:
        is_exact = all(float(c).is_integer() for c in row.values())
        is_rounded = not is_exact and all(v == CONSTANT or program.is_whole[v] for v in row)
        model.add(scaled(row, SLACK if is_rounded else 0) <= 0)
    for row in program.equal:
        model.add(scaled(row, 0) == 0)
    costs = [c for v, c in program.objective.items() if v != CONSTANT and not program.is_whole[v]]
    finer = 1 if all(float(c).is_integer() for c in costs) else FINER
    model.minimize(scaled(program.objective, 0, finer))
    solver = cp_model.CpSolver()
    settings = solver.parameters
    settings.num_workers, settings.random_seed = 1, 0
    settings.max_deterministic_time = limit
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return Solution("infeasible", effort=solver.num_branches)
    bound = solver.best_objective_bound / (SCALE * finer)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Solution("gave_up", (), bound, solver.num_branches)
    values = tuple(solver.value(name) / unit for name, unit in zip(names, units))
    return Solution(
        "optimal" if status == cp_model.OPTIMAL else "feasible", values, bound, solver.num_branches
    )  # fmt: skip


def _solve_highs(program: Program, limit: float) -> Solution:
    numpy, optimize = _import("numpy"), _import("scipy.optimize")
    sparse = _import("scipy.sparse")
    rows = program.rows + program.equal
    cells = [(i, v, c) for i, row in enumerate(rows) for v, c in row.items() if v != CONSTANT] or [(0, 0, 0.0)]
    i, v, c = (numpy.array(each) for each in zip(*cells))
    matrix = sparse.csr_array((c.astype(float), (i, v)), shape=(len(rows), len(program.low)))
    upper = numpy.array([-row.get(CONSTANT, 0.0) for row in rows])
    lower = numpy.where(numpy.arange(len(rows)) < len(program.rows), -numpy.inf, upper)
    costs = numpy.zeros(len(program.low))
    for variable, cost in program.objective.items():
        if variable != CONSTANT:
            costs[variable] = cost
    answer = optimize.milp(
        costs,
        integrality=numpy.array(program.is_whole, dtype=int),
        bounds=optimize.Bounds(program.low, program.high),
        constraints=optimize.LinearConstraint(matrix, lower, upper + 1e-9),
        options={"mip_rel_gap": OPTIMAL_GAP, "node_limit": max(1, round(limit * NODES_PER_UNIT))},
    )
    effort = int(answer.mip_node_count or 0)
    constant = program.objective.get(CONSTANT, 0.0)
    bound = -math.inf if answer.mip_dual_bound is None else float(answer.mip_dual_bound) + constant
    if answer.status == 2:
        return Solution("infeasible", effort=effort)
    if answer.x is None:
        return Solution("gave_up", (), bound, effort)
    values = tuple(float(round(x) if whole else x) for x, whole in zip(answer.x, program.is_whole))
    return Solution("optimal" if answer.status == 0 else "feasible", values, bound, effort)


def _linear(right: Linear | float) -> Linear:
    return right if isinstance(right, dict) else {CONSTANT: right}


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.split(".")[0]
        message = f"method cosa needs {package}, which is not installed: pip install 'cocco[solvers]'"
        raise ValueError(message) from None
