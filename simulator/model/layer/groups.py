"""Loop orders of layers that do not reduce over channels, and of copies (orders.py has the dense ones).

Pools, resizes, slices and depth-wise convolutions take some channels at once through the whole map; so do element-wise
layers, which also hold the operands that are broadcast. What does not fit even so runs as sums, one input row at a
time; softmax and norms take two passes over the channels of a tile.
"""

from __future__ import annotations

from math import prod

from simulator.model.layer.axes import in_flight, meet
from simulator.model.layer.loop_layer import LoopLayer, inputs_of, results_of, round_up
from simulator.model.layer.orders import Grid, LoopPlan, Loops, Mode, Moved, plan_of
from workloads.network.layers.types import row_bytes


def channels_tiles(layer: LoopLayer, grid: Grid, mode: Mode, step: int, at_once: int) -> LoopPlan:
    """CT: channels; samples; tiles. Channels of one producer with their weights; a repeated operand is read once."""
    rounds = -(-layer.batch // at_once)
    held = apart_bytes(layer, grid, mode, step) * at_once
    weights = apart_weights(layer, step)
    traffic = layer.window_bytes * grid.windows + layer.loaded * mode.side
    updates, copied = layer.weights * grid.tiles * rounds, layer.loaded * mode.side // 2
    moved = Moved(layer.weights, layer.loaded * mode.reads, traffic, updates, copied)
    return plan_of(layer, "CT", mode, grid, Loops(step, step, step, step, at_once), (held, weights), moved)


def apart_bytes(layer: LoopLayer, grid: Grid, mode: Mode, step: int) -> int:
    """Return the bytes on chip for this many channels: of the input and of a tile of the results."""
    held = mode.held * inputs_of(layer, step) if layer.loaded else 0
    return held if layer.stays.output else held + most_often(layer) * prod(grid.tile) * results_of(layer, step)


def apart_weights(layer: LoopLayer, step: int) -> int:
    """Return the weight bytes of this many channels of one producer, counted each time that it is an operand."""
    elements = most_often(layer) * step * layer.rows.taps * layer.columns.taps if layer.weights else 0
    return row_bytes(elements, layer.bits.weights)


def joined_channels(layer: LoopLayer, grid: Grid, mode: Mode, step: int) -> LoopPlan:
    """CT of element-wise layers: these channels of a broadcast operand stay; a single channel is read for each step."""
    steps = -(-layer.outputs // step)
    kept = sum(_broadcast_rooms(layer, step))
    sizes = [row_bytes(*each) * (steps if each[0] < layer.outputs else 1) for each in _passing(layer)]
    reads = sum(sizes) * grid.union
    held = _joined_bytes(layer, grid, step) + kept
    moved = Moved(0, reads + _whole_bytes(layer), _joined_traffic(layer, grid, steps), 0)
    return plan_of(layer, "CT", mode, grid, Loops(step, step, step, step, 1), (held, 0), moved)


def joined_tiles(layer: LoopLayer, grid: Grid, mode: Mode, step: int) -> LoopPlan:
    """TC: tiles; channels. Broadcast operands stay in full; everything is read once."""
    steps = -(-layer.outputs // step)
    kept = sum(_broadcast_rooms(layer, layer.outputs))
    held = _joined_bytes(layer, grid, step) + kept
    reads = layer.loaded * grid.union + _whole_bytes(layer)
    moved = Moved(0, reads, _joined_traffic(layer, grid, steps), 0)
    return plan_of(layer, "TC", mode, grid, Loops(step, step, step, step, 1), (held, 0), moved)


def two_passes(layer: LoopLayer, grid: Grid, mode: Mode, kept: int) -> LoopPlan:
    """TCC: tiles; channels for the statistics; channels again for the outputs. The first channels stay in between.

    A word at a time, head by head where there are several. The two statistics of a position (the running maximum and
    sum of a softmax, or both moments of a norm) are read and written for each word, as the sums of slices are.
    """
    channels = layer.outputs
    words, area = -(-channels // layer.word), prod(grid.tile)
    statistics, step = 2 * layer.bits.sum_bytes, min(layer.word, channels)
    held = area * (0 if layer.stays.output else results_of(layer, step)) + area * statistics
    if layer.loaded:
        held += area * (inputs_of(layer, kept) + (inputs_of(layer, step) if kept < channels else 0))
    traffic = grid.windows * (2 * layer.window_bytes + statistics * (3 * words - 1))
    reads = grid.windows * (2 * layer.loaded - row_bytes(kept, layer.most_bits)) if layer.loaded else 0
    moved = Moved(0, reads, traffic, 0, grid.windows * statistics * words)
    return plan_of(layer, "TCC", mode, grid, Loops(step, step, step, step, 1, kept), (held, 0), moved)


def running_sums(layer: LoopLayer) -> LoopPlan:
    """RS: a word of channels; input rows. Each row is added to the output rows that it reaches, those in flight."""
    columns = meet(layer.columns, layer.columns.windows).union
    flying, additions = in_flight(layer.rows)
    pairs, width = meet(layer.rows, 1).visits, layer.columns.windows
    row = columns if layer.loaded else 0
    flying *= most_often(layer)
    held = inputs_of(layer, layer.word) * row + layer.word * layer.bits.sum_bytes * width * flying
    grid = Grid((1, width), meet(layer.rows, 1), meet(layer.columns, width))
    sums, mode = layer.bits.sum_bytes * additions * width * layer.outputs, Mode("row", columns, grid.union, 0)
    moved = Moved(0, layer.loaded * grid.union, layer.window_bytes * pairs * columns + 2 * sums, 0, sums)
    return plan_of(layer, "RS", mode, grid, _word_of(layer), (held, 0), moved)


def copy(layer: LoopLayer) -> LoopPlan:
    """Copy: a word at a time, each to its new place."""
    size = sum(rows * columns * row_bytes(*each) for (rows, columns, *each) in _whole(layer))
    held = row_bytes(layer.word, max(layer.bits.output, *layer.whole_bits))
    tile = (layer.rows.windows, layer.columns.windows)
    grid = Grid(tile, meet(layer.rows, tile[0]), meet(layer.columns, tile[1]))
    moved = Moved(0, _whole_bytes(layer), size, 0)
    return plan_of(layer, "copy", Mode("word", 0, 0, 0), grid, _word_of(layer), (held, 0), moved)


def most_often(layer: LoopLayer) -> int:
    """Return how many operands of the layer are the same input, at most."""
    return max(layer.operands.count(each) for each in layer.operands)


def _word_of(layer: LoopLayer) -> Loops:
    return Loops(layer.word, layer.word, layer.word, layer.word, 1)


def _joined_bytes(layer: LoopLayer, grid: Grid, step: int) -> int:
    """Return the bytes of a tile of the result and of the operands that are not broadcast over the map."""
    rooms = [row_bytes(round_up(layer, min(step, channels)), bits) for channels, bits in _passing(layer)]
    made = 0 if layer.stays.output else results_of(layer, min(step, layer.outputs))
    return prod(grid.tile) * (sum(rooms) + made)


def _passing(layer: LoopLayer) -> list[tuple[int, int]]:
    """Return channels and bits of each operand that is read through windows."""
    return [(channels, bits) for channels, bits in zip(layer.passing, layer.producer_bits) if channels]


def _whole(layer: LoopLayer) -> list[tuple[int, int, int, int]]:
    """Return rows, columns, channels and bits of each map that is needed in full."""
    return [(*each, bits) for each, bits in zip(layer.whole, layer.whole_bits)]


def _broadcast_rooms(layer: LoopLayer, step: int) -> list[int]:
    """Return the bytes of this many channels of each broadcast operand, over all its positions."""
    return [
        rows * columns * row_bytes(round_up(layer, min(step, channels)), bits)
        for (rows, columns, channels), bits in zip(layer.broadcast, layer.broadcast_bits)
    ]


def _joined_traffic(layer: LoopLayer, grid: Grid, steps: int) -> int:
    """Return the operand bytes that the tiles of a sample read from the buffer; a single channel again in each step."""
    maps = [(layer.rows.windows, layer.columns.windows, *each) for each in zip(layer.producers, layer.producer_bits)]
    total = 0
    for rows, columns, channels, bits in (*maps, *_whole(layer)):
        down = rows if rows == layer.rows.windows else grid.rows.tiles
        across = columns if columns == layer.columns.windows else grid.columns.tiles
        total += down * across * row_bytes(channels, bits) * (1 if channels == layer.outputs else steps)
    return total


def _whole_bytes(layer: LoopLayer) -> int:
    """Return the bytes from DRAM of the operands that are needed whole."""
    maps = zip(layer.broadcast, layer.broadcast_bits)
    return sum(rows * columns * row_bytes(channels, bits) for (rows, columns, channels), bits in maps)
