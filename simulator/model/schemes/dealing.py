"""Channels dealt to cores: which core has which, and how much of each operand the cores read (docs/model.md, 7).

Words of channels (8 in the NWHC8c layout) are dealt: core j has those from ceil(G j / n) up to ceil(G (j + 1) / n) of
the G of a tensor, so core 0 has the most of every tensor.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import DENSE_OPS, JOIN_OPS, WINDOW_OPS
from workloads.network.layers.types import row_bytes
from workloads.network.network import Network

Interval = tuple[int, int]


class Heard(NamedTuple):
    """Bytes per position of an operand that the cores read, summed, and how many of them are in their own memories."""

    total: int
    own: int


class Deal(NamedTuple):
    """The number of cores, and of channels in a word."""

    cores: int
    word: int

    def most(self, channels: int) -> int:
        """Return the channels of core 0, which has the most.

        Examples
        --------
        >>> Deal(4, 8).most(72), Deal(4, 8).most(5)
        (24, 5)
        """
        return min(channels, self.room(channels))

    def room(self, channels: int) -> int:
        """Return the same in whole words."""
        return self.word * -(-channels // (self.word * self.cores))

    def channels(self, channels: int, core: int) -> Interval:
        """Return the channels of a core, first and last + 1."""
        words = -(-channels // self.word)
        first, stop = (-(-words * each // self.cores) * self.word for each in (core, core + 1))
        return min(first, channels), min(stop, channels)

    def working(self, channels: int) -> Iterator[int]:
        """Yield the cores that have some of this many channels."""
        words = -(-channels // self.word)
        if words >= self.cores:
            yield from range(self.cores)
        else:
            yield from (self.cores * each // words for each in range(words))

    def heard(self, network: Network, v: int, u: int) -> Heard:
        """Return the bytes that the cores working on layer v read per position of tensor u."""
        layer, channels, bits = network.layers[v], network.tensors[u].channels, network.tensors[u].bits
        total = own = 0
        for core in self.working(layer.channels):
            mine = self.channels(channels, core)
            for first, stop in _wanted(network, v, u, self.channels(layer.channels, core)):
                total += row_bytes(stop - first, bits)
                own += row_bytes(max(0, min(stop, mine[1]) - max(first, mine[0])), bits)
        return Heard(total, own)


def _wanted(network: Network, v: int, u: int, outputs: Interval) -> list[Interval]:
    """Return the channels of tensor u that layer v reads for these outputs, as disjoint intervals."""
    layer, channels = network.layers[v], network.tensors[u].channels
    if layer.op in JOIN_OPS:
        return [outputs if channels > 1 else (0, 1)]
    if layer.op == "matmul":
        operands = network.operands[v]
        heads = {layer.groups for each in operands[:1] if each == u}
        heads |= {layer.groups // layer.sharing for each in operands[1:] if each == u}
        return _union([_of_groups(channels, layer, outputs, each) for each in heads])
    is_apart = layer.op not in DENSE_OPS and layer.channels == layer.in_channels
    if layer.op not in WINDOW_OPS or not (is_apart or layer.groups > 1):
        return [(0, channels)]
    first, stop = outputs if is_apart else _of_groups(layer.in_channels, layer, outputs, layer.groups)
    found, before = [], 0
    for operand in network.operands[v]:
        count = network.tensors[operand].channels
        if operand == u and max(first, before) < min(stop, before + count):
            found.append((max(first - before, 0), min(stop - before, count)))
        before += count
    return _union(found)


def _of_groups(channels: int, layer: Layer, outputs: Interval, heads: int) -> Interval:
    """Return the channels of the groups or heads to which these outputs belong, in a tensor with `channels` of them."""
    size, inputs = layer.channels // heads, channels // heads
    return outputs[0] // size * inputs, ((outputs[1] - 1) // size + 1) * inputs


def _union(intervals: list[Interval]) -> list[Interval]:
    """Return disjoint intervals with the same union, for a tensor that is an operand twice."""
    found: list[Interval] = []
    for first, stop in sorted(intervals):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], stop))
        else:
            found.append((first, stop))
    return found
