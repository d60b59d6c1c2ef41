"""Buffers as arrays of integers: granules instead of bytes, sections instead of steps, who overlaps whom."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cocco.problem.engines import Compiled
from simulator.allocation.buffers import Buffer, live_intervals

Ints = npt.NDArray[np.int64]

KERNEL = Compiled("cocco.allocation.compiled._search", "search", 50)
MAX_PAIRS = 150_000_000  #: overlapping pairs that are held, 2.4 GB; our choice: a full overlap of 17,000 buffers


@dataclass(frozen=True, eq=False)
class AllocationProblem:
    """Buffers 0..n-1 in granules and sections; everything an allocator needs, and nothing else.

    A section is a largest set of buffers that are live together: a new one opens only when something starts after
    something has ended. Sections are numbered in time; a buffer without gaps lives in a contiguous range of them, one
    with gaps in several pieces. Neighbours of i, those that share a section with it, are
    neighbours[starts[i]:starts[i + 1]].
    """

    buffers: tuple[Buffer, ...]
    granule: int  #: bytes: the largest unit of which all addresses of a packed-down allocation are multiples
    size: Ints  #: granules
    alignment: Ints  #: granules
    fixed: Ints  #: granules, or -1
    lifetime: Ints  #: live steps
    piece_starts: Ints  #: pieces of i are piece_first[piece_starts[i]:piece_starts[i + 1]], piece_last likewise
    piece_first: Ints
    piece_last: Ints  #: exclusive
    starts: Ints
    neighbours: Ints
    sections: int
    contention: Ints  #: granules live in each section

    @property
    def first(self) -> Ints:
        """The first section of each buffer."""
        return self.piece_first[self.piece_starts[:-1]]

    @property
    def last(self) -> Ints:
        """One after the last section of each buffer; with gaps, not all in between are its own."""
        return self.piece_last[self.piece_starts[1:] - 1]

    @property
    def bound(self) -> int:
        """The largest contention, in granules."""
        return int(self.contention.max(initial=0))


def has_kernel() -> bool:
    """Return whether the compiled part is there: `_search.pyx`."""
    return KERNEL.is_built()


def make_problem(buffers: Sequence[Buffer]) -> AllocationProblem:
    """Return the arrays of these buffers; raises ValueError where more pairs overlap than can be held."""
    granule = find_granule(buffers)
    pieces = [live_intervals(buffer) for buffer in buffers]
    piece_starts = np.cumsum([0, *(len(each) for each in pieces)], dtype=np.int64)
    first, last, sections = _sections([interval for each in pieces for interval in each])
    size = _ints(buffer.size // granule for buffer in buffers)
    starts, neighbours = _neighbours(piece_starts, first, last)
    return AllocationProblem(
        buffers=tuple(buffers),
        granule=granule,
        size=size,
        alignment=_ints(max(buffer.alignment // granule, 1) for buffer in buffers),
        fixed=_ints(-1 if buffer.offset is None else buffer.offset // granule for buffer in buffers),
        lifetime=_ints(sum(after - start for start, after in each) for each in pieces),
        piece_starts=piece_starts,
        piece_first=first,
        piece_last=last,
        starts=starts,
        neighbours=neighbours,
        sections=sections,
        contention=_contention(np.repeat(size, np.diff(piece_starts)), first, last, sections),
    )


def find_granule(buffers: Sequence[Buffer]) -> int:
    """Return the largest number of bytes of which every address is a multiple once all is pushed down.

    It divides all sizes and fixed offsets; an alignment that divides it asks for nothing more, all others are
    multiples of it.
    """
    granule = math.gcd(*(buffer.size for buffer in buffers), *(buffer.offset or 0 for buffer in buffers)) or 1
    alignments = {buffer.alignment for buffer in buffers}
    while rest := [each for each in alignments if granule % each and each % granule]:
        granule = math.gcd(granule, *rest)
    return granule


def time_parts(problem: AllocationProblem) -> list[list[int]]:
    """Return groups of buffers in time order such that no step has live buffers of two groups (Sec. 5.3)."""
    first, last = problem.first, problem.last
    groups: list[list[int]] = []
    reach = -1
    for i in np.argsort(first, kind="stable").tolist():
        if first[i] >= reach:
            groups.append([])
        groups[-1].append(i)
        reach = max(reach, int(last[i]))
    return [sorted(group) for group in groups]


def _ints(values: object) -> Ints:
    return np.array(list(values), dtype=np.int64)  # type: ignore[call-overload]


def _sections(intervals: Sequence[tuple[int, int]]) -> tuple[Ints, Ints, int]:
    """Return the first section of each interval, one after its last, and how many sections there are."""
    events = sorted((step, kind, k) for k, ends in enumerate(intervals) for kind, step in ((1, ends[0]), (0, ends[1])))
    first, last = np.zeros(len(intervals), dtype=np.int64), np.zeros(len(intervals), dtype=np.int64)
    section, ended = 0, False
    for _, is_start, k in events:  # ends before starts: touching in time is no overlap
        if not is_start:
            last[k], ended = section + 1, True
        else:
            section, ended = section + ended, False
            first[k] = section
    return first, last, section + 1 if intervals else 0


def _neighbours(piece_starts: Ints, first: Ints, last: Ints) -> tuple[Ints, Ints]:
    """Return who shares a section with whom, in compressed rows in the order of starts; no n x n matrix on the way.

    In the order of their first sections, the pieces that start within a piece are the ones right behind it.
    """
    count = len(piece_starts) - 1
    owner = np.repeat(np.arange(count, dtype=np.int64), np.diff(piece_starts))
    order = np.argsort(first, kind="stable")
    behind = np.searchsorted(first[order], last[order], side="left") - np.arange(1, len(order) + 1)
    pairs = int(behind.sum())
    if pairs > MAX_PAIRS:
        raise ValueError(f"{pairs} pairs of buffers overlap in time; at most {MAX_PAIRS} can be held")
    if len(owner) == count and has_kernel():
        from cocco.allocation.compiled import _search

        return _search.neighbour_rows(order, behind)
    left = np.repeat(np.arange(len(order)), behind)
    right = left + 1 + np.arange(pairs) - np.repeat(np.cumsum(behind) - behind, behind)
    one, other = owner[order[left]], owner[order[right]]
    del left, right
    in_time = np.argsort(first[piece_starts[:-1]], kind="stable")
    place = np.empty(count, dtype=np.int64)
    place[in_time] = np.arange(count)
    keys = np.concatenate([one * count + place[other], other * count + place[one]])
    keys.sort()
    if len(owner) > count:  # two buffers with gaps can meet in several pieces
        keys = np.unique(keys)
    starts = np.searchsorted(keys, np.arange(count + 1) * count)
    return starts.astype(np.int64), in_time[keys % max(count, 1)]


def _contention(sizes: Ints, first: Ints, last: Ints, sections: int) -> Ints:
    change = np.zeros(sections + 1, dtype=np.int64)
    np.add.at(change, first, sizes)
    np.subtract.at(change, last, sizes)
    return np.cumsum(change)[:-1]
