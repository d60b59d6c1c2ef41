"""Which states go on where there are too many: by what they moved, by how much they keep, and the one without.

By what they moved alone a beam dies of states that keep too much: a tensor that is kept has saved its write already,
and lacks room later. So half of the places go to different amounts of kept bytes (our choice, from trials): the range
from nothing to the most is divided into as many equal parts, and the best of each part goes on. The state with nothing
kept always does: from it the partition runs as it does without kept tensors.
"""

from __future__ import annotations

from typing import Protocol, TypeVar


class Ranked(Protocol):
    """What a beam asks of a state."""

    @property
    def cost(self) -> tuple[float, int]:
        """What makes one way to a state better than another."""

    @property
    def kept(self) -> int:
        """The tensors that are kept, a bit for each."""

    @property
    def bytes(self) -> int:
        """What these take."""


State = TypeVar("State", bound=Ranked)


def narrow(states: list[State], width: int | None) -> tuple[list[State], bool]:
    """Return at most `width` states, in their order, and whether they are all; of equals the first go on."""
    if width is None or len(states) <= width:
        return states, True
    order = sorted(range(len(states)), key=lambda i: states[i].cost)
    chosen = {i for i in order if not states[i].kept}
    chosen.update(_first(order, chosen, (width + 1) // 2))
    parts = width - len(chosen)
    if parts > 0:
        most = max(state.bytes for state in states)
        best: dict[int, int] = {}
        for i in order:
            if i not in chosen:
                best.setdefault(states[i].bytes * parts // (most + 1), i)
        chosen.update(best.values())
    chosen.update(_first(order, chosen, width))
    return [states[i] for i in sorted(chosen)], False


def _first(order: list[int], chosen: set[int], count: int) -> list[int]:
    """Return the first that are not chosen yet, so that with those there are `count`."""
    return [i for i in order if i not in chosen][: max(0, count - len(chosen))]
