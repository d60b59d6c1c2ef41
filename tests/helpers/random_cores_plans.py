"""Random partitions with kept tensors on random machines of 2 to 7 cores, from roomy to hardly enough."""

from __future__ import annotations

import random

from simulator import Accelerator, Partition
from simulator.metrics import METRIC_NAMES
from simulator.technology import Technology
from tests.helpers.random_cores import CORES, random_channels
from tests.helpers.random_kept import random_kept_plan
from workloads.network.network import Network


def random_cores_plan(seed: int) -> tuple[Network, Partition, Accelerator]:
    """Return a network, a plan of it and a machine."""
    rng, network = random.Random(seed), random_channels(seed)
    plan = random_kept_plan(network, seed)
    spans = [each.span for each in plan.keep] if seed % 3 else []
    plan = Partition.from_ids(network, plan.subgraphs, metric=rng.choice(METRIC_NAMES), keep=spans)
    technology = Technology(channel_alignment=rng.choice((1, 2, 8)), tiles=(8, 4, 3, 2, 1))
    sizes = [int(10 ** rng.uniform(2, 5)) for _ in range(2)]
    machine = {"cores": rng.choice(CORES), "batch": rng.choice((1, 1, 2, 3, 5, 8)), "technology": technology}
    if seed % 2:
        return network, plan, Accelerator(shared_buffer=sizes[0], **machine)
    return network, plan, Accelerator(global_buffer=sizes[0], weight_buffer=sizes[1], **machine)
