"""All plans below a cost: the states and steps that they come through, a graph without circles.

The exact search (exact.py) keeps the cheapest way to each state. Where more is asked of a plan than its price, as that
all it holds has addresses, the next cheapest plans are asked for, too: so the search goes on until no state is left
below the cost, and then notes every step between its states through which a plan below the cost leads. What is left
from each of them to the end is then known, no longer a floor.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cocco.search.keeping.exact import Search
from cocco.search.keeping.moves import Ceiling, Memo, OutOfBudgetError
from cocco.search.keeping.window import MANY_STATES, Limits, Place, all_of

Noted = tuple[int, int, int, float]  #: from a state to a state, the layers of the step as a set, its price


class NearStep(NamedTuple):
    """A step from a state to another one."""

    number: int
    before: int  #: states
    after: int
    group: int  #: its layers, as a set
    price: float


class Near(NamedTuple):
    """States by number, 0 the first; steps by the state that they start from; what is left from each state."""

    places: tuple[Place, ...]
    steps: tuple[tuple[NearStep, ...], ...]
    left: tuple[float, ...]  #: inf where no plan below the cost comes through
    goal: int


def near_plans(memo: Memo, limits: Limits, most: int) -> tuple[Near | None, int]:
    """Return the graph of all plans of a network that cost less than limits.below, and the steps that it took.

    None where there are none, or a budget is spent before all are known; most: steps that are noted.
    """
    search = _All(memo, limits)
    try:
        search.run()
        noted = search.noted(most)
    except OutOfBudgetError:
        return None, search.moves.steps
    places = tuple(search.cost)
    return graph_of(places, list(search.cost.values()), noted, limits.below), search.moves.steps


def graph_of(places: tuple[Place, ...], costs: list[float], noted: list[Noted], below: float) -> Near | None:
    """Return the graph of what was noted; costs: of the cheapest way to each state. None where no plan is below."""
    layers = [place.executed.bit_count() for place in places]
    goal = max(range(len(places)), key=layers.__getitem__, default=0)
    if not noted:
        return None
    left = [math.inf] * len(places)
    left[goal] = 0.0
    for before, after, _, price in sorted(noted, key=lambda each: -layers[each[0]]):
        left[before] = min(left[before], price + left[after])
    steps: list[list[NearStep]] = [[] for _ in places]
    for number, (before, after, group, price) in enumerate(noted):
        if costs[before] + price + left[after] < below:
            steps[before].append(NearStep(number, before, after, group, price))
    return Near(places, tuple(map(tuple, steps)), tuple(left), goal) if steps[0] else None


class _All(Search):
    """The exact search, which goes on beyond the cheapest plan."""

    def __init__(self, memo: Memo, limits: Limits) -> None:
        super().__init__(memo, all_of(memo.question.network), limits, merges=False)  # addresses tell them apart

    def is_last(self, place: Place) -> bool:
        """Return False: other plans come to the last state, too; nothing goes on from there."""
        return False

    def noted(self, most: int) -> list[Noted]:
        """Return the steps between all states that a plan below the cost may take."""
        numbers = {place: i for i, place in enumerate(self.cost)}
        found: list[Noted] = []
        for place, i in numbers.items():
            cost = self.cost[place]
            if cost + self.floor(place) >= self.limits.below:
                continue
            ceiling = Ceiling(cost, self.limits.below, self.left_after)
            for group, price, there in self.moves.from_place(place, ceiling):
                if there not in numbers or cost + price + self.floor(there) >= self.limits.below:
                    continue
                if len(found) == most:
                    raise OutOfBudgetError(MANY_STATES)
                found.append((i, numbers[there], group, price))
        return found
