"""Random sequences with recurrent layers among products, sums, norms and windows over time."""

from __future__ import annotations

import random

from workloads import Builder
from workloads.network.network import Network


def random_recurrent(rng: random.Random) -> Network:
    """Return one recurrent layer of one to four gates."""
    b = Builder("one")
    state, gates = rng.choice((1, 3, 8, 12, 17, 40)), rng.randint(1, 4)
    b.recurrent("h", b.input("x", rng.randint(1, 9), 1, gates * state), state)
    return b.build()


def random_sequence(seed: int) -> Network:
    """Return several layers on sequences, of which at least one is recurrent."""
    rng, b = random.Random(seed), Builder("sequence")
    found = [b.input("x", rng.randint(1, 14), 1, rng.choice((2, 8, 9)))]
    for i in range(rng.randint(1, 3)):
        source, state = rng.choice(found[-3:]), rng.choice((2, 5, 8))
        if rng.random() < 0.3:
            source = b.layernorm(f"norm{i}", source)
        if rng.random() < 0.3 and b.shape(source)[0] > 3:
            source = b.conv(f"mix{i}", source, rng.choice((3, 8)), (3, 1), (rng.choice((1, 2)), 1), (1, 0, 1, 0))
        gates = b.conv(f"gates{i}", source, state * rng.randint(1, 4))
        found.append(b.recurrent(f"state{i}", gates, state))
        equal = [each for each in found[:-1] if b.shape(each) == b.shape(found[-1])]
        if equal and rng.random() < 0.7:
            found.append(b.add(f"sum{i}", [found[-1], rng.choice(equal)]))
        if rng.random() < 0.3 and b.shape(found[-1])[0] > 3:
            found.append(b.maxpool(f"pool{i}", found[-1], (3, 1), (2, 1)))
    return b.build()
