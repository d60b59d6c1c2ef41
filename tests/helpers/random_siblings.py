"""Random plans with subgraphs that no edge connects: their parts share an input, or only a concatenation."""

from __future__ import annotations

import random

from simulator import Accelerator, Partition
from simulator.connected import connected_parts
from simulator.metrics import METRIC_NAMES
from simulator.technology import Technology
from tests.helpers.random_cores import CORES, random_channels
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_order, random_spans
from workloads.network.builder import Builder
from workloads.network.network import Network


def random_branches(seed: int) -> Network:
    """Return 2 to 4 branches of up to three windows on one to three inputs, and who reads them as a concatenation."""
    rng, b = random.Random(seed), Builder("branches")
    height, width = rng.randint(4, 14), rng.randint(4, 14)
    inputs = [b.input(f"x{i}", height, width, rng.choice((3, 4, 8))) for i in range(rng.randint(1, 3))]
    ends = []
    for i in range(rng.randint(2, 4)):
        x = rng.choice(inputs)
        for j in range(rng.randint(1, 3)):
            if rng.random() < 0.6:
                x = b.conv(f"b{i}_{j}", x, rng.choice((4, 8)), rng.choice((1, 3, 5)), 1, "same")
            else:
                x = rng.choice((b.maxpool, b.depthwise))(f"b{i}_{j}", x, 3, 1, "same")
        ends.append(x)
    b.conv("reader", b.concat("joined", ends), 8, rng.choice((1, 3)))
    return b.build()


def parts_of(network: Network, plan: Partition) -> list[list[list[int]]]:
    """Return the parts by edges of each subgraph that has several."""
    found = (connected_parts(network, group, "paper") for group in plan.subgraphs)
    return [parts for parts in found if len(parts) > 1]


def random_siblings(seed: int) -> tuple[Network, Partition, Accelerator]:
    """Return a network, a plan of it, some with kept tensors, and a machine of any kind, some of several cores."""
    rng = random.Random(seed)
    if seed % 3 == 0:
        network = random_branches(seed)
        outside = {v for v in range(len(network.layers) - 1) if rng.random() < 0.3}
        pieces = [[v for v in range(len(network.layers) - 1) if v not in outside]]
        pieces += [[v] for v in (*outside, len(network.layers) - 1)]
    else:
        network = random_channels(seed) if seed % 3 == 1 else random_network(seed, 10, whole=seed % 2 == 1)
        count = len(network.layers)
        cuts = sorted(rng.sample(range(1, count), rng.randint(0, min(3, count - 1)))) if count > 1 else []
        pieces = [list(range(a, b)) for a, b in zip([0, *cuts], [*cuts, count])]
    groups = [part for piece in pieces for part in connected_parts(network, piece)]
    try:
        plan = Partition.from_ids(network, groups)
    except ValueError:  # a layer outside lies between others
        plan = Partition.layerwise(network)
    order = random_order(network, plan, rng)
    spans = random_spans(network, order, rng, 0.4) if rng.random() < 0.3 else []
    plan = Partition.from_ids(network, order, rng.choice(METRIC_NAMES), spans)
    common = {
        "cores": rng.choice((1, 1, *CORES)), "batch": rng.choice((1, 1, 2, 3)),
        "technology": Technology(channel_alignment=rng.choice((1, 2, 8)), tiles=(8, 4, 3, 2, 1)),
    }  # fmt: skip
    sizes = [int(10 ** rng.uniform(3, 5.2)) for _ in range(2)]
    if seed % 2:
        return network, plan, Accelerator(shared_buffer=sizes[0], **common)
    return network, plan, Accelerator(global_buffer=sizes[0], weight_buffer=sizes[1], **common)
