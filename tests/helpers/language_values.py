"""Real numbers of a step of a language model, whole or on several chips, written from what the layers mean.

Independent of the judge, whose products stand in for those of heads. What the network hides is computed here as models
have it: tokens choose experts by their router, a state space has a step for each head.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from workloads.network.layers.layer import Layer
from workloads.network.network import Network

Map = np.ndarray  #: positions x channels
Values = dict[str, Map]


def random_values(network: Network, rng: np.random.Generator) -> tuple[Values, dict[str, np.ndarray]]:
    """Return model inputs, and weights: taps x in x out, of experts (expert) x in x out."""
    inputs = {each.name: rng.normal(size=(each.height, each.channels)) for each in network.inputs}
    weights = {}
    for layer in network.layers:
        if layer.has_weights and layer.experts:
            active, ends = layer.experts.active, [layer.in_channels, layer.channels]
            ends[layer.name.endswith("_down") - 1] //= active  # of up and gate the columns are those of active experts
            weights[layer.name] = rng.normal(size=(layer.experts.count, *ends)) / layer.in_channels**0.5
        elif layer.has_weights:
            theirs = np.arange(layer.in_channels)[:, None] * layer.groups // layer.in_channels
            mine = np.arange(layer.channels)[None, :] * layer.groups // layer.channels
            dense = rng.normal(size=(layer.kernel[0], layer.in_channels, layer.channels)) * (theirs == mine)
            weights[layer.name] = dense / (layer.in_channels // layer.groups) ** 0.5
    return inputs, weights


def run_chips(
    networks: list[Network], inputs: list[Values], weights: list[dict[str, np.ndarray]], norm_groups: int
) -> list[Values]:
    """Return all maps of each chip, whose notes say where their partial sums are added up."""
    values = [dict(each) for each in inputs]
    summed = {note.node for note in networks[0].notes if note.how == "all-reduce"}
    for v, layer in enumerate(networks[0].layers):
        operands = [[values[c][name] for name in layer.inputs] for c in range(len(networks))]
        if layer.name in summed:
            partial = len(layer.inputs) - (layer.op == "add")
            total = [sum(each[i] for each in operands) for i in range(partial)]
            operands = [[*total, *each[partial:]] for each in operands]
        for c, network in enumerate(networks):
            own = norm_groups // len(networks)
            values[c][layer.name] = _computed(network, network.layers[v], operands[c], values[c], weights[c], own)
    return values


def dealt(of: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]], chip: int, chips: int) -> Values:
    """Return what a chip has of each array: along an axis that is shorter there, the part of its turn.

    Of as many parts as chips each has its own; of fewer, chips that follow each other have the same one.
    """
    found = {}
    for name, shape in shapes.items():
        each = of[name]
        for axis, size in enumerate(shape):
            start = chip * (each.shape[axis] // size) // chips * size
            each = each.take(range(start, start + size), axis)
        found[name] = each
    return found


def _computed(
    network: Network, layer: Layer, operands: list[Map], values: Values, weights: dict[str, np.ndarray], groups: int
) -> Map:
    if layer.has_weights and layer.experts:
        at = layer.name.split("_")[0]
        router = values[f"{at}_norm2"] @ weights[f"{at}_router"][0]
        return _of_experts(layer, operands[0], router, weights[layer.name])
    if layer.has_weights:
        return _convolved(layer, operands[0], weights[layer.name])
    if layer.op == "matmul":
        return _product(layer, operands[0], np.concatenate(operands[1:]))
    if layer.op == "softmax":
        heads = _heads(network, layer.inputs[0])
        parts = np.exp(operands[0].reshape(len(operands[0]), heads, -1))
        values[f"sums of {layer.name}"] = parts.sum(-1)
        return (parts / parts.sum(-1, keepdims=True)).reshape(len(parts), -1)
    if layer.name.endswith("_merged"):
        return _merged(layer.name.split("_")[0], operands, values)
    if layer.op == "layernorm":
        is_grouped = layer.name.endswith("_norm") and "_gated" in layer.inputs[0]
        parts = operands[0].reshape(len(operands[0]), groups if is_grouped else 1, -1)
        return (parts / np.sqrt((parts**2).mean(-1, keepdims=True) + 1e-6)).reshape(len(parts), -1)
    if layer.op in ("add", "mul"):
        parts = [np.repeat(each, layer.channels // each.shape[1], 1) for each in operands]
        return sum(parts) if layer.op == "add" else np.prod(parts, 0)
    if layer.op == "slice":
        return _sliced(network, layer, operands[0])
    assert layer.op == "rearrange", layer
    return _rearranged(layer, operands)


def _heads(network: Network, name: str) -> int:
    """Return the heads of scores, also of a sum of them; 1 of any other map."""
    layer = network.layers[network.index[name]]
    return layer.groups if layer.op == "matmul" else _heads(network, layer.inputs[0]) if layer.op == "add" else 1


def _chosen(router: np.ndarray, active: int) -> list[int]:
    return sorted(np.argsort(router)[-active:])


def _of_experts(layer: Layer, x: Map, router: Map, weights: np.ndarray) -> Map:
    rows, active = [], layer.experts.active
    for row, scores in zip(x, router):
        chosen = [weights[e] for e in _chosen(scores, active)]
        if layer.name.endswith("_down"):
            rows.append(sum(part @ matrix for part, matrix in zip(row.reshape(active, -1), chosen)))
        else:
            rows.append(np.concatenate([row @ matrix for matrix in chosen]))
    return np.array(rows)


def _convolved(layer: Layer, x: Map, weights: np.ndarray) -> Map:
    top, bottom = layer.padding[0], layer.padding[2]
    x = x[max(0, -top) : len(x) - max(0, -bottom)]
    x = np.pad(x, ((max(0, top), max(0, bottom)), (0, 0)))
    return sum(x[i : i + layer.height] @ tap for i, tap in enumerate(weights))


def _product(layer: Layer, left: Map, right: Map) -> Map:
    """Return a product head by head, with rows of the second operand turned where it makes scores."""
    heads, own, is_turned = layer.groups, layer.second_heads, "_scores" in layer.name
    lefts = left.reshape(len(left), heads, -1)
    rights = np.repeat(right.reshape(len(right), own, -1), heads // own, 1)
    found = np.einsum("lhd,mhd->lhm" if is_turned else "lhm,mhd->lhd", lefts, rights)
    return found.reshape(len(left), -1)


def _merged(at: str, contexts: list[Map], values: Values) -> Map:
    """Return contexts of a prefix and of each sequence's own rows, as one softmax over both makes them."""
    own = [name for name in values if name.startswith(f"sums of {at}_s") and name.endswith("_softmax")]
    sums = [values[f"sums of {at}_prefix_softmax"], np.concatenate([values[name] for name in own])]
    wide = [np.repeat(each, contexts[0].shape[1] // each.shape[1], 1) for each in sums]
    return (contexts[0] * wide[0] + contexts[1] * wide[1]) / (wide[0] + wide[1])


def _sliced(network: Network, layer: Layer, x: Map) -> Map:
    source = layer.inputs[0]
    if source.endswith("_choice"):  # one number for a token stands for the weights of all that it chose
        active = next(each.experts.active for each in network.layers if each.experts)
        return np.array([row[_chosen(row, active)] for row in x])
    if source.endswith("_step"):
        return x
    x = x[max(0, -layer.padding[0]) : len(x) + min(0, layer.padding[2])]
    return x[:, x.shape[1] - layer.channels :] if layer.name.endswith("_last") else x


def _rearranged(layer: Layer, operands: list[Map]) -> Map:
    if layer.name.endswith("_joined"):
        return np.concatenate(operands)
    x, rows = operands[0], layer.height
    if layer.name.endswith("_chunks"):
        return np.concatenate(x.reshape(-1, rows, x.shape[1]), 1)
    if layer.name.endswith("_rows"):
        return np.concatenate(np.split(x, rows // len(x), 1))
    assert layer.name.endswith("_b_turned"), layer
    return np.concatenate([part.T for part in np.split(x, x.shape[1] // rows, 1)], 1)
