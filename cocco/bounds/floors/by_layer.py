"""Lower bounds for plans with kept tensors, split by layer and by tensor.

The floors split by layer what `least.least_totals` bounds for all layers together: weights read once, results written
once and what windows meet read once on chip, model outputs written to DRAM. In addition, each tensor in DRAM that has
readers left costs one load.

Some layers always run alone: together with any layer that is joined with them (by an edge, or as a sibling) and all
layers between they do not fit, and every subgraph with more layers has such a pair. Then all their steps can be looked
at: each input comes from DRAM, or is kept, or both, and likewise the output, with all the room that is left. The cost
of their cheapest step without its own crossings is their floor. A tensor crosses DRAM both ways in every plan

    if it is larger than the buffer, or its maker always runs alone and cannot hold it: then it is written; and a reader
    that cannot run with the maker reads it there at least once
    if a reader always runs alone and cannot hold it: then that one reads it from DRAM, so it is written before

so its maker's floor counts both until it has run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from cocco.bounds.floors.buffers import met_bytes
from cocco.bounds.floors.elsewhere import bytes_beside
from cocco.bounds.floors.layer_order import LayerOrder
from cocco.candidates.rounding import SUMMED
from cocco.problem.floor import floor_of
from cocco.problem.problem import Problem
from cocco.search.exact.question import KeepQuestion, KeptStep, sets_of_producers, sets_of_siblings
from cocco.search.exact.state import members
from simulator.model.cost import METRICS, Totals
from simulator.model.pricing import PricingRules

MOST_INPUTS = 4  #: of a layer whose steps are all looked at; our choice: 3^5 prices


def floors(problem: Problem) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the floors of layers and of crossings; for latency only cycles or only crossings, whichever is more."""
    (rules,), machine = problem.rules, floor_of(problem.accelerator)
    metric, (weight,) = METRICS[problem.objective.metric], problem.objective.weights
    rows = least_of_layers(rules)
    sizes = [rules.batch * size for size in rules.geometry.size_bytes]
    crossings = [Totals(size, size, 0, 0, 0, size) for size in sizes]
    if problem.objective.metric == "latency":
        computing = [cycles * machine.dram_bytes_per_cycle for cycles in rules.cycles]
        if sum(computing) >= sum(row.ema_bytes for row in rows) + sum(sizes[len(rows) :]):
            rows = [row._replace(slots=each) for row, each in zip(rows, computing)]
            crossings = [row._replace(slots=0) for row in crossings]
    return (
        tuple(weight * metric(row, machine) for row in rows),
        tuple(weight * metric(row, machine) for row in crossings),
    )


def least_of_layers(rules: PricingRules) -> list[Totals]:
    """Return the least that each layer adds to the totals in any step."""
    return [_least_of_layer(rules, v) for v in range(len(rules.geometry.network.layers))]


def _least_of_layer(rules: PricingRules, v: int) -> Totals:
    """Return the least that a layer adds to the totals in any step; slots are those of what crosses."""
    geometry, batch = rules.geometry, rules.batch
    weights, result = geometry.network.layers[v].weight_bytes, geometry.size_bytes[v]
    output = batch * result if geometry.network.is_output[v] else 0
    ema = weights + output
    return Totals(
        ema_bytes=ema,
        global_buffer_bytes=output + batch * (result + met_bytes(rules, v)),
        weight_buffer_bytes=2 * weights,
        crossbar_bytes=0,
        operations=batch * geometry.operations[v],
        operation_extra=batch * geometry.operation_extra[v],
        slots=ema,
    )


class _Alone(NamedTuple):
    """A layer that always runs alone."""

    floor: float  #: the least that its step costs without its own crossings
    holds: int  #: tensors that may be kept while it runs


def with_forced(question: KeepQuestion, is_whole: bool) -> KeepQuestion:
    """Return the question with floors raised by layers that always run alone; is_whole: costs are whole numbers."""
    network, count = question.network, len(question.network.layers)
    if not question.may_keep:
        return question
    fuses, alone = _Together(question), {}
    for v in range(count):
        if len(set(network.producers[v])) <= MOST_INPUTS and not fuses.with_any(v):
            alone[v] = _looked_at(question, v)
    layers, crosses = list(question.layer_floor), 0
    for v in range(count):
        least = alone[v].floor if v in alone else _least_anywhere(question, fuses, v)
        if least < math.inf:
            layers[v] = max(layers[v], least - (0.0 if is_whole else SUMMED * abs(least)))
    for u in range(count):
        readers = network.consumers[u]
        is_written = question.whole[u] > question.room or (u in alone and not alone[u].holds >> u & 1)
        is_apart = u in alone or any(not fuses.may(u, r) for r in readers)
        if readers and is_written and is_apart or any(r in alone and not alone[r].holds >> u & 1 for r in readers):
            crosses |= 1 << u
    return question._replace(layer_floor=tuple(layers), crosses=crosses)


def _least_anywhere(question: KeepQuestion, fuses: _Together, v: int) -> float:
    """Return the least cost of a layer that may run alone or with others: the lower of the two cases.

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
    return min(least, _looked_at(question, v).floor)


def _looked_at(question: KeepQuestion, v: int) -> _Alone:
    """Return the floor common to all steps of a layer that always runs alone, and which tensors it can hold."""
    least, holds = math.inf, 0
    beside = bytes_beside(question, LayerOrder(question), 1 << v)
    for step in _steps_of(question, v, beside or (0,)):
        price = question.price(step)
        if price < math.inf:
            holds |= step.on_chip
            for u in members(step.loaded | step.written):
                price -= question.crossing_floor[u]
            if question.network.is_output[v]:
                price += question.crossing_floor[v]  # a model output: its writing is part of the floor
            least = min(least, price)
    return _Alone(least if beside else 0.0, holds)


def _steps_of(question: KeepQuestion, v: int, beside: tuple[int, ...]) -> Iterator[KeptStep]:
    """Yield every step of a layer alone; beside: bytes of kept tensors that it does not touch."""
    inputs = sorted(set(question.network.producers[v]))
    ways = [(0, 1), (1, 0), (1, 1)]  # kept, crosses
    of_output = [ways] * bool(question.network.consumers[v])
    if of_output and question.network.is_output[v]:
        of_output = [[(0, 1), (1, 1)]]
    for chosen in product(*[ways] * len(inputs), *of_output):
        on_chip = loaded = written = size = 0
        for u, (is_kept, is_moved) in zip([*inputs, v], chosen):
            on_chip |= is_kept << u
            size += question.whole[u] * is_kept
            if u == v:
                written |= is_moved << u
            else:
                loaded |= is_moved << u
        if not question.network.consumers[v]:
            written = 1 << v
        for more in beside:
            if size + more <= question.room:
                yield KeptStep((v,), on_chip, loaded, written, size + more, 0)


class _Together:
    """Which layers may share a subgraph."""

    def __init__(self, question: KeepQuestion) -> None:
        self.question, self.network = question, question.network
        count = len(self.network.layers)
        layers = (1 << count) - 1
        self.upward, self.downward = [0] * count, [0] * count  # itself and its ancestors; and its descendants
        for v, producers in enumerate(sets_of_producers(self.network)):
            self.upward[v] = 1 << v
            for p in members(producers & layers):
                self.upward[v] |= self.upward[p]
        for v in reversed(range(count)):
            self.downward[v] = 1 << v
            for c in self.network.consumers[v]:
                self.downward[v] |= self.downward[c]
        self.siblings = sets_of_siblings(question)
        self.known: dict[tuple[int, int], bool] = {}

    def between(self, u: int, v: int) -> int:
        """Return the set of a layer, a later one and all layers between."""
        return self.downward[u] & self.upward[v] | 1 << u | 1 << v

    def may(self, u: int, v: int) -> bool:
        """Return whether a layer and a later one, with all layers between, may fit together."""
        if (u, v) not in self.known:
            self.known[u, v] = self.question.may_fit(tuple(members(self.between(u, v))))
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
