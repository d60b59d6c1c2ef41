"""The loop orders tried of a layer that reduces over channels; groups and heads run one after the other."""

from __future__ import annotations

from simulator.integers import ceil_div
from simulator.model.layer.axes import BLOCK, RING, Mode
from simulator.model.layer.goal import Place, Room, holds, may_win, most, offer, without
from simulator.model.layer.loop_layer import (
    LoopLayer,
    coming_after,
    inputs_of,
    results_at_once,
    results_of,
    stationary_bytes,
)
from simulator.model.layer.orders import (
    BC,
    KS,
    KT,
    TK,
    TKC,
    WK,
    Loops,
    block_slices,
    chunks_partly,
    dense_plan,
    has_positions,
    rounds_of,
    tiles_partly,
    tiles_slices,
    weight_updates,
)

MORE_CHUNKS = 4  #: least numbers of chunks tried where sums stay; our choice: there the fewest are not always cheapest


def dense_plans(at: Place) -> None:
    """Offer all orders of this tile and of so many samples."""
    layer, grid = at.layer, at.grid
    updates, windows = weight_updates(layer, grid, at.at_once), layer.window_bytes * grid.windows
    passing = layer.coming * grid.tiles * rounds_of(layer, at.at_once)
    for number in range(grid.mode_count):
        mode = grid.modes[number]
        reads, moved = layer.loaded * mode.reads, windows + layer.loaded * mode.side
        if may_win(at, layer.coming, reads, moved, updates):
            _chunked(at, mode, TK, KT)
            if may_win(at, passing, reads, moved, updates):
                _sliced(at, mode)
            if may_win(at, layer.coming, reads, windows + moved, updates):  # two chunks and more
                _partly(at, mode)
    _chunked(at, grid.whole, WK, KS if at.at_once < layer.batch else WK)
    reads, moved = layer.operands_loaded * grid.windows, layer.operand_bytes * grid.windows
    if may_win(at, passing, reads, moved, updates):
        for number in range(grid.block_count):
            mode = grid.blocks[number]
            _blocks(at, mode, False)
            if mode.name == BLOCK:
                _blocks(at, mode, True)


def _chunked(at: Place, mode: Mode, first: str, second: str) -> None:
    """Offer one or two orders with the fewest chunks that fit, of equal size."""
    layer, part = at.layer, at.layer.part
    words = _most_words(at, _beside_results(at, mode), _result_bytes(at), part.reduction)
    if words > 0:
        outputs = evened(part.outputs, words, layer.word)
        loops = Loops(1, outputs, part.reduction, outputs, at.at_once, 0)
        if has_positions(layer, first, outputs):
            offer(at, mode, dense_plan(first, layer, at.grid, mode, loops))
        if second != first and has_positions(layer, second, outputs):
            offer(at, mode, dense_plan(second, layer, at.grid, mode, loops))


def _partly(at: Place, mode: Mode) -> None:
    """Offer the orders that keep what fits along with a chunk: weights of other outputs, or rows of a ring.

    The smallest chunk leaves most for what stays: with that, either order moves least.
    """
    layer, grid, part, room = at.layer, at.grid, at.layer.part, _beside_results(at, mode)
    fewest = _fewest_chunks(at, room, _result_bytes(at), part.reduction)
    if not fewest:
        return
    updates, reads, passes = weight_updates(layer, grid, at.at_once), layer.loaded * mode.reads, max(2, fewest)
    traffic = layer.window_bytes * grid.windows * passes + layer.loaded * mode.side
    row = layer.batch * part.room * grid.columns.union if mode.name == RING and not layer.epilogue.by_position else 0
    left = _beside_chunk(at, room, min(layer.word, part.outputs))
    weights, rows = min(_kept_weights(at, left), part.outputs - 1), _kept_rows(at, left, row)
    more = (grid.tiles * rounds_of(layer, at.at_once) - 1) * coming_after(layer, weights)
    if weights and not may_win(at, layer.coming + more, reads, traffic, updates):
        weights = 0
    more = layer.loaded * (mode.reads - rows * grid.columns.union) * (passes - 1)
    if rows and not may_win(at, layer.coming, reads + more, traffic, updates):
        rows = 0
    if not weights and not rows:
        return
    before = part.outputs
    for number in range(MORE_CHUNKS + 1):
        outputs = _chunk(layer, fewest, number)
        if outputs == before:
            continue
        before, left = outputs, _beside_chunk(at, room, outputs)
        kept = _kept_weights(at, left)
        if weights and 0 < kept < part.outputs:
            loops = Loops(1, outputs, part.reduction, outputs, at.at_once, kept)
            offer(at, mode, tiles_partly(layer, grid, mode, loops))
        kept = _kept_rows(at, left, row)
        if rows and kept:
            loops = Loops(1, outputs, part.reduction, outputs, at.at_once, kept)
            offer(at, mode, chunks_partly(layer, grid, mode, loops))


def _sliced(at: Place, mode: Mode) -> None:
    """Offer the order that cuts the weights of a tile's outputs into as few equal slices as fit."""
    layer, part, room, sums, before = at.layer, at.layer.part, _beside(at, mode), _sum_bytes(at), 0
    fewest = _fewest_chunks(at, room, sums, min(layer.word, part.reduction))
    units = ceil_div(part.reduction, layer.word)
    for number in range(MORE_CHUNKS + 1 if fewest else 0):
        outputs = _chunk(layer, fewest, number)
        if outputs == before or not has_positions(layer, TKC, outputs):
            continue
        before, left = outputs, without(room, ceil_div(outputs, layer.word) * sums, 0)
        words = _less_than_all(layer, most(left, 0, stationary_bytes(layer, outputs, layer.word)), units)
        if 0 < words < units:  # a single slice would be TK
            loops = Loops(1, outputs, evened(units * layer.word, words, layer.word), outputs, at.at_once, 0)
            offer(at, mode, tiles_slices(layer, at.grid, mode, loops))


def _blocks(at: Place, mode: Mode, is_inner: bool) -> None:
    """Offer the order that cuts a block's inputs into as few equal slices as fit.

    is_inner: hold the weights of one word of outputs, not of the whole chunk.
    """
    layer, part, sums, units, before = at.layer, at.layer.part, _sum_bytes(at), 0, 0
    each = at.at_once * mode.held * inputs_of(layer, layer.word) if layer.loaded else 0
    inputs = min(layer.word, part.reduction)
    weights = stationary_bytes(layer, min(layer.word, part.outputs), inputs) if is_inner else 0
    fewest = _fewest_chunks(at, without(at.room, each, weights), sums, 0 if is_inner else inputs)
    if not fewest:
        return
    reads = layer.operands_loaded * at.grid.windows * fewest
    traffic = layer.operand_bytes * at.grid.windows * (layer.words if is_inner else fewest)
    passing = layer.coming * at.grid.tiles * rounds_of(layer, at.at_once)
    if not may_win(at, passing, reads, traffic, weight_updates(layer, at.grid, at.at_once)):
        return
    for i in range(part.unit_count):
        units = max(units, part.units[i][0])
    for number in range(MORE_CHUNKS + 1):
        outputs = _chunk(layer, fewest, number)
        if outputs == before or not has_positions(layer, BC, outputs):
            continue
        before, left = outputs, without(at.room, ceil_div(outputs, layer.word) * sums, 0)
        inner = min(layer.word, outputs) if is_inner else outputs
        words = _less_than_all(layer, most(left, each, stationary_bytes(layer, inner, inputs)), units)
        if 0 < words < units:  # one always fits: the chunk was chosen beside it; a single slice would be TK
            loops = Loops(1, outputs, evened(units * layer.word, words, layer.word), inner, at.at_once, 0)
            offer(at, mode, block_slices(layer, at.grid, mode, loops))


def _less_than_all(layer: LoopLayer, words: int, units: int) -> int:
    """Return so many words of inputs; with an epilogue fewer than all, as slices then take other room than TK."""
    return min(words, units - 1) if layer.epilogue.bits > 0 else words


def _sum_bytes(at: Place) -> int:
    """Return the bytes of a word of sums of its outputs."""
    return at.at_once * at.grid.area * at.layer.word * at.layer.bits.sum_bytes


def _result_bytes(at: Place) -> int:
    """Return the bytes of a word of its outputs where results have a region of their own, for those of a chunk."""
    if at.layer.stays.output or at.layer.epilogue.by_position:
        return 0
    return at.at_once * at.grid.area * results_of(at.layer, at.layer.word)


def _beside(at: Place, mode: Mode) -> Room:
    """Return the room that its input leaves."""
    return without(at.room, at.at_once * mode.held * at.layer.part.room, 0)


def _beside_results(at: Place, mode: Mode) -> Room:
    """Return the room that its input leaves, beside the results of all channels where they are needed at once."""
    if at.layer.stays.output or not at.layer.epilogue.by_position:
        return _beside(at, mode)
    return without(_beside(at, mode), at.at_once * at.grid.area * results_at_once(at.layer, at.layer.word), 0)


def _beside_chunk(at: Place, room: Room, outputs: int) -> Room:
    """Return the room that a chunk leaves with its weights."""
    held = ceil_div(outputs, at.layer.word) * _result_bytes(at)
    return without(room, held, stationary_bytes(at.layer, outputs, at.layer.part.reduction))


def _kept_weights(at: Place, left: Room) -> int:
    """Return the outputs whose weights fit."""
    return most(left, 0, stationary_bytes(at.layer, at.layer.word, at.layer.part.reduction)) * at.layer.word


def _kept_rows(at: Place, left: Room, row: int) -> int:
    """Return the input rows that fit; row: bytes of one, 0 where rows are not kept."""
    return min(most(left, row, 0), at.grid.rows.union) if row else 0


def _most_words(at: Place, room: Room, word_bytes: int, inputs: int) -> int:
    """Return how many words of outputs fit at once with their weights for this many inputs, at most all."""
    words = at.layer.words
    if holds(room, words * word_bytes, stationary_bytes(at.layer, at.layer.part.outputs, inputs)):
        return words
    return min(words - 1, most(room, word_bytes, stationary_bytes(at.layer, at.layer.word, inputs)))


def _fewest_chunks(at: Place, room: Room, word_bytes: int, inputs: int) -> int:
    """Return the fewest chunks that fit, 0 where not even a word does."""
    words = _most_words(at, room, word_bytes, inputs)
    return ceil_div(at.layer.words, words) if words > 0 else 0


def _chunk(layer: LoopLayer, fewest: int, number: int) -> int:
    """Return the outputs of the chunks tried: for the fewest chunks, for a few more, and a single word."""
    if number == MORE_CHUNKS:
        return min(layer.word, layer.part.outputs)
    return evened(layer.part.outputs, ceil_div(layer.words, fewest + number), layer.word)


def evened(size: int, most: int, word: int) -> int:
    """Return the size of equal pieces, as few as possible, of at most this many words: whole words, or everything.

    Examples
    --------
    >>> evened(100, 8, 8)
    56
    """
    words = ceil_div(size, word)
    return min(size, ceil_div(words, ceil_div(words, most)) * word)
