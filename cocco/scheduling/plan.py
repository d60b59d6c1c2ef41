"""A plan without addresses: an order, and the steps in which each tensor is resident; its cost and its rectangles."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from cocco.candidates.sets import members
from cocco.scheduling.graph import Graph

Run = tuple[int, int]  #: first and last step of a stay, both included


class Plan(NamedTuple):
    """What an optimiser of order and residency decides. Steps count from 0."""

    order: tuple[int, ...]
    runs: tuple[tuple[Run, ...], ...]  #: of each tensor, in order; the first begins at its creation


def uses_of(graph: Graph, order: Sequence[int]) -> list[list[int]]:
    """Return the steps that use each tensor, in order: that of its creation, then those of its readers."""
    uses: list[list[int]] = [[] for _ in order]
    for step, o in enumerate(order):
        uses[o].append(step)
        for a in graph.reads[o]:
            uses[a].append(step)
    return uses


def plan_of_gaps(graph: Graph, order: Sequence[int], dropped: set[tuple[int, int]]) -> Plan:
    """Return the plan that keeps every tensor from creation to last use, but for the dropped gaps.

    dropped: (tensor, k) leaves out what lies between its uses k and k + 1.
    """
    runs = []
    for a, uses in enumerate(uses_of(graph, order)):
        first, found = uses[0], []
        for k in range(len(uses) - 1):
            if (a, k) in dropped:
                found.append((first, uses[k]))
                first = uses[k + 1]
        runs.append((*found, (first, uses[-1])))
    return Plan(tuple(order), tuple(runs))


def trimmed(graph: Graph, plan: Plan) -> Plan:
    """Return the plan with every stay cut back to its first and last use; stays without a use go."""
    runs = []
    for uses, stays in zip(uses_of(graph, plan.order), plan.runs):
        found = []
        for first, last in stays:
            inside = [step for step in uses if first <= step <= last]
            if inside:
                found.append((inside[0], inside[-1]))
        runs.append(tuple(found))
    return Plan(plan.order, tuple(runs))


def runs_of(steps: Iterable[int], begins: Container[int] = ()) -> tuple[Run, ...]:
    """Return the stays of a tensor from its steps, ascending; one begins wherever `begins` says so too."""
    runs: list[Run] = []
    for step in steps:
        if runs and runs[-1][1] == step - 1 and step not in begins:
            runs[-1] = (runs[-1][0], step)
        else:
            runs.append((step, step))
    return tuple(runs)


def cost_of(graph: Graph, plan: Plan) -> int:
    """Return the bytes that are spilled and retrieved (Eq. 12)."""
    total = 0
    for a, stays in enumerate(plan.runs):
        if len(stays) > 1:
            total += graph.size[a] * (len(stays) - 1 + (0 if graph.has_copy[a] else 1))
    return total


def live_bytes(graph: Graph, plan: Plan) -> list[int]:
    """Return what is resident at each step, parameters included."""
    change = [0] * (len(plan.order) + 1)
    for a, stays in enumerate(plan.runs):
        for first, last in stays:
            change[first] += graph.size[a]
            change[last + 1] -= graph.size[a]
    found, live = [], 0
    for step, o in enumerate(plan.order):
        live += change[step]
        found.append(live + graph.weight[o])
    return found


def peak_of(graph: Graph, order: Sequence[int]) -> int:
    """Return the peak of live bytes of an order where nothing is ever spilled."""
    return max(live_bytes(graph, plan_of_gaps(graph, order, set())), default=0)


def is_order(graph: Graph, order: Sequence[int]) -> bool:
    """Return whether every operator stands once, after all that it reads."""
    done = 0
    for o in order:
        if done >> o & 1 or graph.read_mask[o] & ~done:
            return False
        done |= 1 << o
    return done == (1 << len(graph)) - 1


def ready_after(graph: Graph, done: int) -> list[int]:
    """Return the operators that can run next, ascending."""
    left = ~done & ((1 << len(graph)) - 1)
    return [o for o in members(left) if not graph.read_mask[o] & ~done]
