"""A stretch of a plan as a separate question: from which state, to which, within which limits.

The layers of a window are those that run between its two states; what runs before and after stays as it is. A tensor
kept in the last state must also be kept by any new way. If it was kept without a copy in DRAM, a way with a copy is
fine as well; if it was kept with a copy, the copy is needed, since a reader beyond the window reads DRAM. A tensor that
is read beyond the window and not kept there lies in DRAM. Tensors kept across the whole window take room in every step.
The whole network is a window as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cocco.effort.budgets import MAX_STATES, MAX_STEPS
from workloads.network.network import Network

SLACK, GROWTH, ROUNDS = 1e-4, 4.0, 8  #: steps wait that exceed their state by so much, then more; our choice


class Place(NamedTuple):
    """A state between two steps; sets of layers and of tensors are integers with a bit for each."""

    executed: int
    unwritten: int  #: kept, DRAM has no copy
    written: int  #: kept, DRAM has a copy


class Window(NamedTuple):
    """The states at both ends of a stretch of a plan.

    units: sets of layers that run together, all layers of the window, in an order in which they can run; empty: each
    layer is a unit. With large units a search reaches further: it merges them, and chooses their order and what is
    kept.
    """

    start: Place
    goal: Place
    units: tuple[int, ...] = ()


class Limits(NamedTuple):
    """The limits of a search. Budgets are counts, so its answer is the same on any machine."""

    states: int = MAX_STATES
    steps: int = MAX_STEPS
    below: float = math.inf  #: plans that cost this much or more are not looked for
    units: int = 0  #: the most units of a subgraph that is tried, 0: any number


class Way(NamedTuple):
    """What a search of a window found: why it ended, and the steps of a cheapest way."""

    why: int  #: one of the following
    groups: list[list[int]]  #: layers of each step
    kept: list[list[int]]  #: tensors kept beyond each step
    cost: float  #: where a budget is spent: no way costs less than this
    states: int
    steps: int  #: what was looked at: (state, subgraph, choice), and LOOK_STEPS and PRICE_STEPS for what is new
    reached: int = 0  #: the most layers that had run in a state from which it went on


FOUND, MANY_STATES, MANY_STEPS, MANY_SETS, NO_WAY, NONE_BELOW = range(6)


def all_of(network: Network) -> Window:
    """Return the window of all layers."""
    return Window(Place(0, 0, 0), Place((1 << len(network.layers)) - 1, 0, 0))
