"""One layer with values: its inputs, its weights, and its output computed directly."""

from __future__ import annotations

from collections.abc import Sequence, Set

import numpy as np

from simulator.execution.count.layer_facts import elements, has_weights, is_depthwise, sees, size_bytes, state_of
from simulator.execution.layer.common.folded import Rows
from simulator.execution.layer.common.plan import kind_of
from simulator.execution.layer.common.statistics import HIDDEN, normalized, statistics_of
from simulator.execution.layer.common.windows import Met, Windows, lines_of
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import ELEMENTWISE_OPS, NORM_OPS, WINDOW_OPS
from workloads.network.network import Network

Values = np.ndarray  #: int64; maps are samples x channels x rows x columns


class Problem:
    """The inputs, weights and output of a layer. Numbers stand in for real ones: each result depends on all it meets.

    ids: tensors by operand; an input that is several operands is one tensor. seen: positions that came from DRAM.
    on_chip: tensors that are whole in the activation buffer; they are not loaded and take no region. there: the rows of
    a product's second operand that are on chip.
    """

    def __init__(
        self, network: Network, v: int, batch: int, seed: int, on_chip: Set[int] = frozenset(), there: Rows = ()
    ) -> None:
        self.kind = kind_of(network, v)
        rng, self.there = np.random.default_rng(seed), there
        self.network, self.v, self.batch, self.on_chip = network, v, batch, on_chip
        self.layer, self.ids = network.layers[v], network.operands[v]
        self.tensors = [network.tensors[u] for u in self.ids]
        self.maps = {
            u: rng.integers(1, 100, (batch, t.channels, t.height, t.width)) for u, t in zip(self.ids, self.tensors)
        }
        layer = self.layer
        if layer.mask is not None and layer.op != "attention" and self.kind != "transposed":  # after scores
            hidden = np.tile(~seen_keys(layer, range(layer.height)).T, (layer.in_channels // layer.keys, 1))
            self.maps[self.ids[0]][:, hidden] = HIDDEN if layer.op == "softmax" else 0
        sizes: tuple[int, ...] = (layer.channels, layer.in_channels // layer.groups, *layer.kernel)
        sizes = (state_of(layer)[1],) if layer.op == "scan" else sizes
        self.weights = rng.integers(1, 9, sizes) if has_weights(layer) else np.zeros(0, dtype=np.int64)
        self.windows = Windows(lines_of(network, v))
        self.seen = np.zeros(self.windows.extent, dtype=bool)
        self.starts = np.cumsum([0, *(t.channels for t in self.tensors)])  #: first channel of each operand

    @property
    def unmet_bytes(self) -> int:
        """Bytes, over all samples, of inputs that no window requested."""
        if self.layer.op not in WINDOW_OPS:
            return 0
        channels = sum(self.network.tensors[u].channels for u in set(self.ids) - self.on_chip)
        return int((~self.seen).sum()) * channels * self.batch

    def places(self, u: int) -> list[int]:
        """Return the places of a tensor among the operands."""
        return [i for i, each in enumerate(self.ids) if each == u]

    def full_weights(self) -> Values:
        """Return the weights with zeros between groups."""
        layer = self.layer
        outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
        full = np.zeros((layer.channels, layer.in_channels, *layer.kernel), dtype=np.int64)
        for k in range(layer.channels):
            group = k // outputs
            full[k, group * inputs : (group + 1) * inputs] = self.weights[k]
        return full

    def matrix(self, sample: int, head: int) -> Values:
        """Return outputs x inputs of a head: the second operand of a product."""
        layer, second = self.layer, self.maps[self.ids[1]][sample]
        flat = second.reshape(len(second), -1)  # channels x positions
        inner, outer = layer.in_channels // layer.groups, layer.channels // layer.groups
        if self.kind == "transposed":
            return flat[head * inner : (head + 1) * inner].T
        return flat[head * outer : (head + 1) * outer]

    def hide(self, values: Values, down: range, keys: range | None = None) -> Values:
        """Return scores of a head, samples x keys x rows x columns, 0 where a mask hides them; else all of them."""
        if self.layer.mask is None or self.kind != "transposed":
            return values
        return values * seen_keys(self.layer, down, keys).T[:, :, None]

    def rows_of(self, place: int, sample: int, head: int) -> Values:
        """Return channels x positions of a head of keys (1) or values (2)."""
        flat = self.maps[self.ids[place]][sample].reshape(self.tensors[place].channels, -1)
        width = len(flat) // self.layer.groups
        return flat[head * width : (head + 1) * width]

    def factors(self) -> Values:
        """Return a factor for each channel and tap of a layer with independent channels."""
        layer = self.layer
        if has_weights(layer):
            return self.weights[:, 0]
        taps = np.arange(1, layer.kernel[0] * layer.kernel[1] + 1).reshape(layer.kernel)
        return np.broadcast_to(taps, (layer.in_channels, *layer.kernel))

    def elements(self) -> Values:
        """Return all elements of the inputs of a rearrangement, for each sample."""
        return np.concatenate([each.reshape(self.batch, -1) for each in self.maps.values()], axis=1)

    def coming_elements(self) -> Values:
        """Return which of the elements of a sample come from DRAM."""
        return np.concatenate([np.full(each[0].size, u not in self.on_chip) for u, each in self.maps.items()])

    def origins(self) -> Values:
        """Return, for each element of a rearranged output, its index in `elements`."""
        count = sum(size_bytes(self.network, u) for u in self.maps)
        return np.random.default_rng(7).permutation(np.resize(np.arange(count), elements(self.layer)))

    def direct(self) -> Values:
        """Return the output."""
        layer, (rows, columns) = self.layer, map(range, self.windows.outputs)
        shape = (self.batch, layer.channels, layer.height, layer.width)
        if layer.op == "matmul":
            heads = [self._head(head) for head in range(layer.groups)]
            return np.concatenate([self.hide(each, range(layer.height)) for each in heads], axis=1)
        if layer.op == "rearrange":
            return self.elements()[:, self.origins()].reshape(shape)
        if layer.op in ELEMENTWISE_OPS:
            return join(layer.op, [np.broadcast_to(self.maps[u], shape) for u in self.ids])
        stacked = np.concatenate([self.maps[u] for u in self.ids], axis=1)
        if is_depthwise(layer):
            found = reduce_apart(self.windows.taps, stacked, self.factors(), rows, columns, layer.op)
            return found[:, : layer.channels]
        if layer.op == "recurrent":
            return recurred(stacked, self.weights[:, :, 0, 0])
        return convolve(self.windows.taps, stacked, self.full_weights(), rows, columns)

    def _head(self, head: int) -> Values:
        inner, first = self.layer.in_channels // self.layer.groups, self.maps[self.ids[0]]
        part = first[:, head * inner : (head + 1) * inner]
        return np.stack([np.tensordot(self.matrix(n, head), part[n], axes=1) for n in range(self.batch)])


def seen_keys(layer: Layer, down: range, keys: range | None = None) -> Values:
    """Return which of these keys the rows of a layer with a mask see: rows x keys, or one True without a mask."""
    if layer.mask is None:
        return np.ones(1, dtype=bool)
    every = np.arange(layer.keys) if keys is None else np.arange(keys.start, keys.stop)
    spans = np.array([(each.start, each.stop) for each in sees(layer)[down.start : down.stop]])
    return (spans[:, :1] <= every) & (every < spans[:, 1:])


def convolve(taps: Sequence[Sequence[Met]], values: Values, weights: Values, down: range, across: range) -> Values:
    """Return the sums of a tile: samples x outputs x rows x columns."""
    result = np.zeros((len(values), len(weights), len(down), len(across)), dtype=np.int64)
    for i, r in enumerate(down):
        for j, c in enumerate(across):
            for f, row in taps[0][r]:
                for g, column in taps[1][c]:
                    result[:, :, i, j] += values[:, :, row, column] @ weights[:, :, f, g].T
    return result


def recurred(values: Values, weights: Values) -> Values:
    """Return samples x outputs x rows x 1, row after row: each row of gates meets the weights with the state before."""
    rows, state = [], np.zeros((len(values), len(weights)), dtype=np.int64)
    for row in range(values.shape[2]):
        state = (values[:, :, row, 0] + repeated(state, values.shape[1])) @ weights.T
        rows.append(state)
    return np.stack(rows, axis=2)[..., None]


def repeated(state: Values, gates: int) -> Values:
    """Return a state, samples x outputs, again and again up to so many gates."""
    return state[:, np.arange(gates) % state.shape[1]]


def reduce_apart(
    taps: Sequence[Sequence[Met]], values: Values, factors: Values, down: range, across: range, op: str
) -> Values:
    """Return a tile of independent channels: sums, or maxima."""
    result = np.zeros((*values.shape[:2], len(down), len(across)), dtype=np.int64)
    for i, r in enumerate(down):
        for j, c in enumerate(across):
            for f, row in taps[0][r]:
                for g, column in taps[1][c]:
                    value = values[:, :, row, column]
                    if op == "maxpool":
                        result[:, :, i, j] = np.maximum(result[:, :, i, j], value)
                    else:
                        result[:, :, i, j] += value * factors[:, f, g]
    return result


def join(op: str, parts: Sequence[Values]) -> Values:
    """Return the element-wise result of operands; all but sums and products mix the channels of a position."""
    if op == "mul":
        return np.prod(parts, axis=0)
    total = np.sum(parts, axis=0)
    if op in NORM_OPS:
        return normalized(op, total, statistics_of(op, total))
    return total if op == "add" else total * total.sum(axis=1, keepdims=True)
