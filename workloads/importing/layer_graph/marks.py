"""What nodes of a layer-graph/1 state in addition to their shapes: bits, rows appended to a cache, experts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workloads.errors import NetworkError
from workloads.importing.layer_graph.node import Node
from workloads.network.layers.kinds import check_kind
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.mask import Mask
from workloads.network.layers.types import INT8, Bits, Experts, bits_of, check_experts
from workloads.network.network import Network

MARKS = ("bits", "appended", "experts", "experts_used", "mask", "shared")
MASK = {"behind": None, "ahead": 0, "chunk": 0}  #: the keys of a mask, and what they are unless given


def mark(network: Network, nodes: Sequence[Node], default: Bits) -> Network:
    """Return the network with what its nodes say; raises NetworkError naming the node, the rule and the value."""
    if default == INT8 and not any(key in node.content for node in nodes for key in MARKS):
        return network
    by_name = {node.name: node for node in nodes}
    layers = tuple(_marked(layer, by_name[layer.name], default) for layer in network.layers)
    inputs = tuple(_of_input(tensor, by_name[tensor.name], default) for tensor in network.inputs)
    return replace(network, layers=layers, inputs=inputs)


def marks_of(of: Layer | Tensor, default: Bits = INT8) -> dict[str, Any]:
    """Return the keys that a node of this layer or model input has for them: none where they are the default."""
    found: dict[str, Any] = {}
    if isinstance(of, Tensor):
        if of.kind == "cache":
            found["cache"] = True
        name = "cache" if of.kind == "cache" else "activations"
        bits, kind = of.number
        said = bits if kind == "int" else kind
        return found | ({"bits": {name: said}} if said != default.said(name) else {})
    if of.operand_heads:
        found["operand_heads"] = of.operand_heads
    if of.appended:
        found["appended"] = True
    if of.experts is not None:
        found["experts"] = [of.experts.count, of.experts.active]
        if of.experts.used is not None:
            found["experts_used"] = of.experts.used
    if of.state is not None:
        found["state"] = [of.state.size, of.state.weights]
    if of.shared:
        found["shared"] = of.shared
    if of.mask is not None:
        found["mask"] = {key: value for key in MASK if (value := getattr(of.mask, key)) != MASK[key]}
        found |= {} if of.op == "attention" else {"keys": of.keys}
    return found | ({"bits": of.bits.to_json()} if of.bits != default else {})


def _marked(layer: Layer, node: Node, default: Bits) -> Layer:
    marked = replace(
        layer, bits=_bits(node, default), appended=node.flag("appended"), shared=node.content.get("shared", "")
    )
    if "mask" in node.content:
        marked = replace(marked, mask=_mask(node), keys=layer.keys or node.number("keys"))
        check_kind(marked)
    has_experts = "experts" in node.content or "experts_used" in node.content
    return replace(marked, experts=_experts(layer, node)) if has_experts else marked


def _mask(node: Node) -> Mask:
    content = node.get("mask")
    if type(content) is not dict or not content.keys() <= MASK.keys():
        raise node.wrong("mask", content, f"an object with some of the keys {', '.join(MASK)}")
    return Mask(**content)


def _experts(layer: Layer, node: Node) -> Experts:
    """Return the experts of a layer.

    Files of version 0.2 have a third number: how many are used. Given it is where one sample is expected to use others.
    """
    content = node.get("experts")
    count, active, *rest = node.numbers("experts", 3 if type(content) is list and len(content) == 3 else 2)
    experts = Experts(count, active)
    used = rest[0] if rest else None
    if "experts_used" in node.content:
        used = node.number("experts_used")
    check_experts(layer.name, replace(experts, used=used))
    return experts if rest and used == experts.in_use(layer.height * layer.width) else replace(experts, used=used)


def _of_input(tensor: Tensor, node: Node, default: Bits) -> Tensor:
    bits = _bits(node, default)
    number = bits.of_cache if tensor.kind == "cache" else bits.of_activations
    return replace(tensor, bits=number.bits, number_as=number.kind)


def _bits(node: Node, default: Bits) -> Bits:
    try:
        return bits_of(node.content["bits"], default) if "bits" in node.content else default
    except NetworkError as error:
        raise NetworkError(f"node {node.name!r} ({node.op}): {error}") from None
