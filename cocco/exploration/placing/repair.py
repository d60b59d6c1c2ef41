"""Repair a plan whose bytes fit but which has no addresses: change it, cheapest change first, until it has them.

Our choice: the search prices bytes, and if tensors are kept over several steps a fit by bytes is not enough
(docs/allocation.md says how often). First the steps that lack addresses are solved again in less room, where that costs
no more (slack.py). Then the first few steps are found that lack addresses although all earlier steps have them. Every
plan that differs by one move in these is priced by the simulator; they are tried for addresses up to there, cheapest
first. If none has them, the repair continues from the plan whose lowest packing exceeds the memory least. The repair
runs with and without the start in less room, and the cheaper plan is taken; if it costs more than the plan did, the
repair runs again from the cheapest plan without nests, which may cost as little. If no plan with addresses is found,
the plan stays as it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from cocco.allocation.address_map import AddressMap, map_of
from cocco.allocation.windows import Windows, clip
from cocco.bounds.cheapest import cheapest_plans, step_totals
from cocco.candidates.rounding import SAME
from cocco.effort.budgets import MOVE_LOOKS, SLACK_STEPS, TRY_NODES
from cocco.exploration.answers.lacking import Moved
from cocco.exploration.placing.changes import Change, changes, replanned
from cocco.exploration.placing.slack import ROOM_SHARES, Slack
from cocco.problem.problem import Problem, in_memory, part_of
from cocco.search.exact.question import KeptStep
from simulator.accelerator import Accelerator
from simulator.model.buffer_plan import BufferPlan, Memory, make_plan
from simulator.model.cost import Totals
from simulator.model.kept import NOTHING, Kept, Reserved, kept_of
from simulator.model.priced import PricedPartition, reserved_in
from simulator.model.pricing import Price, Shortage, SubgraphModel
from simulator.partition.intervals import KeptInterval
from simulator.partition.partition import Partition
from simulator.partition.steps import Step, steps_of

MOST_CHANGES = 256  #: our choice: of one plan; each takes bytes out of the steps that lack addresses
SLACK_ROUNDS = 4  #: in which a plan is solved again in the same less room; our choice
TRIES = 64  #: plans that are asked for addresses before the next move; our choice

Key = tuple[tuple[tuple[int, ...], ...], tuple[KeptInterval, ...]]  #: what tells plans apart
Repaired = tuple[Partition, tuple[Moved, ...], AddressMap | None]  #: a plan, the moves to it, its map


class Repair:
    """One network on given hardware, and what is known about its steps and their addresses.

    needs_pairs: whether a subgraph must need no more (start, end) pairs than the region manager has.
    """

    def __init__(self, problem: Problem, needs_pairs: bool) -> None:
        self.problem, self.needs_pairs = problem, needs_pairs
        (self.network,), self.accelerator, (self.rules,) = problem.networks, problem.accelerator, problem.rules
        self.totals = lru_cache(None)(step_totals(problem))
        self.prices: dict[tuple[tuple[int, ...], Kept | None, Reserved], tuple[SubgraphModel, Price | Shortage]] = {}
        self.windows: dict[Memory, Windows] = {}
        self.looks, self.most = 0, math.inf  # what a plan may cost

    def repaired(self, plan: Partition) -> Repaired:
        """Return a plan with addresses, the moves to it, and its map; if none was found, the map does not fit."""
        found = self._map(plan)
        if found is None or self.is_placed(found):
            return plan, (), found
        answer: Repaired = plan, (), found
        least, most = math.inf, self.cost(plan)
        for start, before in self._starts(plan):
            each = self._changed(start, before)
            cost = math.inf if each is None else self.cost(each[0])
            if each is not None and cost < least:
                answer, least = each, cost
                self.most = min(self.most, least)  # a change seldom makes a plan cheaper
            if least <= most:
                break
        return answer

    def _starts(self, plan: Partition) -> Iterator[tuple[Partition, list[Moved]]]:
        """Yield the plans to change, and the moves to them, as long as they are asked for."""
        tight, moves = self._tightened(plan)
        if moves:
            yield tight, moves
        yield plan, []
        other = self._without_nests()
        if other is not None and _key(other) != _key(plan):
            yield other, [replanned(self.network, plan, other, "without nests")]

    def _without_nests(self) -> Partition | None:
        """Return the cheapest plan of held subgraphs and single layers; None if it costs more than what is known."""
        if self.accelerator.plans == "paper":
            return None
        objective = replace(self.problem.objective, weights=(1.0,))  # as `cost` has it
        paper = replace(self.problem, accelerator=replace(self.accelerator, plans="paper"), objective=objective)
        found = cheapest_plans(paper, max_steps=SLACK_STEPS, below=self.most)
        return None if found.partitions is None else found.partitions[0]

    def _changed(self, plan: Partition, before: list[Moved]) -> Repaired | None:
        """Return a plan with addresses, reached by the cheapest changes one after another; None if none was found."""
        moves, seen, done = list(before), {_key(plan)}, dict[Memory, int]()
        self.looks = 0
        while len(moves) < MOST_CHANGES and self.looks < MOVE_LOOKS:
            self.looks += len(plan)
            open_ = self._first_open(make_plan(self.priced(plan)), done)
            if open_ is None:
                break
            memory, where = open_
            chosen = self._next(plan, memory, where, seen)
            if chosen is None:
                break
            change, end = chosen
            done = done | {memory: end} if end else {}
            moves.append(change.moved)
            plan = change.plan
            seen.add(_key(plan))
        found = self._map(plan) if moves else None
        return (plan, tuple(moves), found) if found is not None and self.is_placed(found) else None

    def _tightened(self, plan: Partition) -> tuple[Partition, list[Moved]]:
        """Return a plan that costs no more and takes less room where it lacked addresses, if found, and the moves."""
        slack, moves, most = Slack(self.problem), list[Moved](), self.cost(plan)
        for share in ROOM_SHARES:
            for _ in range(SLACK_ROUNDS):
                open_ = self._first_open(make_plan(self.priced(plan)), {})
                if open_ is None:
                    return plan, moves
                found = slack.tightened(plan, open_[1], share)
                if found is None or self.cost(found) > most:
                    break
                moves.append(replanned(self.network, plan, found, "in less room, at no more cost"))
                plan = found
        return plan, moves

    def _map(self, plan: Partition) -> AddressMap | None:
        priced = self.priced(plan)
        return map_of(make_plan(priced)) if priced.fits else None

    def is_placed(self, found: AddressMap) -> bool:
        """Return whether all regions have addresses, and (start, end) pairs if needed."""
        return found.fits and not (self.needs_pairs and found.crowded)

    def _first_open(self, held: BufferPlan, done: dict[Memory, int]) -> tuple[Memory, range] | None:
        """Return the first steps that lack addresses or pairs; done: how many first steps of each memory have them."""
        for memory, buffers in held.buffers.items():
            found = self._windows(held, memory).first_open(buffers, done.get(memory, 0))
            if found is not None:
                return memory, found
            for i in range(len(held.holdings)):
                if self._pairs_missing(held, memory, range(i, i + 1)):
                    return memory, range(i, i + 1)
        return None

    def _next(self, plan: Partition, memory: Memory, where: range, seen: set[Key]) -> tuple[Change, int] | None:
        """Return the cheapest change after which all steps up to some step have addresses, and that step.

        If there is none, the change that comes nearest, and 0. None if no change fits by its bytes, or all were seen.
        """
        fitting: list[tuple[float, int, Change]] = []
        for change in changes(self.network, plan, where, self.accelerator.connection):
            if _key(change.plan) in seen:
                continue
            self.looks += len(change.plan)
            cost = self.cost(change.plan)
            if cost < math.inf and cost <= self.most:
                fitting.append((cost, len(fitting), change))
        fitting.sort(key=lambda each: each[:2])
        nearest: list[tuple[int, int, Change]] = []
        for rank, (_, _, change) in enumerate(fitting):
            if rank >= TRIES and nearest:
                break
            held, end = make_plan(self.priced(change.plan)), where.stop + len(change.plan) - len(plan)
            missing = self._missing(held, memory, range(where.start, end)) or self._missing(held, memory, range(end))
            if not missing:
                return change, end
            if change.moved.what != "reordered":  # every other change takes something out, so this ends
                nearest.append((missing, rank, change))
        return (min(nearest, key=lambda each: each[:2])[2], 0) if nearest else None

    def cost(self, plan: Partition) -> float:
        """Return the cost of a plan, inf if its bytes do not fit; by the compiled engine where it can price it."""
        rows = []
        for layers, step in zip(plan.subgraphs, steps_of(self.network, plan)):
            row = self.totals(_step(layers, step, reserved_in(self.rules, step)))
            if row is None:
                return math.inf
            rows.append(row)
        return self.problem.objective.of(Totals(*map(sum, zip(*rows))), self.accelerator)

    def priced(self, plan: Partition) -> PricedPartition:
        """Return a plan priced as by `price_partition`; a step seen before is not priced again."""
        steps, machine = steps_of(self.network, plan) if plan.keep else (), self.accelerator
        models, prices = [], []
        for i, layers in enumerate(plan.subgraphs):
            kept, reserved = (kept_of(steps[i]), reserved_in(self.rules, steps[i])) if steps else (None, NOTHING)
            key = layers, kept, reserved
            if key not in self.prices:
                model = SubgraphModel(self.rules, layers, kept)
                self.prices[key] = model, model.price(machine.activation_capacity, machine.weight_capacity, reserved)
            models.append(self.prices[key][0])
            prices.append(self.prices[key][1])
        return PricedPartition(self.network, plan, machine, self.rules, tuple(models), tuple(prices), steps)

    def _missing(self, held: BufferPlan, memory: Memory, steps: range) -> int:
        """Return 0 if all in these steps have addresses, and pairs if needed, else a measure of what is missing."""
        missing = self._windows(held, memory).missing(clip(held.buffers[memory], steps))
        return missing + self._pairs_missing(held, memory, steps)

    def _pairs_missing(self, held: BufferPlan, memory: Memory, steps: range) -> int:
        most = self.accelerator.max_regions
        if not (self.needs_pairs and most):
            return 0
        several = (i for i in steps if len(held.holdings[i].names) > 1)
        return sum(max(0, len(held.live(memory, i)) - most) for i in several)

    def _windows(self, held: BufferPlan, memory: Memory) -> Windows:
        if memory not in self.windows:
            self.windows[memory] = Windows(held.capacity(memory), TRY_NODES)
        return self.windows[memory]


def repaired_plans(
    problem: Problem, accelerator: Accelerator, plans: Sequence[Partition], needs_pairs: bool,
    known: Partition | None = None,
) -> tuple[list[Partition], tuple[Moved, ...], bool]:  # fmt: skip
    """Return the repaired plan of each network, what was changed, and whether all of them have addresses.

    known: a plan of the only network, on the same hardware; no change may make a plan cost more than it does.
    """
    found, moved, placed = [], list[Moved](), True
    given = in_memory(problem, problem.memory_of(accelerator))
    for i, plan in enumerate(plans):
        repair = Repair(part_of(given, i), needs_pairs)
        if known is not None:
            repair.most = repair.cost(known) * (1 + SAME)
        changed, moves, map_ = repair.repaired(plan)
        placed &= map_ is not None and repair.is_placed(map_)
        found.append(changed)
        moved += moves
    return found, tuple(moved), placed


def _step(layers: tuple[int, ...], step: Step, reserved: Reserved) -> KeptStep:
    """Return a step in the form that the exact search prices: sets of tensors as integers."""
    on_chip, loaded, written = (sum(1 << u for u in each) for each in (step.touched, step.loaded, step.written))
    return KeptStep(layers, on_chip, loaded, written, *reserved[:3])


def _key(plan: Partition) -> Key:
    return plan.subgraphs, plan.keep
