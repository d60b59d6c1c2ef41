"""All states of a small question with kept tensors, and what is left from each, in truth and by patterns."""

from __future__ import annotations

import math

from cocco.search.exact.moves import Memo, Moves
from cocco.search.exact.question import KeepQuestion, Pattern
from cocco.search.exact.window import Limits, Place, all_of


def every_state(question: KeepQuestion) -> dict[Place, float]:
    """Return what is left in truth from each state that can be reached."""
    window = all_of(question.network)
    moves, ways, stack = Moves(Memo(question), window, Limits()), dict[Place, dict[Place, float]](), [window.start]
    while stack:
        place = stack.pop()
        if place not in ways:
            ways[place] = {}
            for _, price, there in moves.from_place(place):
                ways[place][there] = min(price, ways[place].get(there, math.inf))
                stack.append(there)
    left: dict[Place, float] = {}
    for place in sorted(ways, key=lambda each: -each.executed.bit_count()):
        is_last = place.executed == window.goal.executed
        left[place] = 0.0 if is_last else min((cost + left[to] for to, cost in ways[place].items()), default=math.inf)
    return left


def floor_of(question: KeepQuestion, patterns: tuple[Pattern, ...], place: Place) -> float:
    """Return what patterns and the floors of all other layers say is left."""
    total, layers = 0.0, 0
    for pattern in patterns:
        total, layers = total + pattern.least(*place), layers | pattern.layers
    for v, floor in enumerate(question.layer_floor):
        total += 0.0 if (layers | place.executed) >> v & 1 else floor
    return total
