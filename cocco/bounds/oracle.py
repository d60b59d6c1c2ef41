"""Find by CP-SAT, with a proven bound, the subgraph worth most at given prices of layers, among all that may run.

The set-partition bound needs this (docs/bounds.md): the least crossings(S) - prices(S) over sets S of layers, 0 for the
empty set. The sets meet necessary conditions of a subgraph; conditions left out (full connectedness, stage 3 of the
tiling, the exact activation) only make the bound lower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cocco.bounds.crossings import Tensors
from cocco.bounds.forced import Hulls, least_weights
from cocco.bounds.joins import slacks_between
from cocco.bounds.siblings import Siblings, siblings
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

SEED = 1  #: of the solver; our choice: any will do, but always the same

Term = tuple[int, "cp_model.IntVar"]
Value = Callable[["cp_model.IntVar"], bool]


class LeastExcess(NamedTuple):
    """A value that no set undercuts, the sets found on the way (the best last), and the solver's effort."""

    least: float
    sets: list[tuple[tuple[int, ...], int]]  #: with what crosses for each, which may be more than at the least
    deterministic_time: float


class Oracle:
    """The model of one subgraph out of some layers, built once and solved at many prices.

    is_single: whether S is one layer, in any loop order (kept_oracle.py).
    layers: ascending ids, with every layer of `cocco.bounds.components` between two of them. Each layer is in S, or
    ran before S (`done`), or neither; both `done` and `done` with S are closed under producers, so S is convex. A
    tensor comes in where a reader is in S and it is not, and goes out where it is in S and a reader is not.
    """

    is_single = False

    def __init__(self, problem: Problem, costs: SubgraphCosts, hulls: Hulls, tensors: Tensors, layers: Sequence[int]):
        from ortools.sat.python import cp_model

        self.layers = layers
        self.model = model = cp_model.CpModel()
        self.inside = {v: model.new_bool_var("") for v in layers}
        self.done = done = {v: model.new_bool_var("") for v in (*layers, *self._others(problem))}
        for v in done:
            for u in problem.producers[v]:
                if u in done:
                    model.add_implication(done[v], done[u])
        for v in layers:
            model.add_at_most_one([self.inside[v], done[v]])
            for u in problem.producers[v]:
                if u in self.inside:
                    model.add_bool_or([self.inside[u], done[u], ~self.inside[v]])
                    if not hulls.may_share((u, v)):
                        model.add_bool_or([~self.inside[u], ~self.inside[v]])
                elif u in done:
                    model.add_implication(self.inside[v], done[u])
        self.crossings: list[Term] = []
        self.kept = self._keepable(problem, tensors)
        arriving = self._add_crossings(tensors)
        self._add_capacities(problem, costs, tensors, arriving)
        self._connect(siblings(problem, costs, hulls, tensors, layers))
        for index in range(len(model.proto.variables)):  # the empty set is worth 0: a start for any prices
            model.add_hint(model.get_int_var_from_proto_index(index), 0)

    def least(self, prices: dict[int, int], limit: float) -> LeastExcess:
        """Return the least crossings(S) - prices(S) in bytes, proven as far as the deterministic time allows."""
        worth = sum([prices[v] * x for v, x in self.inside.items()])
        self.model.minimize(sum([size * x for size, x in self.crossings]) - worth)
        inside, crossings, sets = self.inside, self.crossings, list[tuple[tuple[int, ...], int]]()

        def met(value: Value) -> None:
            group = tuple([v for v, x in inside.items() if value(x)])
            if group:
                sets.append((group, sum([size for size, x in crossings if value(x)])))

        floor = -float(sum([price for price in prices.values() if price > 0]))
        least, spent = solved(self.model, met, limit, floor)
        return LeastExcess(least, sets, spent)

    def _others(self, problem: Problem) -> Sequence[int]:
        """Return layers that cannot be in S but for which it matters whether they ran before."""
        return ()

    def _connect(self, found: Iterable[Siblings]) -> None:
        """Add that S must have layers that connect two readers of a tensor made outside S."""
        for u, readers, cuts in found:
            together = [~self.inside[v] for v in readers] + ([self.inside[u]] if u in self.inside else [])
            for cut in cuts:
                self.model.add_bool_or([*together, *[self.inside[w] for w in sorted(cut)]])

    def _keepable(self, problem: Problem, tensors: Tensors) -> dict[int, cp_model.IntVar]:
        """Return variables of the tensors that may be kept whole while S runs (kept_oracle.py)."""
        return {}

    def _add_crossings(self, tensors: Tensors) -> dict[int, cp_model.IntVar]:
        """Add what comes in and goes out; return the variable of each tensor that can come in."""
        model, inside = self.model, self.inside
        arriving: dict[int, cp_model.IntVar] = {}
        for u, readers in self._read_inside(tensors):
            arriving[u] = self._arrives(u, readers)
            self._add_crossing(tensors.comes[u], arriving[u])
        for u in self.layers:
            readers = [inside[v] for v in tensors.readers[u] if v in inside]
            if u in tensors.outputs or len(readers) < len(tensors.readers[u]):
                self._add_crossing(tensors.goes[u], inside[u])
            else:
                goes = model.new_bool_var("")
                self._add_crossing(tensors.goes[u], goes)
                model.add_implication(goes, inside[u])
                for reader in readers:
                    model.add_bool_or([~inside[u], reader, goes])
        return arriving

    def _read_inside(self, tensors: Tensors) -> Iterator[tuple[int, list[cp_model.IntVar]]]:
        """Yield each tensor that these layers read, with the variables of its readers."""
        for u in range(len(tensors.comes)):
            readers = [self.inside[v] for v in tensors.readers[u] if v in self.inside]
            if readers:
                yield u, readers

    def _arrives(self, u: int, readers: Iterable[cp_model.IntVar]) -> cp_model.IntVar:
        """Return a variable that is true if S reads a tensor and does not make it."""
        arrives = self.model.new_bool_var("")
        for reader in readers:
            self.model.add_bool_or([~reader, arrives] + ([self.inside[u]] if u in self.inside else []))
        if u in self.inside:
            self.model.add_implication(arrives, ~self.inside[u])
        return arrives

    def _add_crossing(self, size: int, happens: cp_model.IntVar) -> None:
        """Add the bytes of a tensor that crosses if a variable is true."""
        if size:
            self.crossings.append((size, happens))

    def _add_capacities(
        self, problem: Problem, costs: SubgraphCosts, tensors: Tensors, arriving: dict[int, cp_model.IntVar]
    ) -> None:
        """Add the weights, the regions and the activation of one core; too large numbers are cut to what can matter."""
        model, machine = self.model, problem.accelerator
        if machine.max_regions is not None and not self.is_single:
            model.add(sum(self.inside.values()) + sum(arriving.values()) <= machine.max_regions)
        weights = self._weights(problem)
        held = self._held(costs, tensors, arriving)
        if machine.is_shared:
            per_core = [(machine.cores * size, x) for size, x in held]
            _add_at_most(model, weights + per_core, machine.cores * machine.activation_capacity)
        else:
            _add_at_most(model, weights, machine.cores * machine.weight_capacity)
            _add_at_most(model, held, machine.activation_capacity)

    def _weights(self, problem: Problem) -> list[Term]:
        """Return bytes of weights of all cores, and variables, that add up to no more than what S holds."""
        least = least_weights(problem)
        return [(least[v], x) for v, x in self.inside.items()]

    def _held(self, costs: SubgraphCosts, tensors: Tensors, arriving: dict[int, cp_model.IntVar]) -> list[Term]:
        """Return bytes and variables that add up to no more than what S holds (SubgraphCosts.least_activation).

        A tensor of S or in(S) holds what a reader in S asks of it by itself, at steps of 1: the most of all readers
        there, as a sum of increments, each of which a reader that asks for that much switches on. A kept one lies there
        whole, also where S does not touch it.
        """
        model, held, slacks = self.model, list[Term](), slacks_between(costs.problem)
        for u in sorted({*self.inside, *arriving, *self.kept}):
            present = [x for x in (self.inside.get(u), arriving.get(u)) if x is not None]
            if not present:
                held.append((tensors.whole[u], self.kept[u]))
                continue
            asked = [(costs.bytes_for(u, v), [self.inside[v]]) for v in tensors.readers[u] if v in self.inside]
            if u in self.inside:
                joined = [(v, slacks[u, v]) for v in tensors.readers[u] if v in self.inside and (u, v) in slacks]
                asked += [(costs.bytes_for(u, v, slack), [self.inside[u], self.inside[v]]) for v, slack in joined]
            least = costs.bytes_for(u, None)
            if u in self.kept:
                here = model.new_bool_var("")
                for x in (*present, self.kept[u]):
                    model.add_implication(x, here)
                present = [here]
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


def solved(
    model: cp_model.CpModel, met: Callable[[Value], None], limit: float, floor: float
) -> tuple[float, float]:  # fmt: skip
    """Return the proven lower bound of the objective, at least `floor`, and the deterministic time that it took.

    met: called with each solution on the way, as a function from variables to their values.
    """
    from ortools.sat.python import cp_model

    class Callback(cp_model.CpSolverSolutionCallback):
        def on_solution_callback(self) -> None:
            met(self.boolean_value)

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = SEED
    solver.parameters.linearization_level = 2  # the relaxation is tight here; cuts and probing only take time
    solver.parameters.cut_level = 0
    solver.parameters.cp_model_probing_level = 0
    solver.parameters.max_deterministic_time = limit
    status = solver.solve(model, Callback())
    least = floor
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):  # else there was no time even for the empty set
        least = max(least, min(solver.best_objective_bound, solver.objective_value))
    return least, solver.response_proto.deterministic_time


def _add_at_most(model: cp_model.CpModel, terms: Sequence[Term], capacity: int) -> None:
    """Add that the terms sum up to at most the capacity, unless they always do (it may be beyond 64 bits)."""
    if sum([size for size, _ in terms]) > capacity:
        model.add(sum([size * x for size, x in terms]) <= capacity)
