"""One subgraph as the model sees it: its tensors, which layers read them, what comes in and what goes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from math import gcd
from typing import Any, NamedTuple

from simulator.model.kept import Kept
from simulator.technology import OPERATION_UNITS, Technology, units_of_numbers
from workloads.errors import NetworkError
from workloads.network.layers.attention import steps_of
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.ops import PRODUCT_OPS
from workloads.network.layers.types import INT8, Number, row_bytes
from workloads.network.network import Network

ROWS, COLUMNS = 0, 1


class Reader(NamedTuple):
    """A layer that reads a tensor: through its window (`local`), in full (`whole`), or both (matmul(x, x))."""

    layer: int
    local: bool
    whole: bool


class Geometry:
    """Shapes and windows of a network by tensor id and axis, prepared once. Index 0 is rows, 1 is columns.

    technology: that of the accelerator, for channel alignment, PEs and tiles. Raises NetworkError for a network that
    no tile can hold: one with windows over time (workloads/network/layers/frames.py).
    """

    def __init__(self, network: Network, technology: Technology | None = None) -> None:
        timed = next((layer.name for layer in network.layers if layer.frames), None)
        if timed:
            raise NetworkError(
                f"network {network.name!r} has no price: {timed!r} is a window over the frames of a clip, and tiles "
                "have no time axis; whole-tensor scheduling takes such networks"
            )
        _check_numbers(network)
        self.network, self.technology = network, technology or Technology()
        self.count = len(network.layers)
        self.extent = ([t.height for t in network.tensors], [t.width for t in network.tensors])
        self.channels = [t.channels for t in network.tensors]
        self.size_bytes = [t.size_bytes for t in network.tensors]
        self.row_bytes = [row_bytes(t.channels, t.bits) for t in network.tensors]  #: of a position
        self.weight_bytes = [layer.weight_bytes for layer in network.layers]
        firsts, often = network.first_with, Counter(network.first_with)
        self.shares = [1 + v if often[v] > 1 else 0 for v in firsts]  #: a number of weights of several layers, or 0
        self.brought_bytes = [size if firsts[v] == v else 0 for v, size in enumerate(self.weight_bytes)]
        self.operations = [layer.macs + layer.light_ops for layer in network.layers]
        self.operation_extra = [
            sum(count * (units_of_numbers(*numbers) - OPERATION_UNITS) for count, *numbers in _operations(network, v))
            for v in range(self.count)
        ]  #: units beyond those of INT8
        self.state_bytes = [self._state_bytes(u, is_held=True) for u in range(len(network.tensors))]  #: held
        self.carried_bytes = [self._state_bytes(v) for v in range(self.count)]  #: of a state, from update to update
        self.reach = tuple([layer.reach[axis] for layer in network.layers] for axis in (ROWS, COLUMNS))
        self.stride = tuple([layer.stride[axis] for layer in network.layers] for axis in (ROWS, COLUMNS))
        self.upsample = tuple([layer.upsample[axis] for layer in network.layers] for axis in (ROWS, COLUMNS))
        self.padding = tuple([layer.padding[axis] for layer in network.layers] for axis in (ROWS, COLUMNS))
        self.is_square = [self._is_square(u) for u in range(len(network.tensors))]
        self.readers: list[tuple[Reader, ...]] = [
            tuple(self._reader(layer, tensor) for layer in consumers)
            for tensor, consumers in enumerate(network.consumers)
        ]

    def in_batch(self, samples: int) -> Geometry:
        """Return the same geometry with the experts that this many samples use."""
        network = self.network.in_batch(samples)
        return self if network is self.network else Geometry(network, self.technology)

    def unshared(self) -> Geometry:
        """Return the same geometry with weights of their own in each layer."""
        layers = tuple(replace(layer, shared="") for layer in self.network.layers)
        return Geometry(replace(self.network, layers=layers), self.technology) if any(self.shares) else self

    def bringing(self, layers: Sequence[int]) -> list[int]:
        """Return those of some layers with weights that no earlier one of them has as well."""
        first = {self.shares[v] or -v: v for v in reversed(layers) if self.weight_bytes[v]}
        return sorted(first.values())

    def weights_of(self, layers: Sequence[int]) -> int:
        """Return the bytes of the weights of some layers, each once."""
        return sum([self.weight_bytes[v] for v in self.bringing(layers)])

    def held_bytes(self, tensor: int, groups: int = 1, cores: int = 1) -> int:
        """Return the bytes of a position in a buffer, in whole words: of one of this many groups of channels.

        cores: how many the words are dealt to; core 0 has the most.
        """
        alignment = self.technology.channel_alignment
        channels = -(-self.channels[tensor] // groups // (alignment * cores)) * alignment
        return row_bytes(channels, self.network.tensors[tensor].bits)

    def _state_bytes(self, tensor: int, is_held: bool = False) -> int:
        """Return the bytes of the state of the scan that makes a tensor, one sample; 0 for others. Held: in words."""
        state = None if tensor >= self.count else self.network.layers[tensor].state
        if state is None:
            return 0
        word = self.technology.channel_alignment if is_held else 1
        sum_bytes = -(-self.network.layers[tensor].bits.sums // 8)
        return state.size * sum_bytes * (-(-self.channels[tensor] // word) * word)

    def _is_square(self, tensor: int) -> bool:
        """Return whether rows are as columns: those of a tensor, and the windows of the layer that makes it."""
        windows = (self.reach, self.stride, self.upsample, self.padding) if tensor < self.count else ()
        return all(rows[tensor] == columns[tensor] for rows, columns in (self.extent, *windows))

    def _reader(self, layer: int, tensor: int) -> Reader:
        whole = self.network.layers[layer].whole
        positions = [i for i, operand in enumerate(self.network.operands[layer]) if operand == tensor]
        return Reader(layer, any(i not in whole for i in positions), any(i in whole for i in positions))


def _check_numbers(network: Network) -> None:
    """Raise NetworkError for numbers that cannot be stored: parts of a layer that do not fill whole bytes."""
    for v, layer in enumerate(network.layers):
        operands = [network.tensors[u] for u in network.operands[v]]
        if layer.bits == INT8 and layer.experts is None and all(each.number == Number() for each in operands):
            continue
        if layer.op in PRODUCT_OPS and len({each.bits for each in operands[1:]}) > 1:
            what = "its second operand has" if layer.op == "matmul" else "its keys and values have"
            raise NetworkError(f"layer {layer.name!r} has no price: {what} rows of different bits")
        for elements, bits in _parts(layer, operands):
            if elements * bits % 8:
                raise NetworkError(
                    f"layer {layer.name!r} has no price: {elements} numbers of {bits} bits do not fill whole bytes"
                )
        experts = layer.experts
        if experts is not None:
            word = gcd(8, layer.channels) * gcd(8, layer.in_channels) * layer.bits.weights
            if word * experts.in_use(layer.height * layer.width) % (8 * experts.active):
                raise NetworkError(
                    f"layer {layer.name!r} has no price: words of 8 x 8 weights are no whole share of "
                    f"{experts.active} experts"
                )


def _operations(network: Network, v: int) -> list[tuple[int, Number, Number]]:
    """Return how many operations a layer has and which two number types each combines; an attention has several."""
    layer = network.layers[v]
    if layer.op != "attention":
        return [(layer.macs + layer.light_ops, *_operand_numbers(network, v))]
    (scores, softmax, context), made = steps_of(layer), layer.output.number
    query, keys, *_, values = (network.tensors[u].number for u in network.operands[v])
    return [(scores.macs, query, keys), (softmax.light_ops, made, made), (context.macs, made, values)]


def _operand_numbers(network: Network, v: int) -> tuple[Number, Number]:
    """Return the two number types of an operation: the widest input, and a weight or the second operand."""
    layer, numbers = network.layers[v], [network.tensors[u].number for u in network.operands[v]]
    if layer.op == "matmul":
        return numbers[0], numbers[1]
    widest = max(numbers, key=lambda number: (number.bits, number.significand, number.kind))
    return widest, layer.bits.of_weights if layer.has_weights else widest


def _parts(layer: Layer, operands: list[Tensor]) -> list[tuple[int, int]]:
    """Return (count, bits) of numbers that are stored together.

    All weights, or those of an operand, which passes by itself; or the channels of a head or group.
    """
    parts, taps = [(layer.weight_elements // layer.groups, layer.bits.weights)], layer.kernel[0] * layer.kernel[1]
    if layer.op == "scan":
        return parts
    if layer.has_weights and layer.is_depthwise:  # channels of one operand after the other
        return [(each.channels * taps, layer.bits.weights) for each in operands]
    if layer.has_weights and len(operands) > 1:
        size, ends = layer.in_channels // layer.groups, accumulate(each.channels for each in operands)
        cuts = sorted({0, *ends, *range(size, layer.in_channels, size)})
        parts += [((b - a) * taps * layer.channels // layer.groups, layer.bits.weights) for a, b in pairwise(cuts)]
    if layer.groups == layer.blocks == 1:
        return parts
    parts += [(layer.channels // layer.groups, layer.output_bits)]
    if layer.op in PRODUCT_OPS:
        parts += [(each.channels * layer.sharing // layer.groups, each.bits) for each in operands[1:]]
        operands = operands[:1]
    return parts + [(layer.in_channels // layer.groups, each.bits) for each in operands]


class Subgraph:
    """Layers that run together, with in(S) and out(S) of model.md, section 1.

    layers: ascending ids. inputs: in(S), the distinct producers outside S. outputs: out(S), the layers whose tensor is
    stored to DRAM: model outputs, rows appended to a cache, and those with a reader outside S (Cocco, footnote 3).
    readers[u]: the readers of u in S; is_whole[u]: whether one of them reads all of u at once.

    If tensors stay on chip: on_chip has those of S and in(S), loaded the part of in(S) that comes from DRAM, and
    outputs the part of S that is stored there. Otherwise nothing stays, and all of in(S) is loaded.
    """

    def __init__(self, geometry: Geometry, layers: Iterable[int], kept: Kept | None = None) -> None:
        self.geometry = geometry
        self.layers = tuple(sorted(layers))
        inside = set(self.layers)
        network = geometry.network
        self.inputs = tuple(dict.fromkeys(p for v in self.layers for p in network.producers[v] if p not in inside))
        self.tensors = self.layers + self.inputs
        self.consumers_first = self.layers[::-1] + self.inputs  #: reverse topological order, then in(S)
        self.readers = {u: tuple([r for r in geometry.readers[u] if r.layer in inside]) for u in self.tensors}
        self.is_whole = {u: any([reader.whole for reader in self.readers[u]]) for u in self.tensors}
        self.is_square = all([geometry.is_square[u] for u in self.tensors])
        self.layer_count, self.tensor_count = len(self.layers), len(self.tensors)  #: for compiled text, as the next
        self.reader_count = {u: len(readers) for u, readers in self.readers.items()}
        self.derived: dict[Hashable, Any] = {}  #: what is the same for all tiles
        self.outputs = tuple(
            v for v in self.layers if network.is_output[v] or len(self.readers[v]) < len(geometry.readers[v])
        )
        self.on_chip: frozenset[int] = frozenset()
        self.loaded = self.inputs
        if kept is not None:
            self.on_chip = kept.on_chip
            self.loaded = tuple(u for u in self.inputs if u in kept.loaded)
            self.outputs = tuple(v for v in self.layers if v in kept.written)
        self.has_whole_edge = any(self.is_whole.values())

    @property
    def weight_bytes(self) -> int:
        """Bytes of all weights of S, each once."""
        return self.geometry.weights_of(self.layers)

    @property
    def input_bytes(self) -> int:
        """Bytes of in(S) that come from DRAM, one sample."""
        return sum(self.geometry.size_bytes[u] for u in self.loaded)

    @property
    def arriving(self) -> tuple[int, ...]:
        """Inputs that are loaded whole, once, to be kept from now on."""
        return tuple(u for u in self.loaded if u in self.on_chip)

    @property
    def output_bytes(self) -> int:
        """Bytes of out(S), one sample."""
        return sum(self.geometry.size_bytes[v] for v in self.outputs)


def shape(rows: int, columns: int) -> tuple[int, int]:
    """Return a shape, for compiled text."""
    return rows, columns


def is_kept(subgraph: Subgraph, tensor: int) -> bool:
    """Return whether a tensor stays on chip, whole."""
    return tensor in subgraph.on_chip
