"""Exact encodings for general solvers: baselines and cross-checks (TelaMalloc, Fig. 5 and Sec. 5.1, 5.5).

Figure 5 prints `<`, which forbids buffers to touch; here it is `<=`. One worker and counted limits, so that the same
question has the same answer.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal

import numpy as np

from cocco.allocation.answer import Outcome
from cocco.allocation.exact.canonical import pieces_of
from cocco.allocation.problem import AllocationProblem, Ints

NODES_PER_UNIT = 2_000  #: a unit of CP-SAT's deterministic time, about a second, for so many nodes; our choice
MAX_ILP_CAPACITY = 10**6  #: granules; our choice: beyond, a solver's tolerance of a binary times M is no small number


def cp(
    problem: AllocationProblem,
    capacity: int,
    minimize: bool,
    nodes: int,
    form: Literal["rectangles", "pairs"] = "rectangles",
) -> Outcome:
    """Return the answer of CP-SAT (extra `solvers`), which limits its deterministic time and its conflicts by nodes.

    form: "rectangles", one no_overlap_2d over time and address; or "pairs", the paper's: an order for each pair that
    overlaps in time. `nodes` of the outcome are the solver's branches.
    """
    cp_model = _import("ortools.sat.python.cp_model")
    model = cp_model.CpModel()
    size, alignment, fixed = (each.tolist() for each in (problem.size, problem.alignment, problem.fixed))
    address: list[Any] = []
    for i, (bytes_, step, offset) in enumerate(zip(size, alignment, fixed)):
        if offset >= 0:
            address.append(model.new_constant(offset))
        elif step == 1:
            address.append(model.new_int_var(0, capacity - bytes_, f"y{i}"))
        else:  # Sec. 5.5: the variable counts multiples of the alignment
            address.append(step * model.new_int_var(0, (capacity - bytes_) // step, f"k{i}"))
    if form == "rectangles":
        _add_rectangles(model, problem, address)
    else:
        _add_pairs(model, problem, address)
    if minimize:
        height = model.new_int_var(problem.bound, capacity, "height")
        for i in range(len(size)):
            model.add(address[i] + size[i] <= height)
        model.minimize(height)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_deterministic_time = nodes / NODES_PER_UNIT
    solver.parameters.max_number_of_conflicts = nodes
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return Outcome("infeasible", None, solver.num_branches, capacity)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Outcome("gave_up", None, solver.num_branches)
    found = np.array([solver.value(each) for each in address], dtype=np.int64)
    refuted = int(np.ceil(solver.best_objective_bound - 1e-6)) - 1 if minimize else -1
    return Outcome("feasible", found, solver.num_branches, refuted, f"CP-SAT {form}")


def _add_rectangles(model: Any, problem: AllocationProblem, address: list[Any]) -> None:
    across, upward = [], []
    for i, pieces in enumerate(pieces_of(problem)):
        for first, last in pieces:
            across.append(model.new_fixed_size_interval_var(first, last - first, f"t{i}"))
            upward.append(model.new_fixed_size_interval_var(address[i], int(problem.size[i]), f"a{i}"))
    model.add_no_overlap_2d(across, upward)


def _add_pairs(model: Any, problem: AllocationProblem, address: list[Any]) -> None:
    size = problem.size.tolist()
    for i, j in overlapping_pairs(problem):
        below = model.new_bool_var(f"b{i}_{j}")
        model.add(address[i] + size[i] <= address[j]).only_enforce_if(below)
        model.add(address[j] + size[j] <= address[i]).only_enforce_if(below.negated())


def ilp(problem: AllocationProblem, capacity: int, minimize: bool, nodes: int) -> Outcome:
    """Return the answer of HiGHS to the ILP of Fig. 5 (extra `solvers`), within so many of its own nodes.

    Variables: multiples of the alignment for each buffer, a binary for each pair that overlaps in time, the height.
    "gave_up" also where the numbers are too large for its tolerances.
    """
    optimize, sparse = _import("scipy.optimize"), _import("scipy.sparse")
    if capacity > MAX_ILP_CAPACITY:
        return Outcome("gave_up", None, 0)
    count, pairs = len(problem.size), overlapping_pairs(problem)
    if not count:
        return Outcome("feasible", np.zeros(0, dtype=np.int64), 0, solved_by="HiGHS")
    size, step = problem.size, problem.alignment
    total = count + len(pairs) + 1  # the last is the height
    rows: list[tuple[dict[int, int], int]] = []  #: (coefficients, most)
    for k, (i, j) in enumerate(pairs):
        b = count + k
        rows.append(({i: step[i], j: -step[j], b: capacity}, capacity - size[i]))  # b: i lies below j
        rows.append(({j: step[j], i: -step[i], b: -capacity}, -size[j]))
    rows += [({i: step[i], total - 1: -1}, -size[i]) for i in range(count)]
    matrix = sparse.csr_matrix(
        (
            [value for row, _ in rows for value in row.values()],
            ([r for r, (row, _) in enumerate(rows) for _ in row], [column for row, _ in rows for column in row]),
        ),
        shape=(len(rows), total),
    )
    is_free = problem.fixed < 0
    lower = np.concatenate([np.where(is_free, 0, problem.fixed // step), np.zeros(len(pairs)), [problem.bound]])
    upper = np.concatenate(
        [np.where(is_free, (capacity - size) // step, problem.fixed // step), np.ones(len(pairs)), [capacity]]
    )
    answer = optimize.milp(
        np.append(np.zeros(total - 1), 1.0 if minimize else 0.0),
        integrality=np.ones(total),
        bounds=optimize.Bounds(lower, upper),
        constraints=optimize.LinearConstraint(matrix, ub=np.array([most for _, most in rows], dtype=float)),
        options={"node_limit": nodes, "mip_rel_gap": 0.0},
    )
    tried = int(answer.mip_node_count or 0)
    if answer.status == 2:
        return Outcome("infeasible", None, tried, capacity)
    if answer.x is None:
        return Outcome("gave_up", None, tried)
    address: Ints = np.rint(answer.x[:count]).astype(np.int64) * step
    if not _is_right(problem, pairs, address, capacity):
        return Outcome("gave_up", None, tried)
    bound = answer.mip_dual_bound
    refuted = int(np.ceil(bound - 1e-6)) - 1 if minimize and bound is not None else -1
    return Outcome("feasible", address, tried, refuted, "HiGHS")


def overlapping_pairs(problem: AllocationProblem) -> list[tuple[int, int]]:
    """Return every pair (i, j), i < j, that shares a section."""
    rows = np.repeat(np.arange(len(problem.size)), np.diff(problem.starts))
    return [(i, j) for i, j in zip(rows.tolist(), problem.neighbours.tolist()) if i < j]


def _is_right(problem: AllocationProblem, pairs: list[tuple[int, int]], address: Ints, capacity: int) -> bool:
    """Return whether rounding a solver's numbers broke nothing."""
    top = address + problem.size
    return bool((top <= capacity).all()) and all(top[i] <= address[j] or top[j] <= address[i] for i, j in pairs)


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.split(".")[0]
        raise ValueError(f"this method needs {package}, which is not installed: pip install 'cocco[solvers]'") from None
