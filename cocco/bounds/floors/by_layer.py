"""Lower bounds for plans with kept tensors, split by layer and by tensor.

The floors split by layer what `least.least_totals` bounds for all layers together: weights read once, results written
once and what windows meet read once on chip, model outputs written to DRAM. In addition, each tensor in DRAM that has
readers left costs one load.

Some layers are never held with others: together with any layer that is joined with them (by an edge, or as a sibling)
and all layers between they do not fit, and every subgraph with more layers has such a pair. They run alone or in a
nest. Then all their steps can be looked at: each input comes from DRAM, or is kept, or both, and likewise the output,
with all the room that is left. The cost of the cheapest step without its own crossings is the floor of a layer alone;
the floors of the layers of a nest are lowered to its own (cocco.bounds.floors.nests). A tensor crosses DRAM both ways
in every plan

    if it is larger than the buffer, or its maker is never held with others, and it cannot be held meanwhile: then it is
    written; and a reader that cannot run with the maker reads it there at least once
    if a reader is never held with others, and cannot hold it: then that one reads it from DRAM, so it is written before

so its maker's floor counts both until it has run. Only a nest of the maker and a reader spares both: the floors of its
layers are then lowered further, to what it costs without them; if it costs less than they do, neither is counted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator
from itertools import product
from typing import NamedTuple

from cocco.bounds.floors.buffers import met_bytes
from cocco.bounds.floors.elsewhere import bytes_beside
from cocco.bounds.floors.layer_order import LayerOrder
from cocco.bounds.floors.nests import least_of_nests, lowered
from cocco.candidates.rounding import SUMMED
from cocco.candidates.sets import Cones, members
from cocco.problem.floor import floor_of
from cocco.problem.problem import Problem
from cocco.search.exact.question import (
    Group,
    KeepQuestion,
    KeptStep,
    sets_of_consumers,
    sets_of_siblings,
)
from simulator.model.cost import Totals
from simulator.model.pricing import PricingRules

Alike = Callable[[Group], Hashable]  #: what the price of layers depends on (simulator.model.equivalence)

MOST_INPUTS = 4  #: of a layer whose steps are all looked at; our choice: 3^5 prices


def floors(problem: Problem) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the floors of layers and of crossings."""
    (rules,), machine = problem.rules, floor_of(problem.accelerator)
    metric, (weight,) = problem.objective.of, problem.objective.weights
    rows, sizes = added_up(problem), [rules.batch * size for size in rules.geometry.size_bytes]
    crossings = [Totals(size, size, 0, 0, 0, size) for size in sizes]
    if _computes_longer(problem, rows):
        crossings = [row._replace(slots=0) for row in crossings]
    return (
        tuple(weight * metric(row, machine) for row in rows),
        tuple(weight * metric(row, machine) for row in crossings),
    )


def added_up(problem: Problem) -> list[Totals]:
    """Return the least of each layer such that all add up, with slots of computing only, or of crossings only.

    A subgraph takes the longer of both, so one layer must not count by what it computes and another by what it loads.
    """
    (rules,), rows = problem.rules, least_of_layers(problem)
    if _computes_longer(problem, rows):
        return [row._replace(slots=rules.rate.least(cycles)) for row, cycles in zip(rows, rules.cycles)]
    return rows


def _computes_longer(problem: Problem, rows: list[Totals]) -> bool:
    """Return whether latency counts, and all layers compute for longer than what must cross takes."""
    if "latency-sum" not in problem.objective.metrics:
        return False
    (rules,) = problem.rules
    inputs = sum([rules.batch * size for size in rules.geometry.size_bytes[len(rows) :]])
    return sum(map(rules.rate.least, rules.cycles)) >= sum(row.ema_bytes for row in rows) + inputs


def least_of_layers(problem: Problem) -> list[Totals]:
    """Return the least that each layer of the one network adds to the totals in any step.

    Nests move less only in the buffers, so for other metrics than energy it is the same without them.
    """
    (rules,) = problem.rules
    rows = [_least_of_layer(rules, v) for v in range(len(rules.geometry.network.layers))]
    if "energy" not in problem.objective.metrics:
        return rows
    geometry = rules.geometry
    crosses = [rules.batch * size * out for size, out in zip(geometry.size_bytes, geometry.network.is_output)]
    own = [row.global_buffer_bytes - out for row, out in zip(rows, crosses)]
    lower = lowered(own, [0] * len(own), [(nest, least.maps) for nest, least in least_of_nests(problem).items()])
    return [row._replace(global_buffer_bytes=each + out) for row, each, out in zip(rows, lower, crosses)]


def _least_of_layer(rules: PricingRules, v: int) -> Totals:
    """Return the least that a layer adds to the totals in any step; slots are those of what crosses."""
    geometry, batch = rules.geometry, rules.batch
    weights, result, brought = geometry.weight_bytes[v], geometry.size_bytes[v], geometry.brought_bytes[v]
    output = batch * result if geometry.network.is_output[v] else 0
    ema = brought + output
    return Totals(
        ema_bytes=ema,
        global_buffer_bytes=output + batch * (result + met_bytes(rules, v)),
        weight_buffer_bytes=brought + weights,
        crossbar_bytes=0,
        operations=batch * geometry.operations[v],
        operation_extra=batch * geometry.operation_extra[v],
        idle=rules.idle_macs * rules.cycles[v] - batch * geometry.operations[v] if rules.idle_macs else 0,
        slots=ema,
    )


class _Alone(NamedTuple):
    """A layer that runs alone, or the layers of a nest."""

    floor: float  #: the least that its step costs without its own crossings
    holds: int  #: tensors that may be kept while it runs


def with_forced(question: KeepQuestion, is_whole: bool, alike: Alike) -> KeepQuestion:
    """Return the question with floors raised by layers that are never held with others; is_whole: costs are whole.

    Such a layer runs alone or in a nest, where floors are lowered to what the nest takes. alike: which layers cost the
    same.
    """
    network, count = question.network, len(question.network.layers)
    if not question.may_keep:
        return question
    looks, fuses, alone = _Looks(question, alike), _Together(question), dict[int, _Alone]()
    for v in range(count):
        if len(set(network.producers[v])) <= MOST_INPUTS and not fuses.with_any(v):
            alone[v] = looks.at(1 << v)
    layers, raised = list(question.layer_floor), 0
    for v in range(count):
        least = alone[v].floor if v in alone else _least_anywhere(question, looks, fuses, v)
        if least < math.inf:
            layers[v] = max(layers[v], least - (0.0 if is_whole else SUMMED * abs(least)))
        is_raised = layers[v] > question.layer_floor[v]
        raised |= (is_raised or (v in alone and bool(looks.touched(1 << v) & ~alone[v].holds))) << v
    nests = {nest: looks.at(nest) for nest in question.nests if nest & raised}
    loss = 0.0 if is_whole else SUMMED
    takes = [(tuple(members(nest)), each.floor * (1 - loss)) for nest, each in nests.items()]
    layers = lowered(layers, question.layer_floor, takes)
    crosses = _crosses(question, fuses, alone, nests)
    for nest in question.nests:
        # an output is in no pattern, which prices the nest as it is: that it is written would count twice
        crosses &= ~sum([1 << u for u in members(nest & looks.outputs) if nest & fuses.readers[u]])
        inside = [u for u in members(nest & crosses) if nest & fuses.readers[u]]
        if inside:
            group, least = tuple(members(nest)), looks.at(nest).floor * (1 - loss)
            least -= 2 * sum([question.crossing_floor[u] for u in inside])
            if least < 0:  # it costs less than to cross
                crosses &= ~sum([1 << u for u in inside])
            else:
                layers = lowered(layers, [0.0] * count, [(group, least)])
    return question._replace(layer_floor=tuple(layers), crosses=crosses)


def _crosses(question: KeepQuestion, fuses: _Together, alone: dict[int, _Alone], nests: dict[int, _Alone]) -> int:
    """Return the tensors that every plan writes to DRAM and reads there, unless a nest has the maker and a reader.

    alone: layers that are never held with others; nests: all those with such layers that cannot hold all they touch.
    """
    crosses, holds = 0, {v: each.holds for v, each in alone.items()}  # what may be kept while such a layer runs
    for nest, each in nests.items():
        for v in members(nest):
            if v in holds:
                holds[v] |= each.holds
    for u in range(len(question.network.layers)):
        readers = question.network.consumers[u]
        is_written = question.whole[u] > question.room or (u in alone and not holds[u] >> u & 1)
        is_apart = is_written and any(not fuses.may(u, r) for r in readers)
        if is_apart or any(r in alone and not holds[r] >> u & 1 for r in readers):
            crosses |= 1 << u
    return crosses


def _least_anywhere(question: KeepQuestion, looks: _Looks, fuses: _Together, v: int) -> float:
    """Return the least cost of a layer that may run alone or be held with others: the lower of the two cases.

    With others it runs with one that it is joined with and all layers between, and the room that those take is not left
    for it.
    """
    if question.inside is None or len(set(question.network.producers[v])) > MOST_INPUTS:
        return 0.0
    least, touched = math.inf, {v, *question.network.producers[v]}
    for group in fuses.pairs(v):
        weights, held = question.least_held(tuple(members(group)))
        others = sum([size for u, size in held.items() if u not in touched])
        least = min(least, question.inside(v, question.room - weights - others, 0))
    if least <= question.layer_floor[v]:
        return 0.0
    return min(least, looks.at(1 << v).floor)


class _Looks:
    """Looks at all steps of a layer that runs alone, or of a nest; at those that are alike once."""

    def __init__(self, question: KeepQuestion, alike: Alike) -> None:
        self.question, self.order, self.alike = question, LayerOrder(question), alike
        self.outputs = sum([is_output << v for v, is_output in enumerate(question.network.is_output)])
        self.known: dict[Hashable, tuple[_Alone, list[int]]] = {}

    def touched(self, group: int) -> int:
        """Return the tensors that these layers read from elsewhere or make for others."""
        reads = makes = 0
        for v in members(group):
            reads |= self.order.reads[v]
            makes |= bool(self.order.readers[v] & ~group) << v
        return reads & ~group | makes

    def at(self, group: int) -> _Alone:
        """Return the floor common to all their steps, and which tensors they can hold meanwhile."""
        question, here = self.question, list(members(self.touched(group)))
        if not question.more_room_pays:
            return self._at(group, bytes_beside(question, self.order, group))
        key = self.alike(tuple(members(group))), tuple([question.whole[u] for u in here])
        if key not in self.known:
            self.known[key] = self._at(group, (0,)), here
        found, there = self.known[key]
        holds = sum([1 << u for u, as_there in zip(here, there) if found.holds >> as_there & 1])
        return found._replace(holds=holds)

    def _at(self, group: int, beside: tuple[int, ...]) -> _Alone:
        question, touched, least, holds = self.question, self.touched(group), math.inf, 0
        base = sum([question.layer_floor[v] for v in members(group)])
        if touched.bit_count() > MOST_INPUTS + 1:  # of a nest
            return _Alone(base, touched)
        for step in self._steps(group, touched, beside or (0,)):
            price = question.price(step)
            if price < math.inf:
                holds |= step.on_chip
                for u in members(step.loaded | step.written & ~self.outputs):  # a model output is part of the floor
                    price -= question.crossing_floor[u]
                least = min(least, price)
        return _Alone(least if beside else base, holds)

    def _steps(self, group: int, touched: int, beside: tuple[int, ...]) -> Iterator[KeptStep]:
        """Yield every step of these layers by themselves; beside: bytes of kept tensors that they do not touch."""
        whole, tensors, layers = self.question.whole, list(members(touched)), tuple(members(group))
        ways = [(0, 1), (1, 0), (1, 1)]  # kept, crosses
        for chosen in product(*[ways[::2] if group & self.outputs & 1 << u else ways for u in tensors]):
            on_chip = crossing = size = 0
            for u, (is_kept, is_moved) in zip(tensors, chosen):
                on_chip |= is_kept << u
                size += whole[u] * is_kept
                crossing |= is_moved << u
            handed = self.question.handed(group, on_chip, on_chip & ~crossing)
            size -= handed
            for more in beside:
                if size + more <= self.question.room:
                    written = crossing & group | self.outputs & group
                    yield KeptStep(layers, on_chip, crossing & ~group, written, size + more, 0, handed)


class _Together:
    """Which layers may be held in one subgraph."""

    def __init__(self, question: KeepQuestion) -> None:
        self.question, self.network = question, question.network
        self.readers, self.cones = sets_of_consumers(self.network), Cones(self.network.producers)
        self.siblings = sets_of_siblings(question)
        self.known: dict[tuple[int, int], bool] = {}

    def between(self, u: int, v: int) -> int:
        """Return the set of a layer, a later one and all layers between."""
        return self.cones.down[u] & self.cones.up[v] | 1 << u | 1 << v

    def may(self, u: int, v: int) -> bool:
        """Return whether a layer and a later one, with all layers between, may be held together."""
        if (u, v) not in self.known:
            self.known[u, v] = (self.question.may_hold or self.question.may_fit)(tuple(members(self.between(u, v))))
        return self.known[u, v]

    def with_any(self, v: int) -> bool:
        """Return whether a layer may share a subgraph with any other."""
        return any(True for _ in self.pairs(v))

    def pairs(self, v: int) -> Iterator[int]:
        """Yield the set of a layer, one that it is joined with and all layers between, for each that may fit so."""
        producers = [p for p in set(self.network.producers[v]) if p < len(self.network.layers)]
        for u, w in [(p, v) for p in producers] + [(v, c) for c in self.network.consumers[v]]:
            if self.may(u, w):
                yield self.between(u, w)
        for w in members(self.siblings[v] & ~(1 << v)):
            if self.may(min(v, w), max(v, w)):
                yield self.between(min(v, w), max(v, w))
