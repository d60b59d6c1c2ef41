"""Genome: a partition and a memory (Cocco, Sec. 4.3). How to make one at random or from a partition (Sec. 4.4.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocco.candidates.stream import Stream
from cocco.problem.problem import Problem


class Genome(NamedTuple):
    """labels[v] is the smallest layer of v's subgraph, so that equal labels mean equal partitions.

    capacities: per buffer that is chosen, the position in its candidates. Operators return a new genome and
    never change a list that they were given.
    """

    labels: list[int]
    capacities: tuple[int, ...]

    @property
    def key(self) -> tuple[int, ...]:
        """The genome as a key for dicts and sets."""
        return (*self.labels, *self.capacities)


def groups_of(labels: Sequence[int]) -> list[list[int]]:
    """Return the layers of each subgraph, ascending; subgraphs by their first layer."""
    groups: dict[int, list[int]] = {}
    for v, label in enumerate(labels):
        if label in groups:
            groups[label].append(v)
        else:
            groups[label] = [v]
    return list(groups.values())


def canonical(labels: Sequence[int]) -> list[int]:
    """Return the labels of the same partition by smallest layers; any integers may name the given subgraphs."""
    first: dict[int, int] = {}
    return [first.setdefault(label, v) for v, label in enumerate(labels)]


def random_capacities(problem: Problem, stream: Stream) -> tuple[int, ...]:
    """Return a uniform choice of each buffer (Sec. 4.4.1)."""
    return tuple([stream.below(len(sizes)) for sizes in problem.candidates])


def random_labels(problem: Problem, stream: Stream) -> list[int]:
    """Return a random partition, to be repaired: in topological order each layer joins a producer or stands alone.

    Our choice of the paper's "randomly within the valid range": a layer joins the subgraph of a random producer
    with a probability that the genome draws for itself, so that small and large subgraphs are both tried.
    """
    joining = stream.draw() >> 32
    labels: list[int] = []
    for v, producers in enumerate(problem.producers):
        if producers and stream.chance(joining):
            labels.append(labels[producers[stream.below(len(producers))]])
        else:
            labels.append(v)
    return labels


def uniform_labels(problem: Problem, stream: Stream) -> list[int]:
    """Return a valid partition drawn as in the paper: each P(v) uniform in its valid range (Sec. 4.4.1).

    Subgraphs are numbered as they begin. In topological order a layer joins a subgraph that it is connected with and
    that is none before its last producer's, or begins one; so P(u) <= P(v) along each edge, and nothing needs repair.
    """
    labels: list[int] = []
    for v, producers in enumerate(problem.producers):
        last = max([labels[p] for p in producers], default=0)
        valid = list(dict.fromkeys(labels[u] for u in problem.near(v) if u < v and labels[u] >= last))
        labels.append([*valid, v][stream.below(len(valid) + 1)])
    return labels


def connected_parts(problem: Problem, group: Sequence[int]) -> list[list[int]]:
    """Return the parts of some layers (ascending) that are connected within them, by smallest layer."""
    root = {v: v for v in group}
    met: dict[int, int] = {}  # of each set of siblings, its first layer here
    for v in group:
        for p in problem.producers[v]:
            if p in root:
                _join(root, p, v)
        for i in problem.siblings_of[v]:
            _join(root, met.setdefault(i, v), v)
    parts: dict[int, list[int]] = {}
    for v in group:
        root[v] = root[root[v]]
        parts.setdefault(root[v], []).append(v)
    return list(parts.values())


def _join(root: list[int] | dict[int, int], u: int, v: int) -> None:
    """Unite the parts of u and v under the smaller root, shortening the paths walked."""
    while root[u] != u:
        root[u] = root[root[u]]
        u = root[u]
    while root[v] != v:
        root[v] = root[root[v]]
        v = root[v]
    if u < v:
        root[v] = u
    else:
        root[u] = v  # also where they are one already
