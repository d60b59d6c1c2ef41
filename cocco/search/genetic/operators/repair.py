"""Repair, once per child: whatever the operators left becomes a valid partition (Cocco, Sec. 4.1.1 and 4.4.3).

Valid means that every subgraph is connected and that the quotient graph is acyclic. A valid partition comes back
unchanged, in time linear in layers and edges.
"""

from __future__ import annotations

from collections.abc import Sequence

from cocco.candidates.genome import _join, connected_parts
from cocco.problem.problem import Problem


def repair(problem: Problem, labels: Sequence[int]) -> list[int]:
    """Return a valid partition: the connected parts of the subgraphs, those on a cycle cut until it is open."""
    return break_cycles(problem, split_disconnected(problem, labels))


def split_disconnected(problem: Problem, labels: Sequence[int]) -> list[int]:
    """Return the partition into the connected parts of the subgraphs, each named by its smallest layer."""
    root = list(range(len(labels)))  # union-find; the root of a part is its smallest layer
    for p, v in problem.edges:
        if labels[p] == labels[v]:
            _join(root, p, v)
    for layers in problem.siblings:
        met: dict[int, int] = {}  # of each subgraph, its first layer here
        for v in layers:
            _join(root, met.setdefault(labels[v], v), v)
    for v, above in enumerate(root):  # ascending: above, if another layer, has its final root
        root[v] = root[above]
    return root


def break_cycles(problem: Problem, labels: Sequence[int]) -> list[int]:
    """Return the partition with the subgraphs on a cycle cut; the subgraphs given must be connected.

    Kahn's algorithm runs every subgraph whose inputs are there. If none is left that can run, the earliest layer
    that has not run is ready itself, because its producers stand before it. The part of its subgraph that can run
    now (layers whose ancestors have all run or are in the part) is cut off and runs; the rest waits. Each cut runs
    one layer at least, so it ends; every subgraph ran after its producers, so the quotient is acyclic. What has run
    when none can run is the same in whatever order they ran, so the result does not depend on it.
    """
    labels = list(labels)
    members: list[list[int]] = [[] for _ in labels]
    for v, label in enumerate(labels):
        members[label].append(v)
    waits = [0] * len(labels)  # per subgraph: edges from other subgraphs that have not run
    for p, v in problem.edges:
        if labels[p] != labels[v]:
            waits[labels[v]] += 1
    ready = [label for label, group in enumerate(members) if group and not waits[label]]
    done = [False] * len(labels)
    earliest = 0
    while True:
        _run(problem, labels, members, waits, ready, done)
        while earliest < len(labels) and done[earliest]:
            earliest += 1
        if earliest == len(labels):
            return labels
        pieces = _cut(problem, members[labels[earliest]], done)
        for piece in pieces:
            members[piece[0]] = piece
            for v in piece:
                labels[v] = piece[0]
        for piece in pieces:
            name = piece[0]
            waits[name] = sum(not done[p] and labels[p] != name for v in piece for p in problem.producers[v])
            if not waits[name]:
                ready.append(name)


def _run(
    problem: Problem,
    labels: Sequence[int],
    members: Sequence[Sequence[int]],
    waits: list[int],
    ready: list[int],
    done: list[bool],
) -> None:
    """Run subgraphs until none is ready."""
    consumers = problem.consumers
    while ready:
        name = ready.pop()
        for u in members[name]:
            done[u] = True
            for v in consumers[u]:
                label = labels[v]
                if label != name:
                    waits[label] -= 1
                    if not waits[label]:
                        ready.append(label)


def _cut(problem: Problem, group: Sequence[int], done: Sequence[bool]) -> list[list[int]]:
    """Return the connected parts of the layers of the group that can run now, then those of the rest."""
    part: list[int] = []
    rest: list[int] = []
    running: set[int] = set()
    for v in group:
        if all(done[p] or p in running for p in problem.producers[v]):
            running.add(v)
            part.append(v)
        else:
            rest.append(v)
    return connected_parts(problem, part) + connected_parts(problem, rest)
