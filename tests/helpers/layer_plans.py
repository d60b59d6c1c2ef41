"""Plans of random layers in random memories, and what one says of its loops and claims of their counts."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

import pytest

from simulator.execution.count.count import Count
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import Lies
from simulator.execution.layer import LayerPlan, count_layer, run_layer
from simulator.model.layer.cheapest import Room, plans_of
from simulator.model.layer.goal import holds
from simulator.model.layer.loops import loop_layer
from simulator.model.layer.orders import LoopPlan
from tests.helpers.random_layers import random_layer
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


def some_plans(seed: int, most: int = 6, make=random_layer) -> tuple[Network, int, list[LoopPlan]]:
    """Return a network of one layer, a batch, and some of the plans that fit in some memory: one of each order."""
    rng = random.Random(seed)
    network, batch = make(rng), rng.choice((1, 1, 2, 3))
    activation = rng.choice((100, 300, 1000, 3000, 10000, 100000))
    room = Room(activation, rng.choice((None, None, 80, 300, 1000, 10000)))
    plans = list(dict.fromkeys(plans_of(loop_layer(network, 0, batch), room, rng.choice(("bands", "all")))))
    for plan in plans:
        assert holds(room, plan.activation_bytes, plan.weight_bytes), plan
    orders = {plan.order: plan for plan in plans}
    return network, batch, list(dict.fromkeys([*orders.values(), *rng.sample(plans, min(most, len(plans)))]))


def loops_of(plan: LoopPlan) -> LayerPlan:
    """Return the choices of a plan."""
    return LayerPlan(*plan[: len(LayerPlan._fields)])


def claim_of(plan: LoopPlan) -> Count:
    """Return the numbers of a plan."""
    numbers = plan._asdict() | plan.totals._asdict()
    return Count(**{name: numbers[name] for name in (*Count._fields[:7], "global_written_bytes") if name in numbers})


def odd_plan(rng: random.Random, layer: Layer) -> LayerPlan:
    """Return loops that nobody would choose: any order, any sizes, some of them larger than the layer."""
    order = rng.choice(("TK", "KT", "WK", "KS", "TP", "KP", "TKC", "BC", "CT", "TC", "TCC", "RS", "copy"))
    only = {"WK": "whole", "KS": "whole", "KP": "ring", "RS": "row", "copy": "word"}
    modes = ("block", "block-row") if order == "BC" else ("ring", "rows", "side", "slide", "block")
    mode = only.get(order) or rng.choice(modes)
    width = layer.width if mode in ("ring", "rows") else rng.randint(1, layer.width + 1)
    apart = rng.choice((1, rng.randint(1, layer.channels + 3)))
    chunk, size, inner = (rng.randint(1, most + 3) for most in (layer.channels, layer.in_channels, layer.channels))
    tile = rng.randint(1, layer.height + 1), width
    return LayerPlan(order, mode, tile, apart, chunk, size, inner, rng.randint(1, 4), rng.randint(0, 9))


def run_as_claimed(network: Network, plan: LoopPlan, batch: int, names: Iterable[str]) -> Count:
    """Return what a plan of the only layer counts as it runs in its own rooms; these numbers are as claimed."""
    found = run_layer(network, 0, loops_of(plan), (plan.activation_bytes, plan.weight_bytes), batch)
    assert found == count_layer(network, 0, loops_of(plan), batch)
    for name in names:
        assert getattr(found, name) == getattr(claim_of(plan), name), (name, plan)
    return found


def run_odd(rng: random.Random, make: Callable[[random.Random], Network], batches: Sequence[int]) -> bool:
    """Run odd loops beside operands on chip as they are counted; False where neither can be done."""
    network, batch = make(rng), rng.choice(batches)
    plan, lies = odd_plan(rng, network.layers[0]), random_lies(rng, network)
    return runs_as_counted(
        lambda: count_layer(network, 0, plan, batch, 8, lies),
        lambda rooms: run_layer(network, 0, plan, rooms, batch, lies=lies),
        (plan, lies),
    )


def runs_as_counted(count: Callable[[], Count], run: Callable[[tuple[int, int]], Count], about: object = None) -> bool:
    """Run loops in the rooms that they are counted to take, and compare; False where neither can be done."""
    try:
        counted = count()
    except Miss:
        with pytest.raises(Miss):
            run((10**9, 10**9))
        return False
    assert run(counted[:2]) == counted, about
    return True


def random_lies(rng: random.Random, network: Network) -> Lies:
    """Return some operands, or the output, of the only layer on chip."""
    on_chip = frozenset(u for u in {0, *network.operands[0]} if rng.random() < 0.5)
    there = frozenset(u for u in on_chip - {0} if rng.random() < 0.7)
    written = frozenset() if 0 in on_chip and rng.random() < 0.7 else frozenset({0})
    return Lies(on_chip, there, written, on_chip)
