"""The cheapest plan that has addresses, of one network on given hardware: proved, not repaired.

The exact search finds the least cost by bytes. If its plan has no addresses, all plans below a cost are turned into a
graph (cocco.search.exact.plans_below), whose cheapest ways are tried for addresses one after another. Buffers
proved to have none are forbidden wherever they appear (bans.py), so each try excludes many plans. A step that a ban
matches is there again with bytes left free, in which it runs with other tiles, at their cost. The first way with
addresses is the cheapest plan that has any. If a budget ends before it is known whether a plan has addresses, or what a
step holds in less room, the plan's cost is a lower bound. Budgets are counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

from cocco.allocation.address_map import map_of
from cocco.allocation.conflict import Packing
from cocco.allocation.windows import clip
from cocco.bounds.cheapest import keep_question, near_graph
from cocco.candidates.sets import members
from cocco.effort.budgets import GRAPH_STEPS, NEXT_LOOKS, PACKING
from cocco.exploration.placing.bans import Column, Ways, holds
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.exact.plans_below import Near, NearStep
from cocco.search.exact.question import KeptStep, sets_of_consumers, sets_of_producers
from cocco.search.exact.route import spans_beyond
from simulator.allocation.judge import Buffer
from simulator.model.buffer_plan import plan_buffers, round_up
from simulator.model.cost import total
from simulator.model.kept import Kept, Reserved
from simulator.model.pricing import Price, SubgraphModel
from simulator.partition.partition import Partition

PLANS_TRIED = 64  #: plans that are asked for addresses; our choice
LIGHTER = 20_000  #: prices of steps with bytes left free; our choice
REST = -1  #: bytes that a step leaves free which stands for all that are not known: it costs and holds the least


class PlacedPlan(NamedTuple):
    """A plan with addresses (None: none found below the limit), and a cost that no such plan undercuts."""

    plan: Partition | None
    bound: float  #: Formula 1
    is_cheapest: bool  #: whether the plan costs the bound
    steps: int  #: of the exact search


class _Held(NamedTuple):
    """A step as it runs with some bytes left free."""

    sizes: tuple[int, ...]  #: of each buffer that only this step has, descending
    price: float
    next_spare: int  #: the least bytes to leave free in which it cannot run so


def placed_plan(problem: Problem, below: float, steps: int, engine: EngineName, needs_pairs: bool) -> PlacedPlan | None:
    """Return a plan with addresses that costs less than `below`, the cheapest known; None if its graph is too large.

    problem: one network on given hardware, one core. steps: of the exact search. needs_pairs: whether a plan must also
    need no more (start, end) pairs than the region manager has.
    """
    near, taken = near_graph(problem, below, steps, GRAPH_STEPS, engine)
    if near is None:
        return None
    search = _Search(problem, near, needs_pairs)
    plan, cost = search.cheapest(below)
    return PlacedPlan(plan, min(cost, search.open), plan is not None and cost <= search.open, taken)


class _Search:
    """The plans of a graph, and the buffers that they hold."""

    def __init__(self, problem: Problem, near: Near, needs_pairs: bool) -> None:
        self.problem, self.near, self.needs_pairs = problem, near, needs_pairs
        self.question = keep_question(problem)
        self.machine, self.rules = problem.accelerator, problem.rules[0]
        self.room = self.machine.activation_capacity if self.machine.is_shared else self.machine.weight_capacity
        self.word = self.machine.technology.buffer_word_bytes
        network = self.question.network
        self.readers, self.reads = sets_of_consumers(network), sets_of_producers(network)
        self.outputs = sum(1 << v for v in range(len(network.layers)) if network.is_output[v])
        self.held: dict[tuple[KeptStep, int], _Held | None] = {}
        self.known: dict[int, tuple[int, ...]] = {}
        self.after: dict[int, NearStep | None] = {}
        self.numbers = count(-1, -1)  # of steps with bytes left free
        self.open = math.inf  # the cost of the cheapest way through a step of which not all is known
        self.ways = Ways(near, self.sizes, self.during, self.lighter)
        self.packing = Packing(self.machine.activation_capacity // self.word * self.word, PACKING)

    def cheapest(self, below: float) -> tuple[Partition | None, float]:
        """Return the cheapest plan with addresses below a cost, and a cost that none undercuts, `open` aside."""
        looks, least = NEXT_LOOKS, 0.0
        for _ in range(PLANS_TRIED):
            way, least, looked = self.ways.cheapest(below, looks)
            looks -= looked
            if way is None:
                break
            if any(step.spare == REST for step in way):
                self.open = least
                continue
            buffers = self.buffers(way)
            windows = self.packing.open_windows(buffers, len(way))
            if not windows:
                plan = self.plan(way)
                return (plan, least) if self._is_placed(plan) else (None, least)
            if any(status != "infeasible" for _, status in windows):
                break
            for steps, _ in windows:
                self.ways.forbid(_columns(self.packing.reduced(clip(buffers, steps))))
        return None, least

    def plan(self, way: Sequence[NearStep]) -> Partition:
        """Return a way as a plan."""
        groups = [tuple(members(step.group)) for step in way]
        spans = spans_beyond(self.ways.kept(step.after) for step in way)
        spare = [step.spare for step in way]
        return Partition.from_ids(self.question.network, groups, self.problem.metric, spans, (), spare)

    def _is_placed(self, plan: Partition) -> bool:
        held = plan_buffers(self.question.network, plan, self.machine, self.problem.tile_rule)
        found = None if held is None else map_of(held)
        return found is not None and found.fits and not (self.needs_pairs and found.crowded)

    def buffers(self, way: Sequence[NearStep]) -> list[Buffer]:
        """Return the buffers of a way, as simulator.model.buffer_plan; a kept tensor is named by number and step.

        One whose place a result takes ends before that step, and the result may lie anywhere: that asks no more.
        """
        found, since = list[Buffer](), dict[int, int]()
        for i, step in enumerate(way):
            before, after = self.ways.kept(step.before), self.ways.kept(step.after)
            sizes = enumerate(self.sizes(step))
            found += [Buffer(f"{i}/{k}", i, i + 1, size, self.word) for k, size in sizes]
            for u in members(before | after):
                if not before >> u & 1:
                    since[u] = i
                if not after >> u & 1:
                    size, end = round_up(self.question.whole[u], self.word), i + (self.during(step) >> u & 1)
                    found.append(Buffer(f"kept/{u}/{since[u]}", since.pop(u), end, size, self.word))
        return found

    def during(self, step: NearStep) -> int:
        """Return the tensors that are kept during a step, without an operand whose place a result takes."""
        before, after = self.ways.kept(step.before), self.ways.kept(step.after)
        pair = self.question.pair(step.group, after, self._last(step))
        return (before | after) & ~(0 if pair is None else 1 << pair[0])

    def _last(self, step: NearStep) -> int:
        """Return what a step reads on chip and no later one reads."""
        executed, reads = self.near.places[step.after].executed, 0
        for v in members(step.group):
            reads |= self.reads[v]
        ended = self.ways.kept(step.before) & reads & ~step.group
        return sum([1 << u for u in members(ended) if not self.readers[u] & ~executed])

    def sizes(self, step: NearStep) -> tuple[int, ...]:
        """Return the bytes of each buffer that only this step has, descending."""
        if step.number not in self.known:
            held = self._held(self._kept_step(step), 0)
            assert held is not None, "the exact search found that this step fits"
            self.known[step.number] = held.sizes
        return self.known[step.number]

    def lighter(self, step: NearStep) -> NearStep | None:
        """Return the same step with more bytes left free, where it then holds other buffers; None if it cannot run."""
        if step.number not in self.after:
            self.after[step.number] = self._lighter(step)
        found = self.after[step.number]
        return None if found is not None and found.spare == REST and self.open < math.inf else found

    def _lighter(self, step: NearStep) -> NearStep | None:
        if step.spare == REST:
            return None
        kept_step, sizes, spare = self._kept_step(step), self.sizes(step), step.spare
        price, found = step.price, self._held(kept_step, spare)
        while self.question.more_room_pays and len(self.held) < LIGHTER and found is not None:
            spare = found.next_spare
            found = self._held(kept_step, spare)
            if found is not None and (found.price < price or not holds(found.sizes, sizes)):
                sizes, price = found.sizes, found.price
                break
        else:
            if found is None:
                return None
            plain = self._held(kept_step, 0)
            sizes, spare, price = (), REST, price if plain is None else min(price, plain.price)
        number = next(self.numbers)
        self.known[number] = sizes
        return step._replace(number=number, price=price, spare=spare)

    def _kept_step(self, step: NearStep) -> KeptStep:
        """Return a step as the exact search prices it."""
        before, after = self.ways.kept(step.before), self.ways.kept(step.after)
        place, layers, reads = self.near.places[step.after], tuple(members(step.group)), 0
        for v in layers:
            reads |= self.reads[v]
        written = step.group & self.outputs
        for v in layers:
            if self.readers[v] & ~place.executed and not place.unwritten >> v & 1:
                written |= 1 << v
        here, loaded = before | after, reads & ~step.group & ~before
        on_chip = here & (step.group | reads)
        handed = self.question.handed(step.group, after, self._last(step))
        size = sum(self.question.whole[u] for u in members(here)) - handed
        return KeptStep(layers, on_chip, loaded, written, size, (here & ~on_chip).bit_count(), handed)

    def _held(self, step: KeptStep, spare: int) -> _Held | None:
        """Return how a step runs with bytes left free; None if it cannot."""
        if (step, spare) not in self.held:
            self.held[step, spare] = self._priced(step, spare) if spare <= self.room else None
        return self.held[step, spare]

    def _priced(self, step: KeptStep, spare: int) -> _Held | None:
        sets = (frozenset(members(each)) for each in (step.on_chip, step.loaded, step.written))
        model = SubgraphModel(self.rules, step.layers, Kept(*sets) if step.on_chip else None)
        machine, reserved = self.machine, Reserved(*step[4:], spare)
        price = model.price(machine.activation_capacity, machine.weight_capacity, reserved)
        if not isinstance(price, Price):
            return None
        sizes = [each.main_bytes + each.side_bytes for each in model.residency(price).regions.values()]
        sizes += [price.weight_bytes] if machine.is_shared else []
        taken = price.weight_bytes
        if machine.is_shared:
            taken += price.kept_bytes + price.activation_bytes
        objective = self.problem.objective
        cost = objective.weights[0] * objective.of(total([price], machine), machine)
        rounded = tuple(sorted((round_up(size, self.word) for size in sizes if size), reverse=True))
        return _Held(rounded, cost, max(spare, self.room - taken) + 1)


def _columns(buffers: Sequence[Buffer]) -> list[Column]:
    """Return buffers as the columns of a ban: one for each step from the first on."""
    first, last = min(each.lower for each in buffers), max(each.upper for each in buffers)
    columns = []
    for step in range(first, last):
        kept = still = 0
        sizes = []
        for each in buffers:
            if each.lower <= step < each.upper:
                kind, name, *_ = each.id.split("/")
                if kind != "kept":
                    sizes.append(each.size)
                    continue
                kept |= 1 << int(name)
                still |= 1 << int(name) if each.lower < step else 0
        columns.append(Column(kept, still, tuple(sorted(sizes, reverse=True))))
    return columns
