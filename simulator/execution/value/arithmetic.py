"""What the operators compute when a schedule is executed, in exact integers: any block of any layer's output.

The numbers stand in for real ones: what matters is that a block depends on every element of its windows. Values are
residues modulo a prime, so that nothing overflows. There may be fewer channels than in the network (`channel_limit`):
which rows and columns are read, kept and overwritten does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from simulator.execution.count.layer_facts import has_weights, is_scores, reach, sees
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import ELEMENTWISE_OPS, PRODUCT_OPS
from workloads.network.network import Network

PRIME = 65521  #: the largest below 2**16: products of residues fit 32 bits, their sums 64

Block = np.ndarray  #: channels x rows x columns, int64
Read = Callable[[int, tuple[int, int], tuple[int, int]], Block]  #: (tensor id, rows, columns) inside its map
ReadWhole = Callable[[int], Block]
Leave = Callable[[Block], object]  #: of a state, as one row


class Arithmetic:
    """Weights and operators of one network; deterministic."""

    def __init__(self, network: Network, channel_limit: int | None = None, seed: int = 0, prime: int = PRIME) -> None:
        self.network, self.prime = network, prime
        self.rng = np.random.default_rng(seed)
        self.channels = self._channels(channel_limit)
        self.weights = {i: self._weights(i, layer) for i, layer in enumerate(network.layers) if has_weights(layer)}

    def model_inputs(self) -> dict[int, Block]:
        """Return random values for the model inputs by tensor id."""
        count = len(self.network.layers)
        return {
            count + j: self.rng.integers(0, self.prime, (self.channels[count + j], tensor.height, tensor.width))
            for j, tensor in enumerate(self.network.inputs)
        }

    def run_layers(self, values: dict[int, Block]) -> dict[int, Block]:
        """Return every tensor by running the layers one by one on whole maps: the reference."""
        values = dict(values)
        for v, layer in enumerate(self.network.layers):
            values[v] = self.block(
                v, (0, layer.height), (0, layer.width),
                lambda u, rows, columns: values[u][:, rows[0] : rows[1], columns[0] : columns[1]],
                lambda u: values[u],
            )  # fmt: skip
        return values

    def block(
        self,
        v: int,
        rows: tuple[int, int],
        columns: tuple[int, int],
        read: Read,
        whole: ReadWhole,
        leave: Leave = lambda _: None,
    ) -> Block:
        """Return rows x columns of layer v's output; calls `read` once for each window of a local operand.

        What a layer whose rows go in order takes from the row before is read as that row of itself; a scan leaves it.
        """
        layer, operands = self.network.layers[v], self.network.operands[v]
        if layer.op in PRODUCT_OPS:
            left = read(operands[0], rows, columns) if 0 not in layer.whole else whole(operands[0])
            right = np.concatenate([whole(u).reshape(-1) for u in operands[1:]])
            return self.hide(v, rows, self._matmul(left, right, self.channels[v]))
        if layer.op in ELEMENTWISE_OPS:
            blocks = [
                _broadcast(whole(u), layer, rows, columns) if i in layer.whole else read(u, rows, columns)
                for i, u in enumerate(operands)
            ]
            return self.hide(v, rows, self._elementwise(layer.op, blocks, self.channels[v]))
        if layer.op == "rearrange":
            return self._rearranged([whole(u) for u in operands], self.channels[v], layer, rows, columns)
        windows = [self._window(layer, u, rows, columns, read) for u in operands]
        stacked, is_map = np.concatenate([w for w, _ in windows]), np.concatenate([m for _, m in windows])
        if layer.op in ("recurrent", "scan"):
            before = read(v, (rows[0] - 1, rows[0]), columns)[:, 0, 0] if rows[0] else np.zeros(self.channels[v], int)
            if layer.op == "recurrent":
                return self._recur(self.weights[v][:, :, 0, 0], stacked[:, :, 0], before)
            found, state = self._scan(stacked[:, :, 0], before)
            leave(state[:, None, None])
            return found
        return self._slide(v, layer, stacked, is_map, rows[1] - rows[0], columns[1] - columns[0])

    def hide(self, v: int, rows: tuple[int, int], values: Block) -> Block:
        """Return a block with 0 where a mask hides what scores or their softmax would be; else all of it."""
        layer = self.network.layers[v]
        if layer.mask is None or layer.op == "attention" or (layer.op == "matmul" and not is_scores(self.network, v)):
            return values
        seen, keys = sees(layer)[rows[0] : rows[1]], [channel % layer.keys for channel in range(len(values))]
        return values * np.array([[[key in each] for each in seen] for key in keys])

    def _window(
        self, layer: Layer, u: int, rows: tuple[int, int], columns: tuple[int, int], read: Read
    ) -> tuple[Block, np.ndarray]:
        """Return the padded window and a mask that is true on the map, false on padding."""
        tensor = self.network.tensors[u]
        spans, clipped = [], []
        for axis, (first, last), extent in ((0, rows, tensor.height), (1, columns, tensor.width)):
            start = first * layer.stride[axis] - layer.padding[axis]
            stop = (last - 1) * layer.stride[axis] - layer.padding[axis] + reach(layer)[axis]
            spans.append((start, stop))  # on the map with its empty rows; element i of the tensor is at i * upsample
            begin, end = (-(-position // layer.upsample[axis]) for position in (start, stop))
            clipped.append((min(max(begin, 0), extent), max(min(end, extent), min(max(begin, 0), extent))))
        window = np.zeros((self.channels[u], spans[0][1] - spans[0][0], spans[1][1] - spans[1][0]), dtype=np.int64)
        mask = np.zeros((1, *window.shape[1:]), dtype=bool)
        (top, bottom), (left, right) = clipped
        if bottom > top and right > left:
            (down, across), (row, column) = layer.upsample, (spans[0][0], spans[1][0])
            place = np.s_[
                :, top * down - row : (bottom - 1) * down - row + 1 : down,
                left * across - column : (right - 1) * across - column + 1 : across,
            ]  # fmt: skip
            window[place] = read(u, (top, bottom), (left, right))
            mask[place] = True
        return window, np.broadcast_to(mask, window.shape)

    def _slide(self, v: int, layer: Layer, window: Block, is_map: np.ndarray, height: int, width: int) -> Block:
        """Return conv, fc or pool of a padded window."""
        result = np.zeros((self.channels[v], height, width), dtype=np.int64)
        for i in range(layer.kernel[0]):
            for j in range(layer.kernel[1]):
                top, left = i * layer.dilation[0], j * layer.dilation[1]
                place = np.s_[
                    :,
                    top : top + (height - 1) * layer.stride[0] + 1 : layer.stride[0],
                    left : left + (width - 1) * layer.stride[1] + 1 : layer.stride[1],
                ]
                if layer.op == "maxpool":
                    np.maximum(result, np.where(is_map[place], window[place], 0), out=result)
                elif has_weights(layer):
                    result += np.tensordot(self.weights[v][:, :, i, j], window[place], axes=1).astype(np.int64)
                else:
                    result += window[place][: len(result)]
        return result % self.prime

    def _recur(self, weights: Block, gates: Block, state: Block) -> Block:
        """Return rows of a recurrent layer, each from the one before: its gates and the state meet the weights."""
        rows = []
        for row in gates.T:
            state = weights @ (row + np.resize(state, len(row))) % self.prime
            rows.append(state)
        return np.stack(rows, axis=1)[:, :, None]

    def _scan(self, rows: Block, state: Block) -> tuple[Block, Block]:
        """Return rows of a scan, each from all channels of its own and the state before, and the state behind them."""
        found = []
        for row in rows.T:
            state = (7 * state + np.resize(row, len(state)) + row.sum()) % self.prime
            found.append((state + row[-1]) * state % self.prime)
        return np.stack(found, axis=1)[:, :, None], state

    def _elementwise(self, op: str, blocks: list[Block], channels: int) -> Block:
        """Combine the operands; one with fewer channels (where they are limited) repeats its channels."""
        parts = [block[np.arange(channels) % len(block)] for block in blocks]
        if op == "mul":
            result = np.ones_like(parts[0])
            for part in parts:
                result = result * part % self.prime
            return result
        total = sum(parts[1:], parts[0]) % self.prime
        return total if op == "add" else (total * total + 3 * total + 1) % self.prime

    def _rearranged(
        self, maps: list[Block], channels: int, layer: Layer, rows: tuple[int, int], columns: tuple[int, int]
    ) -> Block:
        """Return the operands' elements in another order, each plus the sum of all, so that none may be missing."""
        flat = np.concatenate([each.reshape(-1) for each in maps])
        every = np.resize(flat[::-1], (channels, layer.height, layer.width))
        return (every[:, rows[0] : rows[1], columns[0] : columns[1]] + flat.sum()) % self.prime

    def _matmul(self, left: Block, right: Block, channels: int) -> Block:
        """Return a product in which every output row depends on every element of the second operand."""
        cells, flat = channels * len(left), right
        rounds = -(-flat.size // cells)
        matrix = np.resize(flat, rounds * cells).reshape(rounds, channels, len(left)).sum(axis=0) % self.prime
        return np.tensordot(matrix, left, axes=1) % self.prime

    def _channels(self, limit: int | None) -> list[int]:
        network = self.network
        count = len(network.layers)
        channels = [tensor.channels if limit is None else min(limit, tensor.channels) for tensor in network.tensors]
        if limit is None:
            return channels
        for v in range(count):
            layer, sources = network.layers[v], [channels[u] for u in network.operands[v]]
            if layer.op in ELEMENTWISE_OPS:
                channels[v] = max(sources)
            elif layer.op == "slice":
                channels[v] = min(channels[v], sum(sources))
            elif not has_weights(layer) and layer.op not in PRODUCT_OPS | {"rearrange", "scan"}:
                channels[v] = sum(sources)
        return channels

    def _weights(self, v: int, layer: Layer) -> np.ndarray:
        """Return small random weights; grouped as in the network if it has all its channels."""
        sources = sum(self.channels[u] for u in self.network.operands[v])
        weights = self.rng.integers(1, 8, (self.channels[v], sources, *layer.kernel))
        if self.channels[v] == layer.channels and sources == layer.in_channels and layer.groups > 1:
            mine = np.arange(layer.channels)[:, None] // (layer.channels // layer.groups)
            theirs = np.arange(sources)[None, :] // (sources // layer.groups)
            weights *= (mine == theirs)[:, :, None, None]
        return weights


def _broadcast(values: Block, layer: Layer, rows: tuple[int, int], columns: tuple[int, int]) -> Block:
    """Return the part of a broadcast operand that belongs to a block, repeated over it."""
    height = rows if values.shape[1] == layer.height else (0, 1)
    width = columns if values.shape[2] == layer.width else (0, 1)
    part = values[:, height[0] : height[1], width[0] : width[1]]
    return np.broadcast_to(part, (part.shape[0], rows[1] - rows[0], columns[1] - columns[0]))
