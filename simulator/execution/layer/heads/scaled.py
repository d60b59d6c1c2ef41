"""An attention with its projections scaled down: the same loops on fewer rows, narrower heads and fewer channels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from simulator.execution.count.checks import compare
from simulator.execution.count.layer_facts import elements, operations, second_heads, tensor_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.folded import plain
from simulator.execution.layer.common.plan import LayerPlan
from simulator.execution.layer.common.work import PRODUCTS, STEP
from simulator.execution.layer.heads.counted import count_heads
from simulator.execution.layer.heads.found import Projected, find_heads, steps_of
from simulator.execution.layer.heads.value import run_heads
from simulator.execution.layer.scaled import FULL_WORK, WORK
from simulator.execution.layer.small_layer import smaller_mask
from simulator.execution.layer.smaller import Small, shrink_cut
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network

STEPS = 3  #: of a loop; our choice, as in scaled.py


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
    tiles = nest.made[0].heads * -(-network.layers[nest.scores].height // steps_of(nest, network, plan).tile)
    work = sum(operations(network, v, elements(network.layers[v])) for v in layers) // PRODUCTS
    is_small = batch * (work + STEP * tiles) <= (FULL_WORK if full else WORK)
    if not is_small:
        network, plan, lies = _small(Part(network, layers, lies), nest, plan, word)
        batch, layers = min(batch, 2), tuple(range(len(layers)))
    counted = count_heads(network, layers, plan, batch, word, lies)
    rooms = counted.activation_bytes or 0, counted.weight_bytes or 0
    ran = run_heads(network, layers, plan, rooms, batch, word, lies=lies)
    for check in compare(counted._asdict(), ran._asdict(), {}):
        if check.status == "different":
            raise Miss(f"{check.name}: {check.claimed} are counted, {check.counted} run")
    return not is_small


def _small(part: Part, nest: Projected, plan: LayerPlan, word: int) -> tuple[Network, LayerPlan, Lies]:
    """Return a network of the nest alone, its loops, and where its tensors lie."""
    network, (queries, keys, values) = part.network, nest.made
    scores, small = network.layers[nest.scores], Small(word, word)
    length, tile = scores.height, min(plan.tile[0], scores.height)
    (rows,), step, _ = shrink_cut([length], tile, Small(2), STEPS)
    step = min(step, rows)
    (groups,), apart, _ = shrink_cut([keys.heads], plan.apart, Small(1), STEPS)
    widths, inner, _ = shrink_cut([queries.width, values.width], plan.inner, small, STEPS)
    heads = groups * min(2, scores.groups // second_heads(scores))
    of_keys = nest.keys if nest.keys < tile else min(nest.keys // tile, STEPS - 1) * step + min(nest.keys % tile, 1)
    heights = {length: rows, nest.keys: rows if nest.keys == length else of_keys}
    channels = {u: small.of(tensor_of(network, u).channels) for u in nest.sources}
    positions, width = heights[nest.keys], {queries.layer: widths[0] * heads, keys.layer: widths[0] * groups}
    channels |= width | {values.layer: widths[1] * groups, nest.context: widths[1] * heads}
    channels |= dict.fromkeys((nest.scores, *nest.inner), heads * positions)

    mask = scores.mask and smaller_mask(scores.mask, positions - rows, step)

    def layer_of(v: int) -> Layer:
        old, first = network.layers[v], network.operands[v][0]
        is_product = v in (nest.scores, nest.context)
        return replace(
            old, height=heights[old.height], channels=channels[v], in_channels=channels[first],
            groups=heads if is_product else 1, operand_heads=groups if old.operand_heads else 0,
            appended=v in part.outputs and v != nest.context, keys=positions if old.mask else 0,
            mask=old.mask and mask,
        )  # fmt: skip

    sources = [
        Tensor(network.tensors[u].name, heights[tensor_of(network, u).height], 1, channels[u]) for u in nest.sources
    ]
    ids = {u: i for i, u in enumerate((*part.layers, *nest.sources))}
    kept = min(max(1, plan.kept * rows // length), rows - 1) if plan.kept else 0
    chunk = rows if plan.chunk >= length else step
    loops = plan._replace(tile=(step, 1), apart=apart, chunk=chunk, inner=inner, kept=kept)
    on_chip, there = (frozenset(ids[u] for u in each if u in ids) for each in (part.lies.on_chip, part.lies.there))
    lies = Lies(on_chip, there, frozenset(ids[v] for v in part.outputs), on_chip)
    return Network("small", tuple(sources), tuple(map(layer_of, part.layers))), loops, lies
