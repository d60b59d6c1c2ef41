"""The log objective of any mapping, so that those of other methods can be compared with CoSA's (CoSA, Fig. 8)."""

from __future__ import annotations

import math
from collections.abc import Iterable

from cocco.mapping.cosa.cosa import LANES, SECOND_WEIGHTS, TRANSFER, TRANSFER_BASE, TRANSFER_SLOPE, WALKS
from cocco.mapping.rules import Rules, factors_of
from simulator.mapping import Architecture, LayerMapping, LayerShape
from simulator.mapping.shapes import LOOPS

Slot = tuple[str, int, int, bool]  #: dimension, prime, level, temporal


def objective_parts(mapping: LayerMapping, shape: LayerShape, arch: Architecture, rules: Rules) -> dict[str, float]:
    """Return compute, utilization and traffic of a mapping, in bits, by the proxies of these rules (not "exact")."""
    slots = [
        (d, prime, i, is_loop)
        for i, each in enumerate(mapping.levels)
        for is_loop, loops in ((False, each.spatial.items()), (True, each.temporal))
        for d, factor in loops
        for prime, often in factors_of(factor).items()
        for _ in range(often)
    ]
    ordered, dram = len(arch.levels) - 2, len(arch.levels) - 1
    used = 0.0
    for i, level in enumerate(arch.levels[:ordered]):
        for tensor in level.stores:
            second = SECOND_WEIGHTS if tensor == "W" and i != arch.stored("W")[0] else 1.0
            used += second * _need(slots, i, tensor, shape, arch.stored("I")[0], rules)
    traffic = 0.0
    for tensor, walks in WALKS.items():
        lanes = walks if rules.multicast else LOOPS
        for i in range(ordered):
            slope = TRANSFER * (TRANSFER_BASE + TRANSFER_SLOPE * i)
            traffic += slope * _bits(s for s in slots if s[2] == i and s[0] in walks)
        traffic += LANES * _bits(s for s in slots if s[2:] == (ordered, False) and s[0] in lanes)
        traffic += (SECOND_WEIGHTS if tensor == "W" else 1.0) * _bits(s for s in slots if s[2:] == (dram, True))
        loops = mapping.levels[ordered].temporal
        first = next((z for z, (d, factor) in enumerate(loops) if factor > 1 and d in walks), len(loops))
        traffic += math.fsum(math.log2(factor) for _, factor in loops[first:])
    return {"compute": _bits(s for s in slots if s[3]), "utilization": used, "traffic": traffic}


def _need(slots: list[Slot], level: int, tensor: str, shape: LayerShape, inputs: int, rules: Rules) -> float:
    inside = [slot for slot in slots if slot[2] <= level]
    found = _bits(slot for slot in inside if slot[0] in WALKS[tensor])
    if tensor != "I":
        return found
    for axis, (extent, window) in enumerate((("P", "R"), ("Q", "S"))):
        number = sum(slot[0] == extent for slot in inside)
        found += math.log2(shape.stride[axis]) * (number if rules.stride_rule == "per_factor" else number > 0)
        if rules.halo != "published":
            has = any(slot[0] == extent and slot[2] <= inputs for slot in slots)
            found += math.fsum(1.0 if has else math.log2(slot[1]) for slot in inside if slot[0] == window)
    return found


def _bits(slots: Iterable[Slot]) -> float:
    return math.fsum(math.log2(prime) for _, prime, _, _ in slots)
