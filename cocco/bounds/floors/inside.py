"""The least cost of a layer in a subgraph of several, by the room that kept tensors leave for its regions.

There the layer is made in at least as many pieces as its regions require (cocco.bounds.floors.buffers). It reads its
weights once for each piece, and elements that two pieces need again. A kept operand or result lies on chip whole and
has no region, but its windows are read in the same way. The less room, the more pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from cocco.bounds.floors.buffers import Inside, Operand, inside_of, least_inside, met_bytes
from cocco.candidates.rounding import SUMMED
from cocco.problem.floor import floor_of
from cocco.problem.problem import Problem
from simulator.model.cost import Totals

GRAINS = 256  #: our choice: room is rounded up to so many parts of the buffer, so that floors are soon known


def inside_floors(problem: Problem, rows: list[Totals]) -> Callable[[int, int, int], float] | None:
    """Return a function for the least cost of a layer of the one network; None if the room makes no difference.

    The function takes the layer, the bytes of one core for regions of tensors that are not kept, and the set of its
    operands and result that are kept. It returns inf if no piece fits. rows: the least that layers cost in any step
    (by_layer.py).
    """
    (rules,), machine = problem.rules, problem.accelerator
    is_exact = machine.cores == 1 and machine.mapper.is_flat and problem.tile_rule == "exact"
    if "energy" not in problem.objective.metrics or not is_exact:
        return None
    metric, (weight,), flat = problem.objective.of, problem.objective.weights, floor_of(machine)
    layers = [inside_of(rules, v) for v in range(len(rows))]
    met = [rules.batch * met_bytes(rules, v) for v in range(len(rows))]
    reads = [list(dict.fromkeys(operands)) for operands in rules.geometry.network.operands]

    grain = max(1, machine.activation_capacity // GRAINS)
    touched = [sum(1 << u for u in {v, *each}) for v, each in enumerate(reads)]

    def floor(v: int, room: int, kept: int) -> float:
        return rounded(v, -(-room // grain) * grain, kept & touched[v])

    @cache
    def beside(v: int, kept: int) -> Inside:
        return _beside(layers[v], v, reads[v], kept)

    @cache
    def rounded(v: int, room: int, kept: int) -> float:
        found = least_inside(beside(v, kept), room)
        if found is None:
            return math.inf
        row, weights = rows[v], rules.geometry.weight_bytes[v]
        row = row._replace(
            global_buffer_bytes=row.global_buffer_bytes + max(0, found.operands - met[v]),
            weight_buffer_bytes=row.weight_buffer_bytes + max(0, found.weights - weights),
        )
        return (1 - SUMMED) * weight * metric(row, flat)

    return floor


def _beside(layer: Inside, v: int, reads: list[int], kept: int) -> Inside:
    """Return a layer without regions for kept tensors; operands read in the same way are merged into one.

    The merged operand has all their channels, so the sums of what is held and read stay the same, and fewer different
    layers are left.
    """
    alike: dict[Operand, Operand] = {}
    for u, operand in zip(reads, layer.operands):
        shape = operand._replace(element_bytes=0, channels=0)
        element = 0 if kept >> u & 1 else operand.element_bytes
        before = alike.get(shape, shape)
        alike[shape] = before._replace(
            element_bytes=before.element_bytes + element, channels=before.channels + operand.channels
        )
    element = 0 if kept >> v & 1 else layer.element_bytes
    return layer._replace(operands=tuple(alike.values()), element_bytes=element)
