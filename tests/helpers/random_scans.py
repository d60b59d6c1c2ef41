"""Random scans: alone, and among products, convolutions over time and gates."""

from __future__ import annotations

import random

from workloads import Builder
from workloads.network.network import Network


def add_scan(b: Builder, rng: random.Random, name: str, sources: list[str], channels: int, make) -> str:
    """Add a scan of so many channels, whose operands `make` makes, of so many channels each, or that are sources."""
    heads = rng.choice([each for each in range(1, channels + 1) if channels % each == 0])
    size = rng.choice((1, 2, 5, 8))
    possible = [1, heads, channels, heads * size, channels * size]
    gates = [rng.choice(possible) for _ in range(rng.choice((0, 1, 1, 2)))]
    widths = [channels, *gates, rng.choice((1, heads)) * size, rng.choice((1, heads)) * size]
    parts = [make(f"{name}_{i}", width) for i, width in enumerate(widths)]
    for i, part in enumerate(parts):  # an operand that is another one, too
        equal = [each for each in [*sources, *parts[:i]] if b.shape(each) == b.shape(part)]
        parts[i] = rng.choice(equal) if equal and rng.random() < 0.2 else part
    return b.scan(name, parts, size, rng.choice((0, heads, channels, channels * size)))


def random_scan(rng: random.Random) -> Network:
    """Return one scan."""
    b, rows = Builder("one"), rng.randint(1, 9)
    add_scan(b, rng, "y", [], rng.choice((1, 3, 8, 12, 17, 40)), lambda name, width: b.input(name, rows, 1, width))
    return b.build()


def random_scans(seed: int) -> Network:
    """Return several layers on sequences, of which at least one is a scan."""
    rng, b = random.Random(seed), Builder("sequence")
    found = [b.input("x", rng.randint(1, 12), 1, rng.choice((2, 8, 9)))]
    for i in range(rng.choice((1, 1, 2))):
        source = rng.choice(found[-3:])
        if rng.random() < 0.3:
            source = b.layernorm(f"norm{i}", source)
        if rng.random() < 0.4:
            source = b.conv(f"mix{i}", source, rng.choice((3, 8)), (3, 1), padding=(2, 0, 0, 0))
        made = b.fc(f"in{i}", source, rng.choice((2, 6, 8, 17, 40)))

        def make(name: str, width: int, made: str = made) -> str:
            return b.fc(name, made, width) if rng.random() < 0.3 else b.input(name, b.shape(made)[0], 1, width)

        found.append(add_scan(b, rng, f"scan{i}", [made, source], b.shape(made)[2], make))
        equal = [each for each in [made, *found[:-1]] if b.shape(each) == b.shape(found[-1])]
        if equal and rng.random() < 0.7:
            found.append(b.mul(f"gated{i}", [found[-1], rng.choice(equal)]))
        found.append(b.fc(f"out{i}", found[-1], rng.choice((2, 8, 9))))
    return b.build()
