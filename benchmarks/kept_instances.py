"""Allocation questions of tensors that stay on chip over several steps, made of real networks.

A network is cut at random into small connected subgraphs, one a step. What a step holds are the MAIN and SIDE of its
tensors and, in a shared memory, its weights. Whole tensors are kept, in random order, as long as no step needs more
than the capacity; then each step takes the largest tile, or the largest chunk of a layer that is streamed, that still
fits. So there are few buffers of many steps that fill the memory, and between them a handful of one step each.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import NamedTuple

import workloads
from simulator import Accelerator, Partition
from simulator.allocation.buffers import Buffer
from simulator.model.buffer_plan import round_up
from simulator.model.priced import price_partition
from simulator.model.pricing import Price, Shortage, SubgraphModel
from simulator.partition.partition import connected_parts
from workloads import Network

NETWORKS = ("resnet50", "resnet152", "googlenet", "densenet121", "gpt", "nasnet", "randwire_a")
KILOBYTES = (64, 128, 192, 256, 320, 512, 640, 896, 1152, 1536, 2048)  #: of the memory without kept tensors; our choice
ATTEMPTS = 20  #: with one seed
FILLED = 0.99  #: the least share of the capacity that some step fills
CHANNELS = 8  #: to a word
WORD = 8  #: bytes
WEIGHTS = -1  #: stands for a tensor id

Held = dict[int, int]  #: bytes of one step by tensor id or WEIGHTS


class KeptInstance(NamedTuple):
    """The buffers of a plan with kept tensors; its name tells the network, the memory and the seed."""

    name: str
    buffers: tuple[Buffer, ...]
    peak: int  #: bytes of the step that needs most


def kept_instances(seeds: int, networks: tuple[str, ...] = NETWORKS) -> Iterator[KeptInstance]:
    """Yield an instance for each network and seed, where one was found."""
    for name in networks:
        network = workloads.load(name)
        for seed in range(seeds):
            found = kept_instance(network, seed)
            if found is not None:
                yield found


def kept_instance(network: Network, seed: int) -> KeptInstance | None:
    """Return the first of some random plans that fits and fills its memory, None if none does."""
    rng = random.Random(f"{network.name} {seed}")
    for _ in range(ATTEMPTS):
        found = _try_instance(network, rng)
        if found is not None:
            return found._replace(name=f"{found.name} seed {seed}")
    return None


def _try_instance(network: Network, rng: random.Random) -> KeptInstance | None:
    """Return the buffers of a random plan; None if it does not fit in its memory or does not fill it."""
    partition = random_partition(network, rng, rng.choice((1, 2, 3, 5)))
    is_shared = rng.random() < 0.5
    size = 1024 * rng.choice(KILOBYTES)
    accelerator = Accelerator(shared_buffer=size) if is_shared else Accelerator(global_buffer=size, weight_buffer=2**30)
    priced = price_partition(network, partition, accelerator)
    capacity = round_up(int(size * rng.uniform(1, 2)), 65536)
    steps = []
    for model, price in zip(priced.models, priced.prices):
        if isinstance(price, Shortage):
            return None
        steps.append(_held(model, price))
    kept = _keep(network, steps, capacity, rng)
    for i, model in enumerate(priced.models):
        on_chip = {u for u, a, z in kept if a <= i <= z}
        room = capacity - sum(_whole_bytes(network, u) for u in on_chip)
        steps[i] = _largest(model, steps[i], on_chip, room)
    buffers = [Buffer(f"{a}/{u}/kept", a, z + 1, _whole_bytes(network, u), WORD) for u, a, z in kept]
    for i, held in enumerate(steps):
        buffers += [Buffer(f"{i}/{u}", i, i + 1, size, WORD) for u, size in held.items() if size]
    peak = max(sum(each.size for each in buffers if each.lower <= i < each.upper) for i in range(len(steps)))
    if peak < FILLED * capacity:
        return None
    memory = f"{'shared' if is_shared else 'global'} {capacity // 1024} KB"
    return KeptInstance(f"{network.name} {memory}", tuple(buffers), peak)


def random_partition(network: Network, rng: random.Random, most: int) -> Partition:
    """Cut the order of layers into runs of 1 to `most`, and those into their connected parts."""
    groups: list[list[int]] = []
    start = 0
    while start < len(network.layers):
        end = min(start + rng.randint(1, most), len(network.layers))
        groups += connected_parts(network, range(start, end))
        start = end
    return Partition.from_ids(network, groups)


def _held(model: SubgraphModel, price: Price) -> Held:
    """Return the bytes of each tensor and of the weights, in words."""
    regions = model.residency(price).regions
    held = {u: round_up(each.main_bytes + each.side_bytes, WORD) for u, each in regions.items()}
    return held | {WEIGHTS: round_up(price.weight_bytes, WORD)} if model.rules.is_shared else held


def _largest(model: SubgraphModel, held: Held, on_chip: set[int], room: int) -> Held:
    """Return what the step holds beside the tensors on chip with the largest tile or chunk that fits, as it seems.

    A larger tile has larger regions of the tensors on chip too, which take nothing: so a step may stay below the room.
    """
    extra = room
    best = held
    for _ in range(4):
        price = model.price(extra, 2**30)
        if isinstance(price, Shortage):
            break
        whole = _held(model, price)
        rest = {u: size for u, size in whole.items() if u not in on_chip}
        if sum(rest.values()) > room:
            break
        best, extra = rest, room + sum(whole.values()) - sum(rest.values())
    return best


def _keep(network: Network, steps: list[Held], capacity: int, rng: random.Random) -> list[tuple[int, int, int]]:
    """Keep tensors (id, first step, last step) while all steps have room; take their regions out of `steps`."""
    needs = [sum(held.values()) for held in steps]
    intervals = []
    for u in range(len(network.tensors)):
        uses = [i for i, held in enumerate(steps) if u in held]
        intervals += [(u, a, z) for k, a in enumerate(uses) for z in uses[k + 1 :]]
    rng.shuffle(intervals)
    if rng.random() < 0.5:  # the longest first, as where much is reread late
        intervals.sort(key=lambda each: each[1] - each[2])
    kept: list[tuple[int, int, int]] = []
    for u, a, z in intervals:
        if any(v == u and first <= z and a <= last for v, first, last in kept):
            continue
        whole = _whole_bytes(network, u)
        if all(needs[i] - steps[i].get(u, 0) + whole <= capacity for i in range(a, z + 1)):
            for i in range(a, z + 1):
                needs[i] += whole - steps[i].pop(u, 0)
            kept.append((u, a, z))
    return kept


def _whole_bytes(network: Network, tensor: int) -> int:
    each = network.tensors[tensor]
    return each.height * each.width * round_up(each.channels, CHANNELS)
