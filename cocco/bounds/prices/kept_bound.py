"""The set-partition bound if tensors may be kept on chip: prices of layers and tolls that no step exceeds.

If every possible step pays, at these tolls, at least the sum of its layers' prices, no plan moves fewer bytes than all
prices together (tolls.py). Some step may fall short by r, but each layer is in at most one step. Prices at
given tolls are found by the level method, component by component: at plain tolls, and at those of bottlenecks, which
are layers at which much is live whatever ran before. From the better of the two, a linear program improves prices and
tolls.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from cocco.bounds.floors.forced import Hulls
from cocco.bounds.floors.nests import lowered
from cocco.bounds.parts.components import components
from cocco.bounds.parts.crossings import Tensors
from cocco.bounds.parts.paths import Paths
from cocco.bounds.parts.scopes import Scope, scopes_of
from cocco.bounds.prices.layer_alone import alone_extras, by_bytes
from cocco.bounds.prices.oracle import Oracle
from cocco.bounds.prices.partition_bound import WINDOW, PartitionBound
from cocco.bounds.prices.single_steps import least_alone
from cocco.bounds.prices.toll_program import Point, TollProgram, between
from cocco.bounds.prices.tolls import Taken, Tolls, all_but_later, ancestors, paid, pairs_of, plain_tolls
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

FIRST_WIDTH, LEAST_WIDTH, MOST_WIDTH = 2.0, 0.05, 8.0  #: of the box around the last good point, in tensors; our choice
MOST_NARROW = 40  #: bottlenecks that are looked at; our choice: a tenth of a second each
ROUNDS = 6  #: of the program and single layers, before other steps are looked for; our choice
LEVEL = 0.5  #: of the way from the last good point to that of the program, where steps are looked for; our choice
FINDS = 2  #: times that prices are lowered by what a scope met, before its first layers are; our choice
NEWEST = 4  #: of the steps that a solver meets, which join the program; our choice
APART, NARROW = 0.4, 0.1  #: of the time, for prices at tolls of layers that run alone, and of bottlenecks; our choice
RESERVE = 0.8  #: of the time for finding a good point, before the last proof; our choice
LAST = 0.5  #: deterministic time of a proof that begins when time is over; our choice
MOST_STEPS = 400  #: our choice: several times what it takes
ENOUGH = 1e-3  #: relative gap to the linear program at which to stop; our choice


class _Proven(NamedTuple):
    """Prices and tolls, and the bytes of one sample per network that they prove."""

    point: Point
    crossings: list[int]

    @property
    def total(self) -> int:
        """Of all networks."""
        return sum(self.crossings)


class KeptBound(NamedTuple):
    """Bytes of one sample that cross in every plan in addition to those that always do, and the effort it took."""

    crossings: list[int]  #: per network
    most: float  #: value of the linear program: what this method cannot pass
    steps: int
    deterministic_time: float
    point: Point  #: prices and tolls that prove it
    is_open: bool  #: whether more time may prove more
    components: int


class KeptPrices:
    """Bounds what crosses on given hardware, in all networks together."""

    def __init__(
        self,
        problem: Problem,
        costs: SubgraphCosts,
        hulls: Hulls,
        tensors: Tensors,
        narrow: Collection[int] | None = None,
    ) -> None:
        """narrow: layers where much is live, such as those found in another memory; None: find them."""
        self.problem, self.tensors = problem, tensors
        self.hulls, self.time = hulls, 0.0

        self.given = problem, costs, hulls, tensors
        self.nests, self.alone = hulls.nests, alone_extras(by_bytes(problem), hulls.nests)
        if narrow is None:
            self.pairs = pairs_of(tensors, hulls, problem.network_of)
            narrow = self._bottlenecks(self._singles())[1]
        self.narrow = narrow
        self.pairs = pairs_of(tensors, hulls, problem.network_of, narrow)
        self.program = TollProgram(tensors, self.pairs, self.alone)
        self.room = problem.accelerator.activation_capacity
        self.parts = components(problem, hulls)
        self.singles = self._singles()
        self._made: dict[tuple[int, ...], Oracle] = {}
        self.scopes = {
            tuple(part): scopes_of(part, hulls, Paths(problem, costs, hulls, part), WINDOW)
            for part in self.parts
            if len(part) > 1
        }
        self.asked = [(scope, self._oracle(scope.layers)) for scopes in self.scopes.values() for scope in scopes]
        self.asked += [(Scope(tuple(each.layers), tuple(each.layers)), each) for each in self.singles]

    def _oracle(self, layers: Sequence[int]) -> Oracle:
        """Return the oracle of some layers, built once."""
        key = tuple(layers)
        if key not in self._made:
            problem, costs, hulls, tensors = self.given
            self._made[key] = Oracle(problem, costs, hulls, tensors, self.pairs, key)
        return self._made[key]

    def _singles(self) -> list[Oracle]:
        """Return oracles for single layers for which it matters what ran before, one per network."""
        loose = {self.pairs.pairs[i][1] for i in self.pairs.loose}
        ends = zip(self.problem.offsets, self.problem.offsets[1:])
        layers = [sorted(loose.intersection(range(*each))) for each in ends]
        problem, costs, hulls, tensors = self.given
        return [Oracle(problem, costs, hulls, tensors, self.pairs, each, self.alone) for each in layers if each]

    @property
    def moves_weights(self) -> bool:
        """Whether some of the extra bytes may be weights: the proof does not distinguish them from maps."""
        return any(each.most for each in self.alone.values())

    def may_keep(self, kept: frozenset[int]) -> bool:
        """Return whether tensors fit on chip together."""
        return sum([self.tensors.whole[u] for u in kept]) <= self.room

    def run(self, limit: float, known: Iterable[Taken] = ()) -> KeptBound:
        """Return the best bound that is proven within so much deterministic time of the solver.

        known: steps to begin with.
        """
        program = self.program
        for v in range(self.problem.size):
            program.add(self.plain_step((v,)))
        for step in known:
            program.add(step)
        best = self._levelled(self._apart(), limit * APART)
        narrow, chosen = self._bottlenecks(self.singles)
        if chosen:
            best = max(best, self._levelled(narrow, limit * NARROW), key=lambda each: each.total)
        centre = best.point
        steps, width, most, is_closed = 0, FIRST_WIDTH, math.inf, False
        while self.time < RESERVE * limit and steps < MOST_STEPS and not is_closed:
            steps += 1
            point, promised = self._promised(centre, width)
            if width == MOST_WIDTH:
                most = min(most, promised)
            better = self._proved(between(centre, point, LEVEL), centre.worth, limit)
            width = min(MOST_WIDTH, width * 1.5) if better else max(LEAST_WIDTH, width * 0.7)
            centre = better or centre
            near = max(self.problem.size, ENOUGH * promised)
            is_closed = promised - centre.worth <= near
        best = max(best, self._sums(centre), key=lambda each: each.total)
        if not is_closed:
            best = max(best, self._levelled(centre, limit - self.time), key=lambda each: each.total)
        units = self._units()
        crossings = [-(-max(0, each) // unit) * unit for each, unit in zip(best.crossings, units)]
        return KeptBound(crossings, most, steps, self.time, best.point, not is_closed, len(self.parts))

    def _apart(self) -> Point:
        """Return a point whose tolls are due at layers that run alone, for tensors that are live there in any plan."""
        tolls = plain_tolls(self.tensors, self.pairs)
        shares, loads, taken = list(tolls.shares), list(tolls.loads), set[int]()

        def places(v: int) -> list[int]:
            fixed = [i for i in self.pairs.of_layer[v] if i not in self.pairs.loose]
            return [i for i in fixed if self.pairs.pairs[i][0] not in taken]

        layers = [v for v in range(self.problem.size) if self.hulls.runs_alone(v)]
        worth = {v: self._most_at(v, self._due_at(v, places(v))) for v in layers}
        for v in sorted(worth, key=lambda v: (-worth[v], v)):
            here = places(v)
            due_here = self._due_at(v, here)
            if self._most_at(v, due_here) > 0:
                for i in here:
                    u = self.pairs.pairs[i][0]
                    taken.add(u)
                    for each in self.pairs.of_tensor[u]:
                        shares[each] = 0
                    shares[i], loads[u] = due_here.shares[i], due_here.loads[u]
        return Point(np.zeros(self.problem.size), Tolls(shares, loads))

    def _bottlenecks(self, oracles: Sequence[Oracle]) -> tuple[Point, list[int]]:
        """Return a point where all tolls of a tensor are due at one layer at which much is live; and those layers.

        Layers that pay most when they run alone, whatever ran before, come first.
        """
        tolls = plain_tolls(self.tensors, self.pairs)
        shares, loads, taken, chosen = list(tolls.shares), list(tolls.loads), set[int](), list[int]()
        prices = np.zeros(self.problem.size)
        for oracle in oracles:
            most = {v: self._most_at(v, self._due_at(v, self.pairs.of_layer[v])) for v in oracle.layers}
            first = sorted([v for v in most if most[v] > 0], key=lambda v: (-most[v], v))[:MOST_NARROW]
            worth = {v: self._paid_at(oracle, v, self._due_at(v, self.pairs.of_layer[v])) for v in first}
            for v in sorted(worth, key=lambda v: (-worth[v], v)):
                places = [i for i in self.pairs.of_layer[v] if self.pairs.pairs[i][0] not in taken]
                due_here = self._due_at(v, places)
                paid = self._paid_at(oracle, v, due_here) if worth[v] > 0 else 0
                if paid <= 0:
                    continue
                prices[v] = paid + self.alone[v,].extra(0)
                chosen.append(v)
                for i in places:
                    u = self.pairs.pairs[i][0]
                    taken.add(u)
                    for each in self.pairs.of_tensor[u]:
                        shares[each] = 0
                    shares[i], loads[u] = due_here.shares[i], due_here.loads[u]
        return Point(prices, Tolls(shares, loads)), chosen

    def _due_at(self, v: int, places: Sequence[int]) -> Tolls:
        """Return tolls that are all due at one layer, for some tensors; loads of other readers are due there, too."""
        shares, loads = [0] * len(self.pairs.pairs), [0] * len(self.tensors.comes)
        for i in places:
            u = self.pairs.pairs[i][0]
            if u in self.tensors.read[v] and len(self.tensors.readers[u]) > 1:
                loads[u] = self.tensors.comes[u]
            shares[i] = self.pairs.budgets[u] - loads[u]
        return Tolls(shares, loads)

    def _most_at(self, v: int, tolls: Tolls) -> int:
        """Return the lower payment of a layer alone in two cases of what ran before, without what it always moves."""
        early, late = ancestors(self.hulls, (v,)), all_but_later(self.hulls, (v,), self.problem.size)
        cases = [least_alone(self.tensors, self.pairs, tolls, (v,), self.alone[v,], each)[0] for each in (early, late)]
        return min(cases) - self.alone[v,].extra(0)

    def _paid_at(self, oracle: Oracle, v: int, tolls: Tolls) -> int:
        """Return the least that a layer alone pays at these tolls, without what it always moves."""
        most = self._most_at(v, tolls)
        if most <= 0:
            return most
        prices = [0] * self.problem.size
        prices[v] = 1 + sum(tolls.shares) + sum(tolls.loads) + self.alone[v,].most
        found = oracle.worst(prices, tolls, LAST)
        self.time += found.deterministic_time
        return math.floor(found.least) + prices[v] - self.alone[v,].extra(0)

    def _levelled(self, point: Point, share: float) -> _Proven:
        """Return the best prices at given tolls, component by component, in so much more time (partition_bound.py)."""
        prices, crossings, end, left = (
            point.prices.copy(),
            [0] * len(self.problem.networks),
            self.time + share,
            self.problem.size,
        )
        narrow = {self.pairs.pairs[i][1] for i in self.pairs.loose if point.tolls.shares[i]}
        alone = {v: self._alone_at(v, point.tolls, v in narrow) for v in range(self.problem.size)}

        def cost(group: tuple[int, ...]) -> int:
            if len(group) == 1:
                return alone[group[0]]
            return paid(self.tensors, self.pairs, point.tolls, self.plain_step(group))

        beyond = [extra for each in self.alone.values() for _, extra in each.levels]
        unit = math.gcd(*point.tolls.shares, *point.tolls.loads, *beyond)
        for layers in self.parts:
            (v, *others), network = layers, self.problem.network_of[layers[0]]
            least, found = alone[v], [float(alone[v])]
            if others:
                scopes = self.scopes[tuple(layers)]
                guess, known = [prices[v] for v in layers], self._groups_in(layers)
                nests = {nest: self._of_nest(nest, point.tolls)[0] for nest in self.nests if nest[0] in set(layers)}
                solver = PartitionBound(
                    self.tensors, point.tolls, self._oracle, cost, layers, scopes, known, unit, guess=guess, nests=nests
                )
                bound = solver.run(max(LAST, (end - self.time) * len(layers) / left))
                least, found = bound.crossings, list(bound.prices)
                self.time += bound.deterministic_time
                for group in solver.columns.groups:
                    self.program.add(self.plain_step(group))
            crossings[network] += least
            prices[layers] = np.floor(found)
            left -= len(layers)
        return _Proven(Point(prices, point.tolls), crossings)

    def _alone_at(self, v: int, tolls: Tolls, is_narrow: bool) -> int:
        """Return the least that a layer alone pays at these tolls."""
        if not is_narrow:
            return least_alone(self.tensors, self.pairs, tolls, (v,), self.alone[v,], ancestors(self.hulls, (v,)))[0]
        oracle = next(each for each in self.singles if v in each.inside)
        return self._paid_at(oracle, v, tolls) + self.alone[v,].extra(0)

    def _groups_in(self, layers: Sequence[int]) -> list[tuple[int, ...]]:
        inside = set(layers)
        groups = dict.fromkeys([step.layers for step in self.program.known.values() if len(step.layers) > 1])
        return [group for group in groups if inside.issuperset(group)]

    def _promised(self, centre: Point, width: float) -> tuple[Point, float]:
        """Return the best point of the linear program, once it knows the steps of single layers, and its value."""
        for _ in range(ROUNDS):
            point, promised = self.program.best(centre, width)
            point, is_new = self._alone(point)
            if not is_new:
                break
        return point, promised

    def _alone(self, point: Point) -> tuple[Point, bool]:
        """Return lower prices at which no layer alone, and no nest, is worth more than it pays; and if steps were new.

        If it matters what ran before, only two cases are looked at; the others are left to an oracle.
        """
        prices, is_new = point.prices.copy(), False
        for v in range(self.problem.size):
            early, late = ancestors(self.hulls, (v,)), all_but_later(self.hulls, (v,), self.problem.size)
            for before in (early, late) if self.pairs.loose.intersection(self.pairs.of_layer[v]) else (early,):
                least, kept = least_alone(self.tensors, self.pairs, point.tolls, (v,), self.alone[v,], before)
                if least < prices[v]:
                    is_new |= self.program.add(Taken((v,), kept, before))
                    prices[v] = least
        paid_by = []
        for nest in self.nests:
            least, kept = self._of_nest(nest, point.tolls)
            if least < prices[list(nest)].sum():
                is_new |= self.program.add(Taken(nest, kept, ancestors(self.hulls, nest)))
            paid_by.append((nest, least))
        prices = np.array(lowered(list(prices), [-math.inf] * len(prices), paid_by))
        return Point(prices, point.tolls), is_new

    def _of_nest(self, nest: tuple[int, ...], tolls: Tolls) -> tuple[int, frozenset[int]]:
        """Return the least that a nest pays at these tolls, and what it keeps; nothing where it depends on what ran."""
        shares = [0 if i in self.pairs.loose else share for i, share in enumerate(tolls.shares)]
        fixed = tolls._replace(shares=shares)
        return least_alone(self.tensors, self.pairs, fixed, nest, self.alone[nest], ancestors(self.hulls, nest))

    def plain_step(self, group: tuple[int, ...]) -> Taken:
        """Return a step with nothing kept, as early as it may run."""
        return Taken(group, frozenset(), ancestors(self.hulls, group))

    def _proved(self, point: Point, worth: int, limit: float) -> Point | None:
        """Return prices lowered until no step is worth more than it pays; None if they are then not worth enough.

        New steps join the program in both cases.
        """
        point, is_proof = self._alone(point)[0], True
        for scope, oracle in self.asked:
            for finds in range(FINDS + 1):
                if self.time >= limit:
                    return None
                found = oracle.worst([int(price) for price in point.prices], point.tolls, limit - self.time)
                self.time += found.deterministic_time
                is_new = False
                for step in found.steps[-NEWEST:]:
                    is_new |= self.program.add(step)
                is_proof &= point.worth > worth
                if found.least >= 0 or not is_proof:
                    break
                if finds == FINDS or not is_new:
                    point.prices[list(scope.firsts)] += math.floor(found.least)
                    break
                point = self.program.repaired(point)
        return point if is_proof and point.worth > worth else None

    def _sums(self, point: Point) -> _Proven:
        """Return the sums of proven prices, by network."""
        ends = zip(self.problem.offsets, [*self.problem.offsets[1:], self.problem.size])
        return _Proven(point, [max(0, int(point.prices[start:end].sum())) for start, end in ends])

    def _units(self) -> list[int]:
        """Return per network a number that divides all its crossings; 1 if layers may move bytes more than once."""
        units = [0] * len(self.problem.networks)
        for u, i in enumerate(self.problem.network_of):
            units[i] = math.gcd(units[i], self.tensors.comes[u], self.tensors.goes[u])
        for group, each in self.alone.items():
            i = self.problem.network_of[group[0]]
            units[i] = 1 if each.most else units[i]
        return [max(1, unit) for unit in units]
