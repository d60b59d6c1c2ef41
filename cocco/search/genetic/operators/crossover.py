"""Crossover: a child inherits whole subgraphs of its two parents (Cocco, Sec. 4.4.2, Fig. 9b)."""

from __future__ import annotations

from cocco.candidates.genome import Genome, groups_of
from cocco.candidates.stream import ONE, Stream
from cocco.problem.problem import Problem

HALF = ONE // 2


def crossover(problem: Problem, mother: Genome, father: Genome, stream: Stream) -> Genome:
    """Return a child, to be repaired. Each layer not yet decided reproduces its subgraph of a random parent.

    Where layers of that subgraph are decided already, a coin is tossed: the others become a subgraph of their own
    (Child-1 of Fig. 9b), or join the subgraph of one of the decided layers (Child-2), which is drawn among the
    layers, so that a subgraph with a larger share is likelier. A capacity is the average of the parents', rounded
    to the nearest candidate; between two that are equally near a coin decides (our choices).
    """
    parents = [(each.labels, _by_label(each.labels)) for each in (mother, father)]
    child = [-1] * len(mother.labels)
    for v in range(len(child)):
        if child[v] >= 0:
            continue
        labels, members = parents[stream.chance(HALF)]
        group = members[labels[v]]
        decided = [u for u in group if child[u] >= 0]
        name = v  # the smallest layer of the new subgraph: all before it are decided
        if decided and stream.chance(HALF):
            name = child[decided[stream.below(len(decided))]]
        for u in group:
            if child[u] < 0:
                child[u] = name
    return Genome(child, average_capacities(mother, father, stream))


def average_capacities(mother: Genome, father: Genome, stream: Stream) -> tuple[int, ...]:
    """Return the averages; candidates are evenly spaced, so positions may be averaged instead of bytes."""
    return tuple([a + b + stream.chance(HALF) >> 1 for a, b in zip(mother.capacities, father.capacities)])


def _by_label(labels: list[int]) -> dict[int, list[int]]:
    return {group[0]: group for group in groups_of(labels)}
