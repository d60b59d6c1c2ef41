"""Counts an attention in blocks: heads, tiles of queries, blocks of keys and values, as the loops are written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Set
from itertools import product

from simulator.execution.count.layer_facts import elements, output_bits, row_bytes, size_bytes, tensor_of
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import Rows, rows_within
from simulator.execution.layer.common.plan import LayerPlan, key_blocks, pieces
from simulator.execution.layer.counted.apart import sum_bytes
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


def count_attention(
    network: Network, v: int, chip: Chip, plan: LayerPlan, batch: int, on_chip: Set[int], there: Rows
) -> None:
    """Count one head, times the number of samples and heads: all have the same loops.

    there: rows of the keys, and of the values below them, that are on chip.
    """
    layer, head = network.layers[v], chip.like()
    blocks, columns = key_blocks(layer, plan), list(pieces(layer.width, plan.tile[1]))
    is_single, before = max(map(len, blocks.values())) == 1, 0
    is_there = network.operands[v][0] in on_chip
    for (down, rows), (across, times) in product(_alike(layer, blocks), columns):
        new = [range(max(each.start, before), each.stop) for each in rows] if is_single else rows
        for turn, often in ((new, 1), ([range(0)] if is_single else rows, times * down[1] - 1)):
            if often:
                head.add(_one_tile(network, v, down[0] * across, rows, turn, is_there, there, chip, is_single), often)
        before = rows[-1].stop
    chip.add(head, batch * layer.groups)
    chip.store(batch * elements(layer), batch * size_bytes(network, v))


def _alike(layer: Layer, blocks: dict[range, list[range]]) -> Iterator[tuple[tuple[int, int], list[range]]]:
    """Yield the rows of a tile, how many tiles of so many rows see the same keys, and their blocks."""
    if layer.mask is not None:
        yield from (((len(tile), 1), rows) for tile, rows in blocks.items())
        return
    for rows, times in Counter(map(len, blocks)).items():
        yield (rows, times), blocks[next(iter(blocks))]


def _one_tile(
    network: Network, v: int, area: int, blocks: list[range], new: list[range], is_there: bool, there: Rows,
    like: Chip, is_single: bool,
) -> Chip:  # fmt: skip
    """Return what a tile of a head moves and holds: queries once, then block after block; new: what comes of each."""
    chip, layer = like.like(), network.layers[v]
    query, keys, values = (tensor_of(network, u) for u in network.operands[v])
    width, made, size = query.channels // layer.groups, layer.channels // layer.groups, sum_bytes(layer)
    if not is_there:
        chip.load_input(area * row_bytes(width, query.bits))
        chip.activations.hold("MAIN", area * chip.rounded(width, query.bits))
    if is_single:
        chip.hold_results(area * chip.rounded(made, output_bits(layer)))
    else:
        chip.activations.hold("sums", area * size * (-(-made // chip.word) * chip.word + 2))
    for i, (block, coming) in enumerate(zip(blocks, new)):
        chip.global_buffer += area * row_bytes(width, query.bits)
        for below, tensor in ((0, keys), (layer.keys, values)):
            channels, span = tensor.channels // layer.groups, range(below + coming.start, below + coming.stop)
            chip.load_second((len(coming) - rows_within(there, span)) * row_bytes(channels, tensor.bits))
            if rows_within(there, range(2 * layer.keys)) < 2 * layer.keys:
                chip.activations.hold(f"rows {below}", len(block) * chip.rounded(channels, tensor.bits))
            chip.global_buffer += len(block) * row_bytes(channels, tensor.bits)
        chip.activations.hold("scores", area * chip.rounded(len(block), output_bits(layer)))
        chip.copy(2 * area * row_bytes(len(block), output_bits(layer)))
        sums = area * size * (made + 2)
        chip.global_buffer += sums * (i > 0)
        chip.write(sums * (i < len(blocks) - 1))
        chip.rescalings += area * (made + 1) * (i > 0)
    return chip
