"""The least memory in which a chain runs, exact: of all plans that are tried, those that hold the least; its regions.

Tiles of one row, pieces and slices of a word, as few outputs as a slice may have. Chunks of a word, or all middle
channels: then results take the place of sums. Of x also all channels: then the openers have no sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simulator.integers import ceil_div
from simulator.model.chains.orders import chain_order, middle_bytes, rows_of, slice_bytes, x_bytes
from simulator.model.chains.plans import MOST_SLICES, fewer_words
from simulator.model.layer.axes import RING, WHOLE
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import MT, TM, TS, TW, LoopPlan, Loops


def chain_needs(layer: LoopLayer) -> list[tuple[int, int]]:
    """Return bytes of activations and of weights: a chain runs where one of these pairs fits."""
    return sorted({(plan.activation_bytes, plan.weight_bytes) for plan in _least(layer)})


def once_needs(layer: LoopLayer) -> tuple[int, int]:
    """Return a memory in which a chain moves everything once: row by row, with all weights and a chunk of a word."""
    chain = layer.chain
    chunk = min(layer.word, chain.middle)
    loops = Loops(chunk, chunk, chain.outputs, chain.outputs, 1, chain.middle)
    plan = chain_order(TM, RING, layer, chain.bands[-1], loops)
    return plan.activation_bytes, plan.weight_bytes


def _least(layer: LoopLayer) -> Iterator[LoopPlan]:
    chain, word, band = layer.chain, layer.word, layer.chain.bands[-1]
    outputs, is_mixed = min(word, chain.outputs), layer.epilogue.by_position
    for chunk in {outputs and min(word, chain.middle), chain.middle} if is_mixed else ():
        loops = Loops(min(word, chunk), chunk, chain.outputs, outputs, 1, 0)
        yield chain_order(TM, RING, layer, band, loops)
    if is_mixed:
        return
    yield chain_order(TW, RING, layer, band, Loops(min(word, chain.middle), chain.middle, chain.outputs, outputs, 1, 0))
    for chunk in {min(word, chain.middle), chain.middle}:
        least = min(word, chunk)
        for mode in (RING, WHOLE) if chunk < chain.middle else (RING,):
            yield chain_order(MT, mode, layer, band, Loops(chunk, chunk, chain.outputs, chain.outputs, 1, 0))
        cut = _least_slice(layer)
        yield chain_order(TM, RING, layer, band, Loops(least, chunk, cut, outputs, 1, 0))
        for inputs in {min(word, chain.inputs), chain.inputs}:
            yield chain_order(TS, RING, layer, band, Loops(least, chunk, cut, outputs, 1, inputs))


def _least_slice(layer: LoopLayer) -> int:
    """Return the fewest outputs of a slice that are tried."""
    words = ceil_div(layer.outputs, layer.word)
    size = words
    while fewer_words(words, size) and ceil_div(words, fewer_words(words, size)) <= MOST_SLICES:
        size = fewer_words(words, size)
    return min(layer.outputs, size * layer.word)


class Piece(NamedTuple):
    """Rows and columns of a map that are there at once, at most, and their bytes."""

    shape: tuple[int, int]
    size: int


def chain_pieces(layer: LoopLayer, plan: LoopPlan) -> tuple[Piece, Piece, Piece, Piece]:
    """Return the pieces of x, E, D and the output; D is empty if it is E. Their bytes add up to those of the plan."""
    chain, rows = layer.chain, rows_of(layer.chain, plan)
    loops = Loops(plan.apart, plan.chunk, plan.slice, plan.inner, 1, plan.kept)
    cuts = -(-chain.inputs // plan.kept) - 1 if plan.order == TS else 0
    x = Piece((rows.x_most, chain.x_width), x_bytes(layer, rows))
    if plan.mode == WHOLE:
        x = Piece((chain.x_rows, chain.x_width), layer.batch * chain.x_rows * chain.x_width * layer.part.room)
    elif plan.order == TS:
        x = Piece((rows.x_tile, chain.x_width), slice_bytes(layer, rows, loops))
    both = middle_bytes(layer, rows, plan.chunk, cuts)
    d = middle_bytes(layer, rows._replace(e_most=0), plan.chunk, cuts)
    left, tall = plan.activation_bytes - x.size - both - layer.epilogue.room, plan.tile[0]
    if plan.order == TS and layer.loaded and plan.chunk >= chain.middle:  # results leave through the room of x
        x, left = x._replace(size=x.size + left), 0
    if plan.order == MT and plan.chunk < chain.middle:
        tall = layer.rows.windows
    of_e, of_d = Piece((rows.e_most, chain.e_width), both - d), Piece((rows.d_most, chain.d_width), d)
    return x, of_e, of_d, Piece((tall, plan.tile[1]), left)
