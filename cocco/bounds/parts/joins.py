"""What a fork must hold until its branches meet again: branches of different depth read its tensor at distant places.

A subgraph that has a layer u and a reader v of it has all layers between them. Along a path from u to v each layer
runs ahead of the next (subgraph/tiling.py, lead), while v itself still reads earlier elements of u. With strides
of 1 all the way, lead(u) >= lead(v) + the sum of reach(x) - 1 - padding(x) over the layers x after u, so

    size(u) - step(u)  >=  lead(u) - (lead(v) - padding(v))  >=  padding(v) + that sum

whatever else is in the subgraph. Of several paths the longest counts; the direct one gives reach(v) - 1.
"""

from __future__ import annotations

from cocco.problem.problem import Problem
from simulator.model.subgraph.subgraph import COLUMNS, ROWS

Slack = tuple[int, int]  # by rows and by columns


def slacks_between(problem: Problem) -> dict[tuple[int, int], Slack]:
    """Return, by layer and reader (ids of the union), the least elements that the tensor holds beyond its step.

    Only if that is more than the reader needs by itself; nothing with the paper's tile rule, which has no leads.
    """
    found: dict[tuple[int, int], Slack] = {}
    if problem.tile_rule == "paper":
        return found
    for i, offset in enumerate(problem.offsets[:-1]):
        rows, columns = (_along(problem, i, axis) for axis in (ROWS, COLUMNS))
        for u, v in {*rows, *columns}:
            found[offset + u, offset + v] = rows.get((u, v), 0), columns.get((u, v), 0)
    return found


def _along(problem: Problem, i: int, axis: int) -> dict[tuple[int, int], int]:
    geometry = problem.rules[i].geometry
    network, found = geometry.network, dict[tuple[int, int], int]()
    reach, padding = geometry.reach[axis], geometry.padding[axis]
    is_plain = [one == two == 1 for one, two in zip(geometry.stride[axis], geometry.upsample[axis])]
    local = [[r.layer for r in readers if r.local and is_plain[r.layer]] for readers in geometry.readers]
    for u, readers in enumerate(network.consumers[: len(network.layers)]):
        if len(readers) < 2:
            continue
        ahead = {u: 0}  # of each layer that a path from u leads to
        for v in range(u, max(readers) + 1):
            for w in local[v] if v in ahead else ():
                ahead[w] = max(ahead.get(w, ahead[v] + reach[w] - 1 - padding[w]), ahead[v] + reach[w] - 1 - padding[w])
        for v in local[u]:
            slack = padding[v] + ahead[v]
            if slack > reach[v] - 1:
                found[u, v] = slack
    return found
