"""Sets of layers that no subgraph connects: the network splits where neighbours do not fit together."""

from __future__ import annotations

from cocco.bounds.floors.forced import Hulls
from cocco.problem.problem import Problem


def components(problem: Problem, hulls: Hulls) -> list[list[int]]:
    """Return the layers in sets of ascending ids, the smallest sets first; a subgraph is within one of them.

    A subgraph is connected, so by edges and siblings whose two layers may share a subgraph.
    """
    above = list(range(problem.size))

    def root(v: int) -> int:
        while above[v] != v:
            above[v] = v = above[above[v]]
        return v

    for v in range(problem.size):
        for u in problem.near(v):
            if u < v and root(u) != root(v) and hulls.may_share((u, v)):
                above[root(v)] = root(u)
    together: dict[int, list[int]] = {}
    for v in range(problem.size):
        together.setdefault(root(v), []).append(v)
    return sorted(together.values(), key=lambda layers: (len(layers), layers[0]))
