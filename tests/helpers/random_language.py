"""Random problems with what language models have: caches and rows that are appended to them, grouped queries."""

from __future__ import annotations

import random
from dataclasses import replace

from cocco.problem.objective import Objective
from cocco.problem.problem import Problem
from cocco.problem.space import Range, SeparateBuffers, SharedBuffer
from simulator.accelerator import Accelerator
from tests.helpers.random_attention import random_attention_product, random_decoder
from tests.helpers.random_problems import random_net
from workloads.network.network import Network

KINDS = ("rows",)  #: appended rows and caches


def random_language_net(seed: int, kind: str) -> Network:
    """Return a small network that has what the kind says."""
    return _with_rows(random.Random(seed), seed)


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
        "cores": rng.choice((1, 1, 1, 2, 3)) if kind == "rows" else 1,
        "batch": rng.choice((1, 1, 2, 3, 8)),
        "max_regions": rng.choice((64, 64, None, 5)),
    }
    metric, low = rng.choice(("ema", "energy", "latency")), int(2 ** rng.uniform(5, 13))
    quarter, eighth = max(1, low // 4), max(1, low // 8)
    machine, space = (
        (Accelerator(shared_buffer=low, **shared), {}),
        (Accelerator(global_buffer=low, weight_buffer=quarter, **shared), {}),
        (Accelerator(shared_buffer=1, **shared), SharedBuffer(low, 8 * low, quarter).buffers),
        (
            Accelerator(global_buffer=1, weight_buffer=1, **shared),
            SeparateBuffers(Range(low, 8 * low, quarter), Range(quarter, low, eighth)).buffers,
        ),
    )[seed % 2 if is_given else seed % 4]
    objective = Objective(metric, 0.01 if space else None, (1.0,))
    rule = rng.choice(("exact", "exact", "paper"))
    return Problem((network,), machine, space, objective, rule, keep=rng.choice(("auto", "auto", "none")))
