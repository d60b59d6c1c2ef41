"""Whether a price started from the right numbers: what it assumed of each layer and tensor, checked against the shapes.

The counting run tells that a subgraph is not priced as it runs; this tells which number of which layer is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.execution.count import layer_facts as facts
from simulator.execution.count.count import extra_units
from simulator.model.subgraph.subgraph import Geometry
from workloads.network.network import Network

Pair = tuple[str, object, object]  #: what it is, what the price took, what follows from the shapes


def wrong_input(network: Network, geometry: Geometry, samples: int) -> str:
    """Return, in words, the first wrong number that a price of this many samples started from; "" if none is wrong."""
    own = facts.with_experts(network, samples)
    for u, name in enumerate(own.index):
        for what, taken, found in _of_tensor(own, u, geometry):
            if taken != found:
                return f"tensor {name!r}: {what} is {taken}, counted {found}"
    for v, layer in enumerate(own.layers):
        for what, taken, found in _of_layer(own, v, geometry):
            if taken != found:
                return f"layer {layer.name!r} ({layer.op}): {what} is {taken}, counted {found}"
    return ""


def _of_layer(own: Network, v: int, geometry: Geometry) -> Iterator[Pair]:
    layer, given = own.layers[v], geometry.network.layers[v]
    matrix, made = facts.matrix(own, v), facts.operations(own, v, facts.elements(layer))
    used, active = (1, 1) if layer.experts is None else (layer.experts.used or 0, layer.experts.active)
    yield "experts", given.experts, layer.experts
    yield "weight_elements", given.weight_elements, matrix * used // active
    yield "weight_bytes", given.weight_bytes, facts.weight_bytes(own, v)
    yield "weight_bytes", geometry.weight_bytes[v], facts.weight_bytes(own, v)
    yield "taps", given.taps, facts.taps(own, v)
    yield "macs", given.macs, facts.macs(own, v)
    yield "light_ops", given.light_ops, made - facts.macs(own, v)
    yield "operations", geometry.operations[v], made
    yield "operation_extra", geometry.operation_extra[v], extra_units(own, v, made)
    words = -(-layer.channels // geometry.technology.channel_alignment) * geometry.technology.channel_alignment
    yield "state_bytes", geometry.state_bytes[v], facts.state_bytes(layer, words)
    yield "carried_bytes", geometry.carried_bytes[v], facts.state_bytes(layer, layer.channels)
    yield "output_bits", given.output_bits, facts.output_bits(layer)
    yield "size_bytes", given.size_bytes, facts.size_bytes(own, v)
    yield "second_heads", given.second_heads, facts.second_heads(layer)
    yield "is_depthwise", given.is_depthwise, facts.is_depthwise(layer)
    for axis, (reach, stride, upsample) in enumerate(zip(facts.reach(layer), layer.stride, layer.upsample)):
        taken = geometry.reach[axis][v], geometry.stride[axis][v], geometry.upsample[axis][v], geometry.padding[axis][v]
        yield "window", taken, (reach, stride, upsample, layer.padding[axis])


def _of_tensor(own: Network, u: int, geometry: Geometry) -> Iterator[Pair]:
    """Yield the pairs of a tensor; its extents are those of the layer that makes it."""
    tensor = facts.tensor_of(own, u)
    yield "number", geometry.network.tensors[u].number, facts.number(own, u)
    yield "row_bytes", geometry.row_bytes[u], facts.position_bytes(own, u)
    yield "size_bytes", geometry.size_bytes[u], facts.size_bytes(own, u)
    yield "size_bytes", geometry.network.tensors[u].size_bytes, facts.size_bytes(own, u)
    yield "shape", (*(each[u] for each in geometry.extent), geometry.channels[u]), (
        tensor.height, tensor.width, tensor.channels
    )  # fmt: skip
