"""Random plans with a subgraph that may run as a nest, whatever its kind."""

from __future__ import annotations

import random

from simulator import Accelerator, Partition
from simulator.model.nests.recognize import nests_of
from tests.helpers.random_attention import random_attention_in_layers, random_decoder
from tests.helpers.random_heads import random_heads
from tests.helpers.random_kept import random_spans
from tests.helpers.random_language import geometry_of, with_random_bits


def random_nest_plan(seed):
    """Return a network, a plan with a nest, its position in the plan, and a chip in which the nest may run."""
    rng = random.Random(seed)
    network = None
    while network is None or not nests_of(network):
        network = rng.choice((random_attention_in_layers, random_decoder, random_heads))(rng)
        if rng.random() < 0.3:
            network = with_random_bits(network, rng)
        network = None if geometry_of(network) is None else network
    layers = rng.choice(list(nests_of(network)))
    groups = sorted([layers, *((v,) for v in range(len(network.layers)) if v not in layers)], key=max)
    spans = random_spans(network, groups, rng, rng.choice((0, 0, 0.5)))
    plan = Partition.from_ids(network, groups, rng.choice(("ema", "energy", "latency")), spans)
    size = int(2 ** rng.uniform(8, 14))
    buffers = {"shared_buffer": size} if rng.random() < 0.6 else {"global_buffer": size, "weight_buffer": size}
    return network, plan, groups.index(layers), Accelerator(**buffers, batch=rng.choice((1, 1, 3)))
