"""PACK: an address for every stay of a plan, and the schedule that the simulator judges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from cocco.allocation.allocate import allocate
from cocco.scheduling.graph import Graph
from cocco.scheduling.plan import Plan
from simulator.allocation.buffers import Buffer
from simulator.schedule.schedule import Enters, Leaves, Schedule, Segment, parameter_names

PACKING_NODES = 200_000  #: of the allocator's complete search; its own default
CP_NODES = 20_000  #: where that gave up: ten units of CP-SAT's deterministic time; our choice

How = Literal["greedy", "search", "cp", "model", "none"]


class Stay(NamedTuple):
    """One rectangle: a tensor (or, with is_weight, the parameters of an operator) from step first to last."""

    tensor: int
    first: int
    last: int
    is_weight: bool = False


class Packed(NamedTuple):
    """Where every stay lies, or those that cannot lie together."""

    status: Literal["packed", "infeasible", "gave_up"]
    addresses: dict[Stay, int]
    how: How
    conflict: tuple[Stay, ...]


Packer = Callable[[Graph, Sequence[Stay], int, int], Packed]


def stays_of(graph: Graph, plan: Plan) -> list[Stay]:
    """Return every rectangle of a plan."""
    found = [Stay(a, first, last) for a, runs in enumerate(plan.runs) for first, last in runs]
    return found + [Stay(o, step, step, True) for step, o in enumerate(plan.order) if graph.weight[o]]


def size_of(graph: Graph, stay: Stay) -> int:
    """Return the bytes of a rectangle."""
    return graph.weight[stay.tensor] if stay.is_weight else graph.size[stay.tensor]


def pack(graph: Graph, stays: Sequence[Stay], capacity: int, alignment: int = 1) -> Packed:
    """Return addresses by `cocco.allocate`: greedy orders, then the complete search, then CP-SAT where that gave up."""
    buffers = [
        Buffer(str(i), each.first, each.last + 1, size_of(graph, each), alignment) for i, each in enumerate(stays)
    ]
    found = allocate(buffers, capacity, nodes=PACKING_NODES)
    if found.status == "gave_up":
        try:
            found = allocate(buffers, capacity, "cp", nodes=CP_NODES, explain=False)
        except ValueError:  # without the extra the question stays open
            pass
    if found.allocation is not None:
        addresses = {stay: found.allocation.addresses[str(i)] for i, stay in enumerate(stays)}
        return Packed("packed", addresses, _how(found.solved_by), ())
    if found.status == "infeasible":
        named = range(len(stays)) if found.conflict is None else map(int, found.conflict)
        return Packed("infeasible", {}, "none", tuple(stays[i] for i in named))
    return Packed("gave_up", {}, "none", ())


def _how(solved_by: str | None) -> How:
    if solved_by and "CP-SAT" in solved_by:
        return "cp"
    return "greedy" if solved_by and "greedy" in solved_by else "search"


def schedule_of(graph: Graph, plan: Plan, addresses: dict[Stay, int]) -> Schedule:
    """Return the plan with its addresses as plain data, in the order in which the stays begin."""
    names, weights = [each.name for each in graph.operators], parameter_names(graph.operators)
    found = []
    for a, runs in enumerate(plan.runs):
        for k, (first, last) in enumerate(runs):
            enters: Enters = "retrieved" if k else "loaded" if graph.operators[a].is_input else "created"
            leaves: Leaves = "dropped" if k or graph.has_copy[a] else "spilled"
            if k == len(runs) - 1:
                leaves = "dead"
            found.append(Segment(names[a], first, last, addresses[Stay(a, first, last)], graph.size[a], enters, leaves))
    for step, o in enumerate(plan.order):
        if graph.weight[o]:
            at = addresses[Stay(o, step, step, True)]
            found.append(Segment(weights[names[o]], step, step, at, graph.weight[o], "loaded", "dropped"))
    found.sort(key=lambda each: (each.first, each.address, each.tensor))
    return Schedule(tuple(names[o] for o in plan.order), tuple(found))
