"""TelaMalloc's search (ASPLOS 2023, Sec. 5): three heuristics at every decision point, phases, smart backtracking.

The paper guides it by a CP solver; here forward checking does that (our choice): after a placement every unplaced
neighbour must still have a position, and in every section of the new buffer the gaps that can take the smallest
unplaced buffer must hold the sum of the unplaced ones. Both are necessary, so no solution is missed by them. The
search is not complete: few candidates, each at its lowest position, and jumps over decision points.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from cocco.allocation.answer import Outcome
from cocco.allocation.exact.canonical import pieces_of
from cocco.allocation.exact.phases import phases
from cocco.allocation.problem import AllocationProblem, make_problem, time_parts

MOST_AT_A_POINT = 8  #: of a decision point; our choice, the paper says "limited"
STUCK = 100  #: backtracks within the subtree of a point before the search returns to it (Sec. 5.4)
Strategy = Literal["combined", "size", "area", "lifetime", "lowest"]
STRATEGIES: tuple[Strategy, ...] = ("combined", "size", "area", "lifetime", "lowest")


@dataclass
class Counters:
    """What the search did."""

    steps: int = 0  #: placements tried; the limit counts them
    minor: int = 0  #: a placement failed at once
    major: int = 0  #: all candidates of a point failed
    deepest: int = 0  #: decision level
    moved: int = 0  #: candidates that a major backtrack took along


@dataclass
class DecisionPoint:
    """A decision point: which buffer comes next."""

    candidates: list[int]  #: still to try
    tried: set[int] = field(default_factory=set)
    placed: int = -1
    conflict: frozenset[int] = frozenset()  #: levels of the placements that the last failure was due to
    backtracks: int = 0  #: major ones within its subtree
    mark: int = 0  #: length of the trail before its placement
    returns: int = 0  #: major backtracks to this point


Choose = Callable[["Backtracking", int], int]  #: of the level to return to, given that of the rule; below the last


def telamalloc(
    problem: AllocationProblem,
    capacity: int,
    steps: int,
    strategy: Strategy = "combined",
    choose: Choose | None = None,
) -> Outcome:
    """Return addresses within a capacity (granules), or "gave_up": this search proves nothing.

    strategy: the paper's, or one of the single ones of its Fig. 14, which try all buffers in one order, without
    phases, and go back to the last point. choose: where a major backtrack goes, in place of the rule of Sec. 5.4
    (experiments.learned_backtracking). `nodes` of the outcome are the steps.
    """
    address = np.zeros(len(problem.size), dtype=np.int64)
    total = Counters()
    for members in time_parts(problem):  # Sec. 5.3: independent subproblems
        part = make_problem([problem.buffers[i] for i in members])
        scale = part.granule // problem.granule
        search = Backtracking(part, capacity // scale, strategy, choose)
        is_solved = search.run(steps - total.steps)
        total.steps += search.counters.steps
        total.minor += search.counters.minor
        total.major += search.counters.major
        if not is_solved:
            return Outcome("gave_up", None, total.steps, minor=total.minor, major=total.major)
        address[members] = np.array(search.address) * scale
    return Outcome("feasible", address, total.steps, -1, f"telamalloc {strategy}", total.minor, total.major)


class Backtracking:
    """One run over one part of time. Units: granules and sections."""

    def __init__(
        self,
        problem: AllocationProblem,
        capacity: int,
        strategy: Strategy = "combined",
        choose: Choose | None = None,
    ) -> None:
        self.problem, self.capacity, self.strategy, self.choose = problem, capacity, strategy, choose
        self.size, self.alignment = problem.size.tolist(), problem.alignment.tolist()
        self.fixed, self.lifetime = problem.fixed.tolist(), problem.lifetime.tolist()
        count = len(self.size)
        self.near = [problem.neighbours[problem.starts[i] : problem.starts[i + 1]].tolist() for i in range(count)]
        self.sections = [[s for f, z in each for s in range(f, z)] for each in pieces_of(problem)]
        self.members: list[list[int]] = [[] for _ in range(problem.sections)]
        for i, sections in enumerate(self.sections):
            for s in sections:
                self.members[s].append(i)
        self.address = [-1] * count
        self.level = [-1] * count
        self.lowest = [max(offset, 0) for offset in self.fixed]  #: the lowest valid position of unplaced buffers
        self.taken: list[list[tuple[int, int]]] = [[] for _ in range(problem.sections)]  #: sorted (low, high)
        self.rest = problem.contention.tolist()
        self.trail: list[tuple[int, int]] = []  #: (buffer, its lowest position before)
        self.points: list[DecisionPoint] = []
        self.counters = Counters()
        self._prepare_orders(phases(problem, capacity))

    def _prepare_orders(self, groups: list[list[int]]) -> None:
        size, lifetime = self.size, self.lifetime
        keys = {
            "lifetime": lambda i: (-lifetime[i], -size[i], i),
            "size": lambda i: (-size[i], -lifetime[i], i),
            "area": lambda i: (-size[i] * lifetime[i], -lifetime[i], i),
        }
        self.orders = {name: sorted(range(len(size)), key=key) for name, key in keys.items()}
        self.groups = [[sorted(group, key=key) for key in keys.values()] for group in groups]
        self.phase = {i: number for number, group in enumerate(groups) for i in group}

    def run(self, steps: int) -> bool:
        """Return whether all buffers were placed; False when the steps are spent or the root has no candidate left."""
        while len(self.points) < len(self.size) or (self.points and self.points[-1].placed < 0):
            if not self.points or self.points[-1].placed >= 0:
                self.points.append(DecisionPoint(self._candidates()))
                self.counters.deepest = max(self.counters.deepest, len(self.points))
            point = self.points[-1]
            if not point.candidates:
                if not self._backtrack():
                    return False
                continue
            if self.counters.steps == steps:
                return False
            self._try(point, point.candidates.pop(0))
        return True

    def _candidates(self) -> list[int]:
        """The three heuristics in the phase of the buffer placed last, then in the others in order (Sec. 5.1, 5.3)."""
        if self.strategy == "lowest":
            left = [i for i in self.orders["size"] if self.address[i] < 0]
            return sorted(left, key=lambda i: self.lowest[i])
        if self.strategy != "combined":
            return [i for i in self.orders[self.strategy] if self.address[i] < 0]
        last = self.phase[self.points[-1].placed] if self.points else 0
        found: dict[int, None] = {}
        for number in (last, *(k for k in range(len(self.groups)) if k != last)):
            for order in self.groups[number]:
                best = next((i for i in order if self.address[i] < 0), None)
                if best is not None:
                    found[best] = None
            if len(found) >= MOST_AT_A_POINT:
                break
        return list(found)[:MOST_AT_A_POINT]

    def _try(self, point: DecisionPoint, i: int) -> None:
        self.counters.steps += 1
        point.tried.add(i)
        point.mark = len(self.trail)
        conflict = self._place(i, len(self.points) - 1)
        point.placed = i
        if conflict is not None:
            self.counters.minor += 1
            point.conflict = frozenset(self.level[j] for j in conflict if self.address[j] >= 0)
            self._undo(point)

    def _place(self, i: int, level: int) -> Iterable[int] | None:
        """Place i at its lowest valid position (Sec. 5.2); return the buffers a failure is due to, or None."""
        low = self.lowest[i]
        high = low + self.size[i]
        self.address[i], self.level[i] = low, level
        for s in self.sections[i]:
            insort(self.taken[s], (low, high))
            self.rest[s] -= self.size[i]
        for j in self.near[i]:
            if self.address[j] < 0 and self.lowest[j] < high and low < self.lowest[j] + self.size[j]:
                self.trail.append((j, self.lowest[j]))
                self.lowest[j] = self._lowest(j)
                if self.lowest[j] + self.size[j] > self.capacity or self.lowest[j] > self.fixed[j] >= 0:
                    return self.near[j]
        for s in self.sections[i]:
            if not self._holds(s):
                return self.members[s]
        return None

    def _lowest(self, i: int) -> int:
        """The lowest aligned position from the known one on that no placed neighbour takes.

        Whatever reaches into [at, at + size) keeps every position below its top.
        """
        at, size, alignment = self.lowest[i], self.size[i], self.alignment[i]
        if len(self.sections[i]) == 1:
            return self._lowest_in(self.taken[self.sections[i][0]], at, size, alignment)
        placed = [(self.address[j], self.address[j] + self.size[j]) for j in self.near[i] if self.address[j] >= 0]
        while True:
            top = max((high for low, high in placed if low < at + size and at < high), default=-1)
            if top < 0:
                return at
            at = -(-top // alignment) * alignment

    @staticmethod
    def _lowest_in(taken: list[tuple[int, int]], at: int, size: int, alignment: int) -> int:
        """The same in one section, whose placed buffers are sorted and lie apart."""
        for k in range(max(bisect_left(taken, (at, at)) - 1, 0), len(taken)):
            low, high = taken[k]
            if low >= at + size:
                break
            if at < high:
                at = -(-high // alignment) * alignment
        return at

    def _holds(self, s: int) -> bool:
        """Whether the gaps of a section that can take its smallest unplaced buffer hold all unplaced ones."""
        left = self.rest[s]
        if not left:
            return True
        least = min(self.size[j] for j in self.members[s] if self.address[j] < 0)
        top = room = 0
        for low, high in self.taken[s]:
            if low - top >= least:
                room += low - top
            top = high
        if self.capacity - top >= least:
            room += self.capacity - top
        return room >= left

    def _undo(self, point: DecisionPoint) -> None:
        i = point.placed
        low = self.address[i]
        for s in self.sections[i]:
            del self.taken[s][bisect_left(self.taken[s], (low, low + self.size[i]))]
            self.rest[s] += self.size[i]
        self.address[i] = self.level[i] = point.placed = -1
        while len(self.trail) > point.mark:
            j, before = self.trail.pop()
            self.lowest[j] = before

    def _backtrack(self) -> bool:
        """A major backtrack from the last point (Sec. 5.4); False if it is the root."""
        if len(self.points) == 1:
            return False
        self.counters.major += 1
        target = self._target()
        if self.choose is not None:
            target = self.choose(self, target)
        for point in self.points[: target + 1]:
            point.backtracks += 1
        stuck = [level for level in range(target + 1) if self.points[level].backtracks > STUCK]
        if stuck and self.strategy == "combined":
            target = stuck[-1]
            for point in self.points[: target + 1]:
                point.backtracks = 0  # else its ancestors were next, all the way to the root
        left = self.points[-1]
        taken_along = [*left.tried, *left.candidates] if self.strategy == "combined" else []
        while len(self.points) > target + 1:
            point = self.points.pop()
            if point.placed >= 0:
                self._undo(point)
        point = self.points[-1]
        point.returns += 1
        self._undo(point)
        if taken_along:
            new = [i for i in taken_along if i not in point.tried]
            self.counters.moved += len(new)
            point.candidates = list(dict.fromkeys([*new, *point.candidates]))[:MOST_AT_A_POINT]
        return True

    def _target(self) -> int:
        """The level of the second-to-last conflicting placement; the last is that of this point's own candidates."""
        here = len(self.points) - 1
        if self.strategy != "combined":
            return here - 1
        return max((level for level in self.points[-1].conflict if level < here), default=here - 1)
