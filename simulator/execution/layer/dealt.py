"""One layer in a loop order on several cores: what each makes, counted, and run with values in lock-step.

Every core runs the plan on its own layer: its words of channels, its groups or heads, or its samples. What all cores
need is fetched once through all ports to DRAM, one byte in n by each; what a core receives from other ports crosses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simulator.execution.cores.share import deal_words
from simulator.execution.count.array import array_cycles, works_of
from simulator.execution.count.count import Count, extra_units
from simulator.execution.count.layer_facts import has_weights, is_depthwise, tensor_of
from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import blocks_of, folded, plain
from simulator.execution.layer.common.held import LOST
from simulator.execution.layer.common.plan import LayerPlan, kind_of
from simulator.execution.layer.common.problem import Problem
from simulator.execution.layer.common.work import estimate_work
from simulator.execution.layer.count import count_on_chip
from simulator.execution.layer.run import run_loops
from simulator.execution.layer.scaled import FULL_WORK, WORK, run_scaled
from simulator.execution.layer.value.attention import attended
from simulator.technology import Technology
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.ops import ELEMENTWISE_OPS, JOIN_OPS, PRODUCT_OPS
from workloads.network.network import Network


class Mine(NamedTuple):
    """One core's part of a layer: a layer by itself, and where its output and operands lie in the whole."""

    network: Network
    samples: range
    outputs: range
    operands: tuple[range, ...]  #: channels of each operand of its own; rows, where by_rows
    places: tuple[int, ...]  #: which operand of the whole each is
    by_rows: bool  #: the second operand is cut by its rows


def deal_layer(network: Network, v: int, scheme: str, cores: int, batch: int, word: int) -> list[Mine]:
    """Return the part of a (folded) layer for each core that makes something.

    Raises Miss if the cores cannot share it this way.
    """
    layer, tensors = network.layers[v], [tensor_of(network, u) for u in network.operands[v]]
    everything = tuple(range(each.channels) for each in tensors)
    places = tuple(range(len(tensors)))
    if scheme == "held":
        teams = min(batch, cores)
        ends = [batch * team // teams for team in range(teams + 1)]
        one = _alone(network, v, layer, tensors)
        return [Mine(one, range(*each), range(layer.channels), everything, places, False) for each in _pairs(ends)]
    if scheme != "channels":
        raise Miss(f"scheme {scheme!r}: no loop order runs so")
    if (layer.op == "attention" or layer.mask is not None) and layer.groups == 1:
        raise Miss(f"{layer.name!r} has one head, which no cores share")
    parts = deal_words(layer.groups, 1, cores) if _has_parts(layer) else deal_words(layer.channels, word, cores)
    size = layer.channels // layer.groups if _has_parts(layer) else 1
    outputs = [range(each.start * size, each.stop * size) for each in parts if each]
    return [_of_core(network, v, each, batch) for each in outputs]


def count_dealt(network: Network, v: int, plan: LayerPlan, scheme: str, cores: int, batch: int, word: int) -> Count:
    """Return what the loops of a layer take in the core with the most, and move in all cores; batch: all samples."""
    whole, original = network, v
    network, v = folded(network, v)
    layer, kind = network.layers[v], kind_of(network, v)
    chips, made, anew, seen = [], 0, 0, {}
    for mine in deal_layer(network, v, scheme, cores, batch, word):
        key = _key(layer, mine)
        if key not in seen:
            own = plan_of_core(plan, mine.network.layers[0])
            seen[key] = count_on_chip(mine.network, 0, own, len(mine.samples), word, kind=kind)
        chips.append(seen[key])
        made += seen[key].count(mine.network, 0, len(mine.samples)).operations or 0
        anew += seen[key].rescalings
    weights, inputs = sum(each.ema_weights for each in chips), sum(each.ema_inputs for each in chips)
    heard = 0
    if shares(layer, scheme) == "inputs":
        firsts = [each.ema_inputs - each.ema_second for each in chips]
        heard, inputs = sum(firsts), inputs - sum(firsts) + max(firsts)
    elif shares(layer, scheme) == "weights":
        heard, weights = weights, max(each.ema_weights for each in chips)
    return Count(
        max(each.activations.size_bytes for each in chips), max(each.weights.size_bytes for each in chips),
        weights, inputs, sum(each.ema_outputs for each in chips),
        sum(each.global_buffer for each in chips), sum(each.weight_buffer for each in chips),
        heard - -(-heard // cores), made,
        global_written_bytes=sum(each.global_written for each in chips),
        weight_written_bytes=sum(each.weight_written for each in chips),
        operation_extra=extra_units(whole, original, made - anew),
    )  # fmt: skip


def dealt_cycles(
    network: Network, v: int, scheme: str, cores: int, batch: int, word: int, technology: Technology
) -> int:
    """Return the cycles of the core that takes longest; batch: all samples."""
    (one, place), most = folded(network, v), 0
    of = one.layers[place].channels
    if blocks_of(network.layers[v]) > 1:  # its heads are those of each block
        network, v = one, place
    for mine in deal_layer(one, place, scheme, cores, batch, word):
        most = max(most, len(mine.samples) * _cycles(network, v, len(mine.outputs), of, technology))
    return most


def _cycles(network: Network, v: int, outputs: int, of: int, technology: Technology) -> int:
    """Return the cycles of one sample on a core that makes this many outputs of a layer, as its loops run it."""
    works = (work._replace(channels=work.channels * outputs // of) for work in works_of(network, v))
    return sum(array_cycles(work, technology) for work in works)


def run_dealt(
    network: Network,
    v: int,
    plan: LayerPlan,
    scheme: str,
    cores: int,
    rooms: tuple[float, float],
    batch: int = 1,
    word: int = 8,
    seed: int = 0,
) -> None:
    """Run the loops of a layer with integers on all cores, each in memories of these sizes.

    Raises Miss if a core does not find what it reads, has no room, or makes something twice, if the output differs from
    that of the layer computed directly, or if a core needs shared data that is not fetched for the core with the most.
    """
    network, v = folded(plain(network), v)
    problem, heard = Problem(network, v, batch, seed), []
    layer = problem.layer
    output = np.full((batch, layer.channels, layer.height, layer.width), LOST)
    for mine in deal_layer(network, v, scheme, cores, batch, word):
        own, chip = _problem_of(problem, mine), Chip(*rooms, word)
        chip.heard = []
        place = output[mine.samples.start : mine.samples.stop, mine.outputs.start : mine.outputs.stop]
        if (place != LOST).any():
            raise Miss(f"channels {mine.outputs} of samples {mine.samples} are made twice")
        run_loops(own, chip, plan_of_core(plan, own.layer), place)
        heard.append([values for what, values in chip.heard if what == shares(layer, scheme)])
    direct = attended(problem) if layer.op == "attention" else problem.direct()
    if (output != direct).any():
        raise Miss(f"tensor {layer.name!r}: differs from the output computed directly")
    most = max(heard, key=lambda each: sum(map(len, each)))
    for core, each in enumerate(heard):
        coming = iter(most)
        if not all(any(values == passing for passing in coming) for values in each):
            raise Miss(f"core {core}: wants {shares(layer, scheme)} that are not on their way to another")


def run_parts(
    network: Network, v: int, plan: LayerPlan, scheme: str, cores: int, batch: int, word: int, full: bool = False
) -> bool:
    """Run the loops of a layer with values on all cores, in memories of exactly the bytes counted.

    If that is much work, the part of each core runs by itself, scaled down. Returns whether it does.
    """
    one, place = folded(plain(network), v)
    if estimate_work(one, place, plan, batch, word) <= (FULL_WORK if full else WORK):
        counted = count_dealt(one, place, plan, scheme, cores, batch, word)
        rooms = counted.activation_bytes or 0, counted.weight_bytes or 0
        run_dealt(one, place, plan, scheme, cores, rooms, batch, word)
        return False
    seen = set()
    for mine in deal_layer(one, place, scheme, cores, batch, word):
        key = _key(one.layers[place], mine)
        if key not in seen:
            own = plan_of_core(plan, mine.network.layers[0])
            run_scaled(mine.network, 0, own, len(mine.samples), word, full)
        seen.add(key)
    return True


def shares(layer: Layer, scheme: str) -> str:
    """Return what comes from DRAM once for all cores: "inputs", "weights", or "" for nothing."""
    if scheme == "held":
        return "weights" if has_weights(layer) else ""
    return "" if _has_parts(layer) or layer.op in ELEMENTWISE_OPS or is_depthwise(layer) else "inputs"


def _key(layer: Layer, mine: Mine) -> tuple[object, ...]:
    """Return what is the same in all cores that take and move the same."""
    operands = () if layer.op in JOIN_OPS else (mine.operands, mine.places)  # another operand may have other bits
    return len(mine.outputs), len(mine.samples), operands


def plan_of_core(plan: LayerPlan, layer: Layer) -> LayerPlan:
    """Return the plan of a core: if it has fewer outputs than stay, all of them stay."""
    if plan.order != "TP":
        return plan
    return plan._replace(kept=min(plan.kept, layer.channels // layer.groups))


def _has_parts(layer: Layer) -> bool:
    """Return whether groups of a convolution or heads of a product are dealt."""
    return layer.groups > 1 and not is_depthwise(layer)


def _of_core(network: Network, v: int, outputs: range, batch: int) -> Mine:
    """Return the part of the core that has these channels of the output."""
    layer, tensors = network.layers[v], [tensor_of(network, u) for u in network.operands[v]]
    operands, by_rows = list(_operands(layer, tensors, outputs)), False
    if layer.op == "matmul" and layer.groups == 1:
        by_rows = kind_of(network, v) == "transposed"
        operands[1] = outputs
    places = tuple(i for i, each in enumerate(operands) if each)
    operands = [operands[i] for i in places]
    own = [
        replace(tensors[i], height=len(channels), width=1)
        if by_rows and i == 1
        else replace(tensors[i], channels=len(channels))
        for i, channels in zip(places, operands)
    ]
    groups = len(outputs) * layer.groups // layer.channels
    inputs = layer.in_channels
    if _is_apart(layer) or _has_parts(layer):
        inputs = inputs * len(outputs) // layer.channels
    one = replace(layer, channels=len(outputs), in_channels=inputs, groups=max(1, groups))
    return Mine(_alone(network, v, one, own, places), range(batch), outputs, tuple(operands), places, by_rows)


def _operands(layer: Layer, tensors: Sequence[Tensor], outputs: range) -> Iterator[range]:
    """Yield the channels of each operand that these outputs need."""
    before = 0
    for tensor in tensors:
        if layer.op in JOIN_OPS:
            if tensor.channels != layer.channels:
                raise Miss(f"operands of {layer.name!r} have other channels than it")
            yield outputs
        elif layer.op in ELEMENTWISE_OPS or layer.op == "rearrange":
            raise Miss(f"{layer.name!r} ({layer.op}) needs all channels together")
        elif _has_parts(layer):
            if layer.op not in PRODUCT_OPS and len(tensors) > 1:
                raise Miss(f"groups of {layer.name!r} are dealt of one input only")
            size, mine = tensor.channels // layer.groups, layer.channels // layer.groups
            yield range(outputs.start // mine * size, outputs.stop // mine * size)
        elif _is_apart(layer):
            if layer.channels != layer.in_channels:
                raise Miss(f"{layer.name!r} does not read as many channels as it makes")
            first, stop = (min(max(end - before, 0), tensor.channels) for end in (outputs.start, outputs.stop))
            yield range(first, stop)
            before += tensor.channels
        else:
            yield range(tensor.channels)


def _is_apart(layer: Layer) -> bool:
    return layer.op in JOIN_OPS or is_depthwise(layer)


def _alone(
    network: Network, v: int, layer: Layer, tensors: Sequence[Tensor], places: Sequence[int] | None = None
) -> Network:
    """Return the network of one layer with these operands; equal operands that are one tensor remain one."""
    ids = [network.operands[v][i] for i in (range(len(tensors)) if places is None else places)]
    names: dict[tuple[int, Tensor], str] = {}
    for key in zip(ids, tensors):
        names.setdefault(key, f"x{len(names)}")
    one = replace(layer, name="part", inputs=tuple(names[key] for key in zip(ids, tensors)))
    return Network("part", tuple(replace(tensor, name=name) for (_, tensor), name in names.items()), (one,))


def _problem_of(problem: Problem, mine: Mine) -> Problem:
    """Return the problem of a core: its part of all values."""
    own = Problem(mine.network, 0, len(mine.samples), 0)
    own.kind = problem.kind
    rows = slice(mine.samples.start, mine.samples.stop)
    for u, place, channels in zip(own.ids, mine.places, mine.operands):
        values = problem.maps[problem.ids[place]][rows]
        part = slice(channels.start, channels.stop)
        if mine.by_rows and place == 1:
            own.maps[u] = values.reshape(*values.shape[:2], -1, 1)[:, :, part]
        else:
            own.maps[u] = values[:, part]
    if has_weights(problem.layer):
        own.weights = problem.weights[mine.outputs.start : mine.outputs.stop]
    return own


def _pairs(ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    return zip(ends, ends[1:])
