"""What a layer costs at least as one of several of a subgraph, by the room that its regions have beside kept tensors.

There it is made in at least so many pieces as its regions ask for (cocco.bounds.buffers), and reads weights once for
each, and again what two of them want. A kept operand or result lies on chip whole, with no region: its windows are read
as they are otherwise. The less room, the more pieces.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from cocco.bounds.buffers import Inside, Operand, inside_of, least_inside, met_bytes
from cocco.problem.floor import floor_of
from cocco.problem.problem import Problem
from simulator.model.cost import METRICS, Totals

GRAINS = 256  #: our choice: room is rounded up to so many parts of the buffer, so that floors are soon known
ROUNDING = 1e-12  #: relative; above what differences of floats are off


def inside_floors(problem: Problem, rows: list[Totals]) -> Callable[[int, int, int], float] | None:
    """Return what says what a layer of the one network costs at least, None where that depends on no room.

    It takes the layer, the bytes of one core for regions of tensors that are not kept, and what of its operands and
    result is kept; inf: no piece fits. rows: what layers cost wherever they run (kept_floors).
    """
    (rules,), machine = problem.rules, problem.accelerator
    is_exact = machine.cores == 1 and machine.mapper.is_flat and problem.tile_rule == "exact"
    if problem.objective.metric != "energy" or not is_exact:
        return None
    metric, (weight,), flat = METRICS["energy"], problem.objective.weights, floor_of(machine)
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
        return (1 - ROUNDING) * weight * metric(row, flat)

    return floor


def _beside(layer: Inside, v: int, reads: list[int], kept: int) -> Inside:
    """Return a layer with no regions for what is kept; operands that are read alike are one, of all their channels.

    What they hold and read together is the same, and few layers are left that differ.
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
