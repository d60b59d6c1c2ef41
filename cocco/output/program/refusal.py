"""What a plan may ask that its program cannot do yet: one line that names it."""

from __future__ import annotations

from simulator.model.price import Price, Shortage
from simulator.model.priced import PricedPartition
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
    for names, price in zip(partition.names, priced.prices):
        if isinstance(price, Shortage):
            raise Refusal(f"plan cannot run: {names[0]!r} .. {names[-1]!r}: {price.reason}")


def check_order(names: tuple[str, ...], price: Price, orders: tuple[str, ...]) -> None:
    """Raise Refusal for a loop order that is not written down as a program."""
    if price.loops is not None and price.loops.order not in orders:
        raise Refusal(f"subgraph of {names[0]!r}: loop order {price.loops.order} has no program yet")


def _check_network(network: Network) -> None:
    for layer in network.layers:
        if layer.op == "attention":
            raise Refusal(f"layer {layer.name!r}: an attention as one layer has no program yet; export one of layers")
        if layer.op == "recurrent":
            raise Refusal(f"layer {layer.name!r}: a recurrent layer has no program yet")
        if layer.mask is not None:
            raise Refusal(f"layer {layer.name!r}: a mask has no program yet; export the network of --masks none")
        if layer.op == "rearrange" and len(set(layer.inputs)) < len(layer.inputs):
            raise Refusal(f"layer {layer.name!r}: a rearrangement that reads a map twice has no program yet")
        if layer.blocks > 1:
            raise Refusal(f"layer {layer.name!r}: a product in blocks of positions has no program yet")
        if layer.frames is not None or layer.experts is not None:
            raise Refusal(f"layer {layer.name!r}: frames and experts have no program yet")
        if layer.has_weights and layer.bits.weights != 8:
            raise Refusal(f"layer {layer.name!r}: weights of {layer.bits.weights} bits; a program has INT8")
    for tensor in network.tensors:
        if tensor.bits != 8:
            raise Refusal(f"tensor {tensor.name!r}: {tensor.bits} bits; a program has INT8")
