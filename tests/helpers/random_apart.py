"""Random subgraphs that keep channels apart, beside layers that do not, and what they compute, with every channel."""

from __future__ import annotations

import random

import numpy as np

from workloads import Builder, Network, NetworkError
from workloads.network.layers.layer import Layer

Values = dict[str, np.ndarray]  #: by name: channels x rows x columns


def random_apart_network(seed: int, most: int = 6) -> Network:
    """Return products of heads, softmax, element-wise and depth-wise layers, pools; some layers that mix channels."""
    rng = random.Random(seed)
    while True:
        b = Builder("apart")
        width = 1 if rng.random() < 0.6 else rng.randint(2, 6)
        heads, rows = rng.choice((1, 2, 4, 6)), rng.randint(2, 9)
        channels = heads * rng.choice((2, 4, 8)) * rng.choice((1, 2))
        names = [b.input(each, rows, width, channels) for each in ("x", "y")]
        for i in range(rng.randint(2, most)):
            try:
                names.append(_step(rng, b, names, f"n{i}", heads))
            except NetworkError:
                continue
        if len(names) > 3:
            return b.build()


def _step(rng: random.Random, b: Builder, names: list[str], name: str, heads: int) -> str:
    x, y = rng.choice(names[-3:]), rng.choice(names)
    draw = rng.random()
    if draw < 0.3:
        own = rng.choice([h for h in range(1, heads + 1) if heads % h == 0])
        return b.matmul(name, x, y, heads, rng.random() < 0.6, own)
    if draw < 0.45:
        return b.softmax(name, x)
    if draw < 0.65:
        return rng.choice((b.add, b.mul))(name, [x, y])
    if draw < 0.8:
        return b.depthwise(name, x, rng.choice((1, 3)))
    if draw < 0.9:
        return b.maxpool(name, x, (3, 1), 1, (1, 0))
    return b.layernorm(name, x) if draw < 0.95 else b.conv(name, x, b.shape(x)[2])


def run_network(network: Network, values: Values, weights: Values, heads: dict[str, int]) -> Values:
    """Return all tensors from the model inputs; heads: of a softmax."""
    values = dict(values)
    for layer in network.layers:
        operands = [values[name] for name in layer.inputs]
        values[layer.name] = _run(layer, operands, weights.get(layer.name), heads.get(layer.name, 1))
    return values


def _run(layer: Layer, operands: list[np.ndarray], weights: np.ndarray | None, heads: int) -> np.ndarray:
    first = operands[0]
    if layer.op == "matmul":
        return _product(layer, first, operands[1])
    if layer.op == "add":
        return sum(operands[1:], first)
    if layer.op == "mul":
        return np.prod(operands, axis=0)
    if layer.op in ("softmax", "layernorm"):
        parts = first.reshape(heads, -1, *first.shape[1:])
        return (parts / (1.0 + np.abs(parts).sum(axis=1, keepdims=True))).reshape(first.shape)
    reach = [(low, high) for low, high in zip(layer.padding[:2], layer.padding[2:])]
    padded = np.pad(first, [(0, 0), *reach], constant_values=-1e9 if layer.op == "maxpool" else 0.0)
    shape = (layer.channels, layer.height, layer.width)
    found = np.full(shape, -1e9) if layer.op == "maxpool" else np.zeros(shape)
    for i in range(layer.kernel[0]):
        for j in range(layer.kernel[1]):
            part = padded[:, i : i + layer.height, j : j + layer.width]
            if weights is None:
                found = np.maximum(found, part)
            elif layer.groups > 1:
                found += weights[:, 0, i, j, None, None] * part
            else:
                found += np.tensordot(weights[:, :, i, j], part, axes=1)
    return found


def _product(layer: Layer, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    inner, sharing = layer.in_channels // layer.groups, layer.groups // layer.second_heads
    flat, found = second.reshape(len(second), -1), []
    width = len(flat) // layer.second_heads
    is_transposed = width == inner and flat.shape[1] * layer.groups == layer.channels
    for head in range(layer.groups):
        own = flat[head // sharing * width : (head // sharing + 1) * width]
        matrix = own.T if is_transposed else own
        found.append(np.tensordot(matrix, first[head * inner : (head + 1) * inner], axes=1))
    return np.concatenate(found)
