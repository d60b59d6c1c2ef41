"""The set-partition bound: prices of layers that no subgraph exceeds, by column generation (docs/bounds.md).

If every subgraph S that may run crosses at least as many bytes as its layers' prices sum up to, no partition crosses
fewer bytes than all prices together. This is proved scope by scope (scopes.py): prices are only ever lowered, so a
proof for one scope stays valid. If some S falls short by at most r, it suffices to lower the price of each layer that
may be its first by r. Nests, which run in less room than the oracle reckons with, are looked at one by one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from cocco.bounds.floors.forced import Hulls
from cocco.bounds.floors.nests import lowered
from cocco.bounds.parts.crossings import Tensors, crossings
from cocco.bounds.parts.paths import Paths
from cocco.bounds.parts.scopes import Scope, scopes_of
from cocco.bounds.prices.duals import Columns
from cocco.bounds.prices.oracle import Oracle
from cocco.bounds.prices.tolls import Tolls, makers, paid, plain_tolls
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

WINDOW = 80  #: layers looked at together for new sets; our choice: solved in a tenth of a second
LEVEL = 0.7  #: share of the open gap that a step asks for; our choice, between 0.5 (safe) and 0.9 (bold)
SURE = 0.6  #: share of the step that must be left after repair before it is worth a proof; our choice
REPAIRS = 3  #: times that prices are lowered by the sets that were met, before all of a block are; our choice
GUESSES = 3  #: proofs of prices to begin with, each lowered by the sets that the one before met; our choice
MOST_STEPS = 400  #: our choice: several times what the paper's networks take
NEAR = 1e-6  #: by which a price may be short of a whole byte and still count as one
ENOUGH = 2e-4  #: relative gap to the linear program at which to stop; our choice


class Bound(NamedTuple):
    """Bytes of one sample that cross in every partition of these layers, and the effort it took."""

    crossings: int
    most: float  #: value of the linear program over the sets at hand: what this method cannot pass
    steps: int
    deterministic_time: float
    prices: tuple[float, ...]  #: of the layers, which no subgraph is worth: they prove `crossings` but for the unit
    is_open: bool  #: whether more time may prove more


class Closer(NamedTuple):
    """Oracles that rule out more sets and take longer, and whether a set of layers runs."""

    make: Callable[[Sequence[int]], Oracle]
    runs: Callable[[tuple[int, ...]], bool]


def plain_bound(
    problem: Problem,
    costs: SubgraphCosts,
    hulls: Hulls,
    tensors: Tensors,
    layers: Sequence[int],
    known: Sequence[tuple[int, ...]],
    start: Sequence[float] | None = None,
) -> PartitionBound:
    """Return the bound of the layers of one component if nothing may be kept: all that is written is due at its maker.

    known: sets of layers to begin with.
    """
    pairs = makers(tensors)
    touched = {*layers}.union(*[tensors.read[v] for v in layers])
    unit = max(1, math.gcd(*[bytes_[u] for u in touched for bytes_ in (tensors.comes, tensors.goes)]))

    def make(some: Sequence[int]) -> Oracle:
        return Oracle(problem, costs, hulls, tensors, pairs, some)

    def make_closer(some: Sequence[int]) -> Oracle:
        return Oracle(problem, costs, hulls, tensors, pairs, some, has_leads=True)

    def runs(group: tuple[int, ...]) -> bool:
        return costs.costs(group) < math.inf

    def cost(group: tuple[int, ...]) -> int:
        return crossings(tensors, group)

    scopes, nests = (
        scopes_of(layers, hulls, Paths(problem, costs, hulls, layers), WINDOW),
        {nest: cost(nest) for nest in hulls.nests if nest[0] in set(layers)},
    )
    return PartitionBound(
        tensors,
        plain_tolls(tensors, pairs),
        make,
        cost,
        layers,
        scopes,
        known,
        unit,
        start,
        nests=nests,
        closer=Closer(make_closer, runs),
    )


class PartitionBound:
    """Bounds what crosses for the layers of one component: no subgraph has layers of two components."""

    def __init__(
        self,
        tensors: Tensors,
        tolls: Tolls,
        make: Callable[[Sequence[int]], Oracle],
        cost: Callable[[tuple[int, ...]], int],
        layers: Sequence[int],
        scopes: Sequence[Scope],
        known: Sequence[tuple[int, ...]],
        unit: int = 1,
        start: Sequence[float] | None = None,
        guess: Sequence[float] | None = None,
        nests: Mapping[tuple[int, ...], int] | None = None,
        closer: Closer | None = None,
    ) -> None:
        """tolls: what steps pay; if nothing is kept, what crosses. make: the oracle of some layers.

        cost: of a layer alone the least that it pays, of more a way that they may pay. unit: all that is paid is a
        multiple of it. start: prices that no subgraph exceeds, if any are known, such as those of a larger memory.
        guess: prices to start from that prove nothing. nests: what those of these layers pay at least. closer: oracles
        for when those of `make` prove no more.
        """
        self.layers, self.tensors, self.tolls, self.cost, self.unit = layers, tensors, tolls, cost, unit
        self.start = np.floor(start) if start is not None else np.zeros(len(layers))
        self.guess = np.floor(guess) if guess is not None else np.zeros(0)
        touched = {*layers}.union(*[tensors.read[v] for v in layers])
        sizes = [bytes_[u] for u in touched for bytes_ in (tensors.comes, tensors.goes)]
        self.most_price = 4.0 * max(1, sum(sizes))  # far beyond what any set crosses
        self.columns = Columns(layers)
        self.singles = np.array([cost((v,)) for v in layers], dtype=float)
        for v, crossing in zip(layers, self.singles):
            self.columns.add((v,), int(crossing))
        place = {v: i for i, v in enumerate(layers)}
        self.nests = [(tuple([place[v] for v in nest]), takes) for nest, takes in (nests or {}).items()]
        for nest, takes in (nests or {}).items():
            self.columns.add(nest, takes)
        for group in known:
            if group not in (nests or {}):
                self.columns.add(group, self.cost(group))
        self.scopes: list[tuple[list[int], list[int], Oracle]] = []  # places of first and of all layers
        for firsts, inside in scopes:
            self.scopes.append(([place[v] for v in firsts], [place[v] for v in inside], make(inside)))
        self.windows = [
            make(layers[start : start + WINDOW])
            for start in range(0, len(layers) - WINDOW // 2, WINDOW // 2)
            if len(layers) > WINDOW
        ]
        self.closer, self._solvers_time = closer, 0.0

    @property
    def time(self) -> float:
        """Deterministic time that was spent."""
        return self._solvers_time + self.columns.time

    def run(self, limit: float) -> Bound:
        """Return the best bound that is proven within so much deterministic time of the solver."""
        best, steps = max(0, int(self.start.sum())), 0
        centre = self.start if best else np.zeros(len(self.layers))
        for _ in range(GUESSES if len(self.guess) else 0):
            proven, is_new = self._prove(self.columns.repaired(self.guess), limit)
            if proven.sum() > best:
                best, centre = int(proven.sum()), proven
            if not is_new or self.time >= limit:
                break
        top = max(self.columns.most(), best)
        while self.time < limit and steps < MOST_STEPS:
            if top - best <= max(len(self.layers), ENOUGH * top):
                if not self._look_closer():
                    break
                top = max(self.columns.most(), best)
                continue
            steps += 1
            before = best, self.columns.changes
            step = LEVEL * (top - best)
            prices = np.clip(self.columns.nearest(centre, best + step), -self.most_price, self.most_price)
            is_new = self._look_into_windows(prices, limit)
            lower = self.columns.repaired(prices)
            if not is_new or lower.sum() >= best + SURE * step:
                proven = self._prove(lower, limit)[0]
                if proven.sum() > best:
                    best, centre = int(proven.sum()), proven
            if (best, self.columns.changes) == before and not self._look_closer():
                break  # nothing learned: rounding is in the way
            top = self.columns.most()
        is_open = self.time >= limit and top - best > max(len(self.layers), ENOUGH * top)
        crossing = -(-best // self.unit) * self.unit
        return Bound(crossing, top, steps, self.time, tuple(map(float, centre)), is_open)

    def _look_closer(self) -> bool:
        """Take closer oracles, which rule out more, and forget sets that do not run; return whether there were any."""
        if self.closer is None:
            return False
        closer, self.closer = self.closer, None
        unreal = {group for group in self.columns.groups if not closer.runs(group)}
        if unreal:
            self.columns.drop(unreal)
            self.scopes = [(firsts, inside, closer.make(each.layers)) for firsts, inside, each in self.scopes]
            self.windows = [closer.make(each.layers) for each in self.windows]
        return bool(unreal)

    def _look_into_windows(self, prices: np.ndarray, limit: float) -> bool:
        """Add sets that are worth more than their crossings; return whether there were new ones."""
        is_new = False
        for window in self.windows:
            if self.time < limit:
                is_new |= self._ask(window, np.floor(prices), limit)[1]
        return is_new

    def _prove(self, prices: np.ndarray, limit: float) -> tuple[np.ndarray, bool]:
        """Return whole prices, at most these, that no subgraph exceeds, and whether new sets refuted the given ones."""
        values, is_any_new = self._within(np.minimum(np.floor(prices + NEAR), self.singles)), False
        for firsts, inside, oracle in self.scopes:
            for repairs in range(REPAIRS + 1):
                least, is_new = self._ask(oracle, values, limit)
                is_any_new |= is_new
                if least >= 0:
                    break
                if repairs == REPAIRS or not is_new or self.time >= limit:
                    values = _lowered(values, firsts, inside, math.floor(least))
                    break
                values = np.floor(self.columns.repaired(values) + NEAR)
        return values, is_any_new

    def _within(self, prices: np.ndarray) -> np.ndarray:
        """Return prices, at most these, of which those of no nest add up to more than it pays."""
        return np.array(lowered(list(prices), [-math.inf] * len(prices), self.nests))

    def _ask(self, oracle: Oracle, prices: np.ndarray, limit: float) -> tuple[float, bool]:
        of_layer = [0] * len(self.tensors.read)
        for v, price in zip(self.layers, prices):
            of_layer[v] = int(price)
        found = oracle.worst(of_layer, self.tolls, max(limit - self.time, 0.01))
        self._solvers_time += found.deterministic_time
        is_new = False
        for step in found.steps:
            cost = min(paid(self.tensors, oracle.pairs, self.tolls, step), self.cost(step.layers))
            if cost < sum([of_layer[v] for v in step.layers]):
                is_new |= self.columns.add(step.layers, cost)
        return found.least, is_new


def _lowered(prices: np.ndarray, firsts: Sequence[int], inside: Sequence[int], short: int) -> np.ndarray:
    """Return prices that no set of a scope exceeds, if none exceeds the given ones by more than `short`.

    Either each layer that may be the first of such a set loses that much, or all prices of the scope become 0,
    whichever loses less.
    """
    values = prices.copy()
    if -short * len(firsts) <= values[inside].clip(0).sum():
        values[firsts] += short
    else:
        values[inside] = np.minimum(values[inside], 0)
    return values
