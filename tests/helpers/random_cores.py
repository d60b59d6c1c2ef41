"""Random subgraphs for several cores: all operators with up to 11 channels, grouped and depth-wise ones among them."""

from __future__ import annotations

import random
from dataclasses import replace

from simulator import Accelerator
from simulator.execution.count.count import Plan
from simulator.partition.partition import connected_parts
from simulator.technology import Technology
from tests.helpers.random_graphs import large_network, random_network
from workloads.network.network import Network

CORES = (2, 3, 4, 5, 6, 7)


def random_channels(seed: int) -> Network:
    """Return a random graph; every second one has operands that are needed whole, every fourth larger maps."""
    if seed % 4 == 3:
        return large_network(seed)
    rng = random.Random(seed)
    return grouped(random_network(seed, whole=seed % 2 == 1, channels=rng.choice((2, 3, 4, 7, 11))), rng)


def grouped(network: Network, rng: random.Random) -> Network:
    """Return the network with some convolutions in groups, some products in heads, norms in the place of sums."""
    layers = []
    for layer in network.layers:
        if layer.op in ("conv", "conv_transpose", "matmul"):
            inner = [layer.in_channels, layer.channels]
            inner += [network.tensors[network.index[layer.inputs[1]]].channels] if layer.op == "matmul" else []
            groups = [g for g in range(2, layer.channels + 1) if not any(each % g for each in inner)]
            if groups and layer.op != "matmul" and rng.random() < 0.4:
                layer = replace(layer, groups=rng.choice(groups))
        if layer.op == "add" and len(layer.inputs) == 1:
            layer = replace(layer, op=rng.choice(("softmax", "layernorm", "lrn")))
        layers.append(layer)
    return replace(network, layers=tuple(layers))


def random_team(seed: int, tiles=(1, 2, 3, 4, 8)) -> tuple[Network, Accelerator, Plan]:
    """Return the largest connected part of a random graph as a plan with a random tile on 2 to 7 cores."""
    rng, network = random.Random(seed), random_channels(seed)
    layers = max(connected_parts(network, range(len(network.layers))), key=len)
    technology = Technology(channel_alignment=rng.choice((1, 1, 2, 3, 8)))
    cores, batch = rng.choice(CORES), rng.choice((1, 1, 1, 2, 3, 5))
    chip = Accelerator(shared_buffer=10**9, cores=cores, batch=batch, technology=technology)
    tile = (rng.choice(tiles), rng.choice(tiles))
    return network, chip, Plan(tuple(layers), tile, rng.randint(1, batch))
