"""Random chains of layers with all that a chain may have, and random plans of each order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

from simulator import Accelerator, Partition
from simulator.model.chains.orders import chain_order
from simulator.model.kept import Kept
from simulator.model.layer.goal import Goal, Room
from simulator.model.layer.least_room import needs
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import LoopPlan, Loops
from simulator.model.nests.chain import Links, links_of
from simulator.model.subgraph.subgraph import Geometry
from simulator.technology import Technology
from tests.helpers.random_kept import random_spans
from workloads import Builder
from workloads.errors import NetworkError
from workloads.network.network import Network

ORDERS = ("TM", "TW", "TS", "MT")


def random_chain(rng: random.Random, with_bits: bool = True) -> tuple[Network, Links]:
    """Return a network that is a chain: small, with any strides, paddings, kernels, a join, a middle layer, bits."""
    while True:
        try:
            network = _draw(rng)
        except NetworkError:  # a window larger than its map
            continue
        if with_bits and rng.random() < 0.7:
            network = _with_bits(network, rng)
        links = links_of(network, range(len(network.layers)))
        if links is not None:
            return network, links


def random_chain_inside(rng: random.Random) -> tuple[Network, tuple[int, ...]]:
    """Return a network with a price, with a chain between two other layers, and the layers of the chain."""
    while True:
        try:
            network = _draw(rng, is_inside=True)
            network = _with_bits(network, rng) if rng.random() < 0.4 else network
            Geometry(network)
        except NetworkError:  # a window larger than its map, or an odd count of 4 bits
            continue
        layers = tuple(range(1, len(network.layers) - 1))
        if links_of(network, layers) is not None:
            return network, layers


def random_plan_with_chain(seed):
    """Return a network, a plan in which a chain may run in loops, and a chip, about as large as it needs."""
    rng = random.Random(seed)
    network, layers = random_chain_inside(rng)
    groups = [(0,), layers, (len(network.layers) - 1,)]
    spans = random_spans(network, groups, rng, rng.choice((0, 0, 0.5)))
    plan = Partition.from_ids(network, groups, rng.choice(("ema", "energy", "latency-sum")), spans)
    size = int(2 ** rng.uniform(8, 12.5))
    buffers = {"shared_buffer": size} if rng.random() < 0.6 else {"global_buffer": size, "weight_buffer": size}
    return network, plan, Accelerator(**buffers, batch=rng.choice((1, 1, 3)))


def _draw(rng: random.Random, is_inside: bool = False) -> Network:
    b, has_residual = Builder("chain"), rng.random() < 0.4
    inputs, middle = rng.choice((3, 8, 12, 16, 20)), rng.choice((5, 8, 12, 16, 24, 36, 40))
    outputs = inputs if has_residual else rng.choice((3, 8, 12, 16, 20, 24))

    def windows(may_dilate=True):
        kernel = rng.choice((1, 1, 2, 3)), rng.choice((1, 1, 2, 3))
        if has_residual:
            sides = tuple((size - 1) // 2 for size in kernel) + tuple(size // 2 for size in kernel)
            return {"kernel": kernel, "stride": (1, 1), "padding": sides}
        sides = tuple(rng.randint(0, kernel[i % 2] - 1) for i in range(4))
        found = {"kernel": kernel, "stride": tuple(rng.randint(1, size) for size in kernel), "padding": sides}
        return found | {"dilation": rng.choice((1, 1, 2))} if may_dilate else found

    x = b.input("image", rng.choice((1, 2, 3, 4, 5, 6, 7, 9)), rng.choice((1, 2, 3, 5)), 8 if is_inside else inputs)
    x = b.conv("x", x, inputs) if is_inside else x
    of_openers = windows()
    y = b.conv("open", x, middle, **of_openers)
    if rng.random() < 1 / 3:
        y = (b.mul if rng.random() < 0.7 else b.add)("join", [y, b.conv("other", x, middle, **of_openers)])
    between = rng.choice(("none", "depthwise", "depthwise", "maxpool", "avgpool"))
    if between == "depthwise":
        y = b.conv("middle", y, middle, groups=middle, **windows())
    elif between != "none":
        y = (b.maxpool if between == "maxpool" else b.avgpool)("middle", y, **windows(False))
    y = b.conv("close", y, outputs, **windows())
    if has_residual:
        y = b.add("residual", [y, x] if rng.random() < 0.5 else [x, y])
    if is_inside:
        b.conv("after", y, 8)
    return b.build()


def _with_bits(network: Network, rng: random.Random) -> Network:
    layers = [
        replace(
            layer,
            bits=replace(
                layer.bits,
                activations=rng.choice((4, 8, 16)),
                weights=rng.choice((4, 8, 16)),
                sums=rng.choice((8, 16, 32)),
            ),
        )
        for layer in network.layers
    ]
    inputs = tuple(replace(each, bits=rng.choice((4, 8, 16))) for each in network.inputs)
    return Network(network.name, inputs, tuple(layers))


def random_kept_of(links: Links, rng: random.Random) -> Kept | None:
    """Return where x and the output lie: on chip or not, arriving there, written or not."""
    if rng.random() < 0.6:
        return None
    is_there, has_output = rng.random() < 0.6, rng.random() < 0.6
    on_chip = [links.x] * is_there + [links.result] * has_output
    is_loaded, is_written = not is_there or rng.random() < 0.5, not has_output or rng.random() < 0.5
    return Kept(
        frozenset(on_chip),
        frozenset({links.x} if is_loaded else ()),
        frozenset({links.result} if is_written else ()),
    )


def loops_of(network: Network, links: Links, batch: int, kept: Kept | None = None) -> LoopLayer:
    """Return a chain as its loops see it, with some cycles and extra units of its layers."""
    layer = links.loops(network, batch, Technology(), kept)
    extra = [v % 3 * (each.macs + each.light_ops) for v, each in enumerate(network.layers)]
    return links.with_work(layer, extra, lambda v: 50 * network.layers[v].height + v)


def random_chain_plan(layer: LoopLayer, order: str, rng: random.Random) -> LoopPlan:
    """Return any plan of an order, not only one that is tried."""
    chain = layer.chain
    chunk = _words(chain.middle, rng) if order != "TW" else chain.middle
    outputs = _words(chain.outputs, rng) if order in ("TM", "TS") else chain.outputs
    mode, kept = "ring", 0
    if order == "TM":
        kept = rng.choice((0, chain.middle, chunk * rng.randint(0, (chain.middle - 1) // chunk)))
    elif order == "TW":
        kept = rng.choice((0, chain.middle))
    elif order == "TS":
        kept = _words(chain.inputs, rng)
    elif chunk < chain.middle:
        mode = rng.choice(("ring", "whole"))
    loops = Loops(_words(chunk, rng), chunk, outputs, _words(outputs, rng), 1, kept)
    return chain_order(order, mode, layer, rng.choice(chain.bands), loops)


def random_questions(seed: int) -> Iterator[tuple[LoopLayer, Room, Goal]]:
    """Yield a chain with memories about as large as it needs, and what is to be least."""
    rng = random.Random(seed)
    network, links = random_chain(rng)
    layer = loops_of(network, links, rng.choice((1, 1, 2)))
    for _ in range(6):
        need, factor = rng.choice(needs(layer)), rng.choice((0.95, 1, 1, 1.1, 1.5, 2, 4))
        room = Room(int(sum(need) * factor), None)
        if rng.random() < 0.5:
            room = Room(int(need.activation * factor), int(need.weights * rng.choice((1, 1, 2, 10, 1000))))
        metric, port = rng.choice(("ema", "energy", "latency-sum")), rng.choice((1, 16))
        goal = Goal(metric, 100.0, rng.choice((1.0, 5.5)), 2.0, static=rng.choice((0.0, 3.0)), cycles=5000)
        yield layer, room, goal._replace(widths=(port, 4), rate=(port, 1), operation=0.3)


def _words(channels: int, rng: random.Random) -> int:
    return rng.choice([*range(8, channels, 8), channels])
