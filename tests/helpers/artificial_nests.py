"""Nests that no kind describes: random sets of layers that may run in little room and move less than one by one.

They know nothing of loops. What they need and move is random, with what every nest moves at least: weights, inputs and
outputs once. In more room they move no more. Only the readable engine prices them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import pytest

from cocco.search.kernel import choice
from cocco.search.pricing import subgraphs
from simulator.model.equivalence import Alike
from simulator.model.price import Price
from simulator.model.pricing import SubgraphModel
from simulator.model.rules import PricingRules
from tests.helpers.every_kept_plan import is_connected

LEVELS = 3


class Level(NamedTuple):
    """A plan of an artificial nest: the room that it needs, and what it moves in times of what it moves at least."""

    activation: int
    weights: int  #: of their buffer
    loads: int  #: times that weights come
    passes: int  #: times that inputs come
    maps: int  #: bytes of the global buffer beside what crosses DRAM


class ArtificialNest(NamedTuple):
    """A set of layers with one result, and its plans: those that need more move less."""

    layers: tuple[int, ...]
    result: int
    inner: frozenset[int]
    levels: tuple[Level, ...]
    operands: tuple[int, ...] = ()

    def loops(self, *_: object) -> None:
        """Return nothing: it is no loop order."""


def artificial_nests(rules: PricingRules, share: float, salt: int) -> Iterator[ArtificialNest]:
    """Yield nests of 2 to 4 layers, a share of all that may be one; equivalent sets are nests of equal plans."""
    network, alike, count = rules.geometry.network, Alike(rules), len(rules.geometry.network.layers)
    for size in range(2, min(4, count) + 1):
        for layers in combinations(range(count), size):
            inside = set(layers)
            made = [v for v in layers if network.is_output[v] or not inside.issuperset(network.consumers[v])]
            if len(made) != 1 or not is_connected(network, layers) or not _is_convex(network, layers):
                continue
            rng = random.Random(f"{salt} {alike.key(layers)}")
            if rng.random() < share:
                yield ArtificialNest(layers, made[0], frozenset(inside - {*made}), tuple(_levels(rng, rules, layers)))


def _is_convex(network, layers: tuple[int, ...]) -> bool:
    after = set[int]()  # what reads something of these layers, not counting themselves
    for v in range(len(network.layers)):
        if v in layers:
            if after & {*network.producers[v]}:
                return False
        elif {*network.producers[v]} & (after | {*layers}):
            after.add(v)
    return True


def _levels(rng: random.Random, rules: PricingRules, layers: tuple[int, ...]) -> Iterator[Level]:
    geometry, weights = rules.geometry, sum(rules.geometry.weight_bytes[v] for v in layers)
    maps = rules.batch * sum(geometry.size_bytes[v] for v in layers)
    least, own = rng.randint(8, 200), int(rng.choice((0, 0.3, 1, 2)) * maps)
    for i in range(LEVELS):
        more = rng.choice((0, 1, 1, 2)) * (LEVELS - 1 - i)
        room = least + i * rng.choice((40, 200, maps // 2))
        held = min(weights, 8 if rng.random() < 0.7 else weights)
        loads = 1 + (more if rng.random() < 0.7 else 0)
        yield Level(room + held * rules.is_shared, held, loads, 1 + more, own * (1 + more))


def install(monkeypatch: pytest.MonkeyPatch, share: float = 0.5, salt: int = 0) -> None:
    """Give all rules artificial nests, which subgraphs of their layers may run as."""
    begin, price = PricingRules.__init__, SubgraphModel._price

    def init(self, *arguments, **keywords):
        begin(self, *arguments, **keywords)
        if self.cores == 1 and self.mapper.is_flat:
            self.nests = {nest.layers: nest for nest in artificial_nests(self, share, salt)}

    def levels_of(model: SubgraphModel) -> tuple[Level, ...]:
        nest = model.rules.nests.get(tuple(model.subgraph.layers))
        if nest is None or nest.inner & model.subgraph.on_chip:
            return ()
        return nest.levels

    def with_nests(self, room, weight_capacity, goal, handed):
        found = price(self, room, weight_capacity, goal, handed)
        prices = [found] if isinstance(found, Price) else []
        for level in levels_of(self):
            if _fits(level, self.rules, room, weight_capacity):
                prices.append(_price(self, level))
        return min(prices, key=lambda each: self._rank(each, goal)) if prices else found

    def fitting(problem):
        machine = problem.accelerator
        for rules, offset in zip(problem.rules, problem.offsets):
            for nest in rules.nests.values():
                if any(
                    _fits(level, rules, machine.activation_capacity, machine.weight_capacity) for level in nest.levels
                ):
                    yield tuple(offset + v for v in nest.layers)

    monkeypatch.setattr(choice, "has_twin", lambda problem: False)
    monkeypatch.setattr(subgraphs, "_fitting_nests", fitting)
    monkeypatch.setattr(PricingRules, "__init__", init)
    monkeypatch.setattr(SubgraphModel, "_price", with_nests)


def _fits(level: Level, rules: PricingRules, room: int, weight_capacity: int) -> bool:
    return level.activation <= room and (rules.is_shared or level.weights <= weight_capacity)


def _price(model: SubgraphModel, level: Level) -> Price:
    weights, batch = model.weights * level.loads, model.rules.batch
    inputs, outputs = batch * model.inputs * level.passes, batch * model.outputs
    cycles = sum(model.rules.cycles[v] for v in model.subgraph.layers)
    return Price(
        (1, 1), 1, level.activation, level.weights, None, False, weights, inputs, outputs,
        inputs + outputs + level.maps,
        2 * weights, 0, model.operations, cycles, inputs, weights, operation_extra=model.operation_extra,
    )  # fmt: skip
