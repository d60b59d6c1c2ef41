"""What a layer alone, or a nest, moves beyond its tensors and weights once, by the bytes kept while it runs.

In every loop order, a layer that does not fit next to the kept tensors reads weights or operands again. The less room,
the more it reads: of all orders that fit, the one that moves the fewest bytes is taken (cocco.bounds.floors.elsewhere).
What is written, or comes in to stay, crosses once in any order. So for each set of its own tensors that may be kept,
and for some totals of kept bytes, its price says what any plan moves at least.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import NamedTuple

from cocco.bounds.cheapest import step_totals
from cocco.problem.problem import Problem, part_of
from cocco.search.exact.question import Group, KeptStep
from simulator.model.cost import Totals
from simulator.model.rules import PricingRules

GRAINS = 16  #: parts of the buffer at whose ends it is asked, beside sums of a layer's own tensors; our choice
MOST_TOUCHED = 8  #: tensors of a layer: all sets of them are looked at; our choice


class Alone(NamedTuple):
    """What a layer alone, or a nest, moves at least beyond what crosses once, in bytes of one sample.

    Examples
    --------
    Nothing with less than 100 bytes kept, 50 bytes from there on; and no order fits with more than 120 bytes kept:

    >>> alone = Alone(((0, 0), (100, 50)), 120)
    >>> alone.extra(99), alone.extra(100)
    (0, 50)
    """

    levels: tuple[tuple[int, int], ...]  #: bytes kept, and what is moved beyond from there on; both ascending
    room: int  #: bytes that may be kept at most

    @property
    def most(self) -> int:
        """What is moved beyond if as much is kept as possible."""
        return self.levels[-1][1]

    def extra(self, kept_bytes: int) -> int:
        """Return what is moved beyond if so many bytes are kept."""
        return max([extra for start, extra in self.levels if start <= kept_bytes], default=0)


def by_bytes(problem: Problem) -> Problem:
    """Return the same problem with loop orders chosen by what crosses DRAM, which is then the least possible."""
    if problem.metric == "ema":
        return problem
    return replace(problem, objective=replace(problem.objective, metric="ema"), chosen_by=None)


def alone_extras(problem: Problem, nests: Iterable[Group] = ()) -> dict[Group, Alone]:
    """Return `Alone` for each layer of the union on given hardware, and for nests; problem: one of `by_bytes`."""
    machine = problem.accelerator
    groups = [*[(v,) for v in range(problem.size)], *nests]
    is_priced = machine.cores == 1 and machine.mapper.is_flat and problem.tile_rule == "exact"
    parts = [part_of(problem, i) for i in range(len(problem.networks))]
    prices, known, found = [step_totals(part) for part in parts], dict[Hashable, Alone](), dict[Group, Alone]()
    for group in groups:
        i = problem.network_of[group[0]]
        part, local = parts[i], tuple([v - problem.offsets[i] for v in group])
        key = i, part.models[0].alike.key(local)
        if key not in known:
            room = machine.activation_capacity + most_handed(part.rules[0], local)
            known[key] = (is_priced and _of_group(part, local, prices[i])) or Alone(((0, 0),), room)
        found[group] = known[key]
    return found


def most_handed(rules: PricingRules, group: Group) -> int:
    """Return the most bytes of a result that takes the place of an operand, by which kept bytes may exceed a buffer."""
    return max([rules.whole_bytes(y) for _, y in rules.places(group)], default=0)


def _of_group(part: Problem, group: Group, price: Callable[[KeptStep], Totals | None]) -> Alone | None:
    """Return `Alone` for a layer or a nest; None if it moves nothing beyond, or has too many sets to look at."""
    (network,), (rules,), room = part.networks, part.rules, part.accelerator.activation_capacity
    inside, weights = set(group), rules.geometry.weights_of(group)
    reads = [u for u in dict.fromkeys(u for v in group for u in network.producers[v]) if u not in inside]
    made = [v for v in group if not inside.issuperset(network.consumers[v])]
    written = [v for v in group if network.is_output[v]]
    touched = [*reads, *made]
    if len(touched) > MOST_TOUCHED:
        return None
    whole, most = {u: rules.whole_bytes(u) for u in touched}, room + most_handed(rules, group)
    sets = sorted(_sums([(1 << u, whole[u]) for u in touched], most), key=lambda each: (each[1], each[0]))

    @cache
    def extra(on_chip: int, kept_bytes: int) -> float:
        loaded = [u for u in reads if not on_chip >> u & 1]
        stored = {*written, *[v for v in made if not on_chip >> v & 1]}
        there = [u for u in touched if on_chip >> u & 1]
        handed = rules.handed_bytes(group, there, there)
        found = price(KeptStep(group, on_chip, _set_of(loaded), _set_of(stored), kept_bytes - handed, 0, handed))
        if found is None:
            return math.inf
        once = sum([rules.geometry.size_bytes[u] for u in (*loaded, *stored)])
        return found.ema_bytes - weights - rules.batch * once

    starts = sorted({size for _, size in sets} | {room * i // GRAINS for i in range(GRAINS)})
    least = [math.inf] * len(starts)
    for on_chip, size in sets:
        first = starts.index(size)
        if extra(on_chip, starts[-1]) == 0:
            return None
        for i, found in enumerate(_halved(partial(extra, on_chip), starts[first:]), first):
            least[i] = min(least[i], found)
    return _levels(starts, least, rules.batch, most)


def _halved(value: Callable[[int], float], places: Sequence[int]) -> list[float]:
    """Return the values of a nondecreasing function at ascending places, by bisection where they change."""
    low, high, count = value(places[0]), value(places[-1]), len(places)
    if low == high or count < 3:
        return [low] * (count - 1) + [high]
    return _halved(value, places[: count // 2 + 1])[:-1] + _halved(value, places[count // 2 :])


def _levels(starts: Sequence[int], least: Sequence[float], batch: int, room: int) -> Alone | None:
    """Return the places where the least that is moved, with so much kept or more, rises; None if it never runs alone.

    With more kept it may move less, if the layer's own tensors are kept.
    """
    levels: list[tuple[int, int]] = []
    for i, start in enumerate(starts):
        extra = min(least[i:])
        if extra == math.inf:
            return Alone(tuple(levels), start - 1) if levels else None
        each = max(0, int(extra)) // batch
        if not levels or each > levels[-1][1]:
            levels.append((start, each))
    return Alone(tuple(levels), room)


def _sums(items: Sequence[tuple[int, int]], most_bytes: int) -> list[tuple[int, int]]:
    """Return all subsets of these that take at most so many bytes, with their bytes."""
    found = [(0, 0)]
    for bit, size in items:
        found += [(each | bit, taken + size) for each, taken in found if taken + size <= most_bytes]
    return found


def _set_of(tensors: Iterable[int]) -> int:
    return sum([1 << u for u in tensors])
