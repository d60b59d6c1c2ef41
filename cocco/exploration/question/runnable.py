"""Rule out, before any search, the memories of a question that certainly cannot run its networks.

A layer runs alone, perhaps while some of its own tensors are kept, or in a subgraph with one that it is joined with.
If a memory has room for neither, no plan runs in it. The memories that are left may still fail: a search or a proof
will tell.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from cocco.effort.planned import Memory
from cocco.problem.problem import Problem, in_memory
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.kept import Kept
from simulator.views.least_capacity import Way, least_ways

MOST_TENSORS = 8  #: of a layer that may be kept, each or not; of one with more nothing is ruled out; our choice


def runnable(problem: Problem) -> Problem | None:
    """Return the problem without sizes in which some layer certainly does not run; None if none is left."""
    largest = tuple(len(sizes) - 1 for sizes in problem.candidates)
    if _is_ruled_out(problem, largest):
        return None
    if not _is_ruled_out(problem, (0,) * len(largest)):
        return problem
    buffers = {}
    for i, (name, sizes) in enumerate(problem.buffers.items()):

        def runs(at: int, i: int = i) -> bool:
            return not _is_ruled_out(problem, (*largest[:i], at, *largest[i + 1 :]))

        buffers[name] = sizes[bisect_left(range(len(sizes)), True, key=runs) :]
    return replace(problem, buffers=buffers)


def _is_ruled_out(problem: Problem, memory: Memory) -> bool:
    """Return whether some layer has no room in this memory in any plan."""
    machine = problem.accelerator_of(memory)
    activation, weights = machine.activation_capacity, machine.weight_capacity
    costs: SubgraphCosts | None = None
    for v in range(problem.size):
        for way in _ways(problem, v):
            if (sum(way) if machine.is_shared else way[0]) <= activation and way[1] <= weights:
                break
        else:
            costs = costs or SubgraphCosts(in_memory(problem, memory))
            if not any(costs.may_fit((min(u, v), max(u, v))) for u in problem.near(v)):
                return True
    return False


def _ways(problem: Problem, v: int) -> Iterator[Way]:
    """Yield the least room that a layer alone takes, for each way to run it and each choice of its tensors to keep."""
    i = problem.network_of[v]
    network, rules, models, layer = problem.networks[i], problem.rules[i], problem.models[i], v - problem.offsets[i]
    yield from least_ways(models.of((layer,)))
    if problem.keep == "none":
        return
    inputs = frozenset(network.producers[layer])
    tensors = {layer, *inputs}
    if len(tensors) > MOST_TENSORS:
        yield 0, 0
        return
    for count in range(1, len(tensors) + 1):
        for chosen in combinations(sorted(tensors), count):
            stay = frozenset(chosen)
            model = models.of((layer,), Kept(stay, inputs - stay, frozenset({layer}) - stay))
            size = sum(map(rules.whole_bytes, stay)) - rules.handed_bytes((layer,), stay, stay)
            yield from ((a + size, w) for a, w in least_ways(model)) if model.rule_broken is None else ()
