"""Find by CP-SAT, with a proof, the step worth most at given prices of layers, among all that may run.

The set-partition bound needs this (docs/bounds.md): the least that a step S, held or of one layer, pays minus the
prices of its layers, 0 for the empty set. It pays tolls (tolls.py): shares of tensors that are live and not kept, and
loads. If nothing may be kept, that is what crosses DRAM. The sets meet necessary conditions of a subgraph; conditions
left out (full connectedness, stage 3 of the tiling, the exact activation) only make the bound lower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cocco.bounds.floors.forced import Hulls
from cocco.bounds.parts.crossings import Tensors
from cocco.bounds.parts.siblings import Siblings, apart
from cocco.bounds.prices.layer_alone import Alone
from cocco.bounds.prices.oracle_room import Room, Term
from cocco.bounds.prices.tolls import Pairs, Taken, Tolls
from cocco.effort.budgets import BUILT, HANDED
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

SEED = 1  #: of the solver; our choice: any will do, but always the same

Value = Callable[["cp_model.IntVar"], bool]


class WorstStep(NamedTuple):
    """A value that no step undercuts, the steps found on the way (the best last), and the solver's effort."""

    least: float
    steps: list[Taken]
    deterministic_time: float


class Oracle:
    """The model of one step, of what is kept meanwhile and of what ran before, built once and solved at many tolls.

    layers: ascending ids, with every layer of a component between two of them. Each layer is in S, or
    ran before S (`done`), or neither; both `done` and `done` with S are closed under producers, so S is convex. alone:
    if given, S is one layer, in any loop order, so that only kept tensors take room; it says how much more the layer
    moves, which grows with the bytes kept. Otherwise S has at least two layers. is_apart: S has only layers that run in
    groups of channels. has_leads: leads are looked at (oracle_leads.py), which takes longer.
    """

    def __init__(
        self, problem: Problem, costs: SubgraphCosts, hulls: Hulls, tensors: Tensors, pairs: Pairs,
        layers: Sequence[int], alone: Mapping[tuple[int, ...], Alone] | None = None, is_apart: bool = False,
        has_leads: bool = False,
    ) -> None:  # fmt: skip
        from ortools.sat.python import cp_model

        self.apart: Oracle | None = None  # of steps of which each layer may run in groups of channels
        if alone is None and not is_apart:
            some = [v for v in layers if costs.most_groups[v] > 1]
            if any(u in some and hulls.may_share((u, v), held=True) for v in some for u in problem.near(v)):
                self.apart = Oracle(problem, costs, hulls, tensors, pairs, some, is_apart=True)

        self.pairs, self.layers, self.is_single = pairs, layers, alone is not None
        self.shares: dict[int, cp_model.IntVar] = {}  # by pair
        self.loads: dict[int, cp_model.IntVar] = {}  # by tensor
        self.extras: list[Term] = []  # where a layer is alone
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
                    if not hulls.may_share((u, v), held=True):
                        model.add_bool_or([~self.inside[u], ~self.inside[v]])
                elif u in done:
                    model.add_implication(self.inside[v], done[u])
        self.kept = self._keepable(problem, tensors)
        arriving = self._add_crossings(tensors)
        room = Room(model, self.inside, arriving, self.kept)
        if alone is not None:
            room.of_one(tensors, max(alone[v,].room for v in layers))
        else:
            room.of_several(problem, costs, tensors, is_apart, has_leads)
        self._connect(apart(problem, costs, hulls, tensors, layers))
        for index in range(len(model.proto.variables)):  # the empty set is worth 0: a start for any prices
            model.add_hint(model.get_int_var_from_proto_index(index), 0)
        if alone is not None:
            self._add_extras(alone, [(tensors.whole[u], x) for u, x in self.kept.items()])
        else:
            self._add_neighbours(problem, hulls)
        self._unpaid = BUILT * size_of(model)

    def worst(self, prices: Sequence[int], tolls: Tolls, limit: float) -> WorstStep:
        """Return the least that a step pays minus the prices of its layers, proven as far as the time allows."""
        terms = [(tolls.shares[i], x) for i, x in self.shares.items()] + [
            (tolls.loads[u], x) for u, x in self.loads.items()
        ]
        worth = sum([prices[v] * x for v, x in self.inside.items()])
        terms += self.extras
        self.model.minimize(sum([toll * x for toll, x in terms if toll]) - worth)
        inside, kept, done, steps = self.inside, self.kept, self.done, list[Taken]()

        def met(value: Value) -> None:
            group = tuple([v for v, x in inside.items() if value(x)])
            if group:
                before = sum([1 << v for v, x in done.items() if value(x)])
                steps.append(Taken(group, frozenset([u for u, x in kept.items() if value(x)]), before))

        floor = -float(sum([prices[v] for v in self.layers if prices[v] > 0]))
        least, spent = solved(self.model, met, limit, floor)
        spent, self._unpaid = spent + self._unpaid, 0.0
        if self.apart is not None:
            found = self.apart.worst(prices, tolls, max(limit - spent, 0.01))
            return WorstStep(min(least, found.least), [*found.steps, *steps], spent + found.deterministic_time)
        return WorstStep(least, steps, spent)

    def _others(self, problem: Problem) -> Sequence[int]:
        """Return all layers of the networks of these layers: which of them have run decides what is live."""
        networks = {problem.network_of[v] for v in self.layers}
        return [v for v in range(problem.size) if problem.network_of[v] in networks and v not in self.inside]

    def _connect(self, found: Iterable[Siblings]) -> None:
        """Add that S must have layers that connect two readers of a tensor made outside S."""
        if self.is_single:
            self.model.add_at_most_one(self.inside.values())
            return
        for u, readers, cuts in found:
            together = [~self.inside[v] for v in readers] + ([self.inside[u]] if u in self.inside else [])
            for cut in cuts:
                self.model.add_bool_or([*together, *[self.inside[w] for w in sorted(cut)]])

    def _add_neighbours(self, problem: Problem, hulls: Hulls) -> None:
        """Add that each layer of a step is joined with another of the step (by an edge, or as a sibling)."""
        for v, x in self.inside.items():
            near = [w for w in dict.fromkeys(problem.near(v)) if w in self.inside]
            self.model.add_bool_or([~x, *[self.inside[w] for w in near if hulls.may_share((v, w), held=True)]])

    def _add_extras(self, alone: Mapping[tuple[int, ...], Alone], held: Sequence[Term]) -> None:
        """Add what a layer alone moves beyond its tensors once, which grows with the bytes kept."""
        model = self.model
        kinds: dict[Alone, list[cp_model.IntVar]] = {}
        for v, x in self.inside.items():
            kinds.setdefault(alone[v,], []).append(x)
        kept, most = sum([size * x for size, x in held]), sum([size for size, _ in held])
        for kind, layers in kinds.items():
            if kind.room < most:
                model.add(kept <= kind.room + (most - kind.room) * (1 - sum(layers)))
            paid = 0
            for start, extra in kind.levels:
                if start == 0:
                    self.extras += [(extra, x) for x in layers if extra]
                elif start <= most:
                    pays = model.new_bool_var("")
                    model.add(kept <= start - 1 + (most - start + 1) * (1 - sum(layers) + pays))
                    self.extras.append((extra - paid, pays))
                paid = extra

    def _keepable(self, problem: Problem, tensors: Tensors) -> dict[int, cp_model.IntVar]:
        """Return variables of the tensors that may be kept whole while S runs."""
        room = problem.accelerator.activation_capacity if tensors.whole else -1
        near = {u for v in self.layers for u in tensors.read[v]}
        near |= {self.pairs.pairs[i][0] for v in self.layers for i in self.pairs.of_layer[v]}
        return {u: self.model.new_bool_var("") for u in sorted(near) if 0 <= room >= tensors.whole[u]}

    def _add_crossings(self, tensors: Tensors) -> dict[int, cp_model.IntVar]:
        """Add the loads and the shares that are due; return the variable of each tensor that can come in."""
        model, inside = self.model, self.inside
        arriving: dict[int, cp_model.IntVar] = {}
        for u, readers in self._read_inside(tensors):
            arriving[u] = self._arrives(u, readers)
            if tensors.comes[u]:
                self.loads[u] = model.new_bool_var("")
                model.add_bool_or([~arriving[u], self.loads[u], *self._kept(u)])
        for u in sorted({self.pairs.pairs[i][0] for v in self.layers for i in self.pairs.of_layer[v]}):
            places = [i for i in self.pairs.of_tensor[u] if self.pairs.pairs[i][1] in inside]
            free, live = self._kept(u), self._live(u, tensors) if self.pairs.loose.intersection(places) else None
            if u in inside and inside.keys() >= set(tensors.readers[u]) and not self.is_single:
                stays = model.new_bool_var("")
                for v in (u, *tensors.readers[u]):
                    model.add_implication(stays, inside[v])
                free.append(stays)
            for i in places:
                self.shares[i] = model.new_bool_var("")
                here = inside[self.pairs.pairs[i][1]]
                if i not in self.pairs.loose:
                    model.add_bool_or([~here, self.shares[i], *free])
                elif live is not None:
                    model.add_bool_or([~here, ~live, self.shares[i], *free])
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

    def _live(self, u: int, tensors: Tensors) -> cp_model.IntVar:
        """Return a variable that is true if a tensor is made in S or before and not all its readers ran before S."""
        model, live = self.model, self.model.new_bool_var("")
        for v in tensors.readers[u]:
            model.add_bool_or([~self.done[u], self.done[v], live])
        if u in self.inside:
            model.add_implication(self.inside[u], live)
        return live

    def _kept(self, u: int) -> list[cp_model.IntVar]:
        return [self.kept[u]] if u in self.kept else []


def solved(
    model: cp_model.CpModel, met: Callable[[Value], None], limit: float, floor: float
) -> tuple[float, float]:  # fmt: skip
    """Return the proven lower bound of the objective, at least `floor`, and the deterministic time that it took.

    The time includes that of taking the model, which the solver does not count. met: called with each solution on the
    way, as a function from variables to their values. limit: of the solver's own time.
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
    return least, solver.response_proto.deterministic_time + HANDED * size_of(model)


def size_of(model: cp_model.CpModel) -> int:
    """Return the number of variables and constraints."""
    return len(model.proto.variables) + len(model.proto.constraints)
