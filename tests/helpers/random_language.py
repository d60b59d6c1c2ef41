"""Random problems with what language models have: caches and rows appended to them, grouped queries, bits, experts."""

from __future__ import annotations

import random
from dataclasses import replace

from cocco.problem.objective import Objective
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.model.pricing import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.random_apart import random_apart_network
from tests.helpers.random_attention import (
    random_attention_in_blocks,
    random_attention_in_layers,
    random_attention_product,
    random_decoder,
    random_masked_attention,
)
from tests.helpers.random_problems import hardware_of, random_net
from workloads import Bits, Builder, Experts, NetworkError
from workloads.network.layers.ops import PRODUCT_OPS
from workloads.network.network import Network

#: appended rows and caches; numbers of 1 to 32 bits; experts in use; groups of channels one after the other; attention
#: in blocks, as one layer or as a nest of layers
KINDS = ("rows", "bits", "experts", "apart", "blocks", "nests", "masks")


def random_language_net(seed: int, kind: str) -> Network:
    """Return a small network that has what the kind says."""
    rng = random.Random(seed)
    while True:
        network = _of_kind(rng, kind)
        if kind == "bits" or (kind in ("experts", "apart", "blocks", "nests", "masks") and rng.random() < 0.3):
            network = with_random_bits(network, rng)
        if geometry_of(network) is not None:
            return network


def _of_kind(rng: random.Random, kind: str) -> Network:
    if kind == "experts":
        return _with_experts(rng)
    if kind == "blocks":
        return random_attention_in_blocks(rng) if rng.random() < 0.3 else random_decoder(rng, in_blocks=True)
    if kind == "masks":
        in_blocks = rng.random() < 0.5
        return random_masked_attention(rng) if rng.random() < 0.3 else random_decoder(rng, in_blocks, is_masked=True)
    if kind == "nests":
        return random_attention_in_layers(rng) if rng.random() < 0.6 else random_decoder(rng)
    if kind == "apart" and rng.random() < 0.7:
        return random_apart_network(rng.randrange(10**6))
    return random_decoder(rng) if kind == "apart" else _with_rows(rng, rng.randrange(10**6))


def _with_experts(rng: random.Random) -> Network:
    """Return one or two feed-forward layers of experts, some gated, with residual sums."""
    b = Builder("experts")
    features = 8 * rng.randint(1, 4)
    x = b.input("x", rng.randint(1, 9), 1, features)
    for i in range(rng.randint(1, 2)):
        active, used = rng.choice(((1, 3), (1, None), (2, 2), (2, 5), (2, None), (4, 6), (4, None)))
        experts, inner = Experts(8, active, used), 8 * active * rng.randint(1, 3)
        y = b.layernorm(f"norm{i}", x)
        parts = [b.fc(f"up{i}{part}", y, inner, experts=experts) for part in range(rng.randint(1, 2))]
        y = b.mul(f"mul{i}", parts) if len(parts) > 1 else parts[0]
        x = b.add(f"add{i}", [b.fc(f"down{i}", y, features, experts=experts), x])
    return b.build()


def with_random_bits(network: Network, rng: random.Random) -> Network:
    """Return the network with bits of its own for each layer and input; rows of one operand have the same."""
    of_weights = rng.choice(((8,), (4, 8, 16), (1, 3, 5, 32)))
    of_others = rng.choice(((8, 16), (4, 8), (2, 8, 12, 32)))
    cache = rng.choice(of_others)
    seconds = {name for layer in network.layers if layer.op in PRODUCT_OPS for name in layer.inputs[1:]}

    def of(name: str) -> int:
        return cache if name in seconds else rng.choice(of_others)

    layers = [
        replace(layer, bits=Bits(rng.choice(of_weights), of(layer.name), cache, rng.choice((8, 24, 32))))
        for layer in network.layers
    ]
    inputs = [replace(tensor, bits=of(tensor.name)) for tensor in network.inputs]
    return replace(network, layers=tuple(layers), inputs=tuple(inputs))


def geometry_of(network: Network) -> Geometry | None:
    """Return the geometry, None where parts of a layer do not fill whole bytes."""
    try:
        return Geometry(network)
    except NetworkError as error:
        assert "do not fill whole bytes" in str(error) or "no whole share" in str(error)
        return None


def is_dealt(network: Network, cores: int) -> bool:
    """Return whether so many cores can share its numbers: words of channels fill whole bytes."""
    try:
        PricingRules(Geometry(network), Accelerator(shared_buffer=1, cores=cores), "exact")
    except NetworkError as error:
        assert "words of its channels do not fill whole bytes" in str(error)
        return False
    return True


def _with_rows(rng: random.Random, seed: int) -> Network:
    """Return a decoder layer over a cache, a product of one, or a network of every edge some of whose rows are kept."""
    draw = rng.random()
    if draw < 0.5:
        return random_decoder(rng)
    if draw < 0.6:
        return random_attention_product(rng)
    network = random_net(seed)
    layers = [replace(layer, appended=rng.random() < 0.4) for layer in network.layers]
    return replace(network, layers=tuple(layers))


def random_language_problem(seed: int, kind: str, is_given: bool = False) -> Problem:
    """Return such a network on given hardware, or in a space; of every metric, batches, kept tensors or none."""
    rng = random.Random(seed)
    network = random_language_net(seed, kind)
    shared = {
        "cores": rng.choice((1, 1, 1, 2, 3)) if kind in ("rows", "bits", "blocks", "experts") else 1,
        "batch": rng.choice((1, 1, 2, 3, 8)),
        "max_regions": rng.choice((64, 64, None, 5)),
        "groups_apart": True if kind == "apart" else rng.choice((None, None, False)),
    }
    if not is_dealt(network, shared["cores"]):
        shared["cores"] = 1
    metric, low = rng.choice(("ema", "energy", "latency-sum")), int(2 ** rng.uniform(5, 13))
    machine, space = hardware_of(seed % 2 if is_given else seed % 4, low, shared)
    objective = Objective(metric, 0.01 if space else None, (1.0,))
    rule = rng.choice(("exact", "exact", "paper"))
    return Problem((network,), machine, space, objective, rule, keep=rng.choice(("auto", "auto", "none")))
