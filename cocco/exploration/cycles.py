"""Subgraphs that wait for each other: no order runs them."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.problem.problem import Problem


def circle(problem: Problem, labels: Sequence[int]) -> set[int]:
    """Return the labels of subgraphs of which each needs another one, in a circle; empty: there is an order.

    What can run is run (Kahn's algorithm); from a subgraph that is left one goes back to what it waits for until one
    comes again.
    """
    needs: dict[int, set[int]] = {label: set() for label in labels}
    for p, v in problem.edges:
        if labels[p] != labels[v]:
            needs[labels[v]].add(labels[p])
    feeds: dict[int, list[int]] = {label: [] for label in needs}
    for label, before in needs.items():
        for each in before:
            feeds[each].append(label)
    waits = {label: len(before) for label, before in needs.items()}
    ready = [label for label, count in waits.items() if not count]
    while ready:
        label = ready.pop()
        del waits[label]
        for each in feeds[label]:
            waits[each] -= 1
            if not waits[each]:
                ready.append(each)
    if not waits:
        return set()
    way = [min(waits)]
    while True:
        waited = min(each for each in needs[way[-1]] if each in waits)
        if waited in way:
            return set(way[way.index(waited) :])
        way.append(waited)
