"""Counts an attention in blocks: heads, tiles of queries, blocks of keys and values, as the loops are written."""

from __future__ import annotations

from collections.abc import Set
from itertools import product

from simulator.execution.count.layer_facts import elements, output_bits, row_bytes, size_bytes, tensor_of
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import Rows, rows_within
from simulator.execution.layer.common.plan import LayerPlan, cuts, pieces
from simulator.execution.layer.counted.apart import sum_bytes
from workloads.network.network import Network


def count_attention(
    network: Network, v: int, chip: Chip, plan: LayerPlan, batch: int, on_chip: Set[int], there: Rows
) -> None:
    """Count one head, times the number of samples and heads: all have the same loops.

    there: rows of the keys, and of the values below them, that are on chip.
    """
    layer, head = network.layers[v], chip.like()
    rows, columns = pieces(layer.height, plan.tile[0]), list(pieces(layer.width, plan.tile[1]))
    is_first = True
    for (down, lower), (across, further) in product(rows, columns):
        for times in (1, lower * further - 1) if is_first else (lower * further,):
            if times:
                tile = _one_tile(
                    network, v, plan, down * across, network.operands[v][0] in on_chip, there, is_first, chip
                )
                head.add(tile, times)
            is_first = False
    chip.add(head, batch * layer.groups)
    chip.store(batch * elements(layer), batch * size_bytes(network, v))


def _one_tile(
    network: Network, v: int, plan: LayerPlan, area: int, is_there: bool, there: Rows, is_first: bool, like: Chip
) -> Chip:
    """Return what a tile of a head moves and holds: queries once, then block after block."""
    chip, layer = like.like(), network.layers[v]
    query, keys, values = (tensor_of(network, u) for u in network.operands[v])
    width, made = query.channels // layer.groups, layer.channels // layer.groups
    blocks, size = cuts(layer.keys, plan.slice), sum_bytes(layer)
    if not is_there:
        chip.load_input(area * row_bytes(width, query.bits))
        chip.activations.hold("MAIN", area * chip.rounded(width, query.bits))
    for i, block in enumerate(blocks):
        chip.global_buffer += area * row_bytes(width, query.bits)
        for below, tensor in ((0, keys), (layer.keys, values)):
            channels, span = tensor.channels // layer.groups, range(below + block.start, below + block.stop)
            if is_first or len(blocks) > 1:
                chip.load_second((len(block) - rows_within(there, span)) * row_bytes(channels, tensor.bits))
            if rows_within(there, range(2 * layer.keys)) < 2 * layer.keys:
                chip.activations.hold(f"rows {below}", len(block) * chip.rounded(channels, tensor.bits))
            chip.global_buffer += len(block) * row_bytes(channels, tensor.bits)
        chip.activations.hold("scores", area * chip.rounded(len(block), output_bits(layer)))
        chip.copy(2 * area * row_bytes(len(block), output_bits(layer)))
        if len(blocks) == 1:
            chip.hold_results(area * chip.rounded(made, output_bits(layer)))
            continue
        chip.activations.hold("sums", area * size * (-(-made // chip.word) * chip.word + 2))
        sums = area * size * (made + 2)
        chip.global_buffer += sums * (i > 0)
        chip.write(sums * (i < len(blocks) - 1))
        chip.rescalings += area * (made + 1) * (i > 0)
    return chip
