"""The closed forms that a price may give where they are not what is counted, restated (docs/model.md, 3 and 5).

A tile of step outputs starts at a multiple of step; leads, and updates that are made piece by piece, are not in it.
A price that says anything else than these or the count is wrong.
"""

from __future__ import annotations

from simulator.execution.count import Count, Plan, Setting
from simulator.execution.part import AXES, COLUMNS, ROWS, Part, Reading
from simulator.execution.scheme import Scheme


def approximate(setting: Setting, part: Part, plan: Plan, count: Count) -> Count:
    """Return the count of a subgraph that is held with its buffer traffic as the closed forms have it."""
    scheme = setting.scheme(part, plan)
    inputs, rounds = count.ema_input_bytes, -(-setting.accelerator.batch // plan.at_once)
    batch, layers = setting.accelerator.batch, part.network.layers
    updates = {v: _tiles(scheme, v, ROWS) * _tiles(scheme, v, COLUMNS) for v in part.layers}
    sizes = {u: part.network.tensors[u].size_bytes for u in part.tensors}
    readings = [reading for v in part.layers for reading in part.operands[v]]
    buffered = (
        sum(sizes[v] for v in part.layers)
        + sum(_windows(scheme, each) for each in readings if each.local)
        + sum(updates[each.layer] * sizes[each.tensor] for each in readings if each.whole)
        + sum(_copies(scheme, u) for u in part.tensors)
    )
    assert inputs is not None and count.ema_output_bytes is not None and count.ema_weight_bytes is not None
    return count._replace(
        global_buffer_bytes=inputs + count.ema_output_bytes + batch * buffered,
        weight_buffer_bytes=count.ema_weight_bytes
        + rounds * sum(updates[v] * layers[v].weight_bytes for v in part.layers),
    )


def _tiles(scheme: Scheme, layer: int, axis: int) -> int:
    return -(-scheme.part.extent[axis][layer] // (scheme.rows, scheme.columns)[axis].steps[layer])


def _windows(scheme: Scheme, reading: Reading) -> int:
    """Return the bytes from the first element of the map to the last, and what each two tiles share twice."""
    part, elements = scheme.part, scheme.part.network.tensors[reading.tensor].channels
    for axis in AXES:
        first, shared = part.first(reading.layer, axis, 0), _shared(part, reading.layer, axis)
        last = part.end(reading.layer, axis, part.extent[axis][reading.layer])
        inside = min(last, part.extent[axis][reading.tensor]) - max(first, 0)
        elements *= max(0, inside + (_tiles(scheme, reading.layer, axis) - 1) * shared)
    return elements


def _shared(part: Part, layer: int, axis: int) -> int:
    """Return the elements that two tiles share, below 0 where some lie between them."""
    return part.end(layer, axis, 0) - part.first(layer, axis, 0)


def _copies(scheme: Scheme, tensor: int) -> int:
    """Return the bytes put into SIDE and taken out of it, between each two row operations."""
    cells = scheme.cells[tensor]
    between = -(-scheme.part.extent[ROWS][tensor] // scheme.rows.steps[tensor]) - 1
    return 2 * cells.kept * cells.width * scheme.part.network.tensors[tensor].channels * between
