"""Layers that read the same tensor, by the paper's rule: a subgraph has both only if it has layers that connect them.

By our rule such layers are joined as they are, and there is nothing to add. The paper's subgraphs are connected through
their own layers, and so are held ones by its rule. A set that is not connected might seem to save bytes because its
parts load a tensor together, once; so two readers of a loaded tensor u must be joined by a path. The path leads through
layers that may be with both readers, that fit into the room together, and that do not come before u: a subgraph with
such a layer and a reader would also have u, and then the readers are connected. The layers at one distance from a
reader cut it off from the other; a connected set has a layer of each such cut.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from cocco.bounds.floors.forced import Hulls, least_weights
from cocco.bounds.parts.crossings import Tensors
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts


class Siblings(NamedTuple):
    """Two readers of a tensor that are in one subgraph only if it has the tensor, or one of each set of layers."""

    tensor: int
    readers: tuple[int, int]
    cuts: tuple[frozenset[int], ...]  #: an empty one: no path


def apart(
    problem: Problem, costs: SubgraphCosts, hulls: Hulls, tensors: Tensors, layers: Sequence[int]
) -> Iterator[Siblings]:
    """Yield them for every tensor that costs bytes to load; layers: those that S may have. None by our rule."""
    if problem.accelerator.connection == "all":
        return
    paths = _Paths(problem, costs, hulls, layers)
    inside = set(layers)
    for u, size in enumerate(tensors.comes):
        readers = [v for v in tensors.readers[u] if v in inside]
        if not size or len(readers) < 2:
            continue
        before = hulls.up[u] if u < problem.size else 0
        away = {v: paths.room_to(v, before) for v in readers}
        for one, other in combinations(readers, 2):
            on_way = {
                w
                for w in away[one].keys() & away[other].keys()
                if away[one][w] + away[other][w] - paths.takes[w] <= paths.room
                and hulls.may_share((one, w), held=True)
                and hulls.may_share((w, other), held=True)
            }
            yield Siblings(u, (one, other), tuple(paths.cuts(one, other, on_way)))


class _Paths:
    """Paths of neighbours that may share a subgraph, and what the layers on them take."""

    def __init__(self, problem: Problem, costs: SubgraphCosts, hulls: Hulls, layers: Sequence[int]) -> None:
        machine, inside = problem.accelerator, set(layers)
        self.near: dict[int, list[int]] = {v: [] for v in layers}
        for u, v in problem.edges:
            if u in inside and v in inside and hulls.may_share((u, v), held=True):
                self.near[u].append(v)
                self.near[v].append(u)
        self.room = machine.cores * machine.activation_capacity
        self.takes = {v: machine.cores * costs.bytes_for(v, None) for v in layers}
        if machine.is_shared:
            weights = least_weights(problem)
            for v in layers:
                self.takes[v] += weights[v]

    def room_to(self, first: int, without: int) -> dict[int, int]:
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
