"""The cheapest plan that has addresses, of one network on given hardware: proved, not repaired.

The exact search finds the least cost by bytes. If its plan has no addresses, all plans below a cost are turned into a
graph (cocco.search.exact.plans_below), whose cheapest ways are tried for addresses one after another. Buffers
proved to have none are forbidden wherever they appear (forbidden.py), so each try excludes many plans. The first way
with addresses is the cheapest plan that has any. If a budget ends before it is known whether a plan has addresses, the
plan's cost is a lower bound. Budgets are counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocco.allocation.address_map import map_of
from cocco.allocation.conflict import Packing
from cocco.allocation.windows import clip
from cocco.bounds.cheapest import keep_question, near_graph
from cocco.candidates.sets import members
from cocco.effort.budgets import GRAPH_STEPS, NEXT_LOOKS, PACKING
from cocco.exploration.placing.bans import Column, Ways
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.exact.plans_below import Near, NearStep
from cocco.search.exact.question import KeptStep, sets_of_consumers, sets_of_producers
from cocco.search.exact.route import spans_beyond
from simulator.allocation.judge import Buffer
from simulator.model.buffer_plan import plan_buffers, round_up
from simulator.model.kept import Kept, Reserved
from simulator.model.pricing import Price, SubgraphModel
from simulator.partition.partition import Partition

PLANS_TRIED = 64  #: plans that are asked for addresses; our choice


class PlacedPlan(NamedTuple):
    """The cheapest plan with addresses (None: none found below the limit), and a cost that no such plan undercuts."""

    plan: Partition | None
    bound: float  #: Formula 1; that of the plan, if there is one
    steps: int  #: of the exact search


def placed_plan(problem: Problem, below: float, steps: int, engine: EngineName, needs_pairs: bool) -> PlacedPlan | None:
    """Return the cheapest plan with addresses that costs less than `below`; None if its graph exceeds the budgets.

    problem: one network on given hardware, one core. steps: of the exact search. needs_pairs: whether a plan must also
    need no more (start, end) pairs than the region manager has.
    """
    near, taken = near_graph(problem, below, steps, GRAPH_STEPS, engine)
    if near is None:
        return None
    search = _Search(problem, near, needs_pairs)
    plan, bound = search.cheapest(below)
    return PlacedPlan(plan, bound, taken)


class _Search:
    """The plans of a graph, and the buffers that they hold."""

    def __init__(self, problem: Problem, near: Near, needs_pairs: bool) -> None:
        self.problem, self.near, self.needs_pairs = problem, near, needs_pairs
        self.question = keep_question(problem)
        self.machine, self.rules = problem.accelerator, problem.rules[0]
        self.word = self.machine.technology.buffer_word_bytes
        network = self.question.network
        self.readers, self.reads = sets_of_consumers(network), sets_of_producers(network)
        self.outputs = sum(1 << v for v in range(len(network.layers)) if network.is_output[v])
        self.sizes_of: dict[KeptStep, tuple[int, ...]] = {}
        self.known: dict[int, tuple[int, ...]] = {}
        self.ways = Ways(near, self.sizes, self.during)
        self.packing = Packing(self.machine.activation_capacity // self.word * self.word, PACKING)

    def cheapest(self, below: float) -> tuple[Partition | None, float]:
        """Return the cheapest plan with addresses below a cost, and a cost that no other such plan undercuts."""
        looks, least = NEXT_LOOKS, 0.0
        for _ in range(PLANS_TRIED):
            way, least, looked = self.ways.cheapest(below, looks)
            looks -= looked
            if way is None:
                break
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
        return Partition.from_ids(self.question.network, groups, self.problem.metric, spans)

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
            kept_step = self._kept_step(step)
            if kept_step not in self.sizes_of:
                self.sizes_of[kept_step] = self._sizes(kept_step)
            self.known[step.number] = self.sizes_of[kept_step]
        return self.known[step.number]

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

    def _sizes(self, step: KeptStep) -> tuple[int, ...]:
        sets = (frozenset(members(each)) for each in (step.on_chip, step.loaded, step.written))
        model = SubgraphModel(self.rules, step.layers, Kept(*sets) if step.on_chip else None)
        machine, reserved = self.machine, Reserved(*step[4:])
        price = model.price(machine.activation_capacity, machine.weight_capacity, reserved)
        assert isinstance(price, Price), "the exact search found that this step fits"
        sizes = [each.main_bytes + each.side_bytes for each in model.residency(price).regions.values()]
        sizes += [price.weight_bytes] if machine.is_shared else []
        return tuple(sorted((round_up(size, self.word) for size in sizes if size), reverse=True))


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
