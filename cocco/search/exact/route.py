"""A plan as its steps and the tensors kept beyond each: priced step by step, cut into windows, and reassembled."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from cocco.candidates.sets import bits, members
from cocco.search.exact.question import Group, KeepQuestion, KeptStep, sets_of_consumers, sets_of_producers
from cocco.search.exact.window import Place, Way, Window
from simulator.partition.intervals import Span

MEMO = 2**18  #: prices remembered, our choice; then all are forgotten


class Route(NamedTuple):
    """Steps in execution order; sets of layers and of tensors are integers with a bit for each."""

    groups: tuple[int, ...]
    kept: tuple[int, ...]  #: beyond each step; nothing beyond the last

    @property
    def subgraphs(self) -> list[Group]:
        """The layers of each step."""
        return [tuple(members(group)) for group in self.groups]

    @property
    def spans(self) -> tuple[Span, ...]:
        """The intervals: (tensor, first step, last step), ascending."""
        return spans_beyond(self.kept)

    def with_way(self, first: int, last: int, way: Way) -> Route:
        """Return the route with other steps from `first` up to, but not including, `last`."""
        groups = tuple(map(bits, way.groups))
        kept = tuple(map(bits, way.kept))
        return Route(self.groups[:first] + groups + self.groups[last:], self.kept[:first] + kept + self.kept[last:])


def route_of(subgraphs: Sequence[Sequence[int]], spans: Sequence[Span]) -> Route:
    """Return the route of subgraphs in execution order and intervals."""
    kept = [0] * len(subgraphs)
    for tensor, first, last in spans:
        for step in range(first, last):
            kept[step] |= 1 << tensor
    return Route(tuple(map(bits, subgraphs)), tuple(kept))


class Priced(NamedTuple):
    """A route with what each step costs, and the states between its steps."""

    route: Route
    prices: tuple[float, ...]
    places: tuple[Place, ...]  #: before the first step, ..., beyond the last
    cost: float

    def window(self, first: int, last: int) -> Window:
        """Return the window of the steps from `first` up to, but not including, `last`."""
        return Window(self.places[first], self.places[last])

    def cost_of(self, first: int, last: int) -> float:
        """Return what those steps cost."""
        cost = 0.0
        for price in self.prices[first:last]:
            cost += price
        return cost


class Pricing:
    """Prices routes of one question, and remembers the prices of steps."""

    def __init__(self, question: KeepQuestion) -> None:
        self.question, self.reads = question, sets_of_producers(question.network)
        layers = len(question.network.layers)
        self.outputs = sum(1 << v for v in range(layers) if question.network.is_output[v])
        self.readers = sets_of_consumers(question.network)
        self.memo: dict[tuple[int, int, int, int, int], float] = {}
        self.inputs_of: dict[int, int] = {}

    def inputs(self, group: int) -> int:
        """Return the tensors that a subgraph reads from elsewhere."""
        if group not in self.inputs_of:
            found = 0
            for v in members(group):
                found |= self.reads[v]
            self.inputs_of[group] = found & ~group
        return self.inputs_of[group]

    def priced(self, route: Route) -> Priced:
        """Return a route with its prices; inf if a step does not fit. A tensor never read from DRAM is not written."""
        before, stored, inputs = 0, self.outputs, [self.inputs(group) for group in route.groups]
        for read, kept in zip(inputs, route.kept):
            stored |= read & ~before
            before = kept
        executed = before = 0
        cost, prices, places = 0.0, [], [Place(0, 0, 0)]
        for group, kept in zip(route.groups, route.kept):
            executed |= group
            key = group, before, kept, group & stored, self._handed(executed, group, before, kept)
            if key not in self.memo:
                self._remember(key)
            price = self.memo[key]
            before = kept
            cost += price
            prices.append(price)
            places.append(Place(executed, kept & ~stored, kept & stored))
        return Priced(route, tuple(prices), tuple(places), cost)

    def _handed(self, executed: int, group: int, before: int, kept: int) -> int:
        """Return the bytes of a result of a step that takes the place of an operand."""
        if group not in self.question.places:
            return 0
        ended = before & ~kept & self.inputs(group)
        last = sum([1 << u for u in members(ended) if not self.readers[u] & ~executed])
        return self.question.handed(group, kept, last)

    def _remember(self, key: tuple[int, int, int, int, int]) -> None:
        """Price a step by its layers, what is kept before and beyond it, what it writes, and what takes a place."""
        group, before, kept, written, handed = key
        read, here = self.inputs(group), before | kept
        touched, size, price = group | read, -handed, math.inf
        for u in members(here):
            size += self.question.whole[u]
        if size <= self.question.room:
            elsewhere = (here & ~touched).bit_count()
            layers = tuple(members(group))
            step = KeptStep(layers, here & touched, read & ~before, written, size, elsewhere, handed)
            price = self.question.price(step)
        if len(self.memo) == MEMO:
            self.memo.clear()
            self.inputs_of.clear()
        self.memo[key] = price


def spans_beyond(beyond: Iterable[int]) -> tuple[Span, ...]:
    """Return the intervals of sets kept beyond each step: a tensor kept beyond steps a to z - 1 is kept over [a, z]."""
    spans: list[Span] = []
    begun: dict[int, int] = {}
    known = 0
    for step, kept in enumerate(beyond):
        begun.update((tensor, step) for tensor in members(kept & ~known))
        spans += [(tensor, begun[tensor], step) for tensor in members(known & ~kept)]
        known = kept
    return tuple(sorted(spans))
