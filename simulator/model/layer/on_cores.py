"""A loop order on several cores: each runs it on its part of the layer, and shared data comes from DRAM once.

All cores do the same step at the same time; those with a smaller part do fewer. Every port to DRAM fetches its part of
the shared data, one byte in n, and passes it on: what a core receives from other ports crosses.
"""

from __future__ import annotations

from simulator.integers import ceil_div
from simulator.model.layer.attention import tiles_blocks
from simulator.model.layer.axes import Grid, Mode
from simulator.model.layer.groups import channels_tiles, copy, joined, running_sums, two_passes
from simulator.model.layer.loop_layer import ALL_SHARED, APART, INPUTS_SHARED, WEIGHTS_SHARED, LoopLayer
from simulator.model.layer.orders import COPIED, CT, RS, TB, TC, TCC, TP, LoopPlan, Loops, LoopTotals, dense_plan


def together(layer: LoopLayer, grid: Grid, mode: Mode, plan: LoopPlan) -> LoopPlan:
    """Return what all cores move when each runs a plan on its part; bytes on chip are those of the largest part.

    layer: the largest part, with its `team`. plan: of that part alone.
    """
    every = added(plan.totals, plan.totals, layer.team.alike - 1)
    for i in range(layer.team.other_count):
        other = layer.team.others[i]
        every = added(every, again(other, grid, mode, plan).totals, other.team.alike)
    return LoopPlan(
        plan.order, plan.mode, plan.tile, plan.apart, plan.chunk, plan.slice, plan.inner, plan.at_once, plan.kept,
        plan.activation_bytes, plan.weight_bytes, shared(layer, plan.totals, every),
    )  # fmt: skip


def added(one: LoopTotals, other: LoopTotals, times: int) -> LoopTotals:
    """Return the sum of one and so many times the other."""
    return LoopTotals(
        one.ema_weight_bytes + times * other.ema_weight_bytes,
        one.ema_input_bytes + times * other.ema_input_bytes,
        one.ema_output_bytes + times * other.ema_output_bytes,
        one.global_buffer_bytes + times * other.global_buffer_bytes,
        one.weight_buffer_bytes + times * other.weight_buffer_bytes,
        one.global_written_bytes + times * other.global_written_bytes,
        one.weight_written_bytes + times * other.weight_written_bytes,
        one.second_bytes + times * other.second_bytes,
        one.crossbar_bytes + times * other.crossbar_bytes,
        one.rescalings + times * other.rescalings,
        one.again_extra + times * other.again_extra,
        one.again_cycles + times * other.again_cycles,
    )


def shared(layer: LoopLayer, first: LoopTotals, every: LoopTotals) -> LoopTotals:
    """Return what all cores move where what they share comes once, as the core with the largest part has it."""
    weights, inputs, heard = every.ema_weight_bytes, every.ema_input_bytes, 0
    if layer.team.shared == INPUTS_SHARED:
        heard = inputs - every.second_bytes
        inputs = first.ema_input_bytes - first.second_bytes + every.second_bytes
    elif layer.team.shared == WEIGHTS_SHARED:
        heard, weights = weights, first.ema_weight_bytes
    elif layer.team.shared == ALL_SHARED:
        heard = weights + inputs + every.ema_output_bytes
    return LoopTotals(
        weights, inputs, every.ema_output_bytes, every.global_buffer_bytes, every.weight_buffer_bytes,
        every.global_written_bytes, every.weight_written_bytes, every.second_bytes,
        heard - ceil_div(heard, layer.team.cores), every.rescalings, every.again_extra, every.again_cycles,
    )  # fmt: skip


def again(layer: LoopLayer, grid: Grid, mode: Mode, plan: LoopPlan) -> LoopPlan:
    """Return the plan of another part of the same layer: the same steps, as many as it has."""
    if plan.order == RS:
        return running_sums(layer)
    if plan.order == COPIED:
        return copy(layer)
    if plan.order == TB:
        return tiles_blocks(layer, grid, plan.slice)
    if plan.order == TCC:
        return two_passes(layer, grid, plan.kept)
    if layer.kind == APART:
        return channels_tiles(layer, grid, mode, plan.apart, plan.at_once)
    if plan.order == CT or plan.order == TC:
        return joined(layer, grid, plan.order, plan.apart)
    kept = min(plan.kept, layer.part.outputs) if plan.order == TP else plan.kept
    loops = Loops(plan.apart, plan.chunk, plan.slice, plan.inner, plan.at_once, kept)
    return dense_plan(plan.order, layer, grid, mode, loops)
