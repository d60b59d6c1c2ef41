"""About how long a priced plan takes, in one pass over its steps: for choosing which changes to simulate."""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

from simulator.accelerator import Accelerator
from simulator.model.price import Price
from simulator.model.priced import PricedPartition

FIRST = 16  #: of the inputs of a step one part in so many comes before it begins; our choice
MOST_PIECES = 64  #: of a step; our choice: more change next to nothing


class Piece(NamedTuple):
    """A step, or the part of a layer between two chunks of its weights. Slots, and bytes of all cores."""

    computing: int
    before: int  #: bytes of weights that are loaded before it begins
    weights: int  #: these, and all others that it needs
    inputs: int
    outputs: int
    free: int  #: room for weights of later pieces


def pieces_of(price: Price, first_weights: int, chip: Accelerator) -> list[Piece]:
    """Return the pieces of a step; first_weights: of the layer that computes first."""
    cores, computing = chip.cores, chip.rate.slots(price.compute_cycles)
    if chip.is_shared:
        free = chip.activation_capacity - price.kept_bytes - price.activation_bytes - price.weight_bytes
    else:
        free = chip.weight_capacity - price.weight_bytes
    weights, inputs, outputs = price.ema_weight_bytes, price.ema_input_bytes, price.ema_output_bytes
    if price.loops is None:
        return [Piece(computing, first_weights, weights, inputs, outputs, free * cores)]
    count = -(-weights // (price.weight_bytes * cores)) if price.weight_bytes else 1
    count = max(1, min(count, MOST_PIECES))
    part = weights // count
    return [Piece(computing // count, part, part, inputs // count, outputs // count, free * cores)] * count


def estimate(priced: PricedPartition) -> int:
    """Return about how many slots a plan takes: loads in order of need, each as soon as there is room for it."""
    weights = priced.rules.geometry.weight_bytes
    pieces = [
        piece
        for model, price in zip(priced.models, priced.prices)
        if isinstance(price, Price)
        for piece in pieces_of(price, weights[model.subgraph.layers[0]], priced.accelerator)
    ]
    needed = list(accumulate(piece.weights for piece in pieces))
    most, least = [0] * len(pieces), needed[-1]
    for i in reversed(range(len(pieces))):
        least = min(least, needed[i] + pieces[i].free)
        most[i] = least
    time = loaded = stored = 0  # the array; bytes of weights that are there; bytes still to be stored
    for piece, whole, room in zip(pieces, needed, most):
        wait = max(0, whole - piece.weights + piece.before - loaded)
        loaded += wait
        moved = whole - loaded + piece.inputs + stored
        spent = max(piece.computing, moved)
        time += wait + piece.inputs // FIRST + spent
        loaded = max(whole, min(room, whole + spent - moved))
        stored = piece.outputs
    return time + stored
