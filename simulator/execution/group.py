"""One group of channels of a subgraph as a separate network: what runs on chip when groups run one after the other.

Whether groups are independent is decided here from the layers alone, head by head and channel by channel; the shapes of
a group are checked like those of any network.
"""

from __future__ import annotations

from dataclasses import replace

from simulator.execution.count.layer_facts import has_weights, second_heads, tensor_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.stays import Lies
from workloads.errors import NetworkError
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import ELEMENTWISE_OPS, JOIN_OPS, WINDOW_OPS
from workloads.network.network import Network


def group_of(part: Part, groups: int) -> Part:
    """Return one of this many groups of a part; raises Miss if it needs anything from another group."""
    network = part.network
    for v in part.layers:
        _check(network, v, groups)
    for u in part.tensors:
        if network.tensors[u].channels % groups:
            raise Miss(f"tensor {part.name(u)!r}: {network.tensors[u].channels} channels are not {groups} groups")
    inputs = tuple(
        replace(tensor_of(network, u), channels=network.tensors[u].channels // groups, kind="input")
        for u in part.inputs
    )
    layers = tuple(_layer(network.layers[v], groups) for v in part.layers)
    try:
        one = Network("group", inputs, layers)
    except NetworkError as error:
        raise Miss(f"a group of channels is no network: {error}") from None
    ids = {u: one.index[part.name(u)] for u in part.tensors}
    on_chip, there = (frozenset(ids[u] for u in each if u in ids) for each in (part.lies.on_chip, part.lies.there))
    lies = Lies(on_chip, there, frozenset(ids[v] for v in part.outputs), on_chip)
    return Part(one, (ids[v] for v in part.layers), lies)


def _layer(layer: Layer, groups: int) -> Layer:
    """Return the part of a layer for one group."""
    found = replace(layer, channels=layer.channels // groups, in_channels=layer.in_channels // groups)
    if layer.op == "matmul" or layer.groups > 1:
        found = replace(found, groups=max(1, layer.groups // groups), operand_heads=layer.operand_heads // groups)
    return found


def _check(network: Network, v: int, groups: int) -> None:
    layer = network.layers[v]
    channels = [network.tensors[u].channels for u in network.operands[v]]
    if layer.op == "matmul":
        is_apart = second_heads(layer) % groups == 0 and layer.groups % groups == 0
    elif layer.op == "softmax":
        is_apart = _heads(network, v) % groups == 0
    elif layer.op in JOIN_OPS:
        is_apart = set(channels) == {layer.channels}
    elif layer.op in WINDOW_OPS and len(channels) == 1:
        inputs = layer.in_channels // layer.groups if has_weights(layer) else 1  # that an output reads
        is_apart = layer.groups % groups == 0 if has_weights(layer) else inputs * layer.channels == layer.in_channels
    else:
        is_apart = False
    if not is_apart:
        raise Miss(f"layer {layer.name!r} ({layer.op}) does not keep {groups} groups of channels apart")


def _heads(network: Network, u: int) -> int:
    """Return the heads of a tensor: those of the product that element-wise layers lead back to."""
    if u >= len(network.layers):
        return 1
    layer = network.layers[u]
    if layer.op == "matmul":
        return layer.groups
    return max(_heads(network, p) for p in network.operands[u]) if layer.op in ELEMENTWISE_OPS else 1
