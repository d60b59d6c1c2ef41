"""Dynamic programming over a linear order of the layers (Irregular-NN; Cocco, Sec. 4.2.3), and over many orders."""

from __future__ import annotations

import math
from collections.abc import Sequence

from cocco.candidates.genome import groups_of
from cocco.candidates.stream import Stream
from cocco.effort.status import Unfinished
from cocco.problem.problem import Problem
from cocco.search.pricing.subgraphs import SubgraphCosts

MOST_DISSOLVED = 3  #: our choice: subgraphs on a walk that are taken apart in one round


def depth_order(problem: Problem) -> list[int]:
    """Return the layers by depth, the longest distance from a model input (Sec. 4.2.3), equal ones by id.

    Networks stay one after another.
    """
    depths: list[int] = []
    for producers in problem.producers:
        depths.append(1 + max([depths[p] for p in producers], default=-1))
    return sorted(range(problem.size), key=lambda v: (problem.network_of[v], depths[v], v))


def dynamic(problem: Problem, costs: SubgraphCosts, order: Sequence[int]) -> tuple[list[int], float]:
    """Return labels and Formula 1 of the cheapest cut of a topological order into contiguous runs.

    Our choice: a run that is not connected stands for its connected parts, as subgraphs must be connected. A run
    stays within one network, and is not extended once a part of several layers is too large for any continuation.
    Of equally cheap cuts the one with the shortest last run is taken.
    """
    best: list[float] = [0]  # cost of the layers before each position; whole numbers stay such
    choice: list[list[tuple[int, ...]]] = [[]]  # parts of the run that ends there
    starts = [0]
    try:
        for end in range(1, len(order) + 1):
            least, parts, start = _cheapest_end(problem, costs, order, end, best)
            best.append(least)
            choice.append(parts)
            starts.append(start)
    except KeyboardInterrupt:
        raise Unfinished(_labels(problem, choice, starts)) from None
    return _labels(problem, choice, starts), best[-1]


def _cheapest_end(
    problem: Problem, costs: SubgraphCosts, order: Sequence[int], end: int, best: Sequence[float]
) -> tuple[float, list[tuple[int, ...]], int]:
    """Return the least cost of the layers before a position, and the parts and the start of the last run there."""
    least, parts_of_least, start_of_least = math.inf, list[tuple[int, ...]](), end - 1
    parts: list[tuple[int, ...]] = []  # by smallest layer: the order in which their costs are added
    for start in range(end - 1, -1, -1):
        v = order[start]
        if problem.network_of[v] != problem.network_of[order[end - 1]]:
            break
        parts, joined = _with_layer(problem, parts, v)
        if len(joined) > 1 and not costs.may_fit(joined):
            break
        total = best[start]
        for part in parts:
            total += costs.costs(part)
            if total >= least:
                break
        else:
            least, parts_of_least, start_of_least = total, parts, start
    return least, parts_of_least, start_of_least


def _labels(problem: Problem, choice: Sequence[Sequence[Sequence[int]]], starts: Sequence[int]) -> list[int]:
    """Return the labels of the best cut so far; later layers, and layers that fit in no run, are alone."""
    labels = list(range(problem.size))
    end = len(starts) - 1
    while end:
        for part in choice[end]:
            for v in part:
                labels[v] = part[0]
        end = starts[end]
    return labels


def improve(
    problem: Problem, costs: SubgraphCosts, labels: Sequence[int], stream: Stream, rounds: int
) -> tuple[list[int], float]:
    """Return a partition that is no worse than a valid one, and its Formula 1: iterated order DP (our choice).

    A round takes apart the 0 to 3 subgraphs on a short random walk, draws a random topological order with each
    remaining subgraph in one piece, and cuts it again. The old subgraphs are runs of that order unless taken apart, so
    without dissolving no round is worse; a worse round is dropped.
    """
    current = list(labels)
    cost: float = 0
    for group in groups_of(current):
        cost += costs.costs(tuple(group))
    for _ in range(rounds):
        pieces = dissolved(problem, current, stream, MOST_DISSOLVED)
        changed, value = dynamic(problem, costs, _random_order(problem, pieces, stream))
        if value <= cost:
            current, cost = changed, value
    return current, cost


def _with_layer(
    problem: Problem, parts: Sequence[tuple[int, ...]], v: int
) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """Return the connected parts once v is added in front, by smallest layer, and the part that v is in."""
    near = problem.near(v)
    joined = [v]
    apart = []
    for part in parts:
        if any(w in part for w in near):
            joined += part
        else:
            apart.append(part)
    whole = tuple(sorted(joined))
    return sorted([*apart, whole]), whole


def dissolved(problem: Problem, labels: Sequence[int], stream: Stream, most: int) -> list[int]:
    """Return the labels with 0 to `most` subgraphs taken apart into layers, each a neighbour of the one before."""
    groups = {group[0]: group for group in groups_of(labels)}
    label = labels[stream.below(len(labels))]
    changed = list(labels)
    for _ in range(stream.below(most + 1)):
        for v in groups[label]:
            changed[v] = v
        near = sorted({labels[u] for v in groups[label] for u in problem.near(v)} - {label})
        if not near:
            break
        label = near[stream.below(len(near))]
    return changed


def _random_order(problem: Problem, labels: Sequence[int], stream: Stream) -> list[int]:
    """Return a random topological order in which each subgraph is in one piece, and each network in one piece."""
    groups = {group[0]: group for group in groups_of(labels)}
    edges = [(labels[p], labels[v]) for p, v in problem.edges if labels[p] != labels[v]]
    order = []
    for label in _shuffled(list(groups), edges, stream):
        inside = set(groups[label])
        order += _shuffled(
            groups[label], [(p, v) for v in groups[label] for p in problem.producers[v] if p in inside], stream
        )
    return sorted(order, key=problem.network_of.__getitem__)  # stable


def _shuffled(nodes: Sequence[int], edges: Sequence[tuple[int, int]], stream: Stream) -> list[int]:
    """Return the nodes of an acyclic graph in a random topological order: repeatedly draw one of the ready nodes."""
    missing = dict.fromkeys(nodes, 0)
    feeds: dict[int, list[int]] = {node: [] for node in nodes}
    for u, v in edges:
        missing[v] += 1
        feeds[u].append(v)
    ready = [node for node in nodes if not missing[node]]
    order = []
    while ready:
        i = stream.below(len(ready))
        ready[i], ready[-1] = ready[-1], ready[i]
        node = ready.pop()
        order.append(node)
        for v in feeds[node]:
            missing[v] -= 1
            if not missing[v]:
                ready.append(v)
    return order
