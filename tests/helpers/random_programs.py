"""Random plans of every kind that has a program: of one core, all numbers of 8 bits, or all of 16."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from simulator import Accelerator, Partition, evaluate
from simulator.model.nests.heads import projected_attentions
from tests.helpers.random_heads import random_heads
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_language import random_language_net
from tests.helpers.random_layers import random_layer, random_norm, random_pool, random_square
from tests.helpers.random_plans import random_plan
from tests.helpers.random_runs import RUNS, Run, random_run
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.types import INT8, Bits
from workloads.network.network import Network

INT16 = Bits(16, 16, 16)


def random_program(kind: str, seed: int) -> Run:
    """Return a network, a plan and a chip; every other one has numbers of 16 bits."""
    network, plan, chip = DRAWN[kind](seed) if kind in DRAWN else random_run(kind, seed)
    return network.with_bits(INT16 if seed % 2 else INT8), replace(plan, schemes=()), replace(chip, cores=1)


def one_layer(network: Network, rng: random.Random, least: int = 5, most: int = 12) -> Run:
    """Return the plan of a layer in a buffer where it mostly runs in a loop order, of 2 ** least to 2 ** most bytes."""
    size, batch = int(2 ** rng.uniform(least, most)), rng.choice((1, 1, 2, 3))
    beside = 0 if rng.random() < 0.7 else int(2 ** rng.uniform(least, most))
    buffers = {"global_buffer": size, "weight_buffer": beside} if beside else {"shared_buffer": size}
    plan = replace(Partition.layerwise(network), metric=rng.choice(("ema", "energy")))
    return network, plan, Accelerator(**buffers, batch=batch)


def _in_order(order: str, make: Callable[[random.Random], Run], mode: str = "") -> Callable[[int], Run]:
    """Return what draws until a step runs in a loop order, and a mode if one is given."""

    def drawn(seed: int) -> Run:
        rng, bits = random.Random(seed), INT16 if seed % 2 else INT8
        while True:
            network, plan, chip = make(rng)
            found = evaluate(network.with_bits(bits), plan, chip)
            steps = [each.loops for each in found.subgraphs if each.loops] if found.fits else []
            if any(loops.order == order and mode in loops.mode and loops.activation_bytes for loops in steps):
                return network, plan, chip

    return drawn


def _between(make: Callable[[random.Random], Network]) -> Callable[[random.Random], Run]:
    """Return what draws a layer of few positions between others, for which some of its tensors stay on chip."""

    def drawn(rng: random.Random) -> Run:
        while True:
            network = make(rng)
            if max(each.height * each.width for each in network.tensors) < 5:
                break
        (layer,) = network.layers
        inputs = [replace(each, name=f"{each.name}_in") for each in network.inputs]
        before = [_pointwise(each.name, each, each.channels) for each in network.inputs]
        found = Network("between", tuple(inputs), (*before, layer, _pointwise("last", layer, 8, layer.name)))
        keep = rng.choice(([layer.name], [network.inputs[-1].name], [layer.name, network.inputs[-1].name]))
        plan = Partition.from_groups(found, [[each.name] for each in found.layers], keep=keep)
        kept = sum(each.height * each.width * (each.channels + 7) for each in found.tensors if each.name in keep)
        size, batch = rng.choice((1, 2)), rng.choice((1, 1, 2))  # bytes of an element, or too few
        room = size * (kept * batch + rng.randint(16, 200))
        return found, replace(plan, metric="ema"), Accelerator(global_buffer=room, weight_buffer=512, batch=batch)

    return drawn


def _pooled(rng: random.Random) -> Run:
    """Return a pool beside about as many bytes as an input row and the output rows that it reaches take."""
    network = random_pool(rng, 2)
    (layer,), (height, width) = network.layers, (network.inputs[0].height, network.inputs[0].width)
    room = 8 * width + 32 * layer.width * min(layer.height, height, 1 + layer.reach[0] // layer.stride[0])
    chip = Accelerator(shared_buffer=room * rng.choice((1, 1, 2)) + 8, batch=rng.choice((1, 1, 2, 3)))
    return network, replace(Partition.layerwise(network), metric="ema"), chip


def _pointwise(name: str, like: Tensor | Layer, channels: int, source: str = "") -> Layer:
    return Layer(name, "conv", (source or f"{name}_in",), like.height, like.width, channels, like.channels)


def _projected(rng: random.Random) -> Run:
    """Return an attention with its projections beside ample weights, so that sources may pass."""
    network = random_heads(rng)
    (nest,) = projected_attentions(network)
    sizes = {"global_buffer": int(2 ** rng.uniform(6, 11)), "weight_buffer": int(2 ** rng.uniform(7, 14))}
    plan = Partition.from_groups(network, [network.names(nest.layers)])
    return network, replace(plan, metric="ema"), Accelerator(**sizes, batch=rng.choice((1, 1, 2)))


def _language(kind: str) -> Callable[[int], Run]:
    def drawn(seed: int) -> Run:
        network, rng = random_language_net(seed, kind), random.Random(seed)
        chip = Accelerator(shared_buffer=int(2 ** rng.uniform(7, 14)), batch=rng.choice((1, 1, 2, 3)))
        return network, (random_plan, random_kept_plan)[seed // 2 % 2](network, seed), chip

    return drawn


def _layer(make: Callable[[random.Random], Network]) -> Callable[[int], Run]:
    def drawn(seed: int) -> Run:
        rng = random.Random(seed)
        return one_layer(make(rng), rng)

    return drawn


#: layers by themselves, those in orders that few layers take, and what few language models have
DRAWN: dict[str, Callable[[int], Run]] = {
    "layers": _layer(random_layer),
    "squares": _layer(random_square),
    "pools": _in_order("RS", _pooled),
    "norms": _in_order("TCC", lambda rng: one_layer(random_norm(rng), rng, 4, 10)),
    "pools between": _in_order("RS", _between(random_pool)),
    "norms between": _in_order("TCC", _between(random_norm)),
    "heads whole": _in_order("HP", _projected, "whole"),
    "heads passing": _in_order("HP", _projected, "ring"),
    "experts": _language("experts"),
    "blocks": _language("blocks"),
}
KINDS = (*DRAWN, *(kind for kind in RUNS if kind != "cores"))
