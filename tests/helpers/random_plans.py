"""Random valid partitions: cut an order of the layers into pieces, and the pieces into what is connected."""

from __future__ import annotations

import random

from simulator import Partition
from simulator.partition.partition import connected_parts
from workloads.network.network import Network


def random_plan(network: Network, seed: int) -> Partition:
    """Return a valid partition; some subgraphs of it may break the rules of alignment."""
    rng = random.Random(seed)
    count = len(network.layers)
    cuts = sorted(rng.sample(range(1, count), rng.randint(0, count - 1))) if count > 1 else []
    pieces = [range(a, b) for a, b in zip([0, *cuts], [*cuts, count])]
    return Partition.from_ids(network, [part for piece in pieces for part in connected_parts(network, piece)])
