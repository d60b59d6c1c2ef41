"""The loop orders that a plan may name, and what each holds and moves when it is executed (docs/model.md, section 3).

A new order is one function and one line of ORDERS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from simulator.execution.count import Count, Moves, Plan, Setting, count_moves, operations, total, weights_of
from simulator.execution.miss import Miss
from simulator.execution.part import AXES, Part
from simulator.execution.scheme import Scheme, with_passing, with_whole_maps, without_side
from simulator.execution.walk import walk
from workloads.network.layer import Layer

Order = Callable[[Setting, Part, Plan], Count]


def run_plan(setting: Setting, part: Part, plan: Plan) -> Count:
    """Return the count of a plan in its order; raises Miss where it does not run as it says."""
    return ORDERS[plan.order](setting, part, plan)


def hold(setting: Setting, part: Part, plan: Plan) -> Count:
    """All regions and all weights are on chip: everything crosses to DRAM once."""
    most = setting.accelerator.max_regions
    if most is not None and len(part.tensors) > most and len(part.layers) > 1:
        raise Miss(f"{len(part.tensors)} tensors exceed the {most} regions of the region manager")
    scheme, weights = setting.scheme(part, plan.tile), weights_of(part)
    if weights > setting.left_for_weights(scheme):
        raise Miss(f"weights take {weights} bytes, {setting.left_for_weights(scheme)} are left")
    return total(setting, part, scheme.activation_bytes, weights, weights, count_moves(scheme, walk(scheme)))


def chunks_outermost(setting: Setting, part: Part, plan: Plan) -> Count:
    """For each chunk of weights all tiles: weights cross once, inputs once for each chunk unless they stay."""
    scheme = streamed_scheme(setting, part, plan)
    resident, chunks = chunks_of(setting, part, scheme)
    once = count_moves(scheme, walk(scheme))
    moves = replace(
        once,
        loads=once.loads * (1 if plan.has_whole_maps else chunks),
        windows=once.windows * chunks,
        wholes=once.wholes * chunks,
        copies=once.copies * chunks,
    )
    return total(setting, part, scheme.activation_bytes, resident, weights_of(part), moves)


def tiles_outermost(setting: Setting, part: Part, plan: Plan) -> Count:
    """For each tile all chunks of weights: inputs cross once, weights once for each tile unless they stay."""
    scheme = streamed_scheme(setting, part, plan)
    resident, chunks = chunks_of(setting, part, scheme)
    once = count_moves(scheme, walk(scheme))
    moves = replace(once, windows=once.windows * chunks, wholes=once.wholes * chunks)
    rounds = 1 if chunks == 1 else once.updates[part.layers[0]]
    return total(setting, part, scheme.activation_bytes, resident, weights_of(part) * rounds, moves)


def operands_passing(setting: Setting, part: Part, plan: Plan) -> Count:
    """An operand that is needed whole passes by for each tile, row by row; all else is on chip."""
    scheme = with_passing(setting.scheme(part, plan.tile))
    setting.left_for_weights(scheme)
    once = count_moves(scheme, walk(scheme))  # all that is needed whole passes by, as often as it is read
    moves = replace(once, loads=once.loads + once.wholes)
    return total(setting, part, scheme.activation_bytes, 0, 0, moves)


def elements_alone(setting: Setting, part: Part, plan: Plan) -> Count:
    """One output position at a time: its weights and its window come anew, tap by tap; nothing stays on chip."""
    (v,) = part.layers
    layer, tensors = part.network.layers[v], part.network.tensors
    positions = layer.height * layer.width
    local = sum(_met(part, layer, each.tensor) for each in part.operands[v] if each.local)
    whole = sum(positions * tensors[each.tensor].size_bytes for each in part.operands[v] if each.whole)
    size = layer.size_bytes
    moves = Moves({v: positions}, local + whole, size, size, local, whole, 0, operations(layer, size))
    count = total(setting, part, 0, 0, layer.weight_bytes * positions, moves)
    return count._replace(activation_bytes=None)


ORDERS: dict[str, Order] = {
    "held": hold,
    "chunk": chunks_outermost,
    "tile": tiles_outermost,
    "operand": operands_passing,
    "element": elements_alone,
}


def streamed_scheme(setting: Setting, part: Part, plan: Plan) -> Scheme:
    """Return the scheme of a single layer whose weights come in chunks, with what the plan keeps on chip."""
    scheme = setting.scheme(part, plan.tile)
    if plan.has_whole_maps:
        return with_whole_maps(scheme)
    return scheme if plan.has_side else without_side(scheme)


def chunks_of(setting: Setting, part: Part, scheme: Scheme) -> tuple[int, int]:
    """Return the bytes of weights on chip, and in how many chunks of whole groups of outputs they come.

    The buffer takes as many whole units as fit, of 8 outputs x 8 inputs x F_h F_w. Sums of outputs whose reduction
    is cut between two chunks have no room, so an output is computed from one chunk.
    """
    (v,) = part.layers
    layer, array = part.network.layers[v], setting.accelerator.technology
    room, weights = setting.left_for_weights(scheme), layer.weight_bytes
    if weights <= room:
        return weights, 1
    groups = -(-layer.channels // array.pe_outputs)
    units = -(-(layer.in_channels // layer.groups) // array.pe_inputs)  #: of a group
    unit = -(-weights // (groups * units))
    fitting = room // unit
    if fitting < units:
        raise Miss(
            f"weights of {layer.name!r}: a chunk of {fitting} units cuts the reduction of {units} units, "
            "and nothing holds the sums"
        )
    return fitting * unit, -(-groups // (fitting // units))


def _met(part: Part, layer: Layer, tensor: int) -> int:
    """Return the bytes of a tensor that the taps of all output positions meet, one by one."""
    met = part.network.tensors[tensor].channels
    for axis in AXES:
        extent, spread = part.extent[axis][tensor], layer.upsample[axis]
        places = [
            output * layer.stride[axis] - layer.padding[axis] + tap * layer.dilation[axis]
            for output in range((layer.height, layer.width)[axis])
            for tap in range(layer.kernel[axis])
        ]
        met *= sum(place % spread == 0 and 0 <= place // spread < extent for place in places)
    return met
