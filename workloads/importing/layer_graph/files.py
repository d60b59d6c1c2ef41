"""Networks as files: the format "layer-graph/1".

    {"format": "layer-graph/1", "name": NAME, "nodes": [NODE, ...]}            nodes in topological order

A node has "name", "op", "inputs" (names) and "out_shape": [1, C, H, W], [1, L, D] (a map L x 1 x D) or [1, D]
(1 x 1 x D), batch first and 1; [1, heads, L, M] (L x 1 x heads*M) for a matmul and for element-wise nodes on it.
By op it has too

    input                     a model input
    embed                     a model input as well; the model inputs it reads are dropped
    conv                      kernel [rows, columns], in_channels; where it is not 1, 0, 1, 1: stride [rows, columns],
                              padding [top, left, bottom, right], dilation [rows, columns], groups
    fc                        in_features, out_features
    maxpool, avgpool          kernel, stride, padding (dilation where it is not 1); rounds up where out_shape says so
    add, mul                  element-wise; an input with extents of 1 is broadcast
    softmax, layernorm, lrn   element-wise, one input
    matmul                    two inputs, the second needed whole; its heads are out_shape[1] of four, or heads where
                              that is given (then out_shape is that of a map)
    attention                 queries, keys and values, or a cache above keys and above values: five inputs; heads
    conv_transpose            as conv, and upsample [rows, columns]: the window of stride 1 slides over the map with
                              upsample - 1 empty rows (columns) between each two; a transposed convolution of stride s
                              and padding p has upsample s and padding dilation * (kernel - 1) - p
    resize                    as a pool, and upsample; a resize by u / s has upsample u and stride s
    slice                     as a pool with kernel 1, and perhaps fewer channels: channels, rows and columns are left
                              out (stride, negative padding)
    rearrange                 any inputs, all needed whole, in the shape out_shape: transposed, joined by position, ...
    scan                      sequences u, gates if any, b and c (network/layers/state.py); state [n, w]: n numbers for
                              each channel of u, and w weights for their decays
    concat                    by channel
    pad                       padding; goes into the conv or pool that reads it

A conv or pool over the frames of a clip (network/layers/frames.py) has "frames" too: how many its inputs have, and
kernel, stride and padding along time. Its maps are the frames one below the other, [1, C, frames * H, W].

Language models (workloads/network/layers/types.py):

    matmul                    a third input: rows below those of the second, a cache and then new rows; operand_heads
                              where the second operand has fewer heads than the first, each for several of them, or
                              more: those of all blocks of positions (windows), a multiple
    input                     cache: true of the rows of earlier positions, of which each sample has its own
    appended: true            rows of this output are appended to a cache: they go to DRAM, whoever reads them
    experts: [n, k]           of an fc: n experts, k for each token; as many are loaded as all tokens of the batch are
                              expected to use, or experts_used: d, where that is given
    shared: "name"            of layers with weights: those with the same name have the same weights
    mask: {"behind": 4095}    of an attention, or of its scores, softmax and context: a query sees so many positions
                              behind its own (all unless given), ahead of it (0 unless given; null: all), and of its
                              own "chunk" of so many; a matmul and a softmax say "keys", how many positions there are
    bits: {"weights": 4}      of a node: weights, activations (its output), cache (of rows that a cache gets), sums;
                              next to "nodes" those of all nodes that say none. Otherwise 8, 8, 8 and 32. In place of a
                              number of bits, which are those of integers: "fp8", "bf16", "fp16", "fp32"

A network that was imported has "notes" next to "nodes": what its reader assumed and counted, for people, each with the
fields of `workloads.Note`.

Other keys are information for people and ignored. Limits: shapes.MAX_EXTENT, shapes.MAX_BYTES, files.MAX_JSON_BYTES.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

from workloads.errors import NetworkError, shown
from workloads.files import write_atomic
from workloads.importing.layer_graph.marks import marks_of
from workloads.importing.layer_graph.reader import read_nodes
from workloads.network.layers.layer import Layer, Note
from workloads.network.layers.ops import ELEMENTWISE_OPS, SPREAD_OPS, WINDOW_OPS
from workloads.network.layers.shapes import Shape, check_name
from workloads.network.network import Network
from workloads.network.rewriting.concats import sources

FORMAT = "layer-graph/1"
#: a network of one convolution, for a reader whose file is none
MINIMAL = json.dumps({
    "format": FORMAT, "name": "one", "nodes": [
        {"name": "x", "op": "input", "inputs": [], "out_shape": [1, 8, 4, 4]},
        {"name": "y", "op": "conv", "inputs": ["x"], "out_shape": [1, 8, 4, 4], "in_channels": 8, "kernel": [1, 1]},
    ]
})  # fmt: skip


def write(network: Network, path: str | PathLike[str]) -> None:
    """Write a network, atomically, one node or note per line; reading it gives an equal network."""
    content = encode(network)
    parts = [f"{json.dumps(key)}: {_lines(value)}" for key, value in content.items()]
    write_atomic(path, f"{{{', '.join(parts)}}}\n")


def _lines(value: Any) -> str:
    """Return a value as JSON, a list with a line for each of its values."""
    if not isinstance(value, list):
        return json.dumps(value)
    return "[\n" + ",\n".join("  " + json.dumps(each) for each in value) + "\n]"


def decode(content: Mapping[str, Any]) -> Network:
    """Return the network that a layer-graph/1 describes; raises NetworkError where it is malformed."""
    for key in ("format", "name", "nodes"):
        if key not in content:
            raise NetworkError(f"a network has no key {key!r}; a minimal one is {MINIMAL}")
    if content["format"] != FORMAT:
        raise NetworkError(f"a network has format {shown(content['format'])}; this version reads {FORMAT!r}")
    check_name("a network", content["name"])
    if type(content["nodes"]) is not list:
        raise NetworkError(f"network {content['name']!r} has nodes {shown(content['nodes'])}; it must be a list")
    network = read_nodes(content["name"], content["nodes"], content.get("bits"))
    return replace(network, notes=_notes(content.get("notes")))


def _notes(told: object) -> tuple[Note, ...]:
    """Return the notes of a network that was imported; none where other programs mean something else by the key."""
    kinds = {field: (int if field == "weights" else str) for field in Note._fields}
    if not isinstance(told, list):
        return ()
    each_is_one = all(
        isinstance(note, dict) and {field: type(value) for field, value in note.items()} == kinds for note in told
    )
    return tuple(Note(**note) for note in told) if each_is_one else ()


def encode(network: Network) -> dict[str, Any]:
    """Return the network as a layer-graph/1.

    A network that Builder or read made comes back equal. Raises NetworkError where the format has no form for it: a
    concat without a reader.
    """
    inputs = sources(network)
    nodes = [
        {"name": tensor.name, "op": "input", "inputs": [], "out_shape": _plain_shape(*_shape(tensor))}
        | marks_of(tensor)
        for tensor in network.inputs
    ]
    heads: dict[str, int] = {}
    shapes = {tensor.name: _shape(tensor) for tensor in network.inputs}
    concats = list(network.concats)
    for position, layer in enumerate([*network.layers, None]):
        while concats and concats[0].position == position:
            concat = concats.pop(0)
            operands = [shapes[name] for name in concat.inputs]
            shapes[concat.name] = (*operands[0][:2], sum(shape[2] for shape in operands))
            nodes.append({
                "name": concat.name, "op": "concat", "inputs": list(concat.inputs),
                "out_shape": _plain_shape(*shapes[concat.name]),
            })  # fmt: skip
        if layer:
            shapes[layer.name] = _shape(layer)
            nodes.append(_node(layer, inputs[layer.name], heads, shapes))
    notes = [note._asdict() for note in network.notes]
    return {"format": FORMAT, "name": network.name, "nodes": nodes} | ({"notes": notes} if notes else {})


def _node(layer: Layer, inputs: tuple[str, ...], heads: dict[str, int], shapes: Mapping[str, Shape]) -> dict[str, Any]:
    """One layer as a node; notes in `heads` where its output is [1, heads, L, M]."""
    height, width, channels = shapes[layer.name]
    if layer.op == "matmul" and width == 1:
        if layer.groups > 1:
            heads[layer.name] = layer.groups
    elif layer.op in ELEMENTWISE_OPS:
        inherited = next((heads[name] for name in inputs if name in heads), 0)
        if inherited and width == 1 and channels % inherited == 0:
            heads[layer.name] = inherited
    shape = _plain_shape(height, width, channels, flat=layer.op == "fc")
    if layer.name in heads:
        shape = [1, heads[layer.name], height, channels // heads[layer.name]]
    elif layer.op == "matmul" and width == 1:
        shape = [1, height, channels]
    node: dict[str, Any] = {"name": layer.name, "op": layer.op, "inputs": list(inputs), "out_shape": shape}
    if layer.op == "fc":
        node |= {"in_features": layer.taps * layer.in_channels, "out_features": channels}
    elif layer.op == "attention" or (layer.op == "matmul" and width > 1):
        node["heads"] = layer.groups
    elif layer.op in WINDOW_OPS - {"concat"}:
        for key in ("kernel", "stride", "padding", "dilation"):
            node[key] = list(getattr(layer, key))
        if layer.frames:
            node["frames"] = [layer.frames.count, layer.frames.kernel, layer.frames.stride, layer.frames.padding]
        if layer.op in SPREAD_OPS:
            node["upsample"] = list(layer.upsample)
        if layer.has_weights:
            node |= {"groups": layer.groups, "in_channels": layer.in_channels}
        elif layer.dilation == (1, 1):
            del node["dilation"]
    return node | marks_of(layer)


def _shape(tensor: Any) -> Shape:
    return tensor.height, tensor.width, tensor.channels


def _plain_shape(height: int, width: int, channels: int, flat: bool = False) -> list[int]:
    """The shape of anything that has no heads: [1, D] of a classifier, [1, L, D] of a sequence, [1, C, H, W]."""
    if width == 1 and height == 1 and flat:
        return [1, channels]
    return [1, height, channels] if width == 1 and height > 1 else [1, channels, height, width]
