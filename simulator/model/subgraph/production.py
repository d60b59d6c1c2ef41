"""Production-centric and consumption-centric execution compared (Cocco, Sec. 3.1 and Figure 4): what a tile holds.

Consumption-centric: going back from a tile of the outputs, each tensor holds what its readers request.
Production-centric: going on from the same tile of the inputs, each layer makes all that it can, whether or not its
readers can use it yet; what they cannot use yet stays. Both make the same tile of outputs. Only this first tile is
compared; the model prices consumption-centric execution.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from workloads.network.layers.layer import Layer
from workloads.network.network import Network

Span = tuple[int, int]  #: first and last row or column; none where the last is below the first
Spans = dict[int, tuple[Span, Span]]  #: tensor id -> rows and columns


class Flow(NamedTuple):
    """What each tensor of a subgraph, inputs included, holds."""

    spans: Spans
    bytes: int


def consumed(network: Network, layers: Collection[int], rows: Span, columns: Span) -> Flow:
    """Return the part of each tensor that this tile of every output of a connected subgraph needs.

    layers: ids; outputs are those that no layer of the subgraph reads. Bytes count channels without padding.
    Raises ValueError for a layer that reads an operand in full or slides over a spread map, which has no such tile.
    """
    inside = _checked(network, layers)
    spans: Spans = {v: (rows, columns) for v in inside if not any(r in inside for r in network.consumers[v])}
    for v in sorted(inside, reverse=True):
        for u in network.operands[v]:
            asked = [
                _window(network, network.layers[v], u, axis, spans[v][axis]) for axis in (0, 1)
            ]  # readers of v come after it
            known = spans.get(u, asked)
            spans[u] = (_both(known[0], asked[0]), _both(known[1], asked[1]))
    return Flow(spans, _bytes(network, spans))


def produced(network: Network, layers: Collection[int], given: Spans) -> Flow:
    """Return the part of each tensor made by layers that make all they can from these tiles of the inputs.

    given: spans of the inputs of the subgraph, for example from `consumed(...)`; those of other tensors are ignored.
    """
    inside = _checked(network, layers)
    spans: Spans = {u: given[u] for v in inside for u in network.operands[v] if u not in inside}
    for v in sorted(inside):
        layer = network.layers[v]
        ready = [[_made(network, layer, u, axis, spans[u][axis]) for u in network.operands[v]] for axis in (0, 1)]
        spans[v] = (_common(ready[0]), _common(ready[1]))
    return Flow(spans, _bytes(network, spans))


def _checked(network: Network, layers: Collection[int]) -> frozenset[int]:
    for v in layers:
        layer = network.layers[v]
        if layer.whole or layer.upsample != (1, 1) or layer.frames is not None:
            raise ValueError(f"layer {layer.name!r} has no tile that production and consumption share")
    return frozenset(layers)


def _window(network: Network, layer: Layer, u: int, axis: int, span: Span) -> Span:
    """Return what these outputs read of an operand, without padding."""
    first = span[0] * layer.stride[axis] - layer.padding[axis]
    last = span[1] * layer.stride[axis] - layer.padding[axis] + layer.reach[axis] - 1
    return max(first, 0), min(last, _extent(network, u, axis) - 1)


def _made(network: Network, layer: Layer, u: int, axis: int, span: Span) -> Span:
    """Return the outputs whose windows lie in the available part of an operand or in the padding around the map."""
    stride, padding = layer.stride[axis], layer.padding[axis]
    extent = (layer.height, layer.width)[axis]
    first = 0 if span[0] == 0 else -(-(span[0] + padding) // stride)
    at_end = span[1] == _extent(network, u, axis) - 1
    last = extent - 1 if at_end else (span[1] + padding - layer.reach[axis] + 1) // stride
    return first, min(last, extent - 1)


def _extent(network: Network, u: int, axis: int) -> int:
    tensor = network.tensors[u]
    return (tensor.height, tensor.width)[axis]


def _both(one: Span, other: Span) -> Span:
    return min(one[0], other[0]), max(one[1], other[1])


def _common(spans: Iterable[Span]) -> Span:
    firsts, lasts = zip(*spans)
    return max(firsts), min(lasts)


def _bytes(network: Network, spans: Spans) -> int:
    return sum(_count(rows) * _count(columns) * network.tensors[u].channels for u, (rows, columns) in spans.items())


def _count(span: Span) -> int:
    return max(0, span[1] - span[0] + 1)
