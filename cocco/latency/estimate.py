"""About how long a priced plan takes, in one pass over its steps: for choosing which changes to simulate."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from simulator.accelerator import Accelerator
from simulator.model.price import Price
from simulator.model.priced import PricedPartition

MOST_PIECES = 64  #: of a step; our choice: more change next to nothing


class Piece(NamedTuple):
    """A step, or the part of a layer between two chunks of its weights. Slots, and bytes of all cores."""

    computing: int
    before: int  #: bytes that are loaded before it begins
    loads: int  #: these, and all others that it needs
    stores: int
    free: int  #: room for what later pieces need


def pieces_of(price: Price, first_weights: int, chip: Accelerator) -> list[Piece]:
    """Return the pieces of a step; first_weights: of the layer that computes first."""
    cores, computing = chip.cores, price.compute_cycles * chip.dram_bytes_per_cycle
    if chip.is_shared:
        free = chip.activation_capacity - price.kept_bytes - price.activation_bytes - price.weight_bytes
    else:
        free = chip.weight_capacity - price.weight_bytes
    loads = price.ema_weight_bytes + price.ema_input_bytes
    count = 1
    if price.loops is not None and price.weight_bytes:
        count = max(1, -(-price.ema_weight_bytes // (price.weight_bytes * cores)))
    if count == 1:
        before = price.ema_weight_bytes if price.loops is not None else first_weights
        return [Piece(computing, before, loads, price.ema_output_bytes, free * cores)]
    count = min(count, MOST_PIECES)
    part = loads // count
    return [Piece(computing // count, part, part, price.ema_output_bytes // count, free * cores)] * count


def estimate(priced: PricedPartition) -> int:
    """Return about how many slots a plan takes: loads in order of need, each as soon as there is room for it."""
    weights = priced.rules.geometry.weight_bytes
    pieces = [
        piece
        for model, price in zip(priced.models, priced.prices)
        if isinstance(price, Price)
        for piece in pieces_of(price, weights[model.subgraph.layers[0]], priced.accelerator)
    ]
    needed = list(accumulate(piece.loads for piece in pieces))
    most, least = [0] * len(pieces), needed[-1]
    for i in reversed(range(len(pieces))):
        least = min(least, needed[i] + pieces[i].free)
        most[i] = least
    time = loaded = stored = 0  # the array; bytes that are there; bytes still to be stored
    for piece, whole, room in zip(pieces, needed, most):
        must = whole - piece.loads + piece.before
        if must > loaded:
            time += must - loaded
            loaded = must
        spent = max(piece.computing, whole - loaded)
        time += spent
        idle = spent - min(spent, stored)
        stored -= min(spent, stored)
        loaded = max(whole, min(room, loaded + idle))
        stored += piece.stores
    return time + stored
