"""Generated lists of buffers: of training, without structure, and of training that turns with large workspaces."""

from __future__ import annotations

import random

import numpy as np

from simulator.allocation.buffers import Buffer


def training(count: int, seed: int = 0) -> list[Buffer]:
    """Return buffers of training in micro-batches of up to 400 layers, one after the other: per layer an activation
    that lives until its backward step and nine temporaries that die soon, and 100 weights that stay; 64 bytes to 1 MB.
    """
    rng = np.random.default_rng(seed)
    lives = []
    start = 0
    while len(lives) < count - 100:
        layers = min(400, (count - 100 - len(lives)) // 10)
        end = start + 20 * layers
        for layer in range(layers):
            lives.append((start + 10 * layer, end - 10 * layer))
            for k in range(1, 10):
                low = start + 10 * layer + k if k < 5 else end - 10 * layer - k
                lives.append((low, low + int(rng.integers(1, 12))))
        start = end
    lives += [(0, start)] * 100
    return [Buffer(str(i), low, high, 64 * int(2 ** rng.uniform(0, 14))) for i, (low, high) in enumerate(lives)]


def random_lives(count: int, seed: int = 0) -> list[Buffer]:
    """Return buffers without structure, harder than any tensor dump: most die soon, one in twenty lives for long."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(count):
        if i % 20 == 0:
            lower = int(rng.integers(0, count // 2))
            upper = min(count - lower + int(rng.integers(0, 8)), lower + 4_000)
        else:
            lower = int(rng.integers(0, count))
            upper = lower + int(rng.geometric(0.15))
        found.append(Buffer(str(i), lower, upper, 64 * int(2 ** rng.uniform(0, 14))))
    return found


def turning(layers: int, seed: int = 0) -> list[Buffer]:
    """Return forward and backward steps of so many layers: weights stay, activations wait for their backward step,
    and the steps around the turn have 120 workspaces, some far larger than all else, that start and end there.
    """
    rng = random.Random(seed)
    end, lives = 4 * layers, []
    for layer in range(layers):
        lives.append((0, end, rng.choice((64, 768, 3072))))
        lives.append((2 * layer + 1, end - 2 * layer - 1, rng.choice((512, 512, 2048))))
        lives.append((2 * layer + 1, 2 * layer + 3, rng.choice((4, 96, 512))))
    for size in (40_000, 40_096, 51_520, 4, 96, 192) * 20:
        start = end // 2 - 6 + rng.randrange(12)
        lives.append((start, start + rng.randrange(2, 5), size))
    return [Buffer(str(i), *each) for i, each in enumerate(lives)]
