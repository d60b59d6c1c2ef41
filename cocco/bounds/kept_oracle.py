"""Find by CP-SAT, with a proof, the step worth most at given prices of layers, if tensors may be kept on chip."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cocco.bounds.crossings import Tensors
from cocco.bounds.forced import Hulls
from cocco.bounds.kept_alone import Alone
from cocco.bounds.oracle import LeastExcess, Oracle, Term, Value, solved
from cocco.bounds.siblings import Siblings
from cocco.bounds.tolls import Pairs, Taken, Tolls, paid
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


class WorstStep(NamedTuple):
    """A value that no step undercuts, the steps found on the way, and the solver's effort."""

    least: float
    steps: list[Taken]
    deterministic_time: float


class KeptOracle(Oracle):
    """The model of one step, of what is kept meanwhile and of what ran before, solved at many tolls.

    The step pays shares of tensors that are live and not kept, and loads (cocco.bounds.tolls). alone: if given, a step
    is one layer, in any loop order, so that only kept tensors take room; it says how much more the layer moves, which
    grows with the bytes kept. Otherwise a step has at least two layers.
    """

    def __init__(
        self, problem: Problem, costs: SubgraphCosts, hulls: Hulls, tensors: Tensors, pairs: Pairs,
        layers: Sequence[int], alone: Sequence[Alone] | None = None,
    ) -> None:  # fmt: skip
        self.pairs, self.alone, self.is_single = pairs, alone, alone is not None
        self.shares: dict[int, cp_model.IntVar] = {}  # by pair
        self.loads: dict[int, cp_model.IntVar] = {}  # by tensor
        self.extras: list[Term] = []  # where a layer is alone
        super().__init__(problem, costs, hulls, tensors, layers)
        if alone is not None:
            self._add_extras(alone, [(tensors.whole[u], x) for u, x in self.kept.items()])
        else:
            self._add_neighbours(problem, hulls)

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
        return WorstStep(least, steps, spent)

    def _add_neighbours(self, problem: Problem, hulls: Hulls) -> None:
        """Add that each layer of a step has a neighbour (one it reads or that reads it) in the step."""
        for v, x in self.inside.items():
            near = [w for w in (*problem.producers[v], *problem.consumers[v]) if w in self.inside]
            self.model.add_bool_or([~x, *[self.inside[w] for w in near if hulls.may_share((v, w))]])

    def _add_extras(self, alone: Sequence[Alone], held: Sequence[Term]) -> None:
        """Add what a layer alone moves beyond its tensors once, which grows with the bytes kept."""
        model = self.model
        kinds: dict[Alone, list[cp_model.IntVar]] = {}
        for v, x in self.inside.items():
            kinds.setdefault(alone[v], []).append(x)
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
        room = problem.accelerator.activation_capacity
        near = {u for v in self.layers for u in tensors.read[v]}
        near |= {self.pairs.pairs[i][0] for v in self.layers for i in self.pairs.of_layer[v]}
        return {u: self.model.new_bool_var("") for u in sorted(near) if tensors.whole[u] <= room}

    def _others(self, problem: Problem) -> Sequence[int]:
        """Return all layers of the networks of these layers: which of them have run decides what is live."""
        networks = {problem.network_of[v] for v in self.layers}
        return [v for v in range(problem.size) if problem.network_of[v] in networks and v not in self.inside]

    def _connect(self, found: Iterable[Siblings]) -> None:
        if self.is_single:
            self.model.add_at_most_one(self.inside.values())
        else:
            super()._connect(found)

    def _held(self, costs: SubgraphCosts, tensors: Tensors, arriving: dict[int, cp_model.IntVar]) -> list[Term]:
        if self.is_single:
            return [(tensors.whole[u], x) for u, x in self.kept.items()]
        return super()._held(costs, tensors, arriving)

    def _weights(self, problem: Problem) -> list[Term]:
        return [] if self.is_single else super()._weights(problem)

    def _add_crossings(self, tensors: Tensors) -> dict[int, cp_model.IntVar]:
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


class AtTolls:
    """An oracle at given tolls, for the level method of cocco.bounds.partition_bound."""

    def __init__(self, oracle: KeptOracle, tensors: Tensors, tolls: Tolls) -> None:
        self.oracle, self.tensors, self.tolls = oracle, tensors, tolls

    def least(self, prices: dict[int, int], limit: float) -> LeastExcess:
        """Return the least that a step pays minus the prices of its layers (Oracle.least)."""
        found = self.oracle.worst([prices.get(v, 0) for v in range(len(self.tensors.read))], self.tolls, limit)
        sets = [(step.layers, paid(self.tensors, self.oracle.pairs, self.tolls, step)) for step in found.steps]
        return LeastExcess(found.least, sets, found.deterministic_time)
