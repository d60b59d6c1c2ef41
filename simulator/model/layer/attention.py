"""The loop order of an attention: queries in tiles, keys and values in blocks, with a running softmax.

The scores of a tile of queries and a block of keys are held, one head at a time. From block to block each row keeps a
running maximum and sum, and the sums of its outputs; when the maximum grows, both sums are rescaled. With a single
block nothing is carried over: the outputs are final. Query heads that share a head of keys count as more rows.

(Our choice, as for the loop order of any layer. The recurrence is that of Milakov and Gimelshein, arXiv:1805.02867.)
"""

from __future__ import annotations

from simulator.integers import ceil_div, row_bytes
from simulator.model.layer.axes import Grid
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import TB, LoopPlan, Loops, Moved, plan_of


def tiles_blocks(layer: LoopLayer, grid: Grid, block: int) -> LoopPlan:
    """TB: tiles; blocks. Each tile reads the keys and values of a head block by block; a single block stays."""
    outputs, blocks, mode = layer.part.outputs, ceil_div(layer.keys, block), grid.modes[0]
    rows = layer.output_elements // outputs  # of all heads
    last = layer.keys - (blocks - 1) * block
    scores = (blocks - 1) * row_bytes(block, layer.bits.output) + row_bytes(last, layer.bits.output)
    sums = layer.bits.sum_bytes * (blocks - 1) * (layer.output_elements + 2 * rows)  # written, and read again
    copied = rows * scores + sums
    traffic = layer.window_bytes * grid.windows * blocks + 2 * copied
    rescalings = (blocks - 1) * (layer.output_elements + rows)
    reads = layer.coming if blocks == 1 else layer.coming * grid.tiles
    moved = Moved(reads, layer.loaded * mode.reads, traffic, layer.weights * grid.tiles, copied, rescalings)
    held = mode.held * layer.part.room + grid.area * (results_of(layer, block) + position_bytes(layer, blocks > 1))
    loops = Loops(1, outputs, block, outputs, 1, 0)
    return plan_of(layer, TB, mode.name, grid, loops, held, keys_bytes(layer, block), moved)


def keys_bytes(layer: LoopLayer, count: int) -> int:
    """Return the bytes that this many keys and values of a head take; 0 where all of them are on chip anyway."""
    if layer.has_second:
        return 0
    keys = row_bytes(round_up(layer, layer.part.reduction), layer.bits.weights)
    return count * (keys + row_bytes(round_up(layer, layer.part.outputs), layer.bits.weights))


def position_bytes(layer: LoopLayer, has_sums: bool) -> int:
    """Return the bytes of a head's row besides queries and scores: outputs, or sums with a running maximum and sum."""
    if has_sums:
        return layer.bits.sum_bytes * (round_up(layer, layer.part.outputs) + 2)
    return 0 if layer.stays.output else results_of(layer, layer.part.outputs)
