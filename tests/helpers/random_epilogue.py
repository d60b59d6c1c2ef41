"""Networks of a small random dense layer and element-wise layers that follow it, and where their tensors lie."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import NamedTuple

from simulator.execution.count.stays import Lies
from simulator.model.kept import Kept
from simulator.model.layer.cheapest import Room, plans_of
from simulator.model.layer.goal import holds
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.orders import LoopPlan
from simulator.model.nests.epilogue import followed
from simulator.technology import Technology
from tests.helpers.random_language import geometry_of, with_random_bits
from tests.helpers.random_layers import random_layer
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


class Case(NamedTuple):
    """A nest, what stays of its tensors, and how its loops see it."""

    network: Network
    layers: tuple[int, ...]  #: of the nest
    batch: int
    kept: Kept | None
    loops: LoopLayer

    @property
    def lies(self) -> Lies:
        """Where its tensors lie."""
        if self.kept is None:
            return Lies()
        there = self.kept.on_chip - self.kept.loaded - {*self.layers}
        return Lies(self.kept.on_chip, there, self.kept.written, self.kept.on_chip)


def random_case(seed: int, has_bits: bool = False) -> Case:
    """Return a nest of one to four layers behind a dense one; has_bits: of other numbers than INT8."""
    rng = random.Random(seed)
    while True:
        network, layers = _random_network(rng)
        batch, kept = rng.choice((1, 1, 2, 3)), None
        if has_bits:
            network = with_random_bits(network, rng)
            layers_of_bytes = tuple(replace(each, bits=replace(each.bits, weights=8)) for each in network.layers)
            network = replace(network, layers=layers_of_bytes)
            if geometry_of(network) is None or network.layers[0].groups > 1:
                continue
        if rng.random() < 0.5:
            kept = _random_kept(rng, network, layers)
        nest = followed(network, layers)
        loops = None if nest is None else nest.loops(network, batch, Technology(), kept)
        if loops is not None:
            return Case(network, layers, batch, kept, loops)


def _random_network(rng: random.Random) -> tuple[Network, tuple[int, ...]]:
    while True:
        one = random_layer(rng)
        first = one.layers[0]
        if first.op in ("conv", "conv_transpose") and not first.is_depthwise and min(first.height, first.width) > 0:
            break
    height, width, channels = first.height, first.width, first.channels
    tensors, layers, others, before = list(one.inputs), [first], [], first.name
    joins = ("add", "mul") if first.groups > 1 or rng.random() < 0.5 else ("add", "mul", "softmax", "layernorm", "lrn")
    for i in range(rng.choice((1, 1, 2, 3))):
        op, name, operands = rng.choice(joins), f"f{i}", [before]
        for j in range(rng.choice((0, 1, 1, 2)) if op in ("add", "mul") else 0):
            is_gate = rng.random() < 0.3
            shape = (1, 1) if is_gate else (height, width)
            other = Tensor(f"y{i}{j}", *shape, channels)
            same = [t for t in one.inputs if (t.height, t.width, t.channels) == (*shape, channels)]
            is_same = (
                same and same[0].name not in operands and not any(same[0].name in each.inputs for each in layers[1:])
            )
            operands.append(same[0].name if is_same else other.name)
            tensors += [] if is_same else [other]
        rng.shuffle(operands)
        shapes = {t.name: (t.height, t.width) for t in tensors}
        whole = tuple(k for k, u in enumerate(operands) if shapes.get(u, (height, width)) != (height, width))
        layers.append(Layer(name, op, tuple(operands), height, width, channels, channels, whole=whole))
        if rng.random() < 0.25:
            others.append(Layer(f"o{i}", "maxpool", (before,), height, width, channels, channels))
        before = name
    return Network("nest", tuple(tensors), (*layers, *others)), tuple(range(len(layers)))


def random_followed(rng: random.Random) -> Network:
    """Return a network of a dense layer, layers that follow it, and perhaps others that read what is in between."""
    return _random_network(rng)[0]


def _random_kept(rng: random.Random, network: Network, layers: tuple[int, ...]) -> Kept:
    last, inside = layers[-1], {*layers}
    inputs = {u for v in layers for u in network.operands[v]} - inside
    read = {v for v in layers[:-1] if {*network.consumers[v]} - inside}
    on_chip = frozenset(u for u in sorted(inputs | read | {last}) if rng.random() < 0.4)
    loaded = frozenset(u for u in sorted(inputs & on_chip) if rng.random() < 0.4)
    written = frozenset(v for v in sorted(read | {last}) if v not in on_chip or rng.random() < 0.5)
    return Kept(on_chip, loaded, written)


def some_plans(case: Case, seed: int, most: int = 4) -> list[LoopPlan]:
    """Return some of the plans that fit in some memory, at least one of each order."""
    rng = random.Random(-1 - seed)
    activation = rng.choice((100, 300, 1000, 3000, 10000, 100000))
    room = Room(activation, rng.choice((None, None, 80, 300, 1000, 10000)))
    plans = list(dict.fromkeys(plans_of(case.loops, room, rng.choice(("bands", "all")))))
    for plan in plans:
        assert holds(room, plan.activation_bytes, plan.weight_bytes), plan
    orders = {plan.order: plan for plan in plans}
    return list(dict.fromkeys([*orders.values(), *rng.sample(plans, min(most, len(plans)))]))
