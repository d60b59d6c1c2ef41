"""COSMA's integer program to the letter (Eqs. 1 to 12) with one operator per step, for CP-SAT; the cross-check.

C created, P preserved, S spilled, R retrieved: binaries of a tensor and a step. L: its address. u, d: of a pair at a
step, the first above or below the second. Variables exist only where an operator can run and its tensor can be live.
Parameters are tensors that exist where their operator runs. Two operators in one step (nothing in Eqs. 1 to 11 forbids
it) are excluded: they can run one after the other with no more memory. A given order fixes every C (Eqs. 16 and 17).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import gcd
from typing import Any, NamedTuple

from cocco.scheduling.graph import Graph
from cocco.scheduling.packing import Stay
from cocco.scheduling.plan import Plan, Run, runs_of
from cocco.scheduling.programs.solver import SolverAnswer, cp_sat, solve
from cocco.scheduling.programs.tight import Cell


class PaperAnswer(NamedTuple):
    """What the solver says: a plan with addresses, or none; the bound is of all plans."""

    solved: SolverAnswer
    plan: Plan | None
    addresses: dict[Stay, int]
    bound: int
    variables: int


class _Model:
    """Variables by (tensor, step); a missing one is 0. Names below 0 are parameters: ~operator."""

    def __init__(self, graph: Graph, capacity: int, alignment: int, order: Sequence[int] | None) -> None:
        self.graph, self.model = graph, cp_sat().CpModel()
        self.unit = gcd(*graph.size, *graph.weight, alignment)
        self.room, self.step = capacity // self.unit, alignment // self.unit
        count = len(graph)
        self.window = [
            (graph.ancestors[o].bit_count(), count - 1 - graph.descendants[o].bit_count()) for o in range(count)
        ]
        for step, o in enumerate(order or ()):
            self.window[o] = (step, step)  # 16, 17
        self.life = [
            (self.window[a][0], max((self.window[o][1] for o in graph.readers[a]), default=self.window[a][1]))
            for a in range(count)
        ]
        self.C, self.P, self.S, self.R = ({} for _ in range(4))  # type: ignore[var-annotated]
        self.L: dict[Cell, Any] = {}
        for a in range(count):
            for t in range(self.life[a][0], self.life[a][1] + 1):
                if t <= self.window[a][1]:
                    self.C[a, t] = self.model.new_bool_var(f"C{a}_{t}")
                for name, group in (("P", self.P), ("S", self.S), ("R", self.R)):
                    if t > self.life[a][0]:
                        group[a, t] = self.model.new_bool_var(f"{name}{a}_{t}")
        for name in (*range(count), *(~o for o in range(count) if graph.weight[o])):
            first, last = self.life[name] if name >= 0 else self.window[~name]
            for t in range(first, last + 1):
                highest = (self.room - self.size(name)) // self.step  # Eq. 9
                self.L[name, t] = self.step * self.model.new_int_var(0, highest, f"L{name}_{t}")
        self.pairs = 0

    def size(self, name: int) -> int:
        return (self.graph.size[name] if name >= 0 else self.graph.weight[~name]) // self.unit

    def resident(self, name: int, t: int) -> Any:
        if name < 0:
            return self.C.get((~name, t), 0)
        return sum(group.get((name, t), 0) for group in (self.C, self.P, self.R))

    def add_actions(self, input_has_host_copy: bool) -> None:
        """Eqs. 1 to 8."""
        model, graph, C, P, S, R = self.model, self.graph, self.C, self.P, self.S, self.R
        for a, (first, last) in enumerate(self.life):
            steps = range(first, last + 1)
            for t in steps:
                model.add(sum(group.get((a, t), 0) for group in (C, P, S, R)) <= 1)  # 1
                if t > first:
                    model.add(P[a, t] <= C.get((a, t - 1), 0) + P.get((a, t - 1), 0) + R.get((a, t - 1), 0))  # 2
                    model.add(S[a, t] <= C.get((a, t - 1), 0) + P.get((a, t - 1), 0))  # 3
                    if graph.has_copy[a]:
                        model.add(R[a, t] <= sum(C[a, k] for k in steps if k < t and (a, k) in C))
                    else:
                        model.add(R[a, t] <= sum(S[a, k] for k in steps if first < k <= t))  # 4
                for b in graph.reads[a]:
                    if (a, t) in C:
                        model.add(C[a, t] <= P.get((b, t), 0) + R.get((b, t), 0))  # 5
            model.add_exactly_one(C[a, t] for t in steps if (a, t) in C)  # 7
            model.add(sum(S[a, t] for t in steps if (a, t) in S) <= 1)  # 8
        for t in range(len(graph)):
            model.add_exactly_one(C[a, t] for a in range(len(graph)) if (a, t) in C)

    def add_addresses(self) -> None:
        """Eqs. 10 and 11; Eq. 9 is the range of L."""
        model, L, M = self.model, self.L, self.room
        for (a, t), preserved in self.P.items():
            model.add(L[a, t - 1] - L[a, t] <= M * (1 - preserved))
            model.add(L[a, t] - L[a, t - 1] <= M * (1 - preserved))
        for t in range(len(self.graph)):
            there = [name for name, step in L if step == t]
            for a, b in combinations(there, 2):
                if a < 0 and b < 0:
                    continue  # two operators, one step
                u, d = model.new_bool_var("u"), model.new_bool_var("d")
                self.pairs += 2
                model.add(u + d <= 1)
                model.add(u + d >= self.resident(a, t) + self.resident(b, t) - 1)
                model.add(L[a, t] + self.size(a) - L[b, t] <= M * (1 - d))
                model.add(L[b, t] + self.size(b) - L[a, t] <= M * (1 - u))

    def minimize(self) -> None:
        """Eq. 12."""
        moved = [self.size(a) * each for group in (self.S, self.R) for (a, _), each in group.items()]
        self.model.minimize(sum(moved))


def solve_paper(
    graph: Graph,
    capacity: int,
    limit: float,
    alignment: int = 1,
    deadline: float | None = None,
    order: Sequence[int] | None = None,
) -> PaperAnswer:
    """Return the answer of the paper's program in a scratchpad of at least M_R bytes, of an order where it is given."""
    ilp = _Model(graph, capacity, alignment, order)
    ilp.add_actions(any(graph.has_copy))
    ilp.add_addresses()
    ilp.minimize()
    variables = sum(map(len, (ilp.C, ilp.P, ilp.S, ilp.R, ilp.L))) + ilp.pairs
    solved = solve(ilp.model, limit, deadline)
    if solved.cost is None:
        return PaperAnswer(solved, None, {}, solved.bound * ilp.unit, variables)
    is_set, value = solved.is_set, solved.solver.value
    order = tuple(a for _, a in sorted((t, a) for (a, t), made in ilp.C.items() if is_set(made)))
    runs: list[tuple[Run, ...]] = []
    addresses: dict[Stay, int] = {}
    for a, (first, last) in enumerate(ilp.life):
        steps = [t for t in range(first, last + 1) if any(is_set(g.get((a, t), 0)) for g in (ilp.C, ilp.P, ilp.R))]
        runs.append(runs_of(steps, {t for t in steps if is_set(ilp.R.get((a, t), 0))}))
        addresses |= {Stay(a, low, high): int(value(ilp.L[a, low])) * ilp.unit for low, high in runs[-1]}
    for t, o in enumerate(order):
        if graph.weight[o]:
            addresses[Stay(o, t, t, True)] = int(value(ilp.L[~o, t])) * ilp.unit
    return PaperAnswer(solved, Plan(order, tuple(runs)), addresses, solved.bound * ilp.unit, variables)
