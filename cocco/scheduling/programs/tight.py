"""TIGHT: order and residency without addresses, as CP-SAT sees them, for a whole graph or a window of an order.

x[o, t]: operator o runs at step t. X[a, t]: tensor a is resident. R[a, t]: it is retrieved. s[a]: it is ever spilled.
Variables exist only within windows: an operator between its ancestors and its descendants, a tensor from the earliest
step of its operator to the latest of its readers. One spill without a step is enough: a tensor that is absent before a
retrieval left at some earlier step; the second time nothing is paid.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any, NamedTuple

from cocco.candidates.sets import bits
from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import Plan, Run
from cocco.scheduling.programs.solver import cp_sat, solve

Cell = tuple[int, int]  #: a tensor and a step


class Cut(NamedTuple):
    """A residency that was proved to have no addresses: not all of it again (steps of the whole order)."""

    cells: frozenset[Cell]
    moves: frozenset[Cell]  #: cells whose tensor is there a step before too: a retrieval there ends the conflict
    runs: frozenset[Cell]  #: operators with parameters, at their steps


class TightPart(NamedTuple):
    """Operators that run one after the other from a step on, and what the world before and after holds fixed."""

    operators: tuple[int, ...]  #: in a valid order: the start for the solver
    start: int = 0  #: the step of the first one
    here: frozenset[int] = frozenset()  #: tensors of before that are resident at the step before
    leaving: frozenset[int] = frozenset()  #: tensors that are resident at the step after the last
    paid: frozenset[int] = frozenset()  #: tensors whose spill is paid anyway: outside, or the host has them


class PartAnswer(NamedTuple):
    """What TIGHT found for a part: its order, and who is resident when, as steps of the whole order."""

    status: str
    effort: float  #: deterministic time of the solver
    order: tuple[int, ...]
    resident: dict[int, list[int]]  #: tensor -> steps, ascending
    retrieved: frozenset[Cell]
    cost: int | None
    bound: int


class Model:
    """The variables of one part. A tensor of before is "in"; what is outside the part is a constant."""

    def __init__(self, graph: Graph, part: TightPart, capacity: int) -> None:
        self.graph, self.part = graph, part
        self.model: Any = cp_sat().CpModel()
        self.count = len(part.operators)
        inside = bits(part.operators)
        self.tensors = self._tensors()
        self.unit = gcd(*(graph.size[a] for a in self.tensors), *(graph.weight[o] for o in part.operators))
        self.room = capacity // self.unit
        self.window = {
            o: (
                (graph.ancestors[o] & inside).bit_count(),
                self.count - 1 - (graph.descendants[o] & inside).bit_count(),
            )
            for o in part.operators
        }
        self.x = {
            (o, t): self.model.new_bool_var(f"x{o}_{t}")
            for o, (first, last) in self.window.items()
            for t in range(first, last + 1)
        }
        self.life = {a: self._life(a) for a in self.tensors}
        self.X = {
            (a, t): self.model.new_bool_var(f"X{a}_{t}")
            for a, (first, last) in self.life.items()
            for t in range(first, last + 1)
        }
        self.R: dict[Cell, Any] = {}
        self.s: dict[int, Any] = {}
        self._add_order()
        self._add_residency()
        self._add_room()

    def _tensors(self) -> tuple[int, ...]:
        found = {*self.part.operators, *self.part.here, *self.part.leaving}
        for o in self.part.operators:
            found.update(self.graph.reads[o])
        return tuple(sorted(found))

    def _life(self, a: int) -> Run:
        """The steps in which a tensor may be resident, counted from the start of the part."""
        first = self.window[a][0] if a in self.window else 0
        last = max((self.window[o][1] for o in self.graph.readers[a] if o in self.window), default=-1)
        if a in self.part.leaving:
            last = self.count - 1
        elif a in self.window:
            last = max(last, self.window[a][1])
        return first, last

    def made(self, a: int, t: int) -> list[Any]:
        """Return what sums to 1 where a was made at step t or before; a tensor of before was."""
        if a not in self.window:
            return [1]
        first, last = self.window[a]
        return [self.x[a, k] for k in range(first, min(t, last) + 1)]

    def _add_order(self) -> None:
        model, graph = self.model, self.graph
        for o, (first, last) in self.window.items():
            model.add_exactly_one(self.x[o, t] for t in range(first, last + 1))
        for t in range(self.count):
            model.add_exactly_one(self.x[o, t] for o in self.part.operators if (o, t) in self.x)
        for o, (first, last) in self.window.items():
            for b in graph.reads[o]:
                if b in self.window:
                    for t in range(first, last + 1):
                        model.add(sum(self.made(b, t - 1)) >= self.x[o, t])

    def _add_residency(self) -> None:
        model, graph, part = self.model, self.graph, self.part
        for (o, t), runs in self.x.items():
            for a in (o, *graph.reads[o]):
                model.add_implication(runs, self.X[a, t])
        for a, (first, last) in self.life.items():
            self.s[a] = 1 if a in part.paid or graph.has_copy[a] else model.new_bool_var(f"s{a}")
            for t in range(first, last + 1):
                here = self.X[a, t]
                if a in self.window and t < self.window[a][1]:
                    model.add(sum(self.made(a, t)) >= here)
                if a in self.window and t == first:
                    continue
                before = self.X[a, t - 1] if t > first else int(a in part.here)
                self._add_retrieval(a, t, here, before)
            if a in part.leaving:
                self._add_retrieval(a, self.count, 1, self.X[a, last] if last >= first else int(a in part.here))

    def _add_retrieval(self, a: int, t: int, here: Any, before: Any) -> None:
        model, is_paid = self.model, isinstance(self.s[a], int)
        if isinstance(before, int) and before and isinstance(here, int):
            return
        retrieved = self.R[a, t] = model.new_bool_var(f"R{a}_{t}")
        model.add(retrieved >= here - before - self.x.get((a, t), 0))
        if not is_paid:
            model.add_implication(retrieved, self.s[a])

    def _add_room(self) -> None:
        graph, unit = self.graph, self.unit
        for t in range(self.count):
            there = [graph.size[a] // unit * self.X[a, t] for a in self.tensors if (a, t) in self.X]
            there += [
                graph.weight[o] // unit * self.x[o, t] for o in self.window if graph.weight[o] and (o, t) in self.x
            ]
            self.model.add(sum(there) <= self.room)
        self.cost = sum(graph.size[a] // unit * s for a, s in self.s.items() if not isinstance(s, int))
        self.cost += sum(graph.size[a] // unit * retrieved for (a, _), retrieved in self.R.items())
        self.model.minimize(self.cost)

    def forbid(self, cut: Cut) -> None:
        """Forbid all of a residency together, unless one of its tensors is retrieved on the way, to lie elsewhere."""
        shift = self.part.start
        cells: list[Any] = [self.X.get((a, t - shift)) for a, t in cut.cells]
        cells += [self.x.get((o, t - shift)) for o, t in cut.runs]
        if all(cell is not None for cell in cells):
            moves = [self.R[a, t - shift] for a, t in cut.moves if (a, t - shift) in self.R]
            self.model.add(sum(cells) - sum(moves) <= len(cells) - 1)

    def suggest(self, plan: Plan) -> None:
        """Give the solver a plan of the whole order to start from."""
        steps = range(self.part.start, self.part.start + self.count)
        at = {o: t for t, o in enumerate(plan.order[t] for t in steps)}
        for (o, t), variable in self.x.items():
            self.model.add_hint(variable, at.get(o) == t)
        for (a, t), variable in self.X.items():
            step = t + self.part.start
            self.model.add_hint(variable, any(first <= step <= last for first, last in plan.runs[a]))

    def solve(self, limit: float, deadline: float | None = None) -> PartAnswer:
        """Return the best order and residency of the part."""
        solved = solve(self.model, limit, deadline)
        bound = solved.bound * self.unit
        if solved.cost is None:
            return PartAnswer(solved.status, solved.effort, (), {}, frozenset(), None, bound)
        shift = self.part.start
        order = sorted((t, o) for (o, t), variable in self.x.items() if solved.is_set(variable))
        resident: dict[int, list[int]] = {a: [] for a in self.tensors}
        for (a, t), variable in self.X.items():
            if solved.is_set(variable):
                resident[a].append(t + shift)
        retrieved = frozenset((a, t + shift) for (a, t), variable in self.R.items() if solved.is_set(variable))
        ran = tuple(o for _, o in order)
        return PartAnswer(solved.status, solved.effort, ran, resident, retrieved, solved.cost * self.unit, bound)


def solve_part(
    graph: Graph,
    part: TightPart,
    capacity: int,
    limit: float,
    cuts: Sequence[Cut] = (),
    hint: Plan | None = None,
    deadline: float | None = None,
) -> PartAnswer:
    """Return TIGHT's answer for one part within so much deterministic time, none of the cuts violated."""
    model = Model(graph, part, capacity)
    for cut in cuts:
        model.forbid(cut)
    if hint is not None:
        model.suggest(hint)
    return model.solve(limit, deadline)
