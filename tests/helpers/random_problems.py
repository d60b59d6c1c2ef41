"""Random problems on hardware and spaces of every kind, for tests that compare ways to the same answer."""

from __future__ import annotations

import random
from typing import Any

from cocco.problem.objective import Objective
from cocco.problem.problem import Problem, on_hardware
from cocco.problem.space import Range, SeparateBuffers, SharedBuffer
from simulator.accelerator import Accelerator
from simulator.connected import CONNECTED
from tests.helpers.random_graphs import large_network, random_network
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def random_problem(seed: int, most_layers: int = 7) -> Problem:
    """Return a network of every kind on hardware of every kind, where some subgraphs fit and some do not."""
    rng = random.Random(seed)
    network = large_network(seed) if seed % 4 == 0 else random_network(seed, most_layers, whole=seed % 2 == 1)
    size = rng.choice((64, 256, 1024, 4096, 16384))
    cores, batch = rng.choice(((1, 1), (1, 1), (2, 1), (4, 1), (2, 3)))
    regions = rng.choice((64, 64, 5, None))
    common = {"cores": cores, "batch": batch, "max_regions": regions, "connected": CONNECTED[seed % 3 == 2]}
    separate = Accelerator(global_buffer=size, weight_buffer=rng.choice((64, 1024)), **common)
    machine = separate if rng.random() < 0.5 else Accelerator(shared_buffer=size, **common)
    metric = rng.choice(("ema", "energy", "latency-sum"))
    return on_hardware(network, machine, metric=metric, tile_rule=rng.choice(("exact", "paper")), weights=[2.0])


def random_net(seed: int, name: str = "random") -> Network:
    """Return a small network with every kind of edge: branches, strides, pools, spread maps, whole operands."""
    rng = random.Random(seed)
    while True:
        height, width = rng.randint(1, 14), rng.choice((1, 7, 12))
        shapes = {"x": (height, width, rng.choice((2, 8, 24)))}
        layers: list[Layer] = []
        for i in range(rng.randint(2, 12)):
            source = rng.choice(list(shapes)[-4:])
            rows, columns, channels = shapes[source]
            equal = [each for each in shapes if shapes[each] == shapes[source] and each != source]
            name_i, draw = f"n{i}", rng.random()
            right = rng.choice(list(shapes))
            positions = shapes[right][0] * shapes[right][1]
            if draw < 0.3 and equal:
                layer = Layer(name_i, "add", (source, rng.choice(equal)), rows, columns, channels, channels)
            elif draw < 0.45 and shapes[right][2] == channels and positions < 60:
                layer = Layer(name_i, "matmul", (source, right), rows, columns, positions, channels, whole=(1,))
            elif draw < 0.52 and rows * columns < 200:
                layer = Layer(name_i, "rearrange", (source, right), columns, rows, channels, channels, whole=(0, 1))
            elif draw < 0.7:
                taps, spread = rng.choice((1, 2, 3, 4, 6)), rng.choice((1, 2, 2, 3))
                step, pad = rng.choice((1, 1, 2, 3)), rng.choice((taps // 2, taps - 1, 0, -1))
                out = [((extent - 1) * spread + 2 * pad + 1 - taps) // step + 1 for extent in (rows, columns)]
                if min(out) < 1 or max(out) > 60 or min(rows, columns) < 3:
                    continue
                layer = Layer(
                    name_i, "resize", (source,), *out, channels, channels, (taps, taps), (step, step), (pad,) * 4,
                    upsample=(spread, spread),
                )  # fmt: skip
            else:
                taps, step = rng.choice((1, 1, 3, 5)), rng.choice((1, 1, 2))
                pad = rng.choice((taps // 2, 0))
                out = [(extent + 2 * pad - taps) // step + 1 for extent in (rows, columns)]
                if min(out) < 1:
                    continue
                op = rng.choice(("conv", "conv", "maxpool"))
                k = channels if op == "maxpool" else rng.choice((4, 16, 40))
                layer = Layer(name_i, op, (source,), *out, k, channels, (taps, taps), (step, step), (pad,) * 4)
            layers.append(layer)
            shapes[layer.name] = (layer.height, layer.width, layer.channels)
        if layers:
            return Network(name, (Tensor("x", *shapes["x"]),), tuple(layers))


def random_twin(seed: int) -> Problem:
    """Return one to three networks with random rules, hardware or space, and objective."""
    rng = random.Random(seed)
    networks = tuple(random_net(3 * seed + i, f"net{i}") for i in range(rng.choice((1, 1, 2, 3))))
    shared = {
        "cores": rng.choice((1, 1, 2, 3, 4, 7)),
        "batch": rng.choice((1, 1, 2, 3, 8)),
        "max_regions": rng.choice((64, 64, None, 5)),
        "connected": CONNECTED[seed % 3 == 2],
    }
    metric, rule = rng.choice(("ema", "energy", "latency-sum")), rng.choice(("exact", "exact", "paper"))
    weights, low = tuple(rng.choice((1.0, 2.5, 0.3)) for _ in networks), int(2 ** rng.uniform(4, 14))
    machine, space = hardware_of(seed % 4, low, shared)
    count = "all" if seed % 8 in (2, 7) else "one"
    return Problem(networks, machine, space, Objective(metric, 0.01 if space else None, weights, count), rule)


def hardware_of(kind: int, low: int, shared: dict[str, Any]) -> tuple[Accelerator, dict[str, tuple[int, ...]]]:
    """Return hardware and its candidate sizes: given ones, shared (0) or separate (1), or spaces of either (2, 3)."""
    quarter, eighth = max(1, low // 4), max(1, low // 8)
    if kind < 2:
        buffers = ({"shared_buffer": low}, {"global_buffer": low, "weight_buffer": quarter})[kind]
        return Accelerator(**buffers, **shared), {}
    if kind == 2:
        return Accelerator(shared_buffer=1, **shared), SharedBuffer(low, 8 * low, quarter).buffers
    space = SeparateBuffers(Range(low, 8 * low, quarter), Range(quarter, low, eighth))
    return Accelerator(global_buffer=1, weight_buffer=1, **shared), space.buffers


def is_joined(problem: Problem, group: tuple[int, ...]) -> bool:
    """Return whether neighbours of a layer of the set, and theirs, are all of it."""
    seen, inside = [group[0]], set(group)
    for v in seen:
        seen += [w for w in dict.fromkeys(problem.near(v)) if w in inside and w not in seen]
    return len(seen) == len(group)
