"""Counts a subgraph by how it runs: with all regions and weights on chip, or in the loops of a layer or a nest."""

from __future__ import annotations

from simulator.execution.cores import count_cores
from simulator.execution.cores.count import samples_of
from simulator.execution.count.array import part_cycles
from simulator.execution.count.count import Count, Plan, Setting, count_moves, total, weights_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.walk import walk
from simulator.execution.group import group_of
from simulator.execution.layer import LayerPlan, count_dealt, count_loops, dealt_cycles


def run_plan(setting: Setting, part: Part, plan: Plan) -> Count:
    """Return the count of a plan; raises Miss if it does not run as stated."""
    most, tensors = setting.accelerator.max_regions, len(part.tensors) + part.lies.elsewhere
    if most is not None and tensors > most and (len(part.layers) > 1 or part.lies.kept):
        raise Miss(f"{tensors} tensors exceed the {most} regions of the region manager")
    accelerator, samples, at_once = setting.accelerator, [setting.accelerator.batch], plan.at_once
    if plan.loops is not None:
        if plan.channel_groups > 1:
            raise Miss(f"{plan.channel_groups} groups of channels one after the other, around loops")
        loops = LayerPlan(*plan.loops)
        count, at_once = loop(setting, part, loops, plan.cores), loops.at_once
    elif accelerator.cores > 1:
        count = count_cores(part, plan, accelerator, setting.activation_room, setting.weight_room)
        samples = samples_of(plan, accelerator)
    else:
        count = hold(setting, part, plan)
    return count._replace(at_once=max(len(range(each)[:at_once]) for each in samples))


def hold(setting: Setting, part: Part, plan: Plan) -> Count:
    """Return the count with all regions and weights of a channel group on chip: each byte crosses to DRAM once."""
    if plan.channel_groups > 1:
        part = group_of(part, plan.channel_groups)
    scheme, weights = setting.scheme(part, plan), weights_of(part)
    if weights > setting.left_for_weights(scheme):
        raise Miss(f"weights take {weights} bytes, {setting.left_for_weights(scheme)} are left")
    return total(setting, part, plan, scheme.activation_bytes, weights, count_moves(scheme, walk(scheme)))


def loop(setting: Setting, part: Part, plan: LayerPlan, scheme: str = "") -> Count:
    """Return the count of a single layer, or of a nest, whose loops say what stays on chip and what passes.

    With several cores each runs its part, or one runs everything. Each port to DRAM takes its share of the traffic, and
    what a core gets from other ports crosses.
    """
    accelerator = setting.accelerator
    alignment = accelerator.technology.channel_alignment
    if accelerator.cores > 1 and part.lies.on_chip:
        raise Miss("loop orders do not have tensors on chip whose channels are dealt to all cores")
    if accelerator.cores > 1 and len(part.layers) > 1:
        raise Miss("several cores share the loops of a single layer only")
    if scheme in ("channels", "held"):
        (v,) = part.layers
        asked = accelerator.cores, accelerator.batch, alignment
        cycles = dealt_cycles(part.network, v, scheme, *asked, accelerator.technology)
        return count_dealt(part.network, v, plan, scheme, *asked)._replace(compute_cycles=cycles)
    count = count_loops(part.network, part.layers, plan, accelerator.batch, accelerator.technology, part.lies)
    if count.compute_cycles is None:
        count = count._replace(compute_cycles=part_cycles(part, accelerator.batch, accelerator.technology))
    if accelerator.cores == 1:
        return count
    moved = (count.ema_weight_bytes or 0) + (count.ema_input_bytes or 0) + (count.ema_output_bytes or 0)
    return count._replace(crossbar_bytes=moved - -(-moved // accelerator.cores))
