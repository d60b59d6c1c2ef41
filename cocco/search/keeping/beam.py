"""Choose the states that a beam continues with: by bytes moved, by bytes kept, and always the one that keeps nothing.

Chosen by bytes moved alone, a beam dies of states that keep too much: a kept tensor has already saved its write, but
takes room later. So half of the places go to different amounts of kept bytes (our choice, from trials): the range from
nothing to the most is divided into as many equal parts, and the best state of each part stays. The state with nothing
kept always stays: from it the partition runs as without kept tensors.
"""

from __future__ import annotations

from typing import Protocol, TypeVar


class Ranked(Protocol):
    """What a beam needs to know of a state."""

    @property
    def cost(self) -> tuple[float, int]:
        """The sort key of ways to a state: smaller is better."""

    @property
    def kept(self) -> int:
        """The tensors that are kept, a bit for each."""

    @property
    def bytes(self) -> int:
        """The bytes that these take."""


State = TypeVar("State", bound=Ranked)


def narrow(states: list[State], width: int | None) -> tuple[list[State], bool]:
    """Return at most `width` states, in their order, and whether these are all; of equals the first stay."""
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
    """Return the first positions not chosen yet, as many as fill up the chosen ones to `count`."""
    return [i for i in order if i not in chosen][: max(0, count - len(chosen))]
