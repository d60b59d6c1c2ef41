"""Small networks of maps of one shape, on memories of a few of them: results take the place of operands that end."""

from __future__ import annotations

import random

from cocco.bounds.cheapest import cheapest_plans
from cocco.problem.problem import Problem, on_hardware
from simulator.accelerator import Accelerator
from simulator.model.priced import price_partition
from simulator.model.pricing import Price
from tests.helpers.small_problems import METRICS
from workloads import Bits, Builder
from workloads.network.network import Network


def place_network(rng: random.Random, most: int) -> Network:
    """Return a network of up to `most` layers: mostly convolutions, and sums of their results with earlier maps."""
    b = Builder("places")
    shape = rng.randint(2, 12), rng.choice((1, 1, 2)), 8 * rng.randint(1, 3)
    maps = [b.input("x", *shape)]
    kinds = rng.choice((("conv",), ("conv", "conv", "add", "mul", "norm", "gate")))
    for i in range(most):
        x, kind, others = maps[-1], rng.choice(kinds), maps[:-1]
        if i > 0 and i == most // 2:
            kind = "add"
        if kind == "gate":
            maps.append(b.mul(f"l{i}", [x, b.input(f"g{i}", 1, 1, shape[2])]))
        elif kind == "norm":
            maps.append(rng.choice((b.softmax, b.layernorm))(f"l{i}", x))
        elif kind in ("add", "mul") and others:
            maps.append({"add": b.add, "mul": b.mul}[kind](f"l{i}", [x, rng.choice(others)]))
        else:
            maps.append(b.conv(f"l{i}", x, shape[2], rng.choice((1, 1, 3)), 1, "same"))
    network = b.build()
    if rng.random() < 0.3:
        network = network.with_bits(Bits(activations=rng.choice((8, 16)), sums=rng.choice((16, 32))))
    return network


def place_problem(seed: int, most: int, metric: str | None = None) -> Problem:
    """Return such a network on one core, with a buffer of two to four maps and some of the weights."""
    rng = random.Random(seed)
    network, batch = place_network(rng, most), rng.choice((1, 1, 2))
    tensor = network.tensors[0]
    whole = batch * tensor.height * tensor.width * tensor.channels * tensor.bits // 8
    size = int(whole * (2 + 2 * rng.random())) + rng.randint(0, 400)
    common = {"batch": batch, "max_regions": rng.choice((64, 64, 5))}
    machine = Accelerator(shared_buffer=size, **common)
    if rng.random() < 0.3:
        machine = Accelerator(global_buffer=size, weight_buffer=rng.randint(64, 1000), **common)
    return on_hardware(network, machine, metric=metric or rng.choice(METRICS), keep="auto")


def hands_over(problem: Problem) -> bool:
    """Return whether in the cheapest plan a result takes the place of an operand."""
    found = cheapest_plans(problem)
    for network, partition in zip(problem.networks, found.partitions or ()):
        priced = price_partition(network, partition, problem.accelerator, problem.tile_rule)
        for price, step in zip(priced.prices, priced.steps):
            size = sum(priced.rules.whole_bytes(u) for u in step.kept)
            if isinstance(price, Price) and price.kept_bytes < size:
                return True
    return False
