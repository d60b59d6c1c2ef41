"""Random networks in which several layers have the same weights."""

from __future__ import annotations

import random
from dataclasses import replace

from workloads import Builder
from workloads.network.network import Network


def shared_network(rng: random.Random, most: int) -> Network:
    """Return up to `most` layers on maps of one shape, some of them with the weights of an earlier one."""
    b, width = Builder("shared"), rng.choice((1, 3))
    x = b.input("x", rng.randint(2, 8), width, 8)
    maps = [x]
    for i in range(rng.randint(2, most)):
        source = rng.choice(maps[-2:])
        kind = rng.choice(("fc", "fc", "conv", "add", "norm"))
        if kind == "add" and len(maps) > 1:
            maps.append(b.add(f"l{i}", rng.sample(maps, 2)))
        elif kind == "norm":
            maps.append(b.layernorm(f"l{i}", source))
        else:
            maps.append(b.conv(f"l{i}", source, 8, 1 if kind == "fc" or width == 1 else 3, padding="same"))
    return with_shared(b.build(), rng)


def with_shared(network: Network, rng: random.Random) -> Network:
    """Return the network with layers of weights of one size that have the same, most of them."""
    layers = tuple(
        replace(each, shared=f"w{each.weight_elements}") if each.has_weights and rng.random() < 0.8 else each
        for each in network.layers
    )
    return replace(network, layers=layers)
