"""The plans of a chain that are tried: tiles, slices, chunks, pieces, and what stays of the weights or of x.

Tiles are bands of ceil(H / n) rows; slices a sixth of the outputs or more; chunks as many as there are words, evened
out; pieces a word or everything. What room is left goes to weights that stay. Against every band, chunk, slice, piece
and number of channels that stay, the least EMA is the same (tests/simulator/model/nests/test_middle_cheapest.py). What
moves at least more than the best plan so far is skipped, as for a layer.
"""

from __future__ import annotations

from simulator.integers import ceil_div
from simulator.model.chains.orders import (
    Needs,
    chain_moved,
    chain_plan,
    chain_weights,
    middle_bytes,
    once_bytes,
    order_needs,
    result_row_bytes,
    slot_bytes,
    sum_row_bytes,
    x_bytes,
)
from simulator.model.chains.rows import ChainBand, ChainRows
from simulator.model.layer.axes import RING, WHOLE
from simulator.model.layer.goal import Place, Room, holds, may_win, most, offer, without
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import MT, TM, TS, TW, Loops

MOST_SLICES = 6  #: of the outputs; our choice


def chain_plans(at: Place) -> None:
    """Offer the plans of a chain that fit."""
    chain = at.layer.chain
    words = ceil_div(chain.outputs, at.layer.word)
    for i in range(chain.band_count):
        band = chain.bands[i]
        loops = Loops(chain.middle, chain.middle, chain.outputs, chain.outputs, 1, 0)
        if not _chain_may_win(at, band, band.ring, loops, 0, once_bytes(at.layer)):
            continue  # no order moves less
        if at.layer.epilogue.by_position:  # only there all channels of a position are together
            _tiles_middle_plans(at, band, chain.outputs)
            continue
        _layers_plans(at, band)
        _middle_tiles_plans(at, band)
        size = words
        while size and ceil_div(words, size) <= MOST_SLICES:
            outputs = min(chain.outputs, size * at.layer.word)
            loops = Loops(chain.middle, chain.middle, outputs, outputs, 1, 0)
            if not _chain_may_win(at, band, band.anew, loops, 0, once_bytes(at.layer)):
                break  # smaller slices move more
            if _middle_may_win(at, band, outputs):
                _tiles_middle_plans(at, band, outputs)
            _slices_plans(at, band, outputs)
            size = fewer_words(words, size)


def fewer_words(words: int, size: int) -> int:
    """Return the next smaller of the sizes ceil(words / n), 0 after the last.

    Examples
    --------
    >>> [fewer_words(14, size) for size in (14, 7, 5, 1)]
    [7, 5, 4, 0]
    """
    return ceil_div(words, (words - 1) // (size - 1) + 1) if size > 1 else 0


def _chain_may_win(at: Place, band: ChainBand, rows: ChainRows, loops: Loops, passing: int, reads: int) -> bool:
    """Return whether plans that move at least what these loops do may come before the best so far."""
    if not at.best.found:
        return True
    moved = chain_moved(at.layer, band, rows, loops, passing, reads, 0)
    return may_win(at, moved.weight_reads, moved.input_reads, moved.traffic, moved.weight_traffic)


def _middle_may_win(at: Place, band: ChainBand, outputs: int) -> bool:
    """Return the same of TM in a tile and slice, with all the weights that can stay beside a chunk of a word."""
    layer, chain, rows = at.layer, at.layer.chain, band.anew
    chunk = min(layer.word, chain.middle)
    row = min(sum_row_bytes(layer, outputs), result_row_bytes(layer, outputs))
    held = x_bytes(layer, rows) + middle_bytes(layer, rows, chunk, 0) + band.rows * row
    if not holds(at.room, held, 0):
        return False
    kept = min(chain.middle, (most(without(at.room, held, 0), 0, chain_weights(chain, chunk)) + 1) * chunk)
    loops = Loops(chain.middle, chain.middle, outputs, outputs, 1, kept)
    return _chain_may_win(at, band, rows, loops, chain.middle - kept, once_bytes(layer))


def _tiles_middle_plans(at: Place, band: ChainBand, outputs: int) -> None:
    """TM: the weights of as many middle channels as fit stay, if any come more than once."""
    layer, chain, rows = at.layer, at.layer.chain, band.anew
    often = band.tiles * layer.batch * ceil_div(chain.outputs, outputs)
    words = ceil_div(chain.middle, layer.word)
    size = words
    while size:
        chunk = min(chain.middle, size * layer.word)
        row = sum_row_bytes(layer, outputs) if chunk < chain.middle else result_row_bytes(layer, outputs)
        held = x_bytes(layer, rows) + middle_bytes(layer, rows, chunk, 0) + band.rows * row + layer.epilogue.room
        size = fewer_words(words, size)
        if not holds(at.room, held, 0):
            continue
        left = without(at.room, held, 0)
        if often > 1 and most(left, 0, chain_weights(chain, chain.middle)) > 0:
            loops = Loops(chunk, chunk, outputs, outputs, 1, chain.middle)
            if _chain_may_win(at, band, rows, loops, 0, once_bytes(layer)):
                _offer_chain(at, TM, RING, band, loops)
            continue
        slot = slot_bytes(chain, chain.inputs, chunk, _in_pieces(layer, 3, chunk, outputs, 0))
        if not holds(left, 0, slot):
            continue
        kept = _kept_middle(at, left, chunk, _in_pieces(layer, 3, chunk, outputs, 0)) if often > 1 else 0
        loops = Loops(chunk, chunk, outputs, outputs, 1, kept)
        if not _chain_may_win(at, band, rows, loops, chain.middle - kept, once_bytes(layer)):
            continue
        for number in range(4):
            loops = _in_pieces(layer, number, chunk, outputs, 0)
            slot = slot_bytes(chain, chain.inputs, chunk, loops)
            if holds(left, 0, slot):
                kept = _kept_middle(at, left, chunk, loops) if often > 1 else 0
                _offer_chain(at, TM, RING, band, Loops(loops.apart, chunk, outputs, loops.inner, 1, kept))


def _kept_middle(at: Place, left: Room, chunk: int, loops: Loops) -> int:
    """Return of how many middle channels the weights can stay beside a slot: whole chunks, at most all but the last."""
    chain = at.layer.chain
    most_kept = (chain.middle - 1) // chunk * chunk
    slot = slot_bytes(chain, chain.inputs, chain.middle - most_kept, loops)  # the last chunk may be smaller
    if holds(left, 0, slot + chain_weights(chain, most_kept)):
        return most_kept
    slot = slot_bytes(chain, chain.inputs, chunk, loops)
    return min(most(without(left, 0, slot), 0, chain_weights(chain, chunk)) * chunk, most_kept)


def _in_pieces(layer: LoopLayer, number: int, chunk: int, outputs: int, kept: int) -> Loops:
    """Return loops with pieces of both dense layers: a word or everything."""
    opener = chunk if number % 2 == 0 else min(layer.word, chunk)
    closer = outputs if number < 2 else min(layer.word, outputs)
    return Loops(opener, chunk, outputs, closer, 1, kept)


def _layers_plans(at: Place, band: ChainBand) -> None:
    """TW: all weights stay, or none; results in pieces."""
    layer, chain = at.layer, at.layer.chain
    if not _fits(at, order_needs(TW, RING, layer, band, _in_pieces(layer, 3, chain.middle, chain.outputs, 0))):
        return
    for number in range(4):
        _offer_chain(at, TW, RING, band, _in_pieces(layer, number, chain.middle, chain.outputs, 0))
        _offer_chain(at, TW, RING, band, _in_pieces(layer, number, chain.middle, chain.outputs, chain.middle))


def _middle_tiles_plans(at: Place, band: ChainBand) -> None:
    """MT: x stays, or comes for each chunk."""
    layer, chain = at.layer, at.layer.chain
    words = ceil_div(chain.middle, layer.word)
    size, loops = words, Loops(layer.word, layer.word, chain.outputs, chain.outputs, 1, 0)
    has_chunks = _fits(at, order_needs(MT, RING, layer, band, loops))
    while size == words or (size > 0 and has_chunks):
        chunk = min(chain.middle, size * layer.word)
        loops = Loops(chunk, chunk, chain.outputs, chain.outputs, 1, 0)
        fits = _offer_chain(at, MT, RING, band, loops)
        if chunk < chain.middle and _offer_chain(at, MT, WHOLE, band, loops):
            fits = True
        if fits and not _chain_may_win(at, band, band.ring, loops, 0, once_bytes(layer)):
            return  # smaller chunks move more
        size = fewer_words(words, size)


def _slices_plans(at: Place, band: ChainBand, outputs: int) -> None:
    """TS: slices of x of a word, of half its words, of all but one, or of all."""
    layer, chain = at.layer, at.layer.chain
    words, of_x = ceil_div(chain.middle, layer.word), ceil_div(chain.inputs, layer.word)
    once = ceil_div(chain.outputs, outputs) * band.anew.x_read * chain.x_width * layer.loaded
    size = words
    while size:
        chunk = min(chain.middle, size * layer.word)
        loops = Loops(chunk, chunk, outputs, outputs, 1, 0)
        before, held = 0, middle_bytes(layer, band.anew, chunk, 0)
        if chunk < chain.middle:
            held += band.rows * sum_row_bytes(layer, outputs)
        fits = holds(at.room, held, 0)
        if fits or size == words:
            if not _chain_may_win(at, band, band.anew, loops, chain.middle, ceil_div(chain.middle, chunk) * once):
                return  # smaller chunks move more
        for fourth in range(4 if fits else 0):
            inputs = 1 if fourth == 0 else ceil_div(of_x, 2) if fourth == 1 else of_x - 3 + fourth
            if inputs > before:
                before, kept = inputs, min(chain.inputs, inputs * layer.word)
                loops = _in_pieces(layer, 3, chunk, outputs, kept)
                for number in range(4 if _fits(at, order_needs(TS, RING, layer, band, loops)) else 0):
                    _offer_chain(at, TS, RING, band, _in_pieces(layer, number, chunk, outputs, kept))
        size = fewer_words(words, size)


def _fits(at: Place, needs: Needs) -> bool:
    """Return whether there is room for this."""
    return holds(at.room, needs.activation + at.layer.epilogue.room, needs.weights)


def _offer_chain(at: Place, order: str, mode: str, band: ChainBand, loops: Loops) -> bool:
    """Offer a plan if it fits, and return whether it does."""
    needs = order_needs(order, mode, at.layer, band, loops)
    if not _fits(at, needs):
        return False
    offer(at, at.grid.modes[0], chain_plan(order, mode, at.layer, band, loops, needs))
    return True
