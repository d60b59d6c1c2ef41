"""What a plan may ask that its program cannot do yet: one line that names it."""

from __future__ import annotations

from simulator.model.price import Shortage
from simulator.model.priced import PricedPartition
from workloads.network.layers.types import Number
from workloads.network.network import Network


class Refusal(ValueError):
    """There is no program of this plan; the message says what it would need."""


def check_supported(priced: PricedPartition) -> None:
    """Raise Refusal for a plan with anything that the program cannot do, or that does not fit."""
    network, accelerator, partition = priced.network, priced.accelerator, priced.partition
    if accelerator.cores > 1:
        raise Refusal(f"plan on {accelerator.cores} cores: a program has one; export one of --cores 1")
    if priced.rules.tile_rule != "exact":
        raise Refusal("tile rule 'paper': it loses data where branches meet again; export one of --tile-rule exact")
    _check_network(network)
    for names, model, price in zip(partition.names, priced.models, priced.prices):
        if isinstance(price, Shortage):
            raise Refusal(f"plan cannot run: {names[0]!r} .. {names[-1]!r}: {price.reason}")
        shares = list(filter(None, (priced.rules.geometry.shares[v] for v in model.subgraph.layers)))
        if price.loops is None and len({*shares}) < len(shares):
            raise Refusal(f"subgraph {names[0]!r} .. {names[-1]!r}: weights of several layers have no program yet")


def _check_network(network: Network) -> None:
    numbers = {tensor.number: f"tensor {tensor.name!r}" for tensor in network.tensors}
    for layer in network.layers:
        if layer.op in ("recurrent", "scan"):
            raise Refusal(f"layer {layer.name!r}: a {layer.op} layer has no program yet")
        if layer.mask is not None:
            raise Refusal(f"layer {layer.name!r}: a mask has no program yet; export the network of --masks none")
        if layer.blocks > 1:
            raise Refusal(f"layer {layer.name!r}: a product in blocks of positions has no program yet")
        if layer.frames is not None:
            raise Refusal(f"layer {layer.name!r}: frames have no program yet")
        if layer.has_weights:
            numbers.setdefault(layer.bits.of_weights, f"weights of layer {layer.name!r}")
        if layer.bits.sums != 32:
            raise Refusal(f"layer {layer.name!r}: sums of {layer.bits.sums} bits; a program has sums of 32")
    for number, what in numbers.items():
        if number not in (Number(8), Number(16)):
            raise Refusal(f"{what}: {number.name}; a program has int8 or int16")
    if len(numbers) > 1:
        (first, one), (second, other) = [*numbers.items()][:2]
        raise Refusal(f"{other}: {second.name}, but {one}: {first.name}; a program has one type of numbers")
