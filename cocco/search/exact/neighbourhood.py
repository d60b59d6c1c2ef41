"""Improve a plan by exact windows: a stretch of the plan is searched again, and the result taken if it costs no more.

This is large-neighbourhood search (Shaw, CP 1998) with the exact search of exact.py as its repair. Everything outside
the window stays, so a plan never gets worse; an equally cheap way may be taken, so the search can cross a plateau. The
work for a window depends on how wide the network is there, so the size follows what the last windows took.

Our choice, from trials: subgraphs of a window are at most as large as a number drawn from CAPS, or as the largest that
it has. With kept tensors small subgraphs do well, and a search of few layers at a time reaches further.
"""

from __future__ import annotations

from collections.abc import Callable

from cocco.candidates.rounding import SUMMED
from cocco.candidates.stream import Stream
from cocco.effort.budgets import REPRICE_STEPS, WINDOW_STATES, WINDOW_STEPS
from cocco.search.exact.route import Priced, Pricing
from cocco.search.exact.window import FOUND, MANY_SETS, MANY_STATES, MANY_STEPS, Limits, Way, Window

Searcher = Callable[[Window, Limits], Way]

CAPS = (1, 2, 3, 4, 6, 0)  #: layers of a subgraph, 0 for any number
MERGED = (-1, -2)  #: subgraphs as they are, or two of them together
KINDS = CAPS + 2 * MERGED
LEAST, FIRST = 4.0, 16.0  #: layers of a window: at least, at first
STALE = 8  #: windows for each step of a plan without a cheaper plan until the end; of nine networks none took over 2.1


class Neighbourhood:
    """Walks from plan to plan of one network; counts the steps that it takes."""

    def __init__(self, pricing: Pricing, search: Searcher, stream: Stream, plan: Priced, least: float = 0.0) -> None:
        """least: a cost that no plan undercuts; a walk that reaches it ends."""
        self.pricing, self.search, self.stream, self.plan = pricing, search, stream, plan
        self.least = least * (1 + SUMMED)
        self.layers = len(pricing.question.network.layers)
        self.sizes = dict.fromkeys((*CAPS, *MERGED), FIRST)  # layers of a window, by cap
        self.steps = 0

    def go(self, most_steps: int) -> None:
        """Try windows anywhere until the walk has taken so many steps, or until long none has given a cheaper plan."""
        stale = 0
        while self.steps < most_steps and self.plan.cost > self.least and stale < STALE * len(self.plan.route.groups):
            cost = self.plan.cost
            first = self.stream.below(len(self.plan.route.groups))
            cap = KINDS[self.stream.below(len(KINDS))]
            self.better(first, self.end(first, self._size(cap)), cap)
            stale = 0 if self.plan.cost < cost * (1 - SUMMED) else stale + 1

    def sweep(self, cap: int, most_steps: int) -> None:
        """Try windows that overlap by half, from the first step to the last."""
        first = 0
        while first < len(self.plan.route.groups) - 1 and self.steps < most_steps and self.plan.cost > self.least:
            last = self.end(first, int(self.sizes[cap]))
            last = self.better(first, last, cap)
            first = max(first + 1, (first + last) // 2)

    def _size(self, cap: int) -> int:
        """Return how many layers a window gets: 1/4 to 5/4 of the current size for its cap."""
        return int(self.sizes[cap] * (0.25 + self.stream.below(1000) / 1000))

    def end(self, first: int, size: int) -> int:
        """Return where a window of so many layers ends: after at least two steps, if there are as many."""
        groups, last, layers = self.plan.route.groups, first, 0
        while last < len(groups):
            layers += groups[last].bit_count()
            if layers > size and last >= first + 2:
                break
            last += 1
        return last

    def better(self, first: int, last: int, cap: int) -> int:
        """Take the cheapest way through a window if the plan then costs no more; return where the window now ends."""
        plan = self.plan
        largest = max(group.bit_count() for group in plan.route.groups[first:last])
        below = plan.cost_of(first, last) * (1 + SUMMED)
        window, units = plan.window(first, last), max(cap, largest) if cap else 0
        if cap < 0:
            window, units = window._replace(units=plan.route.groups[first:last]), -cap
        way = self.search(window, Limits(WINDOW_STATES, WINDOW_STEPS, below, units))
        self.steps += way.steps + REPRICE_STEPS
        if way.why in (MANY_STATES, MANY_STEPS, MANY_SETS):
            self.sizes[cap] = max(LEAST, self.sizes[cap] * 0.93)
        elif way.steps < WINDOW_STEPS // 8:
            self.sizes[cap] = min(self.sizes[cap] * 1.1, float(self.layers))
        if way.why == FOUND:
            new = self.pricing.priced(plan.route.with_way(first, last, way))
            if new.cost <= plan.cost:
                self.plan = new
                return first + len(way.groups)
        return last
