"""Layers that read the same tensor, by the paper's rule: a subgraph has both only if it has layers that connect them.

By our rule such layers are joined as they are, and there is nothing to add. The paper's subgraphs are connected through
their own layers, and so are held ones by its rule. A set that is not connected might seem to save bytes because its
parts load a tensor together, once; so two readers of a loaded tensor u must be joined by a path. The path leads through
layers that may be with both readers, that fit into the room together, and that do not come before u: a subgraph with
such a layer and a reader would also have u, and then the readers are connected. The layers at one distance from a
reader cut it off from the other; a connected set has a layer of each such cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from cocco.bounds.floors.forced import Hulls
from cocco.bounds.parts.crossings import Tensors
from cocco.bounds.parts.paths import Paths
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
    paths = Paths(problem, costs, hulls, layers)
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
