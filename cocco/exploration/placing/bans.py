"""Find ways through a graph of plans, cheapest first, that avoid buffers proved to have no addresses together.

A ban is a small set of buffers proved to have no addresses together (cocco.allocation.conflict), column by column. Each
column stands for a step: the tensors kept while it runs, which of them have been kept since the column before, and the
sizes of buffers that only this step has. A plan is forbidden if it has steps, in that order but not necessarily next to
each other, that hold at least these: the steps between only take more room. How far each ban has matched is part of the
search's state, as in a finite automaton. A state that has matched less of every ban, at no more cost, dominates.

A step that a ban matches may also leave bytes free: it then holds other buffers, at most at a higher cost. Where no ban
matches, steps are as the graph has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from typing import NamedTuple

from cocco.search.exact.plans_below import Near, NearStep

Sizes = Callable[[NearStep], tuple[int, ...]]  #: the bytes of each buffer that only a step has, descending


class Column(NamedTuple):
    """What one step of a ban holds."""

    kept: int  #: tensors, as a set, that are kept while it runs
    still: int  #: those of them that have been kept since the column before
    sizes: tuple[int, ...]  #: of other buffers, descending


class _Ban(NamedTuple):
    columns: tuple[Column, ...]
    base: int  #: bit base + k - 1 of a mask: the columns before k were met, and what column k still needs is there


class _Step(NamedTuple):
    """What a step does to all bans: bits where it meets the next column, bits it begins, whether it is forbidden."""

    known: int  #: bans
    meets: int
    begins: int
    is_forbidden: bool


UNKNOWN = _Step(0, 0, 0, False)


class WayTrail(NamedTuple):
    """A way, as a linked list: its last step and the steps before it."""

    step: NearStep
    before: WayTrail | None


class Ways:
    """The ways through a graph of plans, and the bans on them."""

    def __init__(
        self, near: Near, sizes: Sizes, during: Callable[[NearStep], int],
        lighter: Callable[[NearStep], NearStep | None],
    ) -> None:  # fmt: skip
        """during: the tensors that a step holds whole. lighter: the same step with more bytes left free, if any."""
        self.near, self.sizes, self.during, self.lighter = near, sizes, during, lighter
        self.bans: list[_Ban] = []
        self.bits = self.lasts = 0
        self.of_step: dict[int, _Step] = {}
        self.of_place: dict[int, tuple[int, int]] = {}
        self.layers = [place.executed.bit_count() for place in near.places]

    def forbid(self, columns: Iterable[Column]) -> None:
        """Forbid all ways that hold at least these columns."""
        ban = _Ban(tuple(columns), self.bits)
        self.bans.append(ban)
        self.bits += len(ban.columns) - 1
        if len(ban.columns) > 1:
            self.lasts |= 1 << self.bits - 1

    def cheapest(self, below: float, most: int) -> tuple[list[NearStep] | None, float, int]:
        """Return a cheapest way that is not forbidden, its cost, and the number of states visited.

        The way is None if none costs less than `below`. It is also None once `most` states were visited; then the cost
        is a lower bound for all ways.
        """
        near, left = self.near, self.near.left
        queue: list[tuple[float, int, int, int, int, float, WayTrail | None]] = [(left[0], 0, 0, 0, 0, 0.0, None)]
        masks: dict[int, list[int]] = {}
        pushed = looked = 0
        while queue:
            bound, _, _, at, mask, cost, trail = heappop(queue)
            if bound >= below:
                break
            known = masks.setdefault(at, [])
            if any(not each & ~mask for each in known):
                continue
            if at == near.goal:
                return _steps_of(trail), cost, looked
            if looked == most:
                return None, bound, looked
            looked += 1
            known.append(mask)
            for step, after in self._steps(at, mask, cost, below):
                if any(not each & ~after for each in masks.get(step.after, ())):
                    continue
                pushed += 1
                there = step.after, after, cost + step.price, WayTrail(step, trail)
                heappush(queue, (cost + step.price + left[step.after], -self.layers[step.after], pushed, *there))
        return None, below, looked

    def _steps(self, at: int, mask: int, cost: float, below: float) -> Iterator[tuple[NearStep, int]]:
        """Yield the steps from a state that are not forbidden, and how far each ban has matched after them.

        cost: of the way to the state; below: what the whole way must cost less than.
        """
        for first in self.near.steps[at]:
            step: NearStep | None = first
            while step is not None:
                after = self._after(mask, step)
                if after is not None and cost + step.price + self.near.left[step.after] < below:
                    yield step, after
                if step is first and after == mask & self._place(step.after):
                    break
                step = self.lighter(step)  # which may cost less than this one, too

    def _after(self, mask: int, step: NearStep) -> int | None:
        """Return how far each ban has matched after a step; None where the step is forbidden."""
        found = self._step(step)
        met = mask & found.meets
        if found.is_forbidden or met & self.lasts:
            return None
        return (mask | met << 1 | found.begins) & self._place(step.after)

    def _step(self, step: NearStep) -> _Step:
        found = self.of_step.get(step.number, UNKNOWN)
        known, meets, begins, is_forbidden = found
        if known < len(self.bans):
            during = self.during(step)
            for columns, base in self.bans[known:]:
                for k, column in enumerate(columns):
                    if column.kept & ~during or not holds(self.sizes(step), column.sizes):
                        continue
                    if k:
                        meets |= 1 << base + k - 1
                    elif len(columns) == 1:
                        is_forbidden = True
                    else:
                        begins |= 1 << base
            found = self.of_step[step.number] = _Step(len(self.bans), meets, begins, is_forbidden)
        return found

    def _place(self, state: int) -> int:
        """Return the bits of the bans for which a state keeps all that their next column still needs."""
        known, bits = self.of_place.get(state, (0, 0))
        if known < len(self.bans):
            kept = self.kept(state)
            for columns, base in self.bans[known:]:
                for k in range(1, len(columns)):
                    if not columns[k].still & ~kept:
                        bits |= 1 << base + k - 1
            self.of_place[state] = len(self.bans), bits
        return bits

    def kept(self, state: int) -> int:
        """Return the tensors that a state keeps on chip."""
        return self.near.places[state].unwritten | self.near.places[state].written


def holds(sizes: tuple[int, ...], least: tuple[int, ...]) -> bool:
    """Return whether each size in `least` has its own counterpart at least as large in `sizes`; both descend."""
    return len(least) <= len(sizes) and all(small <= large for small, large in zip(least, sizes))


def _steps_of(trail: WayTrail | None) -> list[NearStep]:
    found = []
    while trail is not None:
        found.append(trail.step)
        trail = trail.before
    return found[::-1]
