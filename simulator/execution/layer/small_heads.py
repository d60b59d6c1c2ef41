"""An attention with its projections scaled down: the same loops on fewer rows, narrower heads and fewer channels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from simulator.execution.count.checks import compare
from simulator.execution.count.layer_facts import operations, second_heads, tensor_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.folded import plain
from simulator.execution.layer.common.plan import LayerPlan
from simulator.execution.layer.common.projected import Projected, find_heads, steps_of
from simulator.execution.layer.common.work import PRODUCTS, STEP
from simulator.execution.layer.counted.heads import count_heads
from simulator.execution.layer.scaled import FULL_WORK, WORK
from simulator.execution.layer.smaller import Small, shrink_cut
from simulator.execution.layer.value.heads import run_heads
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

STEPS = 3  #: of a loop; our choice, as in scaled.py
ROWS = 3  #: of a cache, or of sources of other rows than the queries, beyond whole tiles


def run_heads_scaled(
    network: Network, layers: Iterable[int], plan: LayerPlan, batch: int = 1, word: int = 8, full: bool = False,
    lies: Lies = NOTHING_STAYS,
) -> bool:  # fmt: skip
    """Run an attention with its projections with values in memories of exactly the bytes counted; compare both counts.

    Returns whether it was scaled down (`full`: only where it is far larger). Raises Miss if the loops cannot run it, or
    do not run as counted.
    """
    network, layers = plain(network), tuple(layers)
    nest = find_heads(network, layers)
    steps = steps_of(nest, network, plan)
    heads, rows = nest.rows[0].heads, network.layers[nest.scores].height
    work = batch * sum(operations(network, v, network.layers[v].height * network.layers[v].channels) for v in layers)
    is_small = work // PRODUCTS + STEP * batch * heads * -(-rows // steps.tile) <= (FULL_WORK if full else WORK)
    if not is_small:
        network, layers, plan, lies = _small(Part(network, layers, lies), nest, plan, word)
        batch = min(batch, 2)
    counted = count_heads(network, layers, plan, batch, word, lies)
    rooms = counted.activation_bytes or 0, counted.weight_bytes or 0
    ran = run_heads(network, layers, plan, rooms, batch, word, lies=lies)
    for check in compare(counted._asdict(), ran._asdict(), {}):
        if check.status == "different":
            raise Miss(f"{check.name}: {check.claimed} are counted, {check.counted} run")
    return not is_small


class _SmallHeads(NamedTuple):
    """A network of the nest alone, its layers and loops, and where its tensors lie."""

    network: Network
    layers: tuple[int, ...]
    plan: LayerPlan
    lies: Lies


def _small(part: Part, nest: Projected, plan: LayerPlan, word: int) -> _SmallHeads:
    network, queries, keys, values = part.network, *nest.rows
    scores = network.layers[nest.scores]
    length, tile = scores.height, min(plan.tile[0], scores.height)
    (rows,), step, _ = shrink_cut([length], tile, Small(2), STEPS)
    step = min(step, rows)
    (groups,), apart, _ = shrink_cut([keys.heads], plan.apart, Small(1), STEPS)
    widths, inner, _ = shrink_cut([queries.width, values.width], plan.inner, Small(word, word), STEPS)
    heads = groups * min(2, scores.groups // second_heads(scores))

    def height(u: int) -> int:
        count = tensor_of(network, u).height
        return rows if count == length else min(count, min(count // tile, STEPS - 1) * step + min(count % tile, ROWS))

    def channels(u: int) -> int:
        for each, width, often in ((queries, widths[0], heads), (keys, widths[0], groups), (values, widths[1], groups)):
            if u in each.inputs:
                return width * often
        return Small(word, word).of(tensor_of(network, u).channels)

    positions = sum(height(u) for u in keys.inputs)
    inputs = [*nest.sources, *(u for each in nest.rows for u in each.loaded)]
    tensors = tuple(Tensor(f"x{u}", height(u), 1, channels(u)) for u in inputs)
    names = {u: f"x{u}" for u in inputs}

    def layer_of(v: int) -> Layer:
        old = network.layers[v]
        names_of = tuple(names.get(u, network.tensors[u].name) for u in network.operands[v])
        if v in (nest.scores, nest.context):
            inner_width = widths[0] * heads if v == nest.scores else heads * positions
            made = heads * positions if v == nest.scores else widths[1] * heads
            return replace(old, inputs=names_of, height=rows, channels=made, in_channels=inner_width, groups=heads,
                           operand_heads=groups if old.operand_heads else 0)  # fmt: skip
        if v in (*nest.scales, nest.softmax):
            return replace(old, inputs=names_of, height=rows, channels=heads * positions, in_channels=heads * positions)
        source = network.operands[v][0]
        return replace(old, inputs=names_of, height=height(v), channels=channels(v), in_channels=channels(source),
                       appended=v in part.outputs)  # fmt: skip

    small = Network("small", tensors, tuple(map(layer_of, part.layers)))
    ids = {v: i for i, v in enumerate(part.layers)} | {u: len(part.layers) + i for i, u in enumerate(inputs)}
    chunk = rows if plan.chunk >= length else step
    kept = min(max(1, plan.kept * rows // length), rows - 1) if plan.kept else 0
    loops = plan._replace(tile=(step, 1), apart=apart, chunk=chunk, inner=inner, kept=kept)
    on_chip, there = (frozenset(ids[u] for u in each if u in ids) for each in (part.lies.on_chip, part.lies.there))
    written = frozenset(ids[v] for v in part.outputs)
    return _SmallHeads(small, tuple(range(len(part.layers))), loops, Lies(on_chip, there, written, on_chip))
