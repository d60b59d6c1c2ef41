"""Partition, order and kept intervals together, proven cheapest: A* over what has run and what stays on chip.

A state is the set of layers that have run, closed under producers, and the tensors that are kept beyond the last step,
each in one of two ways, as in decode.py:

    unwritten   DRAM has no copy, so it stays until its last reader
    written     DRAM has one; it stays until its next reader, and may be dropped there

Every other tensor that has readers left lies in DRAM. A step runs any subgraph that may run, in any order: what is on
chip meanwhile depends on it, so a layer that can only run alone is no longer run at once. Each of its outputs that is
read later is written, kept, or both; each input that it loads and that others still read may stay; of what was kept and
written and is read here, each may be dropped. To drop a tensor later than right after a read would only take room.

The cost is a sum over steps. What is left costs at least the floors of the layers that have not run, and one reading of
each tensor in DRAM that has readers left. States go on in the order of both together, of equals those that have run
more layers, then those found first; so the first state in which all layers have run is the cheapest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import Literal, NamedTuple

from cocco.search.keeping.question import Group, KeepQuestion, KeptStep, sets_of_consumers, sets_of_producers
from cocco.search.keeping.state import START, Trail, bits, members, spans_of
from simulator.partition.intervals import Span

MAX_STATES = 2_000_000  #: our choice: the Transformer takes 1,200,000 at 512 KB, some 600 MB in the compiled engine
MAX_SETS = 1_000_000  #: sets of layers that are looked at; our choice
MAX_STEPS = 100_000_000  #: our choice: 5 to 10 seconds of the compiled engine
LOOK_STEPS = 5  #: steps of a set of layers that is new,
PRICE_STEPS = 45  #: and those of a price (cocco.search.baselines.exact)


class ExactPlan(NamedTuple):
    """A cheapest plan and its cost, or why the search gave up (None and inf)."""

    subgraphs: list[Group] | None  #: in execution order
    spans: tuple[Span, ...]  #: (tensor, first step, last step), ascending
    cost: float
    status: Literal["optimal", "gave_up", "infeasible"]
    states: int
    steps: int  #: what was looked at: (state, subgraph, choice), and LOOK_STEPS and PRICE_STEPS for what is new
    reason: str = ""  #: why it gave up


def no_plan(status: Literal["gave_up", "infeasible"], states: int, steps: int, reason: str = "") -> ExactPlan:
    """Return that there is no plan, or that none was found."""
    return ExactPlan(None, (), math.inf, status, states, steps, reason)


class Place(NamedTuple):
    """A state; sets of layers and of tensors are integers with a bit for each."""

    executed: int
    unwritten: int
    written: int


class _OutOfBudget(Exception):
    """The search has outgrown its bounds; the message says which."""


def plan_of(groups: list[list[int]], kept: list[list[int]], cost: float, states: int, steps: int) -> ExactPlan:
    """Return the plan of these steps, where these tensors are kept beyond each."""
    trail = START.trail
    for tensors in kept:
        trail = Trail(bits(tuple(tensors)), trail)
    return ExactPlan([tuple(group) for group in groups], spans_of(trail), cost, "optimal", states, steps)


def exact_plan(question: KeepQuestion, max_states: int = MAX_STATES, max_steps: int = MAX_STEPS) -> ExactPlan:
    """Return a plan that is proven cheapest, or "gave_up" where one of the budgets is spent.

    Budgets are counts, so the answer is the same on any machine. Of equally cheap plans it is always the same one.
    """
    search = _Search(question, max_states, max_steps)
    try:
        goal = search.run()
    except _OutOfBudget as stop:
        return no_plan("gave_up", len(search.cost), search.steps, str(stop))
    if goal is None:
        return no_plan("infeasible", len(search.cost), search.steps)
    return plan_of(*search.way_to(goal), search.cost[goal], len(search.cost), search.steps)


class _Search:
    """The search and its counters."""

    def __init__(self, question: KeepQuestion, max_states: int, max_steps: int) -> None:
        self.question = question
        self.max_states, self.max_steps, self.steps = max_states, max_steps, 0
        network = question.network
        self.count = len(network.layers)
        self.consumers, self.reads = sets_of_consumers(network), sets_of_producers(network)
        layers = (1 << self.count) - 1
        self.producers = [tensors & layers for tensors in self.reads]
        self.upward = [0] * self.count  # per layer: itself and its ancestors
        for v, producers in enumerate(self.producers):
            self.upward[v] = 1 << v
            for p in members(producers):
                self.upward[v] |= self.upward[p]
        self.cost: dict[Place, float] = {}
        self.came_from: dict[Place, tuple[Place, int]] = {}
        self.queue: list[tuple[float, int, int, Place]] = []
        self.pushed = 0
        self.closed: set[Place] = set()
        self.fits: dict[int, bool | None] = {}  # None: met, not looked at
        self.prices: dict[KeptStep, float] = {}
        self.groups: dict[int, list[int]] = {}
        self.left: dict[int, tuple[float, int]] = {}

    def run(self) -> Place | None:
        """Return the cheapest state in which all layers have run, None if none is reached."""
        self._reach(Place(0, 0, 0), 0.0, None, 0)
        while self.queue:
            place = heappop(self.queue)[3]
            if place in self.closed:
                continue
            if place.executed.bit_count() == self.count:
                return place
            self.closed.add(place)
            cost = self.cost[place]
            for group in self._groups(place.executed):
                for price, there in self._steps(place, group):
                    self._reach(there, cost + price, place, group)
        return None

    def way_to(self, place: Place) -> tuple[list[list[int]], list[list[int]]]:
        """Return the subgraphs of the way to a state, and what is kept beyond each."""
        groups, kept = [], []
        while place in self.came_from:
            kept.append(list(members(place.unwritten | place.written)))
            place, group = self.came_from[place]
            groups.append(list(members(group)))
        return groups[::-1], kept[::-1]

    def _reach(self, place: Place, cost: float, before: Place | None, group: int) -> None:
        """Note a way to a state if it is the cheapest so far."""
        if place in self.cost:
            if cost >= self.cost[place]:
                return
            self.closed.discard(place)  # floats may be off in the last digit
        elif len(self.cost) == self.max_states:
            raise _OutOfBudget(f"more than {self.max_states} states")
        self.cost[place] = cost
        if before is not None:
            self.came_from[place] = before, group
        self.pushed += 1
        heappush(self.queue, (cost + self._floor(place), -place.executed.bit_count(), self.pushed, place))

    def _floor(self, place: Place) -> float:
        """Return what is left at least: floors of layers, and one reading of each tensor in DRAM that is still read."""
        if place.executed not in self.left:
            total = 0.0
            for v in range(self.count):
                if not place.executed >> v & 1:
                    total += self.question.layer_floor[v]
            self.left[place.executed] = total, self._live(place.executed)
        total, live = self.left[place.executed]
        for u in members(live & ~(place.unwritten | place.written)):
            total += self.question.crossing_floor[u]
        return total

    def _live(self, executed: int) -> int:
        """Return the tensors that exist and have readers left."""
        return sum(
            1 << u
            for u, consumers in enumerate(self.consumers)
            if consumers & ~executed and (u >= self.count or executed >> u & 1)
        )

    def _groups(self, executed: int) -> list[int]:
        """Return the sets of layers that can run next and may fit (cocco.search.baselines.exact, _steps)."""
        if executed in self.groups:
            return self.groups[executed]
        found: list[int] = []
        seen: set[int] = set()
        for v in range(self.count):
            if executed >> v & 1 or self.producers[v] & ~executed or 1 << v in seen:
                continue
            stack = [1 << v]
            self._meet(1 << v, seen)
            while stack:
                group = stack.pop()
                self._count_steps(1)
                if not self._may_fit(group):
                    continue
                found.append(group)
                readers = 0
                for u in members(group):
                    readers |= self.consumers[u]
                for w in members(readers & ~group):
                    grown = group | self.upward[w] & ~executed
                    if grown not in seen:
                        self._meet(grown, seen)
                        stack.append(grown)
        self.groups[executed] = found
        return found

    def _meet(self, group: int, seen: set[int]) -> None:
        seen.add(group)
        if group not in self.fits:
            if len(self.fits) == MAX_SETS:
                raise _OutOfBudget(f"more than {MAX_SETS} sets of layers")
            self.fits[group] = None

    def _may_fit(self, group: int) -> bool:
        known = self.fits[group]
        if known is None:
            self._count_steps(LOOK_STEPS)
            known = self.fits[group] = group.bit_count() == 1 or self.question.may_fit(tuple(members(group)))
        return known

    def _steps(self, place: Place, group: int) -> Iterator[tuple[float, Place]]:
        """Yield price and next state of every way to run a subgraph."""
        executed, kept = place.executed | group, place.unwritten | place.written
        inputs = 0
        for v in members(group):
            inputs |= self.reads[v]
        inputs &= ~group
        loaded, stored = inputs & ~kept, 0
        choices = []  # per tensor: (kept unwritten, kept written, written), the first keeps nothing
        for v in members(group):
            later = self.consumers[v] & ~executed
            if not self.consumers[v]:
                stored |= 1 << v
            elif later:
                choices.append(self._made(1 << v, later))
        for u in members(loaded):
            if self.consumers[u] & ~executed and self.question.may_keep:
                choices.append([(0, 0, 0), (0, 1 << u, 0)])
        last = may_drop = 0
        for u in members(inputs & kept):
            if not self.consumers[u] & ~executed:
                last |= 1 << u
            elif place.written >> u & 1:
                may_drop |= 1 << u
        layers, size = tuple(members(group)), sum(self.question.whole[u] for u in members(kept))
        for unwritten, written, stores, kept_bytes in self._choices(choices, stored, size):
            self._count_steps(1)
            on_chip = kept | unwritten | written
            touched = on_chip & (group | inputs)
            elsewhere = (on_chip & ~touched).bit_count()
            price = self._price(KeptStep(layers, touched, loaded, stores, kept_bytes, elsewhere))
            if price < math.inf:
                unwritten, written = (place.unwritten | unwritten) & ~last, (place.written | written) & ~last
                for dropped in _subsets(may_drop):
                    yield price, Place(executed, unwritten, written & ~dropped)

    def _choices(
        self, choices: list[list[tuple[int, int, int]]], stored: int, size: int
    ) -> Iterator[tuple[int, int, int, int]]:
        """Yield what is kept unwritten, kept written, and written, and the bytes kept: all choices with that room."""
        if not choices:
            yield 0, 0, stored, size
            return
        *first, options = choices
        for unwritten, written, stores, kept_bytes in self._choices(first, stored, size):
            for a, b, c in options:
                more = kept_bytes + sum(self.question.whole[u] for u in members(a | b))
                if more <= self.question.room:
                    yield unwritten | a, written | b, stores | c, more

    def _made(self, bit: int, later: int) -> list[tuple[int, int, int]]:
        """Return what may become of an output: written, kept until its last reader, or, with several readers, both."""
        if not self.question.may_keep:
            return [(0, 0, bit)]
        both = [(0, bit, bit)] if later.bit_count() > 1 else []
        return [(0, 0, bit), (bit, 0, 0), *both]

    def _price(self, step: KeptStep) -> float:
        if step not in self.prices:
            self._count_steps(PRICE_STEPS)
            self.prices[step] = self.question.price(step)
        return self.prices[step]

    def _count_steps(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.max_steps:
            raise _OutOfBudget(f"more than {self.max_steps} steps")


def _subsets(bits: int) -> Iterator[int]:
    """Yield every subset of a set, from none to all."""
    subset = 0
    while True:
        yield subset
        if subset == bits:
            return
        subset = (subset - bits) & bits
