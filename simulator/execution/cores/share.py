"""The part of every tensor in each core of a team: some of its channels, or some of its columns.

Channels are dealt in words (of 8 in the NWHC8c layout): word g of G belongs to core floor(n g / G). So the owners
depend on the tensor alone, not on its readers, concats included. What a core reads and does not own crosses the
crossbar.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from simulator.execution.count.layer_facts import heads_of_channels
from simulator.execution.count.miss import Span
from simulator.execution.count.part import COLUMNS, Part
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import DENSE_OPS, JOIN_OPS, WINDOW_OPS
from workloads.network.network import Network


class Share(NamedTuple):
    """The part of one core, by tensor id."""

    channels: Mapping[int, range]
    columns: Mapping[int, Span]  #: of the map
    is_mirrored: bool = False  #: whether it sweeps its columns from the last to the first

    def place(self, tensor: int, own: Span) -> Span:
        """Return columns of the map from the core's own, which count in the direction of its sweep."""
        first, stop = self.columns[tensor]
        return (stop - own[1], stop - own[0]) if self.is_mirrored else (first + own[0], first + own[1])

    def own(self, tensor: int, columns: Span) -> Span:
        """Return columns of the map as the core's own columns, clipped to those that it has."""
        first, stop = self.columns[tensor]
        begin, end = max(columns[0], first), min(columns[1], stop)
        if begin >= end:
            return 0, 0
        return (stop - end, stop - begin) if self.is_mirrored else (begin - first, end - first)

    def extent(self, tensor: int) -> int:
        """The number of columns of the core."""
        return self.columns[tensor][1] - self.columns[tensor][0]


def deal_words(channels: int, word: int, cores: int) -> list[range]:
    """Return the channels of each core, in whole words except for the last.

    Examples
    --------
    >>> deal_words(20, 8, 2)
    [range(0, 16), range(16, 20)]
    """
    words = -(-channels // word)
    owners = [cores * each // words for each in range(words)]
    found = []
    for core in range(cores):
        first, stop = owners.index(core) if core in owners else 0, owners.count(core)
        found.append(range(min(first * word, channels), min((first + stop) * word, channels)))
    return found


def deal(part: Part, word: int, cores: int, counts: Sequence[int]) -> tuple[Share, ...]:
    """Return the shares of the cores when this many channels of every tensor are dealt to them."""
    channels = {u: deal_words(counts[u], word, cores) for u in part.tensors}
    columns = {u: (0, part.extent[COLUMNS][u]) for u in part.tensors}
    return tuple(Share({u: each[core] for u, each in channels.items()}, columns) for core in range(cores))


def wanted(network: Network, v: int, u: int, outputs: range, counts: Sequence[int] | None = None) -> frozenset[int]:
    """Return the channels of tensor u that layer v reads for these channels of its output.

    counts: channels of each tensor if fewer are executed; groups and heads then mix (arithmetic.py).

    Examples
    --------
    A pool keeps channels apart, a convolution reads all of them:

    >>> from workloads import Builder
    >>> b = Builder("two")
    >>> x = b.input("x", 4, 4, 16)
    >>> _ = b.maxpool("pool", x, 2), b.conv("conv", x, 8, 1)
    >>> network = b.build()
    >>> sorted(wanted(network, 0, 2, range(8, 10))), len(wanted(network, 1, 2, range(8)))
    ([8, 9], 16)
    """
    layer, full = network.layers[v], [tensor.channels for tensor in network.tensors]
    counts = counts or full
    is_full = counts[v] == full[v] and all(counts[each] == full[each] for each in network.operands[v])
    if not outputs:
        return frozenset()
    if layer.op in JOIN_OPS:
        return frozenset(each % counts[u] for each in outputs)
    if layer.op == "matmul" and is_full:
        operands = network.operands[v]
        heads = {layer.groups for each in operands[:1] if each == u}
        heads |= {heads_of_channels(layer) for each in operands[1:] if each == u}
        return frozenset().union(*(_of_heads(counts[u], layer, outputs, each) for each in heads))
    has_parts = _is_apart(layer) or (layer.groups > 1 and is_full)
    if layer.op not in WINDOW_OPS or not has_parts:
        return frozenset(range(counts[u]))
    joined = frozenset(outputs) if _is_apart(layer) else _of_heads(layer.in_channels, layer, outputs, layer.groups)
    found, first = set(), 0
    for operand in network.operands[v]:  # one after the other; a tensor may come twice
        count = counts[operand]
        if operand == u:
            found |= {each - first for each in joined if first <= each < first + count}
        first += count
    return frozenset(found)


def _is_apart(layer: Layer) -> bool:
    """Whether each output channel comes from the input channel with the same number."""
    return layer.op not in DENSE_OPS and layer.channels == layer.in_channels


def _of_heads(channels: int, layer: Layer, outputs: range, heads: int) -> frozenset[int]:
    """Return the channels of the heads or groups to which these outputs belong, in a tensor with `channels` of them."""
    size, inputs = layer.channels // heads, channels // heads
    groups = {each // size for each in outputs}
    return frozenset(each for group in groups for each in range(group * inputs, (group + 1) * inputs))
