"""All plans below a cost, as an acyclic graph of the states and steps that they pass through.

The exact search (exact.py) keeps the cheapest way to each state. If a plan must meet more conditions than its price,
such as having addresses, the next cheapest plans are needed as well. So the search continues until no state is left
below the cost, and then records every step between its states that is part of a plan below the cost. The cost from each
state to the end is then known exactly, not only bounded.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cocco.search.exact.exact import Search
from cocco.search.exact.moves import Ceiling, Memo, OutOfBudgetError
from cocco.search.exact.window import MANY_STATES, Limits, Place, all_of

Noted = tuple[int, int, int, float]  #: from a state to a state, the layers of the step as a set, its price


class NearStep(NamedTuple):
    """A step from one state to another."""

    number: int
    before: int  #: states
    after: int
    group: int  #: its layers, as a set
    price: float
    spare: int = 0  #: bytes that it leaves free


class Near(NamedTuple):
    """States by number, 0 the first; steps by the state they start from; the least remaining cost of each state."""

    places: tuple[Place, ...]
    steps: tuple[tuple[NearStep, ...], ...]
    left: tuple[float, ...]  #: inf where no plan below the cost comes through
    goal: int


def near_plans(memo: Memo, limits: Limits, most: int) -> tuple[Near | None, int]:
    """Return the graph of all plans of a network that cost less than limits.below, and the steps taken.

    None if there are none, or if a budget is spent before all are known; most: the most steps in the graph.
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
    """Return the graph of the recorded steps; None if no plan is below. costs: of the cheapest way to each state."""
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
    """The exact search, continued beyond the cheapest plan."""

    def __init__(self, memo: Memo, limits: Limits) -> None:
        super().__init__(memo, all_of(memo.question.network), limits, merges=False)  # addresses tell them apart

    def is_last(self, place: Place) -> bool:
        """Return False: other plans reach the last state as well; nothing continues from there."""
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
