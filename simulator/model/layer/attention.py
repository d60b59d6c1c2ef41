"""The loop order of an attention: queries in tiles, keys and values in blocks, with a running softmax.

The scores of a tile of queries and a block of keys are held, one head at a time. From block to block each row keeps a
running maximum and sum, and the sums of its outputs; when the maximum grows, both sums are rescaled. With a single
block nothing is carried over: the outputs are final. Query heads that share a head of keys count as more rows.

(Our choice, as for the loop order of any layer. The recurrence is that of Milakov and Gimelshein, arXiv:1805.02867.)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from simulator.model.layer.goal import Room
from simulator.model.layer.loop_layer import LoopLayer, results_of, round_up
from simulator.model.layer.orders import Grid, LoopPlan, Loops, Mode, Moved, modes_of, plan_of
from workloads.network.layers.types import row_bytes


def tiles_blocks(layer: LoopLayer, grid: Grid, mode: Mode, block: int) -> LoopPlan:
    """TB: tiles; blocks. Each tile reads the keys and values of a head block by block; a single block stays."""
    part, blocks, cells = layer.part, -(-layer.keys // block), prod(grid.tile)
    held = mode.held * part.room + cells * results_of(layer, block) + cells * _position_bytes(layer, blocks > 1)
    rows = layer.output_elements // part.outputs  # of all heads
    scores = rows * ((blocks - 1) * _score_bytes(layer, block) + _score_bytes(layer, layer.keys - (blocks - 1) * block))
    sums = layer.bits.sum_bytes * (blocks - 1) * (layer.output_elements + 2 * rows)  # written, and read again
    traffic = layer.window_bytes * grid.windows * blocks + 2 * (scores + sums)
    reads = layer.coming * (1 if blocks == 1 else grid.tiles)
    moved = Moved(reads, layer.loaded * mode.reads, traffic, layer.weights * grid.tiles, scores + sums)
    loops = Loops(1, part.outputs, block, part.outputs, 1)
    plan = plan_of(layer, "TB", mode, grid, loops, (held, keys_bytes(layer, block)), moved)
    return plan._replace(rescalings=layer.repeat * layer.batch * (blocks - 1) * (layer.output_elements + rows))


def keys_bytes(layer: LoopLayer, count: int) -> int:
    """Return the bytes that this many keys and values of a head take; 0 where all of them are on chip anyway."""
    if layer.has_second:
        return 0
    widths = layer.part.reduction, layer.part.outputs
    return count * sum(row_bytes(round_up(layer, width), layer.bits.weights) for width in widths)


def _position_bytes(layer: LoopLayer, has_sums: bool) -> int:
    """Return the bytes of a head's row besides queries and scores: outputs, or sums with a running maximum and sum."""
    if has_sums:
        return layer.bits.sum_bytes * (round_up(layer, layer.part.outputs) + 2)
    return 0 if layer.stays.output else results_of(layer, layer.part.outputs)


def _score_bytes(layer: LoopLayer, keys: int) -> int:
    return row_bytes(keys, layer.bits.output)


def plans_of_tile(layer: LoopLayer, grid: Grid, room: Room) -> Iterator[LoopPlan]:
    """Yield a plan with a single block where that fits, and one with as few equal blocks as fit."""
    mode, cells, word = next(modes_of(grid)), prod(grid.tile), layer.word
    plan = tiles_blocks(layer, grid, mode, layer.keys)
    if room.holds(plan.activation_bytes, plan.weight_bytes):
        yield plan
    left = room.without(mode.held * layer.part.room + cells * _position_bytes(layer, True), 0)
    words = -(-layer.keys // word)
    most = min(left.most(cells * results_of(layer, word) + keys_bytes(layer, word), 0), words - 1)
    if most > 0:
        yield tiles_blocks(layer, grid, mode, -(-words // -(-words // most)) * word)


def least_bytes(layer: LoopLayer, grid: Grid) -> Iterator[int]:
    """Yield the least bytes that a tile takes: with a single block, and with a word of keys at a time."""
    for block in {layer.keys, min(layer.word, layer.keys)}:
        yield tiles_blocks(layer, grid, next(modes_of(grid)), block).activation_bytes


def once_bytes(layer: LoopLayer, grid: Grid) -> int:
    """Return the bytes that a tile takes when everything moves once: all keys and values of a head stay."""
    return tiles_blocks(layer, grid, next(modes_of(grid)), layer.keys).activation_bytes
