"""Mutations: modify-node, split-subgraph, merge-subgraph, mutation-DSE (Cocco, Sec. 4.4.3, Fig. 9c-e), shift-layers.

Each returns a new genome, or the same one if there is nothing to change. Labels come back canonical; the partition may
need repair.
"""

from __future__ import annotations

from collections.abc import Sequence

from cocco.candidates.genome import Genome, canonical, groups_of
from cocco.candidates.stream import Stream
from cocco.problem.problem import Problem


def modify_node(problem: Problem, genome: Genome, stream: Stream) -> Genome:
    """Move a random layer to the subgraph of a layer that it is joined with, or to a new one.

    Our choice: only subgraphs next to the layer are drawn (once per edge and per sibling), because a subgraph must be
    connected.
    """
    labels = genome.labels
    v = stream.below(len(labels))
    near = [labels[u] for u in problem.near(v) if labels[u] != labels[v]]
    choice = stream.below(len(near) + 1)
    changed = labels.copy()
    changed[v] = near[choice] if choice < len(near) else len(labels)
    return Genome(canonical(changed), genome.capacities)


def split_subgraph(problem: Problem, genome: Genome, stream: Stream) -> Genome:
    """Cut a random subgraph of several layers in two at a random point of the topological order.

    Our choice: where branches run side by side, the halves fall into their connected parts by repair, so that the
    subgraph becomes "two or more".
    """
    groups = [group for group in groups_of(genome.labels) if len(group) > 1]
    if not groups:
        return genome
    group = groups[stream.below(len(groups))]
    cut = 1 + stream.below(len(group) - 1)
    labels = genome.labels.copy()
    for v in group[cut:]:
        labels[v] = group[cut]
    return Genome(labels, genome.capacities)


def merge_subgraphs(problem: Problem, genome: Genome, stream: Stream) -> Genome:
    """Merge the two subgraphs at the ends of a random edge, with those on paths between them.

    Our choice: subgraphs without an edge between them are seldom connected (those of siblings meet by modify-node), and
    one that runs after the first and before the second would make a cycle that repair could only undo.
    """
    labels = genome.labels
    crossing = [(p, v) for p, v in problem.edges if labels[p] != labels[v]]
    if not crossing:
        return genome
    p, v = crossing[stream.below(len(crossing))]
    merged = between(problem, labels, labels[p], labels[v])
    return Genome(canonical([len(labels) if merged[label] else label for label in labels]), genome.capacities)


def shift_layers(problem: Problem, genome: Genome, stream: Stream) -> Genome:
    """Move one end of a random edge between two subgraphs to the other's, with the layers that must come along.

    Our choice, in addition to the paper's mutations: the producer moves to the consumer's subgraph with all layers of
    its own that depend on it, or the consumer to the producer's with all that it depends on. So a boundary moves
    without a cycle between the two subgraphs, whereas modify-node often makes one that repair can only cut.
    """
    labels = genome.labels
    crossing = [(p, v) for p, v in problem.edges if labels[p] != labels[v]]
    if not crossing:
        return genome
    p, v = crossing[stream.below(len(crossing))]
    moved, goal, along = (p, labels[v], problem.consumers) if stream.draw() >> 63 else (v, labels[p], problem.producers)
    changed = labels.copy()
    changed[moved] = goal
    stack = [moved]
    while stack:
        for u in along[stack.pop()]:
            if changed[u] == labels[moved]:
                changed[u] = goal
                stack.append(u)
    return Genome(canonical(changed), genome.capacities)


def between(problem: Problem, labels: Sequence[int], first: int, second: int) -> list[bool]:
    """Return, by label, whether a subgraph is on a path from subgraph first to second, both included."""
    after = _reach(labels, problem.consumers, first)
    before = _reach(labels, problem.producers, second)
    return [a and b for a, b in zip(after, before)]


def _reach(labels: Sequence[int], neighbours: Sequence[Sequence[int]], start: int) -> list[bool]:
    """Return, by label, whether a subgraph is reached from the start through whole subgraphs."""
    members: list[list[int]] = [[] for _ in labels]
    for v, label in enumerate(labels):
        members[label].append(v)
    found = [False] * len(labels)
    found[start] = True
    stack = [start]
    while stack:
        for u in members[stack.pop()]:
            for v in neighbours[u]:
                label = labels[v]
                if not found[label]:
                    found[label] = True
                    stack.append(label)
    return found


def mutate_capacity(problem: Problem, genome: Genome, deviation: int, stream: Stream) -> Genome:
    """Move each capacity by a normal step, to the nearest candidate; deviation is in candidates times 2^16."""
    capacities = [
        min(max(position + stream.normal_step(deviation), 0), len(sizes) - 1)
        for position, sizes in zip(genome.capacities, problem.candidates)
    ]
    return Genome(genome.labels, tuple(capacities))
