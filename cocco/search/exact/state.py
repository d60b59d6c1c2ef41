"""The intervals of a way to a state of a dynamic program over kept tensors."""

from __future__ import annotations

from typing import NamedTuple

from cocco.candidates.sets import members
from simulator.partition.intervals import Span


class Trail(NamedTuple):
    """What was kept beyond each step so far, the last step first."""

    kept: int  #: a bit per tensor
    before: Trail | None


START = Trail(0, None)  #: nothing has run


def spans_of(trail: Trail) -> tuple[Span, ...]:
    """Return the intervals of a way: a tensor that is kept beyond steps a to z - 1 is kept over [a, z]."""
    beyond = []
    while trail.before is not None:
        beyond.append(trail.kept)
        trail = trail.before
    spans: list[Span] = []
    begun: dict[int, int] = {}
    known = 0
    for step, kept in enumerate(reversed(beyond)):
        begun.update((tensor, step) for tensor in members(kept & ~known))
        spans += [(tensor, begun[tensor], step) for tensor in members(known & ~kept)]
        known = kept
    return tuple(sorted(spans))
