"""The plans of a chain that are tried: tiles, slices, chunks, pieces, and what stays of the weights or of x.

Tiles are bands of ceil(H / n) rows; slices a sixth of the outputs or more; chunks as many as there are words, evened
out; pieces a word or everything. What room is left goes to weights that stay. Against every band, chunk, slice, piece
and number of channels that stay, the least EMA is the same (tests/simulator/model/nests/test_middle_cheapest.py). What
moves at least more than the best plan so far is skipped, as for a layer.
"""

from __future__ import annotations

from simulator.integers import ceil_div
from simulator.model.layer.axes import RING, WHOLE
from simulator.model.layer.goal import Place, holds, may_win, most, offer, without
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import LoopPlan, Loops, Moved
from simulator.model.chains.rows import ChainBand
from simulator.model.chains.orders import (
    MT,
    TM,
    TS,
    TW,
    middle_bytes,
    middle_plan,
    moved_of,
    once,
    results_of,
    slot_bytes,
    sums_of,
    weights_of,
    x_bytes,
)

MOST_SLICES = 6  #: of the outputs; our choice


def chain_plans(at: Place) -> None:
    """Offer the plans of a chain that fit."""
    chain = at.layer.chain
    words = ceil_div(chain.outputs, at.layer.word)
    for i in range(chain.band_count):
        band = chain.bands[i]
        _layers_plans(at, band)
        _middle_tiles_plans(at, band)
        size = words
        while size and ceil_div(words, size) <= MOST_SLICES:
            outputs = min(chain.outputs, size * at.layer.word)
            _tiles_middle_plans(at, band, outputs)
            _slices_plans(at, band, outputs)
            size = fewer(words, size)


def fewer(words: int, size: int) -> int:
    """Return the next smaller of the sizes ceil(words / n), 0 after the last.

    Examples
    --------
    >>> [fewer(14, size) for size in (14, 7, 5, 1)]
    [7, 5, 4, 0]
    """
    return ceil_div(words, (words - 1) // (size - 1) + 1) if size > 1 else 0


def _tiles_middle_plans(at: Place, band: ChainBand, outputs: int) -> None:
    """TM: the weights of as many middle channels as fit stay, if any come more than once."""
    layer, chain, rows = at.layer, at.layer.chain, band.anew
    words = ceil_div(chain.middle, layer.word)
    size = words
    while size:
        chunk = min(chain.middle, size * layer.word)
        held = x_bytes(layer, rows) + middle_bytes(layer, rows, chunk, 0) + band.rows * (
            sums_of(layer, outputs) if chunk < chain.middle else results_of(layer, outputs)
        )
        size = fewer(words, size)
        if not holds(at.room, held, 0):
            continue
        left, is_once = without(at.room, held, 0), band.tiles * layer.batch == 1 and outputs == chain.outputs
        if not is_once and most(left, 0, weights_of(chain, chain.middle)) > 0:
            _offer(at, TM, RING, band, Loops(chunk, chunk, outputs, outputs, 1, chain.middle))
            continue
        least = slot_bytes(chain, chain.inputs, chunk, Loops(min(layer.word, chunk), chunk, outputs, min(layer.word, outputs), 1, 0))
        if not holds(left, 0, least):
            continue
        loops = Loops(chunk, chunk, outputs, outputs, 1, 0)
        kept = 0 if is_once else _kept(at, without(left, 0, least), chunk)
        moved = moved_of(layer, band, rows, loops, chain.middle - kept, once(layer), 0)
        if may_win(at, moved.weight_reads, moved.input_reads, moved.traffic, moved.weight_traffic):
            for number in range(4):
                loops = _pieces(layer, number, chunk, outputs, 0)
                slot = slot_bytes(chain, chain.inputs, chunk, loops)
                if holds(left, 0, slot):
                    kept = 0 if is_once else _kept(at, without(left, 0, slot), chunk)
                    _offer(at, TM, RING, band, Loops(loops.apart, chunk, outputs, loops.inner, 1, kept))


def _kept(at: Place, room: Room, chunk: int) -> int:
    """Return of how many middle channels the weights can stay beside a slot: whole chunks, at most all but the last."""
    chain = at.layer.chain
    return min(most(room, 0, weights_of(chain, chunk)), (chain.middle - 1) // chunk) * chunk


def _pieces(layer: LoopLayer, number: int, chunk: int, outputs: int, kept: int) -> Loops:
    """Return loops with pieces of both dense layers: a word or everything."""
    opener = chunk if number % 2 == 0 else min(layer.word, chunk)
    closer = outputs if number < 2 else min(layer.word, outputs)
    return Loops(opener, chunk, outputs, closer, 1, kept)


def _layers_plans(at: Place, band: ChainBand) -> None:
    """TW: all weights stay, or none; results in pieces."""
    layer, chain = at.layer, at.layer.chain
    for number in range(4):
        _offer(at, TW, RING, band, _pieces(layer, number, chain.middle, chain.outputs, 0))
        _offer(at, TW, RING, band, _pieces(layer, number, chain.middle, chain.outputs, chain.middle))


def _middle_tiles_plans(at: Place, band: ChainBand) -> None:
    """MT: x stays, or comes for each chunk."""
    layer, chain = at.layer, at.layer.chain
    words = ceil_div(chain.middle, layer.word)
    size = words
    while size:
        chunk = min(chain.middle, size * layer.word)
        loops = Loops(chunk, chunk, chain.outputs, chain.outputs, 1, 0)
        _offer(at, MT, RING, band, loops)
        if chunk < chain.middle:
            _offer(at, MT, WHOLE, band, loops)
        size = fewer(words, size)


def _slices_plans(at: Place, band: ChainBand, outputs: int) -> None:
    """TS: slices of x of a word, half of its words, or all but one."""
    layer, chain = at.layer, at.layer.chain
    words, of_x = ceil_div(chain.middle, layer.word), ceil_div(chain.inputs, layer.word)
    size = words
    while size:
        chunk = min(chain.middle, size * layer.word)
        reads = ceil_div(chain.middle, chunk) * ceil_div(chain.outputs, outputs) * band.anew.x_read * chain.x_width * layer.loaded
        moved = moved_of(layer, band, band.anew, Loops(chunk, chunk, outputs, outputs, 1, 0), chain.middle, reads, 0)
        if not may_win(at, moved.weight_reads, moved.input_reads, moved.traffic, moved.weight_traffic):
            return  # smaller chunks move more
        for number in range(12):
            inputs = 1 if number < 4 else ceil_div(of_x, 2) if number < 8 else of_x - 1
            if number < 4 or inputs > (1 if number < 8 else ceil_div(of_x, 2)):
                kept = min(chain.inputs, inputs * layer.word)
                _offer(at, TS, RING, band, _pieces(layer, number % 4, chunk, outputs, kept))
        size = fewer(words, size)


def _offer(at: Place, order: str, mode: str, band: ChainBand, loops: Loops) -> None:
    """Offer a plan if it fits."""
    plan = middle_plan(order, mode, at.layer, band, loops)
    if holds(at.room, plan.activation_bytes, plan.weight_bytes):
        offer(at, at.grid.modes[0], plan)
