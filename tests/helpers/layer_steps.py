"""How many steps each loop of a layer takes, and whether its last is shorter: counted by cutting ranges."""

from __future__ import annotations

from itertools import accumulate

from simulator.execution.layer.common.plan import DENSE, cuts
from simulator.execution.layer.value.dense import slices_of_words
from workloads.network.layers.ops import ELEMENTWISE_OPS

ROUNDS = 2  #: of samples that a layer scaled down keeps


def steps_of(network, v, plan, batch, word=8):
    """Return (steps, whether the last is shorter) by loop."""
    layer, ids = network.layers[v], network.operands[v]
    if plan.order == "copy":
        size = sum(network.tensors[u].size_bytes for u in set(ids))
        return {"words": _cut(size, word), "rounds": _cut(batch, 1)}
    found = {"columns": _cut(layer.width, plan.tile[1]), "rounds": _cut(batch, 1)}
    if plan.order != "RS":
        found["rows"] = _cut(layer.height, plan.tile[0])
    if layer.op in ELEMENTWISE_OPS:
        return {**found, "apart": _cut(layer.channels, plan.apart)}
    if layer.op != "matmul":
        found["rounds"] = _cut(batch, plan.at_once if plan.order != "RS" else 1)
    if layer.is_depthwise:
        apart = word if plan.order == "RS" else plan.apart
        return {**found, **{f"apart {i}": _cut(network.tensors[u].channels, apart) for i, u in enumerate(ids)}}
    assert plan.order in DENSE
    outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
    found["groups"] = layer.groups, False
    if plan.order == "TP":
        found["kept"], outputs = _cut(plan.kept, plan.chunk), outputs - plan.kept
    found["chunks"] = _cut(outputs, plan.chunk)
    if plan.order == "TKC":
        found["slices"] = _cut(inputs, plan.slice)
    if plan.order == "BC":
        found["inner"] = _cut(min(plan.chunk, outputs), plan.inner)
        found["slices"] = _slices(network, v, plan, word)
    return found


def capped(steps, found, most=3):
    """Return the steps that a layer scaled down keeps of them: of samples perhaps two rounds, of all else `most`."""
    rounds = min(steps["rounds"][0], 3)
    kept = ROUNDS if steps_of(found.network, 0, found.plan, found.batch)["rounds"][0] < rounds else 3
    return {loop: (min(count, kept if loop == "rounds" else most), rest) for loop, (count, rest) in steps.items()}


def _cut(extent, size):
    steps = cuts(extent, size)
    return len(steps), len(steps) > 1 and len(steps[-1]) < len(steps[0])


def _slices(network, v, plan, word):
    layer, ends = network.layers[v], [0]
    operands = network.operands[v][: 1 if layer.op == "matmul" else None]
    ends += accumulate(network.tensors[u].channels for u in operands)
    size, found = layer.in_channels // layer.groups, []
    for first in range(0, layer.in_channels, size):
        channels = [max(0, min(b, first + size) - max(a, first)) for a, b in zip(ends, ends[1:])]
        words = sum(-(-each // word) for each in channels)
        steps = slices_of_words([each for each in channels if each], word, plan.slice)
        found.append((len(steps), len(steps) > 1 and words % max(1, plan.slice // word) > 0))
    return max(found)
