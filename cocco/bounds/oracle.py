"""The subgraph that is worth most at given prices of layers, among all that may run: by CP-SAT, with a proven bound.

What the set-partition bound asks (docs/bounds.md): the least crossings(S) - prices(S) over sets S of layers, 0 for
none. The sets are those that meet necessary conditions of a subgraph; conditions that are left out (connected, stage
3 of the tiling, the exact activation) only make the bound lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from cocco.bounds.crossings import Tensors
from cocco.bounds.forced import Hulls
from cocco.bounds.joins import slacks_between
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

SEED = 1  #: of the solver; our choice: any will do, but always the same

Term = tuple[int, "cp_model.IntVar"]


class LeastExcess(NamedTuple):
    """What no set undercuts, the sets that were met on the way (the best one last), and the solver's effort."""

    least: float
    sets: list[tuple[tuple[int, ...], int]]  #: with what crosses for each, which may be more than at the least
    deterministic_time: float


class Oracle:
    """The model of one subgraph out of some layers, built once and solved at many prices.

    layers: ascending ids, with every layer of `cocco.bounds.components` between two of them. Each layer is in S, or
    ran before S (`done`), or neither; both `done` and `done` with S are closed under producers, so S is convex. A
    tensor comes in where a reader is in S and it is not, and goes out where it is in S and a reader is not.
    """

    def __init__(self, problem: Problem, costs: SubgraphCosts, hulls: Hulls, tensors: Tensors, layers: Sequence[int]):
        from ortools.sat.python import cp_model

        self.layers = layers
        self.model = model = cp_model.CpModel()
        self.inside = {v: model.new_bool_var("") for v in layers}
        done = {v: model.new_bool_var("") for v in layers}
        for v in layers:
            model.add_at_most_one([self.inside[v], done[v]])
            for u in problem.producers[v]:
                if u in done:
                    model.add_implication(done[v], done[u])
                    model.add_bool_or([self.inside[u], done[u], ~self.inside[v]])
                    if not hulls.may_share((u, v)):
                        model.add_bool_or([~self.inside[u], ~self.inside[v]])
        self.crossings: list[Term] = []
        self.kept = self._keepable(problem, tensors)
        arriving = self._add_crossings(tensors)
        self._add_capacities(problem, costs, tensors, arriving)
        for index in range(len(model.proto.variables)):  # no layer at all is worth nothing: a start for every price
            model.add_hint(model.get_int_var_from_proto_index(index), 0)

    def least(self, prices: dict[int, int], limit: float) -> LeastExcess:
        """Return the least crossings(S) - prices(S) in bytes, proven as far as the deterministic time goes."""
        from ortools.sat.python import cp_model

        worth = sum([prices[v] * x for v, x in self.inside.items()])
        self.model.minimize(sum([size * x for size, x in self.crossings]) - worth)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = SEED
        solver.parameters.linearization_level = 2  # the relaxation is tight here; cuts and probing only take time
        solver.parameters.cut_level = 0
        solver.parameters.cp_model_probing_level = 0
        solver.parameters.max_deterministic_time = limit
        seen = _Sets(self.inside, self.crossings)
        status = solver.solve(self.model, seen.callback)
        spent = solver.response_proto.deterministic_time
        least = -float(sum([price for price in prices.values() if price > 0]))
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):  # else there was no time even for the empty set
            least = max(least, min(solver.best_objective_bound, solver.objective_value))
        return LeastExcess(least, [each for each in seen.sets if each[0]], spent)

    def _keepable(self, problem: Problem, tensors: Tensors) -> dict[int, cp_model.IntVar]:
        """Return variables of the tensors that may be kept whole while S runs, so that they need not cross."""
        room = problem.accelerator.activation_capacity
        near = {*self.layers}.union(*[tensors.read[v] for v in self.layers]) if tensors.whole else set()
        return {u: self.model.new_bool_var("") for u in sorted(near) if tensors.whole[u] <= room}

    def _add_crossings(self, tensors: Tensors) -> dict[int, cp_model.IntVar]:
        """Add what comes in and goes out; return the variable of each tensor that can come in."""
        model, inside = self.model, self.inside
        arriving: dict[int, cp_model.IntVar] = {}
        for u in range(len(tensors.comes)):
            readers = [inside[v] for v in tensors.readers[u] if v in inside]
            if readers:
                arriving[u] = comes = model.new_bool_var("")
                self._add_crossing(u, tensors.comes[u], comes)
                for reader in readers:
                    model.add_bool_or([~reader, comes] + ([inside[u]] if u in inside else []))
                if u in inside:
                    model.add_implication(comes, ~inside[u])
            if u not in inside:
                continue
            if u in tensors.outputs or len(readers) < len(tensors.readers[u]):
                self._add_crossing(u, tensors.goes[u], inside[u])
            else:
                goes = model.new_bool_var("")
                self._add_crossing(u, tensors.goes[u], goes)
                model.add_implication(goes, inside[u])
                for reader in readers:
                    model.add_bool_or([~inside[u], reader, goes])
        return arriving

    def _add_crossing(self, u: int, size: int, happens: cp_model.IntVar) -> None:
        """Add that a tensor crosses where something happens, unless it is kept."""
        if not size:
            return
        if u in self.kept:
            crosses = self.model.new_bool_var("")
            self.model.add_bool_or([~happens, self.kept[u], crosses])
            happens = crosses
        self.crossings.append((size, happens))

    def _add_capacities(
        self, problem: Problem, costs: SubgraphCosts, tensors: Tensors, arriving: dict[int, cp_model.IntVar]
    ) -> None:
        """Add the weights, the regions and the activation of one core; too large numbers are cut to what can matter."""
        model, machine = self.model, problem.accelerator
        if machine.max_regions is not None:
            model.add(sum(self.inside.values()) + sum(arriving.values()) <= machine.max_regions)
        weights = [(problem.weight_bytes[v], x) for v, x in self.inside.items()]
        held = self._held(costs, tensors, arriving)
        if machine.is_shared:
            per_core = [(machine.cores * size, x) for size, x in held]
            _add_at_most(model, weights + per_core, machine.cores * machine.activation_capacity)
        else:
            _add_at_most(model, weights, machine.cores * machine.weight_capacity)
            _add_at_most(model, held, machine.activation_capacity)

    def _held(self, costs: SubgraphCosts, tensors: Tensors, arriving: dict[int, cp_model.IntVar]) -> list[Term]:
        """Return bytes and variables that add up to no more than what S holds (SubgraphCosts.least_activation).

        A tensor of S or in(S) holds what a reader in S asks of it by itself, at steps of 1: the most of all readers
        there, as a sum of increments, each of which a reader that asks for that much switches on. A kept one lies there
        whole.
        """
        model, held, slacks = self.model, list[Term](), slacks_between(costs.problem)
        for u in sorted({*self.inside, *arriving}):
            asked = [(costs.bytes_for(u, v), [self.inside[v]]) for v in tensors.readers[u] if v in self.inside]
            if u in self.inside:
                joined = [(v, slacks[u, v]) for v in tensors.readers[u] if v in self.inside and (u, v) in slacks]
                asked += [(costs.bytes_for(u, v, slack), [self.inside[u], self.inside[v]]) for v, slack in joined]
            least = costs.bytes_for(u, None)
            present = [x for x in (self.inside.get(u), arriving.get(u)) if x is not None]
            held += [(least, x) for x in present]  # a tensor that comes in is not in S
            level = least
            for size in sorted({size for size, _ in asked if size > least}):
                enough = model.new_bool_var("")
                for each, where in asked:
                    if each >= size:
                        model.add_bool_or([*[~x for x in where], enough])
                if u in self.kept:
                    model.add_implication(self.kept[u], enough)
                held.append((size - level, enough))
                level = size
            if u in self.kept:
                held.append((max(0, tensors.whole[u] - level), self.kept[u]))
        return held


class _Sets:
    """Keeps the sets that the solver meets."""

    def __init__(self, inside: dict[int, cp_model.IntVar], crossings: Sequence[Term]) -> None:
        from ortools.sat.python import cp_model

        self.sets: list[tuple[tuple[int, ...], int]] = []
        sets = self.sets

        class Callback(cp_model.CpSolverSolutionCallback):
            def on_solution_callback(self) -> None:
                crossing = sum([size for size, x in crossings if self.boolean_value(x)])
                sets.append((tuple([v for v, x in inside.items() if self.boolean_value(x)]), crossing))

        self.callback = Callback()


def _add_at_most(model: cp_model.CpModel, terms: Sequence[Term], capacity: int) -> None:
    """Add that the terms sum up to at most the capacity, unless they always do (it may be beyond 64 bits)."""
    if sum([size for size, _ in terms]) > capacity:
        model.add(sum([size * x for size, x in terms]) <= capacity)
