"""One layer with values: its inputs, its weights, and its output computed directly."""

from __future__ import annotations

import numpy as np

from tests.helpers.literal_chip import Windows, convolve, reduce_apart


class Problem:
    """One layer with values: its inputs, weights, and the output computed directly."""

    def __init__(self, network, batch, seed):
        rng = np.random.default_rng(seed)
        self.layer, self.batch, self.network = network.layers[0], batch, network
        self.tensors = [network.tensors[u] for u in network.operands[0]]
        self.ids = network.operands[0]
        data = {u: rng.integers(1, 100, (batch, t.channels, t.height, t.width)) for u, t in zip(self.ids, self.tensors)}
        self.inputs = [data[u] for u in self.ids]
        layer = self.layer
        sizes = (layer.channels, layer.in_channels // layer.groups, *layer.kernel)
        self.weights = rng.integers(1, 9, sizes) if layer.has_weights else None
        if layer.op in ("maxpool", "avgpool", "resize", "slice", "concat") or layer.has_weights:
            self.windows = Windows(layer, (self.tensors[0].height, self.tensors[0].width))
        else:
            self.windows = Windows(layer, (layer.height, layer.width))
        self.seen = {u: np.zeros((t.height, t.width), dtype=bool) for u, t in zip(self.ids, self.tensors)}

    def full_weights(self):
        """Return the weights with zeros between groups."""
        layer = self.layer
        outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
        full = np.zeros((layer.channels, layer.in_channels, *layer.kernel), dtype=np.int64)
        for k in range(layer.channels):
            group = k // outputs
            full[k, group * inputs : (group + 1) * inputs] = self.weights[k]
        return full

    def matrix(self, sample, head):
        """Return outputs x inputs of a head: the second operand."""
        layer, second = self.layer, self.inputs[1][sample]
        flat = second.reshape(len(second), -1)  # channels x positions
        inner = layer.in_channels // layer.groups
        if self.is_transposed():
            return flat[head * inner : (head + 1) * inner].T
        size = layer.channels // layer.groups
        return flat[head * size : (head + 1) * size]

    def is_transposed(self):
        layer, second = self.layer, self.tensors[1]
        has_rows = second.channels == layer.in_channels
        return has_rows and second.height * second.width * layer.groups == layer.channels

    def order_of_elements(self):
        """Return for each element of a rearranged output which input element it is."""
        count = sum(t.size_bytes for t in dict(zip(self.ids, self.tensors)).values())
        return np.random.default_rng(7).permutation(np.resize(np.arange(count), self.layer.size_bytes))

    def direct(self):
        """Return the output, samples x channels x rows x columns."""
        layer, everything = self.layer, [range(extent) for extent in self.windows.out]
        if layer.op == "matmul":
            inner = layer.in_channels // layer.groups
            parts = [
                np.stack([
                    np.tensordot(self.matrix(n, h), self.inputs[0][n, h * inner : (h + 1) * inner], axes=1)
                    for n in range(self.batch)
                ])
                for h in range(layer.groups)
            ]  # fmt: skip
            return np.concatenate(parts, axis=1)
        if layer.op == "rearrange":
            distinct = dict(zip(self.ids, self.inputs)).values()
            flat = np.concatenate([x.reshape(self.batch, -1) for x in distinct], axis=1)
            return flat[:, self.order_of_elements()].reshape(self.batch, layer.channels, layer.height, layer.width)
        if layer.op in ("add", "mul", "softmax", "layernorm", "lrn"):
            shape = (self.batch, layer.channels, layer.height, layer.width)
            return join(layer.op, [np.broadcast_to(x, shape) for x in self.inputs])
        stacked = np.concatenate(self.inputs, axis=1)
        if layer.is_depthwise:
            found = reduce_apart(self.windows, stacked, self.factors(), *everything, layer.op)
            return found[:, : layer.channels]
        return convolve(self.windows, stacked, self.full_weights(), *everything)

    def factors(self):
        """Return a factor for each channel and tap."""
        layer = self.layer
        if layer.has_weights:
            return self.weights[:, 0]
        taps = np.arange(1, layer.kernel[0] * layer.kernel[1] + 1).reshape(layer.kernel)
        return np.broadcast_to(taps, (layer.in_channels, *layer.kernel))


def join(op, parts):
    if op == "mul":
        result = np.ones_like(parts[0])
        for part in parts:
            result = result * part
        return result
    total = sum(parts[1:], parts[0])
    return total if op == "add" else total * total.sum(axis=1, keepdims=True)
