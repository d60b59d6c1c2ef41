"""Loop orders of layers that do not reduce over channels, and of copies (orders.py has the dense ones).

Pools, resizes, slices and depth-wise convolutions take some channels at once through the whole map; so do element-wise
layers, which also hold the operands that are broadcast. What does not fit even so runs as sums, one input row at a
time; softmax and norms take two passes over the channels of a tile.
"""

from __future__ import annotations

from simulator.integers import ceil_div, row_bytes
from simulator.model.layer.axes import ROW, WORD, Grid, Mode
from simulator.model.layer.loop_layer import LoopLayer, Map, inputs_of, results_of, round_up
from simulator.model.layer.orders import (
    COPIED,
    CT,
    RS,
    TCC,
    LoopPlan,
    Loops,
    Moved,
    plan_of,
    weight_updates,
)


def channels_tiles(layer: LoopLayer, grid: Grid, mode: Mode, step: int, at_once: int) -> LoopPlan:
    """CT: channels; samples; tiles. Channels of one producer with their weights; a repeated operand is read once."""
    held, side = apart_bytes(layer, grid, mode, step) * at_once, layer.loaded * mode.side
    traffic = layer.window_bytes * grid.windows + side
    updates = weight_updates(layer, grid, at_once)
    moved = Moved(layer.weights, layer.loaded * mode.reads, traffic, updates, side // 2, 0)
    return plan_of(layer, CT, mode.name, grid, equal_loops(step, at_once, 0), held, apart_weights(layer, step), moved)


def apart_bytes(layer: LoopLayer, grid: Grid, mode: Mode, step: int) -> int:
    """Return the bytes on chip for this many channels: of the input and of a tile of the results."""
    held = mode.held * inputs_of(layer, step) if layer.loaded else 0
    return held if layer.stays.output else held + layer.often * grid.area * results_of(layer, step)


def apart_weights(layer: LoopLayer, step: int) -> int:
    """Return the weight bytes of this many channels of one producer, counted each time that it is an operand."""
    if not layer.weights:
        return 0
    return row_bytes(layer.often * step * layer.rows.taps * layer.columns.taps, layer.bits.weights)


def joined(layer: LoopLayer, grid: Grid, order: str, step: int) -> LoopPlan:
    """Return one of the two orders of element-wise layers, or of a scan, whose rows are tiles.

    CT, channels; tiles: these channels of a broadcast operand stay; a single channel is read for each step, and so is
    what all channels of a scan share. TC, tiles; channels: broadcast operands stay in full, and everything is read
    once; of a scan, all channels.
    """
    steps, size, passing = ceil_div(layer.outputs, step), 0, layer.passing
    for i in range(layer.producer_count):
        times = joined_steps(layer, i, steps) if order == CT else 1
        size += row_bytes(passing[i], layer.producer_bits[i]) * times
    reads = size * grid.union + broadcast_bytes(layer)
    traffic = joined_traffic(layer, grid, steps)
    updates = weight_updates(layer, grid, 1) * (1 if layer.apiece else steps)
    moved = Moved(layer.weights, reads, traffic, updates, 0, 0)
    held, weights = joined_bytes(layer, grid, order, step), joined_weights(layer, step)
    return plan_of(layer, order, grid.modes[0].name, grid, equal_loops(step, 1, 0), held, weights, moved)


def joined_steps(layer: LoopLayer, producer: int, steps: int) -> int:
    """Return how often a producer is read in so many steps of channels: once if each takes channels of its own."""
    if layer.state:
        return 1 if producer < layer.cut else steps
    return 1 if layer.producers[producer] == layer.outputs else steps


def joined_weights(layer: LoopLayer, step: int) -> int:
    """Return the bytes of the weights of this many channels of a scan; of all, if heads share them."""
    return row_bytes(min(step, layer.outputs) * layer.apiece, layer.bits.weights) if layer.apiece else layer.weights


def joined_bytes(layer: LoopLayer, grid: Grid, order: str, step: int) -> int:
    """Return the bytes on chip for this many channels: of a tile, of operands that are broadcast, and of a state."""
    words, kept, passing = 0, state_bytes(layer, step), layer.passing
    if not layer.stays.output:
        words = results_of(layer, min(step, layer.outputs))
    for i in range(layer.producer_count):
        channels = passing[i] if layer.state and i >= layer.cut else min(step, passing[i])
        words += row_bytes(round_up(layer, channels), layer.producer_bits[i])
    for i in range(layer.broadcast_count):
        each = layer.broadcast[i]
        channels = min(step, each.channels) if order == CT else each.channels
        kept += each.rows * each.columns * row_bytes(round_up(layer, channels), each.bits)
    return grid.area * words + kept


def state_bytes(layer: LoopLayer, step: int) -> int:
    """Return the bytes of the state that these channels of a scan carry from row to row, as sums."""
    return layer.state * round_up(layer, min(step, layer.outputs)) * layer.bits.sum_bytes


def joined_traffic(layer: LoopLayer, grid: Grid, steps: int) -> int:
    """Return the operand bytes that the tiles of a sample read from the buffer; a single channel again in each step."""
    height, width, total = layer.rows.windows, layer.columns.windows, 0
    for i in range(layer.producer_count):
        times = joined_steps(layer, i, steps)
        total += height * width * row_bytes(layer.producers[i], layer.producer_bits[i]) * times
    for i in range(layer.whole_count):
        each = layer.whole[i]
        down = height if each.rows == height else grid.rows.tiles
        across = width if each.columns == width else grid.columns.tiles
        total += down * across * row_bytes(each.channels, each.bits) * (1 if each.channels == layer.outputs else steps)
    return total


def two_passes(layer: LoopLayer, grid: Grid, kept: int) -> LoopPlan:
    """TCC: tiles; channels for the statistics; channels again for the outputs. The first channels stay in between.

    A word at a time, head by head where there are several. The two statistics of a position (the running maximum and
    sum of a softmax, or both moments of a norm) are read and written for each word, as the sums of slices are.
    """
    words, step = ceil_div(layer.outputs, layer.word), min(layer.word, layer.outputs)
    statistics, reads = 2 * layer.bits.sum_bytes, 0
    held = grid.area * statistics
    if not layer.stays.output:
        held += grid.area * results_of(layer, step)
    if layer.loaded:
        held += grid.area * (inputs_of(layer, kept) + (inputs_of(layer, step) if kept < layer.outputs else 0))
        reads = grid.windows * (2 * layer.loaded - row_bytes(kept, layer.most_bits))
    traffic = grid.windows * (2 * layer.window_bytes + statistics * (3 * words - 1))
    moved = Moved(0, reads, traffic, 0, grid.windows * statistics * words, 0)
    return plan_of(layer, TCC, grid.modes[0].name, grid, equal_loops(step, 1, kept), held, 0, moved)


def running_sums(layer: LoopLayer) -> LoopPlan:
    """RS: a word of channels; input rows. Each row is added to the output rows that it reaches, those in flight."""
    grid, width = layer.row_grid, layer.columns.windows
    columns = grid.columns.union
    sums = layer.bits.sum_bytes * layer.additions * width * layer.outputs
    held = layer.word * layer.bits.sum_bytes * width * layer.flying * layer.often
    if layer.loaded:
        held += inputs_of(layer, layer.word) * columns
    traffic = layer.window_bytes * grid.rows.visits * columns + 2 * sums
    moved = Moved(0, layer.loaded * grid.union, traffic, 0, sums, 0)
    return plan_of(layer, RS, ROW, grid, equal_loops(layer.word, 1, 0), held, 0, moved)


def copy(layer: LoopLayer) -> LoopPlan:
    """Copy: a word at a time, each to its new place."""
    bits, size = layer.bits.output, 0
    for i in range(layer.whole_count):
        bits = max(bits, layer.whole[i].bits)
        size += map_bytes(layer.whole[i])
    moved = Moved(0, broadcast_bytes(layer), size, 0, 0, 0)
    loops = equal_loops(layer.word, 1, 0)
    return plan_of(layer, COPIED, WORD, layer.map_grid, loops, row_bytes(layer.word, bits), 0, moved)


def equal_loops(step: int, at_once: int, kept: int) -> Loops:
    """Return loops that take this many channels at a time."""
    return Loops(step, step, step, step, at_once, kept)


def broadcast_bytes(layer: LoopLayer) -> int:
    """Return the bytes from DRAM of the operands that are needed whole."""
    total = 0
    for i in range(layer.broadcast_count):
        total += map_bytes(layer.broadcast[i])
    return total


def map_bytes(each: Map) -> int:
    """Return the bytes of a map."""
    return each.rows * each.columns * row_bytes(each.channels, each.bits)
