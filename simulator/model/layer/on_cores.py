"""A loop order on several cores: each runs it on its part of the layer, and shared data comes from DRAM once.

All cores do the same step at the same time; those with a smaller part do fewer. Every port to DRAM fetches its part of
the shared data, one byte in n, and passes it on: what a core receives from other ports crosses.
"""

from __future__ import annotations

from collections.abc import Callable

from simulator.model.layer import attention, groups, orders
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import Grid, LoopPlan, Loops, Mode

DENSE: dict[str, Callable[[LoopLayer, Grid, Mode, Loops], LoopPlan]] = {
    "TK": orders.tiles_chunks,
    "KT": orders.chunks_tiles,
    "WK": orders.whole_chunks,
    "KS": orders.chunks_whole,
    "TP": orders.tiles_partly,
    "KP": orders.chunks_partly,
    "TKC": orders.tiles_slices,
    "BC": orders.block_slices,
}


def together(layer: LoopLayer, plan: LoopPlan) -> LoopPlan:
    """Return what all cores move when each runs a plan on its part; bytes on chip are those of the largest part.

    layer: the largest part, with its `team`. plan: of that part alone.
    """
    team = layer.team
    if team.cores == 1:
        return plan
    parts = [(plan, team.alike), *((again(each, plan), count) for each, count in team.others)]

    def added(name: str) -> int:
        return sum(getattr(each, name) * count for each, count in parts)

    weights, inputs, heard = added("ema_weight_bytes"), added("ema_input_bytes"), 0
    outputs = added("ema_output_bytes")
    if team.shared == "inputs":
        second = added("second_bytes")
        heard, inputs = inputs - second, plan.ema_input_bytes - plan.second_bytes + second
    elif team.shared == "weights":
        heard, weights = weights, plan.ema_weight_bytes
    elif team.shared == "all":
        heard = weights + inputs + outputs
    return plan._replace(
        ema_weight_bytes=weights,
        ema_input_bytes=inputs,
        ema_output_bytes=outputs,
        global_buffer_bytes=added("global_buffer_bytes"),
        weight_buffer_bytes=added("weight_buffer_bytes"),
        global_written_bytes=added("global_written_bytes"),
        weight_written_bytes=added("weight_written_bytes"),
        second_bytes=added("second_bytes"),
        crossbar_bytes=heard - -(-heard // team.cores),
        rescalings=added("rescalings"),
    )


def again(layer: LoopLayer, plan: LoopPlan) -> LoopPlan:
    """Return the plan of another part of the same layer: the same steps, as many as it has."""
    if plan.order == "RS":
        return groups.running_sums(layer)
    if plan.order == "copy":
        return groups.copy(layer)
    grid = orders.grid_of(layer, plan.tile)
    mode = next(each for each in _modes(layer, grid) if each.name == plan.mode)
    if layer.kind == "attention":
        return attention.tiles_blocks(layer, grid, mode, plan.slice)
    if plan.order == "TCC":
        return groups.two_passes(layer, grid, mode, plan.kept)
    if layer.kind == "apart":
        return groups.channels_tiles(layer, grid, mode, plan.apart, plan.at_once)
    if plan.order in ("CT", "TC"):
        return (groups.joined_channels if plan.order == "CT" else groups.joined_tiles)(layer, grid, mode, plan.apart)
    kept = min(plan.kept, layer.part.outputs) if plan.order == "TP" else plan.kept
    loops = Loops(plan.apart, plan.chunk, plan.slice, plan.inner, plan.at_once, kept)
    return DENSE[plan.order](layer, grid, mode, loops)


def _modes(layer: LoopLayer, grid: Grid) -> list[Mode]:
    """Return all modes: what may stay of the input from tile to tile."""
    return [*orders.modes_of(grid), orders.whole_mode(grid), *orders.block_modes(layer, grid)]
