"""Small networks of every operator on memories from "nothing fits" to "all fits": problems that brute force solves."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from cocco.candidates.genome import groups_of
from cocco.problem.problem import Problem, on_hardware
from cocco.search.genetic.operators.repair import repair
from simulator.accelerator import Accelerator
from simulator.connected import CONNECTED
from simulator.model.layer.least_room import needs
from simulator.model.layer.loops import loop_layer
from workloads.errors import NetworkError
from workloads.network.builder import Builder
from workloads.network.network import Network

METRICS = ("ema", "energy", "latency-sum")


def small_network(rng: random.Random, most: int) -> Network:
    """Return a network of 2 to `most` layers: windows, groups, spread maps, products, joins, norms, new orders."""
    while True:
        b = Builder("small")
        height, width = rng.choice(((rng.randint(3, 14), rng.randint(3, 14)), (rng.randint(4, 16), 1)))
        names = [b.input("x", height, width, rng.choice((2, 4, 8, 12, 24)))]
        for i in range(rng.randint(2, most)):
            try:
                names.append(_step(rng, b, names, f"n{i}"))
            except (NetworkError, IndexError):
                continue
        network = b.build() if len(names) > 2 else None
        if network is not None and 2 <= len(network.layers) <= most:
            return network


def _step(rng: random.Random, b: Builder, names: list[str], name: str) -> str:
    x = rng.choice(names[-3:])
    height, width, channels = b.shape(x)
    taps, stride, dilation = rng.choice((1, 1, 2, 3, 3, 5)), rng.choice((1, 1, 1, 2, 3)), rng.choice((1, 1, 1, 2, 3))
    kind = rng.choice(
        ("conv", "conv", "conv", "groups", "depthwise", "pool", "add", "add", "gate", "spread", "norm", "product",
         "product", "part", "order", "fc")
    )  # fmt: skip
    if kind == "conv":
        same = [other for other in names if b.shape(other)[:2] == (height, width) and other != x]
        inputs = [x, rng.choice(same)] if same and rng.random() < 0.3 else x
        return b.conv(name, inputs, rng.choice((4, 8, 16, 24)), taps, stride, rng.choice(("same", 0)), dilation)
    if kind == "groups":
        groups = rng.choice([g for g in (2, 4) if channels % g == 0])
        return b.conv(name, x, 4 * groups, taps, stride, "same", 1, groups)
    if kind == "depthwise":
        return b.depthwise(name, x, taps, stride, "same")
    if kind == "pool":
        return rng.choice((b.maxpool, b.avgpool))(name, x, taps, stride, 0)
    if kind == "add":
        return b.add(name, [x, rng.choice([each for each in names if b.shape(each) == b.shape(x) and each != x])])
    if kind == "gate":
        return b.mul(name, [x, b.global_avgpool(f"{name}_mean", x)])
    if kind == "spread":
        if rng.random() < 0.5:
            return b.conv_transpose(name, x, 8, taps, stride)
        return b.resize(name, x, rng.randint(1, 16), rng.randint(1, 16), rng.choice(("nearest", "linear")))
    if kind == "norm":
        return rng.choice((b.softmax, b.layernorm, b.lrn))(name, x)
    if kind == "product":
        y = rng.choice([each for each in names if b.shape(each)[2] == channels])
        return b.matmul(name, x, y, heads=rng.choice((1, 2)), transpose=True)
    if kind == "part":
        return b.slice(name, x, rng.randint(1, channels))
    if kind == "order":
        return b.rearrange(name, x, width, height, channels)
    return b.fc(name, x, rng.choice((4, 16)), flatten=rng.choice((None, False)))


def small_machine(rng: random.Random, network: Network) -> Accelerator:
    """Return hardware on which a layer may just run, or all of them together, or anything in between."""
    batch, cores = rng.choice((1, 1, 2, 3, 4, 8)), rng.choice((1, 1, 1, 1, 2, 3))
    found = [needs(loop_layer(network, v)) for v in range(len(network.layers))]
    low = 0.9 * max(min(need.activation + need.weights for need in each) for each in found)
    maps = sum(8 * -(-t.channels // 8) * t.height * t.width for t in network.tensors)
    high, weights = 1.2 * batch * maps + network.weight_bytes, network.weight_bytes
    size = max(1, int(low * (max(high, low + 1) / low) ** rng.random()))
    common = {"cores": cores, "batch": batch, "max_regions": rng.choice((64, 64, 4, None))}
    if rng.random() < 0.5:
        return Accelerator(shared_buffer=size, **common)
    least = min(max(need.weights for need in each) for each in found) + 1
    share = int(least * (max(1.0, 1.1 * weights / least)) ** rng.random())
    return Accelerator(global_buffer=size, weight_buffer=max(1, share), **common)


def small_problem(seed: int, most: int = 6) -> Problem:
    """Return a small network on given hardware, any metric, both tile rules."""
    rng = random.Random(seed)
    network = small_network(rng, most)
    rule = rng.choice(("exact", "exact", "exact", "paper"))
    machine = replace(small_machine(rng, network), connected=CONNECTED[seed % 3 == 2])
    return on_hardware(network, machine, metric=rng.choice(METRICS), tile_rule=rule)


def all_partitions(problem: Problem) -> Iterator[list[list[int]]]:
    """Yield every valid partition: repair leaves those alone, and only those."""
    for labels in _all_labels(problem.size):
        if repair(problem, labels) == labels:
            yield groups_of(labels)


def _all_labels(count: int) -> Iterator[Sequence[int]]:
    stack = [[0]]
    while stack:
        labels = stack.pop()
        if len(labels) == count:
            yield labels
        else:
            stack += [[*labels, name] for name in sorted({*labels, len(labels)})]
