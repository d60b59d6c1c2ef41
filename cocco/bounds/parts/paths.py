"""Paths of neighbours that may be in one subgraph, and what the layers on them take."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from cocco.bounds.floors.forced import Hulls, least_weights
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import NOTHING, SubgraphCosts


class Paths:
    """Paths of neighbours that may share a subgraph, and what the layers on them take."""

    def __init__(self, problem: Problem, costs: SubgraphCosts, hulls: Hulls, layers: Sequence[int]) -> None:
        machine, inside = problem.accelerator, set(layers)
        self.near: dict[int, list[int]] = {v: [] for v in layers}
        for v in layers:
            others = [w for w in dict.fromkeys(problem.near(v)) if w in inside]
            self.near[v] = [w for w in others if hulls.may_share((v, w), held=True)]
        self.room = machine.cores * machine.activation_capacity
        self.takes = {v: machine.cores * costs.bytes_of(v, NOTHING, costs.touched_by[v]) for v in layers}
        if machine.is_shared:
            weights = least_weights(problem)
            for v in layers:
                self.takes[v] += weights[v]

    def room_to(self, first: int, without: int = 0) -> dict[int, int]:
        """Return, by layer, the least bytes that a path to it takes, both ends included, if they fit into the room."""
        least, queue = {first: self.takes[first]}, [(self.takes[first], first)]
        while queue:
            taken, v = heapq.heappop(queue)
            for w in self.near[v] if taken == least[v] else ():
                more = taken + self.takes[w]
                if not without >> w & 1 and more <= self.room and more < least.get(w, more + 1):
                    least[w] = more
                    heapq.heappush(queue, (more, w))
        return least

    def cuts(self, one: int, other: int, on_way: set[int]) -> Iterator[frozenset[int]]:
        """Yield sets of these layers that cut one from the other; an empty set if nothing connects them."""
        seen = ring = {one}
        while True:
            ring = {w for v in ring for w in self.near[v] if w in on_way} - seen
            if other in ring:
                return
            yield frozenset(ring)
            if not ring:
                return
            seen = seen | ring
