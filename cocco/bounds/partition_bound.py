"""The set-partition bound: prices of layers that no subgraph is worth, by column generation (docs/bounds.md).

If every subgraph S that may run crosses at least as many bytes as its layers' prices sum up to, no partition crosses
fewer bytes than all prices together. If some S falls short by r at most, each layer is the first of one S at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from cocco.bounds.crossings import Tensors, crossings
from cocco.bounds.duals import Columns
from cocco.bounds.forced import Hulls
from cocco.bounds.oracle import LeastExcess, Oracle
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

WINDOW = 80  #: layers looked at together for new sets; our choice: solved in a tenth of a second
LEVEL = 0.7  #: share of the open gap that a step asks for; our choice, between 0.5 (safe) and 0.9 (bold)
SURE = 0.6  #: share of the step that must be left after repair before it is worth a proof; our choice
SHARES = (0.0, 0.25, 0.5, 1.0)  #: of the worst set's excess that all layers' prices are lowered by before each proof
GUESSES = 8  #: proofs of prices to begin with, each lowered by the sets that the one before met; our choice
MOST_STEPS = 400  #: our choice: several times what the paper's networks take
NEAR = 1e-6  #: by which a price may be short of a whole byte and still count as one
ENOUGH = 2e-4  #: relative gap to the linear program at which to stop; our choice


class Asked(Protocol):
    """What says which set of some layers is worth most."""

    def least(self, prices: dict[int, int], limit: float) -> LeastExcess:
        """Return the least crossings(S) - prices(S) in bytes, proven as far as the deterministic time goes."""


class Tolled(NamedTuple):
    """What is asked of a component."""

    make: Callable[[Sequence[int]], Asked]  #: an oracle of some layers
    cost: Callable[[tuple[int, ...]], int]  #: of a layer alone the least that it pays, of more a way that they may pay
    unit: int = 1  #: all that is paid is a multiple of it


class Bound(NamedTuple):
    """Bytes of one sample that cross in every partition of these layers, and what it took."""

    crossings: int
    most: float  #: value of the linear program over the sets at hand: what this method cannot pass
    steps: int
    deterministic_time: float
    prices: tuple[float, ...]  #: of the layers, which no subgraph is worth: they prove `crossings` but for rounding
    is_open: bool  #: whether more time may prove more


class PartitionBound:
    """Bounds what crosses for the layers of one component: no subgraph has layers of two components."""

    def __init__(
        self,
        problem: Problem,
        costs: SubgraphCosts,
        hulls: Hulls,
        tensors: Tensors,
        layers: Sequence[int],
        known: Sequence[tuple[int, ...]],
        start: Sequence[float] | None = None,
        tolled: Tolled | None = None,
        guess: Sequence[float] | None = None,
    ) -> None:
        """start: prices of the layers that no subgraph is worth, if such are known, as those of a larger memory.

        tolled: what takes the place of what crosses with nothing kept. guess: prices to begin with that prove nothing.
        """
        self.layers, self.tensors = layers, tensors
        self.start = np.floor(start) if start is not None else np.zeros(len(layers))
        self.guess = np.floor(guess) if guess is not None else np.zeros(0)
        touched = {*layers}.union(*[tensors.read[v] for v in layers])
        sizes = [bytes_[u] for u in touched for bytes_ in (tensors.comes, tensors.goes)]
        self.unit = max(1, math.gcd(*sizes) if tolled is None else tolled.unit)  # all that crosses is a multiple of it
        self.most_price = 4.0 * max(1, sum(sizes))  # far beyond what any set crosses
        if tolled is None:
            tolled = Tolled(
                lambda some: Oracle(problem, costs, hulls, tensors, some), lambda group: crossings(tensors, group)
            )
        make, self.cost, _ = tolled
        self.columns = Columns(layers)
        self.singles = [tolled.cost((v,)) for v in layers]
        for v, crossing in zip(layers, self.singles):
            self.columns.add((v,), crossing)
        for group in known:
            self.columns.add(group, self.cost(group))
        self.oracle = make(layers)
        self.windows = [
            make(layers[start : start + WINDOW])
            for start in range(0, len(layers) - WINDOW // 2, WINDOW // 2)
            if len(layers) > WINDOW
        ]
        self.time = 0.0
        self.worst: tuple[int, ...] = ()  #: the last set that was worth more than its crossings
        self.excess = 0.0  #: per layer, of the set that was worth most in excess of its crossings at the last proof

    def run(self, limit: float) -> Bound:
        """Return the best bound that is proven within so much deterministic time of the solver."""
        best, steps = max(0, int(self.start.sum())), 0
        centre = self.start if best else np.zeros(len(self.layers))
        held = centre
        for _ in range(GUESSES if len(self.guess) else 0):
            lower = np.floor(self.columns.repaired(self.guess) + NEAR)
            proven, is_new = self._prove(lower, limit)
            if proven > best:
                best, centre = proven, lower
                held = lower + (proven - lower.sum()) / len(self.layers)
            if not is_new or self.time >= limit:
                break
        top = max(self.columns.most(), best)
        while self.time < limit and steps < MOST_STEPS and top - best > max(len(self.layers), ENOUGH * top):
            steps += 1
            before = best, self.columns.changes
            step = LEVEL * (top - best)
            prices = np.clip(self.columns.nearest(centre, best + step), -self.most_price, self.most_price)
            is_new = self._look_into_windows(prices, limit)
            lower = self.columns.repaired(prices)
            if not is_new or lower.sum() >= best + SURE * step:
                for share in SHARES:
                    lower = np.floor(self.columns.repaired(prices) - share * self.excess + NEAR)
                    if lower.sum() <= best or self.time >= limit:
                        break
                    proven, is_new = self._prove(lower, limit)
                    if proven > best:
                        best, centre = proven, lower
                        held = lower + (proven - lower.sum()) / len(self.layers)
                    if not is_new:
                        break
            if (best, self.columns.changes) == before:  # nothing learnt: rounding is in the way
                break
            top = self.columns.most()
        is_open = self.time >= limit and top - best > max(len(self.layers), ENOUGH * top)
        crossing = -(-best // self.unit) * self.unit
        return Bound(crossing, top, steps, self.time, tuple(map(float, held)), is_open)

    def _look_into_windows(self, prices: np.ndarray, limit: float) -> bool:
        """Add sets that are worth more than their crossings; return whether there were new ones."""
        is_new = False
        for window in self.windows:
            if self.time < limit:
                is_new |= self._ask(window, np.floor(prices), limit)[1]
        return is_new

    def _prove(self, prices: np.ndarray, limit: float) -> tuple[int, bool]:
        """Return a bound that these whole prices prove, and whether new sets speak against them."""
        least, is_new = self._ask(self.oracle, prices, limit)
        values = [int(price) for price in prices]
        if self.worst:
            self.excess = max(0.0, -least) / len(self.worst)
        short = min(0, math.floor(least), *[c - value for c, value in zip(self.singles, values)])
        return sum(values) + len(self.layers) * short, is_new

    def _ask(self, oracle: Asked, prices: np.ndarray, limit: float) -> tuple[float, bool]:
        of_layer = {v: int(price) for v, price in zip(self.layers, prices)}
        self.worst = ()
        found = oracle.least(of_layer, max(limit - self.time, 0.01))
        self.time += found.deterministic_time
        is_new = False
        for group, crossing in found.sets:
            cost = min(crossing, self.cost(group))
            if cost < sum([of_layer[v] for v in group]):
                self.worst = group
                is_new |= self.columns.add(group, cost)
        return found.least, is_new
