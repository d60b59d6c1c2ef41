"""Partition, order and kept intervals together, proven cheapest: A* over what has run and what stays on chip.

A state is the set of layers that have run, closed under producers, and the tensors that are kept beyond the last step,
each in one of two ways:

    unwritten   DRAM has no copy, so it stays until its last reader
    written     DRAM has one; it stays until its next reader, and may be dropped there

Every other tensor that has readers left lies in DRAM. A step runs any subgraph that may run, in any order. The order
decides what is on chip meanwhile. Each output that is read later is written, kept, or both. Each input that is loaded
and that others still read may stay. Each tensor that was kept and written and is read here may be dropped. Dropping a
tensor later than right after a read would only take room.

Where nothing may be kept (Cocco, Sec. 4.2.1), a state is the set of layers that have run: the rest of a plan depends on
nothing else of the past (state compression, Jangda et al.). A step then runs a subgraph in one way only, and a layer
that can only run alone runs at once.

The cost is a sum over steps. The rest of a plan costs at least the floors of the layers that have not run, and one load
of each tensor in DRAM that has readers left. States are expanded in the order of cost plus this bound; of equal ones
those that have run more layers come first, then those found first. So the first state in which all layers have run is
the cheapest. States for which the sum reaches `below` are not expanded: if there are no others, no plan costs less.
Where nothing may be kept, equal ones come in the order of their subgraphs, then of their layers. So of equally cheap
plans the answer has the fewest subgraphs, then the largest ones last, then it is the first found.

If much fits, a state has thousands of steps, most of them useless: a tensor that might stay is written. So steps that
clearly exceed the bound of their state wait, and the state is expanded again when it is their turn (partial expansion:
Yoshizumi, Miura and Ishida, AAAI 2000; Felner et al., AAAI 2012), each time with more of them.

A window of a plan (cocco.search.exact.window) is searched in the same way: only its layers run, only their reads
count, and tensors that its last state must keep are never given up for good.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush
from typing import Literal, NamedTuple

from cocco.candidates.sets import bits, members
from cocco.effort.budgets import MAX_SETS
from cocco.search.exact.moves import Ceiling, Memo, Moves, OutOfBudgetError
from cocco.search.exact.question import Group
from cocco.search.exact.route import spans_beyond
from cocco.search.exact.window import (
    FOUND,
    GROWTH,
    MANY_SETS,
    MANY_STATES,
    MANY_STEPS,
    NO_WAY,
    NONE_BELOW,
    ROUNDS,
    SLACK,
    Limits,
    Place,
    Way,
    Window,
    all_of,
)
from simulator.partition.intervals import Span

Status = Literal["optimal", "gave_up", "infeasible", "none_below"]
Rank = tuple[int, int]  #: subgraphs of a way, layers that had run before the last of them


class ExactPlan(NamedTuple):
    """A cheapest plan and its cost, or why there is none (None and inf)."""

    subgraphs: list[Group] | None  #: in execution order
    spans: tuple[Span, ...]  #: (tensor, first step, last step), ascending
    cost: float
    status: Status  #: none_below: there may be plans, but proven none that costs less than was asked for
    states: int
    steps: int  #: what was looked at: (state, subgraph, choice), and LOOK_STEPS and PRICE_STEPS for what is new
    reason: str = ""  #: why it gave up
    bound: float = 0.0  #: where it gave up: no plan costs less than this
    reached: int = 0  #: and it has seen states in which so many layers had run
    is_wide: bool = False  #: and it has seen more sets of layers than it may: more states or steps do not help


def no_plan(
    status: Status, states: int, steps: int, reason: str = "", bound: float = 0.0, reached: int = 0
) -> ExactPlan:
    """Return the answer that there is no plan, or that none was found."""
    return ExactPlan(None, (), math.inf, status, states, steps, reason, bound, reached)


def plan_of(way: Way, limits: Limits) -> ExactPlan:
    """Return the result of a search over all layers as a plan."""
    if way.why == FOUND:
        groups, spans = [tuple(group) for group in way.groups], spans_beyond(map(bits, way.kept))
        return ExactPlan(groups, spans, way.cost, "optimal", way.states, way.steps)
    if way.why in (NO_WAY, NONE_BELOW):
        return no_plan("infeasible" if way.why == NO_WAY else "none_below", way.states, way.steps)
    if way.why == MANY_STATES:
        many = f"{limits.states} states"
    else:
        many = f"{limits.steps} steps" if way.why == MANY_STEPS else f"{MAX_SETS} sets of layers"
    found = no_plan("gave_up", way.states, way.steps, f"more than {many}", way.cost, way.reached)
    return found._replace(is_wide=way.why == MANY_SETS)


def exact_way(memo: Memo, window: Window, limits: Limits) -> Way:
    """Return a cheapest way through a window."""
    search = Search(memo, window, limits)
    try:
        goal = search.run()
    except OutOfBudgetError as stop:
        return Way(stop.why, [], [], min(search.least, limits.below), *search.counts())
    if goal is None:
        return Way(NONE_BELOW if search.is_cut else NO_WAY, [], [], math.inf, *search.counts())
    return Way(FOUND, *search.way_to(goal), search.cost[goal], *search.counts())


class Search:
    """The search and its counters."""

    def __init__(self, memo: Memo, window: Window, limits: Limits, merges: bool = True) -> None:
        self.question, self.memo, self.window, self.limits = memo.question, memo, window, limits
        self.moves = Moves(memo, window, limits, merges)
        self.cost: dict[Place, float] = {}
        self.came_from: dict[Place, tuple[Place, int]] = {}
        self.rank: dict[Place, Rank] = {}  # of the way to a state
        self.queue: list[tuple[float, Rank, int, Place]] = []
        self.pushed = 0
        self.is_cut = False
        self.least, self.reached = 0.0, 0  # the bound of the state being expanded; layers
        self.bound: dict[Place, float] = {}  # of states that wait
        self.rounds: dict[Place, int] = {}  # how often a state was expanded
        self.left: dict[int, tuple[float, int]] = {}
        is_whole = window == all_of(self.question.network)
        self.patterns = self.question.patterns if is_whole else ()
        self.alike = self.moves.alike
        self.raw: dict[Place, Place] = {}  # as the step left it that led there
        self.layers = self.tensors = 0  # of patterns
        for pattern in self.patterns:
            self.layers, self.tensors = self.layers | pattern.layers, self.tensors | pattern.tensors
        self.least_of = [pattern.by_layers() for pattern in self.patterns]
        self.least_left: dict[int, float] = {}

    def run(self) -> Place | None:
        """Return the cheapest last state; None if none is reached."""
        self._reach(self.window.start, 0.0, None, 0)
        while self.queue:
            self.least, _, _, place = heappop(self.queue)
            if self.bound.get(place) != self.least:
                continue
            if self.is_last(place):
                return place
            del self.bound[place]
            self.reached = max(self.reached, place.executed.bit_count())
            self._go_on(place, self.least)
        return None

    def is_last(self, place: Place) -> bool:
        """Return whether the search ends when this state would be expanded."""
        return place.executed == self.window.goal.executed

    def _go_on(self, place: Place, bound: float) -> None:
        """Expand a state: reach all states that it leads to, except by steps that wait."""
        cost, rounds = self.cost[place], self.rounds[place]
        limit = bound * (1 + SLACK * GROWTH**rounds) if self.moves.keeps and rounds < ROUNDS else math.inf
        self.rounds[place] = rounds + 1
        ceiling = Ceiling(cost, limit, self.left_after)
        for group, price, there in self.moves.from_place(place, ceiling):
            self._reach(there, cost + price, place, group)
        if ceiling.skipped >= self.limits.below:
            self.is_cut |= ceiling.skipped < math.inf
        elif ceiling.skipped < math.inf:
            self._push(place, ceiling.skipped)

    def _push(self, place: Place, bound: float) -> None:
        self.bound[place] = bound
        self.pushed += 1
        layers = place.executed.bit_count()
        turn = (0, -layers) if self.moves.keeps else (self.rank[place][0], layers)
        heappush(self.queue, (bound, turn, self.pushed, place))

    def counts(self) -> tuple[int, int, int]:
        """Return the number of states, of steps, and the most layers that had run in an expanded state."""
        return len(self.cost), self.moves.steps, self.reached

    def way_to(self, place: Place) -> tuple[list[list[int]], list[list[int]]]:
        """Return the subgraphs of the way to a state, and the tensors kept beyond each."""
        groups, places = [], []
        while place in self.came_from:
            places.append(self.raw[place])
            place, group = self.came_from[place]
            groups.append(list(members(group)))
        return groups[::-1], self.alike.untangled(places[::-1])

    def _reach(self, place: Place, cost: float, before: Place | None, group: int) -> None:
        """Record a way to a state if it is the cheapest so far and may still lead to a plan that is cheap enough."""
        raw = place
        place = self.alike.first(raw)
        rank = (0, 0)
        if before is not None and not self.moves.keeps:
            rank = self.rank[before][0] + 1, before.executed.bit_count()
        if place in self.cost and (cost, rank) >= (self.cost[place], self.rank[place]):
            return
        bound = cost + self.floor(place)
        if bound >= self.limits.below:
            self.is_cut |= bound < math.inf  # else no plan continues from there
            return
        if place not in self.cost and len(self.cost) == self.limits.states:
            raise OutOfBudgetError(MANY_STATES)
        self.cost[place], self.rank[place], self.rounds[place] = cost, rank, 0
        if before is not None:
            self.came_from[place], self.raw[place] = (before, group), raw
        self._push(place, bound)

    def floor(self, place: Place) -> float:
        """Return a lower bound of the remaining cost: by patterns, plus layer floors and one load of live tensors.

        The floors and loads are those outside the patterns. Live: in DRAM, with readers left.
        """
        total, live = self._of_layers(place.executed)
        for pattern in self.patterns:
            total += pattern.least(*place)
        for u in members(live & ~(place.unwritten | place.written)):
            total += self.question.crossing_floor[u]
        return total

    def _of_layers(self, executed: int) -> tuple[float, int]:
        if executed not in self.left:
            self.left[executed] = self._floor_of_layers(executed), self._live(executed)
        return self.left[executed]

    def left_after(self, executed: int) -> tuple[float, int]:
        """Return the remaining cost at least, wherever tensors lie, and the tensors to be loaded again if in DRAM."""
        total, live = self._of_layers(executed)
        if executed not in self.least_left:
            for pattern, least in zip(self.patterns, self.least_of):
                total += least.get(executed & pattern.seen(executed), 0.0)
            self.least_left[executed] = total
        return self.least_left[executed], live

    def _floor_of_layers(self, executed: int) -> float:
        """Return the floors of the layers that are left, plus the crossings of their outputs that are certain."""
        total = 0.0
        for v in self.moves.layers:
            if not executed >> v & 1:
                total += 0.0 if self.layers >> v & 1 else self.question.layer_floor[v]
                crosses = self.question.crosses >> v & ~self.tensors >> v & 1
                beyond = self.moves.read_beyond(v)
                is_output = self.question.network.is_output[v]  # its writing is part of the layer's floor
                if not is_output and (crosses or (beyond and not self.window.goal.unwritten >> v & 1)):
                    total += self.question.crossing_floor[v]
                if crosses and not beyond:
                    total += self.question.crossing_floor[v]
        return total

    def _live(self, executed: int) -> int:
        """Return the tensors that exist and have readers left in the window."""
        return sum(
            1 << u
            for u, readers in enumerate(self.moves.readers)
            if readers & ~executed and not self.tensors >> u & 1 and (u >= self.memo.count or executed >> u & 1)
        )
