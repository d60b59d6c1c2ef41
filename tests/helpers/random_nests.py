"""Random plans in which a nest of layers may run in loops: attentions, epilogues, attentions with their projections."""

from __future__ import annotations

import random

from simulator import Accelerator, Partition
from simulator.model.nests.recognize import nests_of
from tests.helpers.random_attention import random_attention_in_layers, random_decoder
from tests.helpers.random_epilogue import random_followed
from tests.helpers.random_heads import random_heads
from tests.helpers.random_kept import random_order, random_spans
from tests.helpers.random_language import geometry_of, with_random_bits


def attention_network(rng):
    """Return a network with one attention, written as layers."""
    return random_attention_in_layers(rng) if rng.random() < 0.6 else random_decoder(rng)


def others(network, layers):
    """Return each layer outside by itself."""
    return [(v,) for v in range(len(network.layers)) if v not in layers]


def random_nest_plan(seed, make=None):
    """Return a network, a plan with a nest, its position in the plan, and a chip in which the nest may run."""
    rng = random.Random(seed)
    network, make = None, make or rng.choice((attention_network, random_followed, random_heads))
    while network is None or not nests_of(network):
        network = make(rng)
        if rng.random() < 0.3:
            network = with_random_bits(network, rng)
        network = None if geometry_of(network) is None else network
    layers = rng.choice([*nests_of(network)])
    groups = random_order(network, Partition.from_ids(network, [layers, *others(network, layers)]), rng)
    spans = random_spans(network, groups, rng, rng.choice((0, 0, 0.5)))
    plan = Partition.from_ids(network, groups, rng.choice(("ema", "energy", "latency-sum")), spans)
    size = int(2 ** rng.uniform(8, 14))
    buffers = {"shared_buffer": size} if rng.random() < 0.6 else {"global_buffer": size, "weight_buffer": size}
    return network, plan, groups.index(layers), Accelerator(**buffers, batch=rng.choice((1, 1, 3)))
