"""Interchangeable tensors: of the same shape, and read by the same layers from here on.

The outputs of a dense block are interchangeable: for the rest of a plan only their number on chip matters, not which
are kept. States that differ only in this are merged into the one that keeps the first of them, and a step gives the
better places to the first of those that it loads. Interchangeable tensors stay so: each step removes the same layers
from the remaining readers of both. In the end the steps of a plan are expressed in its original tensors (`untangled`).
"""

from __future__ import annotations

from collections.abc import Sequence

from cocco.candidates.sets import members
from cocco.search.exact.window import Place


class Alike:
    """Which tensors are interchangeable, by what has run."""

    def __init__(self, kinds: Sequence[int], readers: Sequence[int], count: int) -> None:
        """kinds: one number for tensors of one kind (`bounds.alike_tensors`), below 0: no other. count: of layers."""
        self.kinds, self.readers, self.count = tuple(kinds), readers, count
        self.is_any = any(kind >= 0 for kind in kinds)
        self.known: dict[int, tuple[tuple[int, ...], ...]] = {}

    def groups(self, executed: int) -> tuple[tuple[int, ...], ...]:
        """Return the groups of two or more interchangeable tensors once some layers have run, ascending."""
        if executed not in self.known:
            found: dict[tuple[int, int], list[int]] = {}
            for u, kind in enumerate(self.kinds):
                left = self.readers[u] & ~executed
                if kind >= 0 and left and (u >= self.count or executed >> u & 1):
                    found.setdefault((kind, left), []).append(u)
            self.known[executed] = tuple(tuple(each) for each in found.values() if len(each) > 1)
        return self.known[executed]

    def before(self, executed: int) -> dict[int, int]:
        """Return, by tensor, the interchangeable one before it."""
        return {u: p for group in self.groups(executed) for p, u in zip(group, group[1:])}

    def first(self, place: Place) -> Place:
        """Return the state that stands for all equivalent ones: its first tensors are unwritten, the next written."""
        executed, unwritten, written = place
        for group in self.groups(executed):
            here = sum(1 << u for u in group)
            if (unwritten | written) & here:
                ids = iter(group)
                ahead = sum(1 << next(ids) for _ in members(unwritten & here))
                after = sum(1 << next(ids) for _ in members(written & here))
                unwritten, written = unwritten & ~here | ahead, written & ~here | after
        return Place(executed, unwritten, written)

    def untangled(self, places: Sequence[Place]) -> list[list[int]]:
        """Return the tensors kept beyond each step of a way; places: as each step leaves them, before `first`."""
        is_now, kept = list(range(len(self.readers))), []
        for executed, unwritten, written in places:
            kept.append(sorted(is_now[u] for u in members(unwritten | written)))
            after = list(is_now)
            for group in self.groups(executed):
                ranked = sorted(group, key=lambda u: (not unwritten >> u & 1, not written >> u & 1, u))
                for u, was in zip(group, ranked):
                    after[u] = is_now[was]
            is_now = after
        return kept
