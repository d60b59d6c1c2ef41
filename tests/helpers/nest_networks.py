"""Small networks of what nests are made of, on memories from "hardly anything fits" to "all fits"."""

from __future__ import annotations

import random

from cocco.problem.problem import Problem, on_hardware
from simulator.accelerator import Accelerator
from tests.helpers.random_attention import random_mask
from tests.helpers.small_problems import METRICS
from workloads import Bits, Builder
from workloads.network.network import Network


def nest_network(rng: random.Random, most: int) -> Network:
    """Return a network of 2 to `most` layers: blocks of products, bottlenecks, gated products, attentions, joins."""
    while True:
        b = Builder("nests")
        height, width = rng.choice(((rng.randint(2, 8), rng.randint(1, 8)), (rng.randint(2, 24), 1)))
        names = [b.input("x", height, width, 8 * rng.randint(1, 4))]
        for i in range(rng.randint(1, most)):
            _block(rng, b, names, f"b{i}")
        network = b.build()
        if 2 <= len(network.layers) <= most:
            if rng.random() < 0.4:
                network = network.with_bits(Bits(activations=rng.choice((8, 16)), sums=rng.choice((8, 16, 32))))
            return network


def _block(rng: random.Random, b: Builder, names: list[str], name: str) -> None:
    """Add one to seven layers that end with the last name."""
    x = rng.choice(names[-2:])
    height, width, channels = b.shape(x)
    kind = rng.choice(
        ("dense", "dense", "chain", "bottleneck", "gated", "add", "add", "norm", "pool", "attention", "heads")
    )
    wide, taps = 8 * rng.randint(1, 6), rng.choice((1, 1, 3))
    if kind == "dense":
        padding = 0 if taps <= min(height, width) and rng.random() < 0.3 else "same"
        names.append(b.conv(name, x, wide, taps, rng.choice((1, 1, 2)), padding))
    elif kind == "chain":
        opener = b.conv(f"{name}_1", x, wide, taps, 1, "same")
        names.append(b.conv(name, opener, channels, rng.choice((1, 1, 3)), 1, "same"))
    elif kind == "bottleneck":
        middle = b.depthwise(f"{name}_d", b.conv(f"{name}_e", x, wide), 3, rng.choice((1, 1, 2)), "same")
        names.append(b.conv(name, middle, channels))
    elif kind == "gated":
        gate = b.mul(f"{name}_m", [b.conv(f"{name}_u", x, wide), b.conv(f"{name}_v", x, wide)])
        names.append(b.conv(name, gate, channels))
    elif kind == "norm":
        names.append(rng.choice((b.softmax, b.layernorm))(name, x))
    elif kind == "pool":
        names.append(b.maxpool(name, x, min(2, height, width), 1))
    elif kind == "attention" and width == 1:
        heads = rng.choice((1, 2))
        key = b.input(f"{name}_k", rng.randint(1, 20), 1, channels)
        scores = b.matmul(f"{name}_s", x, key, heads, transpose=True)
        names.append(b.matmul(name, b.softmax(f"{name}_p", scores), key, heads))
    elif kind == "heads" and width == 1:
        heads = rng.choice((1, 2))
        q, k, v = (b.fc(f"{name}_{part}", x, 8 * heads, flatten=False) for part in "qkv")
        scores = b.matmul(f"{name}_s", q, k, heads, transpose=True)
        names.append(b.matmul(name, b.softmax(f"{name}_p", scores), v, heads))
    else:
        same = [each for each in names if b.shape(each) == (height, width, channels) and each != x]
        other = rng.choice(same) if same else b.input(f"{name}_y", height, width, channels)
        names.append(rng.choice((b.add, b.add, b.mul))(name, [x, other]))


def nest_problem(seed: int, most: int, keep: str = "none") -> Problem:
    """Return such a network on one core, any metric, one or two samples, shared or separate buffers."""
    rng = random.Random(seed)
    network = nest_network(rng, most)
    maps = sum(8 * -(-t.channels // 8) * t.height * t.width for t in network.tensors)
    batch = rng.choice((1, 1, 2))
    high, low = 1.2 * batch * maps + network.weight_bytes, 96
    size = int(low * (max(high, low + 1) / low) ** rng.random())
    common = {"batch": batch, "max_regions": rng.choice((64, 64, 64, 5))}
    machine = Accelerator(shared_buffer=size, **common)
    if rng.random() < 0.4:
        weights = int(32 * (max(33, 1.1 * network.weight_bytes) / 32) ** rng.random())
        machine = Accelerator(global_buffer=size, weight_buffer=weights, **common)
    return on_hardware(network, machine, metric=rng.choice(METRICS), keep=keep)


def masked_problem(seed: int) -> Problem:
    """Return an attention with a mask, in layers or one, over a cache or none, whose tensors may be kept."""
    rng, b = random.Random(seed), Builder("masked")
    own, sharing, width = rng.choice((1, 2)), rng.choice((1, 2)), rng.choice((4, 8))
    rows, past, heads = rng.choice((2, 5, 9, 17)), rng.choice((0, 0, 3)), own * sharing
    mask, x, second = random_mask(rng, rows, rows + past), b.input("x", rows, 1, heads * width), []
    query = b.fc("q", x, heads * width) if rng.random() < 0.6 else x
    for part in "kv":
        cache = [b.input(f"{part}_cache", past, 1, own * width, kind="cache")] if past else []
        second.append([*cache, b.input(part, rows, 1, own * width)])
    if rng.random() < 0.3:
        context = b.attention("attention", query, *second, heads, own, mask)
    else:
        scores = b.matmul("scores", query, second[0], heads, transpose=True, operand_heads=own, mask=mask)
        weights = b.softmax("softmax", scores, mask, heads)
        context = b.matmul("context", weights, second[1], heads, operand_heads=own, mask=mask)
    if rng.random() < 0.5:
        b.add("add", [context, x])
    network = b.build()
    room = sum(tensor.size_bytes for tensor in network.tensors) * rng.choice((0.2, 0.4, 0.7, 1, 1.5))
    machine = Accelerator(shared_buffer=int(room) + 40, batch=rng.choice((1, 2)))
    return on_hardware(network, machine, metric=rng.choice(METRICS), keep="auto")
