"""One state of the dynamic program over kept tensors, and the intervals of the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simulator.partition.intervals import Span


class Trail(NamedTuple):
    """What was kept beyond each step so far, the last step first."""

    kept: int  #: a bit per tensor
    before: Trail | None


class State(NamedTuple):
    """What is kept, and the bytes moved on the way; sets of tensors are integers with a bit for each."""

    unwritten: int  #: kept, without a copy in DRAM
    written: int  #: kept, with a copy in DRAM
    bytes: int  #: kept
    moved: int  #: bytes across DRAM so far
    held: int  #: kept bytes, summed over the steps so far
    trail: Trail

    @property
    def kept(self) -> int:
        """The tensors that are kept."""
        return self.unwritten | self.written

    @property
    def cost(self) -> tuple[int, int]:
        """The sort key of ways to a state: smaller is better."""
        return self.moved, self.held

    def keep(self, unwritten: int, written: int, whole: int) -> State:
        """Return the state with one more tensor kept, in one of the two ways."""
        return self._replace(
            unwritten=self.unwritten | unwritten, written=self.written | written, bytes=self.bytes + whole
        )

    def drop(self, bit: int, whole: int) -> State:
        """Return the state with one tensor less."""
        return self._replace(unwritten=self.unwritten & ~bit, written=self.written & ~bit, bytes=self.bytes - whole)

    def ran(self) -> State:
        """Return the state once a step has run next to the kept tensors."""
        return self._replace(held=self.held + self.bytes)

    def passed(self) -> State:
        """Return the state after a step."""
        return self._replace(trail=Trail(self.kept, self.trail))


START = State(0, 0, 0, 0, 0, Trail(0, None))


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


def bits(tensors: tuple[int, ...]) -> int:
    """Return a set of tensors as an integer."""
    found = 0
    for tensor in tensors:
        found |= 1 << tensor
    return found


def members(found: int) -> Iterator[int]:
    """Yield the tensors of such a set, ascending."""
    while found:
        low = found & -found
        yield low.bit_length() - 1
        found ^= low
