"""The network of a sketch: what its outputs need, with one projection for each part of a fused one, and its notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from workloads.errors import NetworkError
from workloads.importing.notes import weight_notes
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value
from workloads.network.builder import Builder
from workloads.network.layers.layer import Layer, Note
from workloads.network.layers.ops import DENSE_OPS
from workloads.network.network import Network

HALVES = {"float16": "fp16", "bfloat16": "bf16"}  #: types in which a network is priced if all its matrices have them
MOVERS = ("slice", "rearrange", "concat")  #: layers that the whole may stand for which they are parts of


def finish(sketch: Sketch, outputs: Iterable[Value]) -> Network:
    """Return the network of what the outputs need; raises NetworkError where that is nothing."""
    ends = [(value if value.above else sketch.settle(value)).source for value in outputs if not value.is_constant]
    wanted_ends = {name for name in ends if name is not None} | set(sketch.ends)
    wanted = _behind(sketch, wanted_ends)
    for name in sketch.orders:  # an order that is multiplied out for nothing else is computed all the same
        behind = _behind(sketch, {name})
        if any(layer.macs for layer in sketch.layers if layer.name in behind - wanted):
            wanted_ends.add(name)
            wanted |= behind
    kept = [layer for layer in sketch.layers if layer.name in wanted]
    sketch.kept = [layer.name for layer in kept]
    uses = {layer.name: (layer.parameters, sketch.weights_of.get(layer.name, frozenset())) for layer in kept}
    layers = _split(sketch, kept, wanted_ends)
    if not layers:
        raise NetworkError("has no layers between its inputs and its outputs")
    read = {name for layer in layers for name in layer.inputs}
    builder = Builder(sketch.builder.name)
    for name in sketch.inputs:
        if name in read:
            builder.input(name, *sketch.builder.shape(name), kind="cache" if name in sketch.caches else "input")
    shared = _shared(sketch, layers)
    for layer in layers:
        builder.append(replace(layer, appended=layer.name in sketch.appended, shared=shared.get(layer.name, "")))
    unread = sketch.caches - read
    sketch.notes = [note for note in sketch.notes if note.how != "cache" or note.node not in unread]
    notes = [*sketch.notes, *weight_notes(sketch.matrices, uses, sketch.chosen_tables, sketch.read_elements)]
    return replace(builder.build(), notes=tuple(notes))


def typed(network: Network, kinds: Counter[str]) -> Network:
    """Return the network with a note of the types of its stored matrices, in these where all of them have 16 bits."""
    if not kinds:
        return network
    text = ", ".join(f"{count} of {kind}" for kind, count in sorted(kinds.items()))
    name = HALVES.get(next(iter(kinds))) if len(kinds) == 1 else None
    found = network if name is None else network.retyped(dict.fromkeys(("weights", "activations", "cache"), name))
    return replace(found, notes=(Note("stored matrices", text, "types"), *found.notes))


def check_kept(network: Network, sketch: Sketch, wanted: Mapping[str, str]) -> None:
    """Raise NetworkError for a layer or a model input that is needed and that the network does not have.

    wanted: what needed nodes have been read as, with their names. Parts and orders of it may be superseded, but not
    what computes; and what a layer of the network reads is needed, too.
    """
    layers = {layer.name: layer for layer in sketch.layers}
    have = {layer.name for layer in network.layers} | {concat.name for concat in network.concats} | set(sketch.split)
    have |= {tensor.name for tensor in network.inputs}
    needed = {name: at for name, at in wanted.items() if name not in layers or layers[name].op not in MOVERS}
    for name in sketch.kept:
        needed |= dict.fromkeys((name, *layers[name].inputs), wanted.get(name, name))
    for name, at in needed.items():
        if name not in have:
            op = layers[name].op if name in layers else "model input"
            raise NetworkError(f"loses {name!r} ({op}), which node {at!r} needs; this is a mistake of the reader")


def loaded_in(network: Network, sketch: Sketch) -> set[str]:
    """Return the stored matrices that are weights of the network's layers."""
    whole = {part: name for name, parts in sketch.split.items() for part in parts}
    names = [whole.get(layer.name, layer.name) for layer in network.layers]
    return {matrix for name in names for matrix in sketch.weights_of.get(name, ())}


def _behind(sketch: Sketch, ends: Iterable[str]) -> set[str]:
    """Layers and model inputs that some layers need, themselves included."""
    found = set(ends)
    for layer in reversed(sketch.layers):
        if layer.name in found:
            found.update(layer.inputs)
    return found


def _split(sketch: Sketch, layers: list[Layer], ends: set[str]) -> list[Layer]:
    """One layer for each part of a fused projection: of a dense layer that slices read, each channel once."""
    readers: dict[str, list[Layer]] = {layer.name: [] for layer in layers}
    for layer in layers:
        for name in dict.fromkeys(layer.inputs):
            if name in readers:
                readers[name].append(layer)
    parts: dict[str, Layer] = {}
    found = []
    for layer in layers:
        layer = parts.get(layer.name, layer)
        mine = readers[layer.name]
        is_plain = layer.op in DENSE_OPS - {"recurrent"} and layer.groups == 1 and layer.name not in ends
        if is_plain and _covers(sketch, mine):
            sketch.split[layer.name] = tuple(cut.name for cut in mine)
            parts |= {cut.name: replace(layer, name=cut.name, channels=cut.channels) for cut in mine}
        else:
            found.append(layer)
    return found


def _shared(sketch: Sketch, layers: Iterable[Layer]) -> dict[str, str]:
    """Return, by layer, the stored matrix that is the weights of several layers, as a whole."""
    users: dict[str, list[str]] = {}
    for layer in layers:
        names = sketch.weights_of.get(layer.name, frozenset())
        if len(names) == 1 and layer.experts is None and layer.weight_elements == sketch.matrices.get(min(names)):
            users.setdefault(min(names), []).append(layer.name)
    return {layer: name for name, found in users.items() if len(found) > 1 for layer in found}


def _covers(sketch: Sketch, readers: list[Layer]) -> bool:
    """Whether slices of one atom of the channels take each of its steps once."""
    cuts = [sketch.cuts.get(reader.name) for reader in readers]
    found = sorted(cut for cut in cuts if cut is not None)
    if not found or len(found) < len(readers) or len({cut[:2] for cut in found}) > 1:
        return False
    ends = [0, *(cut[3] for cut in found)]
    return all(cut[2] == end for cut, end in zip(found, ends)) and ends[-1] == found[0][1]
