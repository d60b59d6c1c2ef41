"""Small questions of the exact search with kept tensors, with arbitrary numbers."""

from __future__ import annotations

import math
import random
from functools import lru_cache

from cocco.candidates.sets import members
from cocco.search.exact.question import KeepQuestion, KeptStep
from simulator.connected import CONNECTED
from tests.helpers.random_graphs import random_network


def random_question(seed: int, most_layers: int) -> KeepQuestion:
    """Return a small network of any kind with arbitrary sizes and prices; only a write more never costs less."""
    rng = random.Random(seed)
    network = random_network(seed, most_layers, whole=seed % 2 == 1)
    count, tensors = len(network.layers), len(network.tensors)
    whole = tuple(rng.randint(1, 9) for _ in range(tensors))
    crossing = tuple(float(rng.randint(1, 9)) for _ in range(tensors))
    room, spare, most = rng.randint(4, 40), rng.choice((0, 1, 9)), rng.randint(1, 4)
    layer = tuple(float(rng.randint(0, 5)) for _ in range(count))

    @lru_cache(None)
    def price(step: KeptStep) -> float:
        own = random.Random(hash((seed, step.layers, step.on_chip)))
        need = own.randint(0, 6) * len(step.layers)
        if len(step.layers) > most or step.kept_bytes + need > room or step.elsewhere > spare:
            return math.inf
        cost = float(own.randint(0, 8) + (step.kept_bytes > room // 2) * own.randint(0, 3))
        for v in step.layers:
            cost += layer[v]
        for u in members(step.loaded):
            cost += crossing[u]
        for v in members(step.written):
            cost += crossing[v]
        return cost

    def may_fit(group: tuple[int, ...]) -> bool:
        return len(group) <= most

    may_keep = rng.random() < 0.9
    return KeepQuestion(
        network, room, whole, price, may_fit, layer, crossing, may_keep, connected=CONNECTED[seed % 3 == 2]
    )
