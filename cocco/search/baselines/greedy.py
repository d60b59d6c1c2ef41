"""The greedy grouping of Halide, carried over to layers (Cocco, Sec. 4.2.2)."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence

from cocco.candidates.stream import ONE, Stream
from cocco.effort.status import Unfinished
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

MOST_BETWEEN = 16  #: our choice: of a set of siblings, those so far apart are a pair

Pair = tuple[int, int]  # subgraphs by their smallest layers; the first feeds the second, or they have siblings


def greedy(
    problem: Problem,
    costs: SubgraphCosts,
    stream: Stream | None = None,
    noise: float = 0.0,
    fixed: Sequence[Sequence[int]] = (),
) -> tuple[list[int], float]:
    """Return labels and Formula 1: start from single layers and fuse the best pair until no fusion saves anything.

    A pair is two joined subgraphs with no path through others from one to the other, which would become a cycle. The
    benefit is what the fusion saves; of equal benefits the smallest pair goes first (our choice).
    stream, noise: each benefit is scaled by a random factor, at least 1 - noise, so that each stream gives another
    partition (our choice: founders of a search).
    fixed: groups that stay as they are and can run one after another; the other layers are fused around them.
    """
    grouping = _Grouping(problem, costs, stream, noise, fixed)
    try:
        while (pair := grouping.best_pair()) is not None:
            grouping.fuse(*pair)
        cost = 0.0
        for label in sorted(grouping.members):
            cost += costs.costs(grouping.members[label])
    except KeyboardInterrupt:
        raise Unfinished(grouping.labels()) from None
    return grouping.labels(), cost


class _Grouping:
    """The subgraphs at one moment, the edges and siblings between them and the benefit of fusing each pair."""

    def __init__(
        self,
        problem: Problem,
        costs: SubgraphCosts,
        stream: Stream | None,
        noise: float,
        fixed: Sequence[Sequence[int]],
    ) -> None:
        self.costs, self.stream, self.noise = costs, stream, noise
        self.layers = range(problem.size)
        self.fixed = {min(group) for group in fixed}
        label = list(range(problem.size))
        for group in fixed:
            for v in group:
                label[v] = min(group)
        self.members: dict[int, tuple[int, ...]] = {v: (v,) for v in range(problem.size) if label[v] == v}
        self.members |= {min(group): tuple(sorted(group)) for group in fixed}
        self.feeds: dict[int, set[int]] = {v: set() for v in self.members}
        self.reads: dict[int, set[int]] = {v: set() for v in self.members}
        self.beside: dict[int, set[int]] = {v: set() for v in self.members}  # those with a sibling
        self.benefits: dict[Pair, float] = {}  # of the pairs that gain
        self.ranked: list[tuple[float, Pair]] = []  # a heap of them, the greatest first; it may hold old benefits
        edges = dict.fromkeys((label[u], label[v]) for u, v in problem.edges if label[u] != label[v])
        for u, v in edges:
            self.feeds[u].add(v)
            self.reads[v].add(u)
        for edge in edges:
            self._weigh(*edge)
        for first, second in dict.fromkeys(_pair(label[u], label[v]) for u, v in _siblings(problem)):
            if first != second and second not in self.feeds[first] and first not in self.feeds[second]:
                self.beside[first].add(second)
                self.beside[second].add(first)
                self._weigh(first, second)

    def labels(self) -> list[int]:
        """Return the current partition; in the middle of a fusion one of its two subgraphs is split into layers."""
        labels = list(range(len(self.layers)))
        for label, layers in self.members.items():
            for v in layers:
                labels[v] = label
        return labels

    def best_pair(self) -> Pair | None:
        """Return the pair of the greatest benefit that may be fused; None if there is none.

        A pair with a detour is dropped: fusing subgraphs of the detour leaves it a detour, and after a fusion with one
        of the pair, the pair is weighed again.
        """
        while self.ranked:
            loss, pair = heapq.heappop(self.ranked)
            if self.benefits.get(pair) == -loss and not self._has_detour(*pair):
                if pair[1] in self.feeds[pair[0]] or not self._has_detour(*pair[::-1]):
                    return pair
        return None

    def fuse(self, first: int, second: int) -> None:
        """Fuse two subgraphs into one."""
        for end in (first, second):
            for after in self.feeds[end]:
                self.benefits.pop((end, after), None)
            for before in self.reads[end]:
                self.benefits.pop((before, end), None)
            for other in self.beside[end]:
                self.benefits.pop(_pair(end, other), None)
        label, gone = min(first, second), max(first, second)
        self.members[label] = tuple(sorted(self.members[label] + self.members.pop(gone)))
        for near, back in ((self.feeds, self.reads), (self.reads, self.feeds), (self.beside, self.beside)):
            near[label] = (near[label] | near.pop(gone)) - {label, gone}
            for neighbour in near[label]:
                back[neighbour] = (back[neighbour] - {gone}) | {label}
        for after in sorted(self.feeds[label]):
            self._weigh(label, after)
        for before in sorted(self.reads[label]):
            self._weigh(before, label)
        for other in sorted(self.beside[label] - self.feeds[label] - self.reads[label]):
            self._weigh(*_pair(label, other))

    def _weigh(self, first: int, second: int) -> None:
        if first in self.fixed or second in self.fixed:
            return
        fused = tuple(sorted(self.members[first] + self.members[second]))
        after = self.costs.costs(fused) if self.costs.may_fit(fused) else math.inf
        gain = self.costs.costs(self.members[first]) + self.costs.costs(self.members[second]) - after
        if gain > 0:
            if self.stream is not None:
                gain *= 1.0 - self.noise * ((self.stream.draw() >> 32) / ONE)
            self.benefits[first, second] = gain
            heapq.heappush(self.ranked, (-gain, (first, second)))

    def _has_detour(self, first: int, second: int) -> bool:
        """Whether a path leads from the first to the second through another subgraph.

        The search alternates between both ends: if one of them has only a few subgraphs behind it, the answer is quick,
        however long the network is.
        """
        after, before = self.feeds[first] - {second}, self.reads[second] - {first}
        ahead, behind = list(after), list(before)
        if after & before:
            return True
        while ahead and behind:
            for near, stack, seen, others in (
                (self.feeds, ahead, after, before), (self.reads, behind, before, after),
            ):  # fmt: skip
                if not stack:
                    break
                for label in near[stack.pop()]:
                    if label in others:
                        return True
                    if label not in seen:
                        seen.add(label)
                        stack.append(label)
        return False


def _siblings(problem: Problem) -> Iterator[Pair]:
    for layers in problem.siblings:
        for i, u in enumerate(layers):
            yield from ((u, v) for v in layers[i + 1 : i + 1 + MOST_BETWEEN])


def _pair(one: int, other: int) -> Pair:
    return (one, other) if one < other else (other, one)
