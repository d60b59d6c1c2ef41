"""CP-SAT in one place: one worker and deterministic time, so that the same question has the same answer."""

from __future__ import annotations

import importlib
import time
from typing import Any, NamedTuple

SOLVER_LIMIT = 60.0  #: units of CP-SAT's deterministic time, about a second each; the default of every call


class SolverAnswer(NamedTuple):
    """How the solver ended. value: of a variable; bound: no plan costs less, whatever the status."""

    status: str  #: "optimal", "feasible", "infeasible" or "gave_up"
    solver: Any
    bound: int
    cost: int | None
    effort: float  #: deterministic time that was spent

    def is_set(self, variable: Any) -> bool:
        """Return whether a binary is 1 in the best solution; constants are themselves."""
        return bool(variable) if isinstance(variable, (int, bool)) else bool(self.solver.value(variable))


def cp_sat() -> Any:
    """Return the module of CP-SAT; ValueError, which names the extra, where it is not installed."""
    try:
        return importlib.import_module("ortools.sat.python.cp_model")
    except ImportError:
        raise ValueError(
            "this method needs ortools, which is not installed: pip install 'cocco[solvers]'; a given order and the "
            "methods gap, beam, belady and greedy do without"
        ) from None


def has_cp_sat() -> bool:
    """Return whether CP-SAT is installed."""
    try:
        cp_sat()
    except ValueError:
        return False
    return True


def solve(model: Any, limit: float = SOLVER_LIMIT, deadline: float | None = None) -> SolverAnswer:
    """Return the answer of CP-SAT within so much deterministic time, and before a deadline where there is one."""
    cp_model = cp_sat()
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = limit
    if deadline is not None:
        solver.parameters.max_time_in_seconds = max(0.0, deadline - time.monotonic())
    status = solver.solve(model)
    effort = solver.response_proto.deterministic_time
    if status == cp_model.INFEASIBLE:
        return SolverAnswer("infeasible", solver, 0, None, effort)
    bound = max(0, round_up(solver.best_objective_bound))
    if status == cp_model.OPTIMAL:
        return SolverAnswer("optimal", solver, bound, round(solver.objective_value), effort)
    if status == cp_model.FEASIBLE:
        return SolverAnswer("feasible", solver, bound, round(solver.objective_value), effort)
    return SolverAnswer("gave_up", solver, bound, None, effort)


def is_over(deadline: float | None) -> bool:
    """Return whether a deadline, by time.monotonic(), has passed."""
    return deadline is not None and time.monotonic() >= deadline


def round_up(bound: float) -> int:
    """Return the least whole number that a bound allows; a bound that is not finite says nothing."""
    return -(-int(bound * 1_000_000 - 1) // 1_000_000) if abs(bound) < 1e15 else 0
