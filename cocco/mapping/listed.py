"""Every layer of a list or a network on one machine, as data: what `cocco map --json` prints."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from cocco.mapping.layer_lists import Row
from cocco.mapping.map_layer import map_layer
from cocco.mapping.result import MappingResult
from cocco.mapping.rules import Rules
from simulator.mapping import SIMBA, Architecture, LayerShape

#: what a layer without an answer has in place of one
EMPTY = MappingResult(None, None, "gave_up", SIMBA).to_json()


class Mapped(NamedTuple):
    """A row and its answer, or the error that it is instead."""

    row: Row
    result: MappingResult | None
    error: str | None


def map_rows(rows: Sequence[Row], arch: Architecture, method: str, **asked: Any) -> list[Mapped]:
    """Return each row with its answer; a shape that comes again is mapped once.

    asked: the keywords of `map_layer`. A malformed row has its error. Raises ValueError where the question itself is
    malformed.
    """

    @cache
    def solved(shape: LayerShape) -> MappingResult:
        return map_layer(shape, arch, method, **asked)

    return [_mapped(row, solved) for row in rows]


def _mapped(row: Row, solved: Callable[[LayerShape], MappingResult]) -> Mapped:
    return Mapped(row, None, row.error) if row.shape is None else Mapped(row, solved(row.shape), None)


def rows_to_json(source: str, method: str, arch: Architecture, rules: Rules, found: Sequence[Mapped]) -> dict[str, Any]:
    """Return what `cocco map --json` prints; totals are over the layers that have a mapping, times their counts."""
    costs = [(each.row, each.result.cost) for each in found if each.result and each.result.cost]
    macs = sum(row.times * row.shape.macs for row, _ in costs if row.shape)
    compute = sum(row.times * cost.compute_cycles for row, cost in costs)
    return {
        "source": source,
        "method": method,
        "architecture": arch.name,
        "rules": rules.to_json(),
        "totals": {
            "layers": sum(each.row.times for each in found),
            "distinct": len({each.row.shape for each in found if each.row.shape}),
            "macs": macs,
            "cycles": math.fsum(row.times * cost.cycles for row, cost in costs),
            "bound_cycles": math.fsum(row.times * cost.bound_cycles for row, cost in costs),
            "energy_pj": math.fsum(row.times * cost.energy_pj for row, cost in costs),
            "utilization": macs / (arch.macs * compute) if compute else 0.0,
        },
        "layers": [_layer(each) for each in found],
    }


def _layer(each: Mapped) -> dict[str, Any]:
    row, shape = each.row, each.row.shape
    about: dict[str, Any] = {"name": row.name, "count": row.times, "shape": None}
    if shape is not None:
        about["shape"] = {d: getattr(shape, d.lower()) for d in "RSPQCKN"} | {
            "stride": list(shape.stride), "dilation": list(shape.dilation), "groups": shape.groups
        }  # fmt: skip
    if each.result is None:
        return about | EMPTY | {"status": "error", "error": each.error}
    return about | each.result.to_json()
