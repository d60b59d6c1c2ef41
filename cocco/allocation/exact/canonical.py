"""The complete search in canonical order, in Python: the engine to read. `_search.pyx` is its compiled twin.

Push any solution down until nothing moves: each buffer lies at 0 or on the aligned top of one below it. So buffers
are placed in non-decreasing address, ties by a rank, each exactly at `low`, the aligned top of what lies under it:
one order for each such solution instead of many. Our design; the idea of the order is google/minimalloc's.

One node is one frame opened: the choice of the next buffer among the items of a part. Both engines open the same
nodes in the same order, so they give the same answer whatever the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from cocco.allocation.problem import AllocationProblem, Ints

SOLVED, REFUTED, LIMIT = 1, 0, -1
RANKS = ("TWA", "TAW", "WAT")
"""Ranks sort by their letters, descending, then by index: W lifetime, A area, T the largest sum of unplaced sizes in
a section of the buffer when its part is formed. Our choice: each alone leaves some of the hard instances open."""


@dataclass
class Frame:
    """The choice of the next buffer: the items order[lo:hi], all within the sections [a, b)."""

    lo: int
    hi: int
    a: int
    b: int
    y0: int  #: the placement above has this address ...
    r0: int  #: ... and this rank; no placement below may come before it
    candidates: list[int]
    fixed_first: tuple[int, int] | None  #: address and rank of the first fixed item
    most_rest: int  #: the largest sum of unplaced sizes in a section
    next: int = 0  #: the candidate to try next
    trail_mark: int = 0
    log_mark: int = 0
    hatless: bool = False  #: nothing unplaced overlaps the buffer placed here
    parts: list[tuple[int, int, int, int]] = field(default_factory=list)  #: (lo, hi, a, b) that are still to solve


class Search:
    """One run over one problem. Units: granules and sections."""

    def __init__(self, problem: AllocationProblem, capacity: int, rank: str) -> None:
        self.capacity = capacity
        self.size, self.alignment, self.fixed = (
            each.tolist() for each in (problem.size, problem.alignment, problem.fixed)
        )  # fmt: skip
        count = len(self.size)
        self.first, self.last = problem.first.tolist(), problem.last.tolist()
        self.near = [problem.neighbours[problem.starts[i] : problem.starts[i + 1]].tolist() for i in range(count)]
        self.pieces = pieces_of(problem)
        self.rank_name = rank
        self.base = base_ranks(problem, rank).tolist()
        self.address = [-1] * count
        self.low = [max(offset, 0) for offset in self.fixed]
        self.rank = [0] * count
        self.rest = problem.contention.tolist()
        self.floor = [0] * problem.sections
        self.crossing = crossings(problem).tolist()
        self.order = list(range(count))  #: every frame permutes its own slice only
        self.trail: list[tuple[list[int], int, int]] = []  #: (list, index, what stood there)
        self.log: list[int] = []  #: the placed buffers in order
        self.frames: list[Frame] = []
        self.placed: int | None = None  #: the buffer whose child is to be opened; None: the next part
        self.nodes = 0

    def run(self, limit: int) -> int:
        """Return SOLVED, with the addresses in `address`, REFUTED, or LIMIT when so many nodes were opened in all.

        After LIMIT it goes on from there with a higher one.
        """
        if not self.nodes:
            if not self.size:
                return SOLVED
            if max(self.rest) > self.capacity or any(
                low + size > self.capacity for low, size in zip(self.low, self.size)
            ):
                return REFUTED
        while self.nodes < limit:
            self._open_pending()
            ended = self._place_or_retreat()
            if ended != LIMIT:
                return ended
        return LIMIT

    def _open_pending(self) -> None:
        """Open the frame that comes next."""
        if not self.nodes:
            self._open_part(0, len(self.size), 0, len(self.rest))
        elif self.placed is None:
            self._open_next_part()
        else:
            self._descend(self.frames[-1], self.placed)

    def _place_or_retreat(self) -> int:
        """Place until a frame is to be opened, then return LIMIT; or how all ended."""
        while True:
            frame = self.frames[-1]
            self.placed = self._place_next(frame)
            if self.placed is None:
                if not self._retreat():
                    return REFUTED
                continue
            if frame.hi - 1 == frame.lo:
                if self._succeed():
                    return SOLVED
                self.placed = None
            return LIMIT

    def _retreat(self) -> bool:
        """Give up the last frame, and those whose last placement cost no other a choice; False when none is left."""
        while True:
            self.frames.pop()
            if not self.frames:
                return False
            self._undo(self.frames[-1])
            if not self.frames[-1].hatless:
                return True

    def _succeed(self) -> bool:
        """Close the frames that are solved; False if one still has a part to solve."""
        while self.frames:
            if self.frames[-1].parts:
                return False
            self.frames.pop()
        return True

    def _open_next_part(self) -> None:
        self._open_part(*self.frames[-1].parts.pop(0))

    def _descend(self, frame: Frame, placed: int) -> None:
        """Open the child of a placement, or the first of its parts."""
        lo, hi, a, b = frame.lo, frame.hi - 1, frame.a, frame.b
        if not any(self.crossing[k] == 0 for k in range(self.first[placed] + 1, self.last[placed])):
            self._open(lo, hi, a, b, self.low[placed], self.rank[placed])
            return
        parts = self._split(lo, hi, a, b)
        if len(parts) == 1:
            self._open(*parts[0], self.low[placed], self.rank[placed])
            return
        frame.parts = parts
        self._open_next_part()

    def _split(self, lo: int, hi: int, a: int, b: int) -> list[tuple[int, int, int, int]]:
        """Sort the items by the borders that nothing unplaced crosses; return the parts in time order."""
        part_of: dict[int, int] = {}
        ends: list[tuple[int, int]] = []
        start = a
        for border in range(a + 1, b + 1):
            if border == b or self.crossing[border] == 0:
                part_of.update(dict.fromkeys(range(start, border), len(ends)))
                ends.append((start, border))
                start = border
        items: list[list[int]] = [[] for _ in ends]
        for i in self.order[lo:hi]:
            items[part_of[self.first[i]]].append(i)
        parts = []
        for members, (start, end) in zip(items, ends):
            if members:
                self.order[lo : lo + len(members)] = members
                parts.append((lo, lo + len(members), start, end))
                lo += len(members)
        return parts

    def _open_part(self, lo: int, hi: int, a: int, b: int) -> None:
        """Rank the items of a part again, and open its first frame."""
        items = self.order[lo:hi]
        top = {i: max(max(self.rest[f:z]) for f, z in self.pieces[i]) for i in items}
        if self.rank_name[0] == "T":
            items.sort(key=lambda i: (-top[i], self.base[i], i))
        else:
            items.sort(key=lambda i: (self.base[i], -top[i], i))
        for rank, i in enumerate(items):
            self._set(self.rank, i, rank)
        self._open(lo, hi, a, b, 0, -1)

    def _open(self, lo: int, hi: int, a: int, b: int, y0: int, r0: int) -> None:
        self.nodes += 1
        low, rank, items = self.low, self.rank, self.order[lo:hi]
        # a buffer from here on leaves room under it for the item that gave this top: it would have come before
        top = min(low[i] + self.size[i] for i in items)
        candidates = [i for i in items if low[i] < top and (low[i], rank[i]) > (y0, r0)]
        candidates.sort(key=lambda i: (low[i], rank[i]))
        fixed_first = min(((low[i], rank[i]) for i in items if self.fixed[i] >= 0), default=None)
        self.frames.append(Frame(lo, hi, a, b, y0, r0, candidates, fixed_first, max(self.rest[a:b])))

    def _place_next(self, frame: Frame) -> int | None:
        """Place the next candidate that breaks no bound; None if the frame is refuted."""
        while frame.next < len(frame.candidates):
            i = frame.candidates[frame.next]
            frame.next += 1
            y = self.low[i]
            if y + frame.most_rest > self.capacity:
                return None  # and all later candidates are higher
            if frame.fixed_first is not None and (y, self.rank[i]) > frame.fixed_first:
                return None  # that item can no longer be placed
            if not self._has_room_above(i, y + self.size[i]):
                if not any(self.address[j] < 0 for j in self.near[i]):
                    return None  # wherever i comes in the order, this is its place
                continue
            frame.trail_mark, frame.log_mark = len(self.trail), len(self.log)
            self._move_last(frame, i)
            if self._place(frame, i):
                return i
            self._undo(frame)
            if frame.hatless:
                return None
        return None

    def _has_room_above(self, i: int, top: int) -> bool:
        most = self.capacity + self.size[i] - top
        return all(self.rest[s] <= most for f, z in self.pieces[i] for s in range(f, z))

    def _move_last(self, frame: Frame, i: int) -> None:
        at = self.order.index(i, frame.lo, frame.hi)
        self.order[at], self.order[frame.hi - 1] = self.order[frame.hi - 1], i

    def _place(self, frame: Frame, i: int) -> bool:
        """Place i at its low; return whether every bound still holds. Undo it either way with `_undo`."""
        y = self.low[i]
        top = y + self.size[i]
        self.address[i] = y
        self.log.append(i)
        for f, z in self.pieces[i]:
            for s in range(f, z):
                self._set(self.floor, s, top)
                self.rest[s] -= self.size[i]
        for k in range(self.first[i] + 1, self.last[i]):
            self.crossing[k] -= 1
        frame.hatless, from_section, to_section = True, self.first[i], self.last[i]
        for j in self.near[i]:
            if self.address[j] >= 0:
                continue
            frame.hatless = False
            low = -(-top // self.alignment[j]) * self.alignment[j]
            if self.low[j] < low:
                if self.fixed[j] >= 0 or low + self.size[j] > self.capacity:
                    return False
                self._set(self.low, j, low)
                from_section, to_section = min(from_section, self.first[j]), max(to_section, self.last[j])
        return self._bounds_hold(frame, y, from_section, to_section)

    def _bounds_hold(self, frame: Frame, y: int, from_section: int, to_section: int) -> bool:
        """Raise the floors of these sections to the least low of their unplaced buffers, and check them."""
        least = [self.capacity + 1] * (to_section - from_section)
        for i in self.order[frame.lo : frame.hi - 1]:
            low = self.low[i]
            for f, z in self.pieces[i]:
                for s in range(max(f, from_section), min(z, to_section)):
                    if low < least[s - from_section]:
                        least[s - from_section] = low
        for s in range(from_section, to_section):
            if self.rest[s] == 0:
                continue
            if self.floor[s] < least[s - from_section]:
                self._set(self.floor, s, least[s - from_section])
            if max(self.floor[s], y) + self.rest[s] > self.capacity:
                return False
        return True

    def _set(self, values: list[int], index: int, value: int) -> None:
        self.trail.append((values, index, values[index]))
        values[index] = value

    def _undo(self, frame: Frame) -> None:
        """Take back everything since the placement of this frame."""
        while len(self.log) > frame.log_mark:
            i = self.log.pop()
            self.address[i] = -1
            for f, z in self.pieces[i]:
                for s in range(f, z):
                    self.rest[s] += self.size[i]
            for k in range(self.first[i] + 1, self.last[i]):
                self.crossing[k] += 1
        while len(self.trail) > frame.trail_mark:
            values, index, value = self.trail.pop()
            values[index] = value
        frame.parts = []


def pieces_of(problem: AllocationProblem) -> list[list[tuple[int, int]]]:
    """Return the ranges of sections in which each buffer is live."""
    ends = list(zip(problem.piece_first.tolist(), problem.piece_last.tolist()))
    starts = problem.piece_starts.tolist()
    return [ends[a:b] for a, b in zip(starts, starts[1:])]


def crossings(problem: AllocationProblem) -> Ints:
    """Return for each border, before section k, how many buffers have sections on both sides."""
    change = np.zeros(problem.sections + 2, dtype=np.int64)
    np.add.at(change, problem.first + 1, 1)
    np.subtract.at(change, problem.last, 1)
    return np.cumsum(change)[:-1]


def base_ranks(problem: AllocationProblem, rank: str) -> Ints:
    """Return the place of each buffer by the letters W and A of a rank, descending; equal ones share theirs."""
    lifetime = problem.lifetime.tolist()
    values = {"W": lifetime, "A": [size * life for size, life in zip(problem.size.tolist(), lifetime)]}
    keys = list(zip(*(values[letter] for letter in rank if letter != "T")))
    place = {key: number for number, key in enumerate(sorted(set(keys), reverse=True))}
    return np.array([place[key] for key in keys], dtype=np.int64)
