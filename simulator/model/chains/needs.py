"""The least memory in which a chain runs, exact: of all plans that are tried, those that hold the least.

Tiles of one row, pieces and slices of a word, as few outputs as a slice may have. Chunks of a word, or all middle
channels: then results take the place of sums. Of x also all channels: then the openers have no sums.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.integers import ceil_div
from simulator.model.chains.orders import MT, TM, TS, TW, chain_order
from simulator.model.chains.plans import MOST_SLICES, fewer_words
from simulator.model.layer.axes import RING, WHOLE
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import LoopPlan, Loops


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
    outputs = min(word, chain.outputs)
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
