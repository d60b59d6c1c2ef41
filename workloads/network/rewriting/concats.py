"""Concatenations by channel: which dissolve into their readers, and who read those that did."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from workloads.errors import NetworkError
from workloads.network.layers.layer import Concat, Layer
from workloads.network.layers.ops import WINDOW_OPS
from workloads.network.layers.shapes import MAX_EDGES, MAX_OPERANDS
from workloads.network.network import Network

Place = tuple[str, int, int]  #: a layer, and the first and last + 1 of the operands that a concat supplies


def dissolve(name: str, written: Sequence[Layer]) -> tuple[tuple[Layer, ...], tuple[Concat, ...]]:
    """Return the layers of a network without the concats that only conv, fc, pools and concats read, and those concats.

    Their readers have the parts as inputs. Raises NetworkError where these become too many.
    """
    dissolved = _dissolved(written)
    parts: dict[str, tuple[str, ...]] = {}
    layers: list[Layer] = []
    concats: list[Concat] = []
    edges = 0
    for layer in written:
        inputs = layer.inputs
        if not dissolved.isdisjoint(inputs):
            inputs = tuple(part for source in inputs for part in parts.get(source, (source,)))
            if len(inputs) > MAX_OPERANDS:
                raise NetworkError(
                    f"layer {layer.name!r} has {len(inputs)} inputs once concats dissolve; "
                    f"it must have at most {MAX_OPERANDS}"
                )
        edges += len(inputs)
        if edges > MAX_EDGES:
            raise NetworkError(
                f"network {name!r} has more than {MAX_EDGES} edges once concats dissolve (at {layer.name!r})"
            )
        if layer.name in dissolved:
            parts[layer.name] = inputs
            concats.append(Concat(layer.name, layer.inputs, len(layers)))
        else:
            layers.append(layer if inputs is layer.inputs else replace(layer, inputs=inputs))
    return tuple(layers), tuple(concats)


def _dissolved(written: Sequence[Layer]) -> set[str]:
    """Names of the concats that are read, and by conv, fc, pools and concats only."""
    read = {name for layer in written for name in layer.inputs}
    kept = {name for layer in written if layer.op not in WINDOW_OPS for name in layer.inputs}
    return {layer.name for layer in written if layer.op == "concat" and layer.name in read - kept}


def sources(network: Network) -> dict[str, tuple[str, ...]]:
    """Return the inputs of every layer and concat, by name, with concats in place of the parts they supply.

    Every concat that no other concat reads gets a reader, as it had where it was written; the remaining operands are
    matched with the longest concat first. Raises NetworkError where no layer can be the reader of a concat.
    """
    places = _places(network)
    read = {name for concat in network.concats for name in concat.inputs}
    chosen = _choose({name: found for name, found in places.items() if name not in read})
    taken: dict[str, list[tuple[int, int, str]]] = defaultdict(list)
    for name, (layer, start, stop) in chosen.items():
        taken[layer].append((start, stop, name))
    every = [(place, name) for name, found in places.items() for place in found]
    for (layer, start, stop), name in sorted(every, key=lambda item: item[0][1] - item[0][2]):
        if all(stop <= begin or end <= start for begin, end, _ in taken[layer]):
            taken[layer].append((start, stop, name))

    found = {concat.name: concat.inputs for concat in network.concats}
    for reader in network.layers:
        inputs, position = [], 0
        for start, stop, name in sorted(taken.get(reader.name, ())):
            inputs += [*reader.inputs[position:start], name]
            position = stop
        found[reader.name] = (*inputs, *reader.inputs[position:])
    return found


def _places(network: Network) -> dict[str, list[Place]]:
    """Where each concat may have been read: runs of operands equal to its parts, in layers that stand after it."""
    parts: dict[str, tuple[str, ...]] = {}
    starting: dict[str, list[tuple[str, int]]] = defaultdict(list)  # first part -> concats, with their positions
    for concat in network.concats:
        flat = tuple(part for name in concat.inputs for part in parts.get(name, (name,)))
        parts[concat.name] = flat
        starting[flat[0]].append((concat.name, concat.position))
    places: dict[str, list[Place]] = {name: [] for name in parts}
    for i, layer in enumerate(network.layers):
        if layer.op in WINDOW_OPS:
            for start, first in enumerate(layer.inputs):
                for name, position in starting.get(first, ()):
                    stop = start + len(parts[name])
                    if position <= i and layer.inputs[start:stop] == parts[name]:
                        places[name].append((layer.name, start, stop))
    return places


def _choose(options: dict[str, list[Place]]) -> dict[str, Place]:
    """One place for each concat, no two overlapping; places that no other concat wants are settled at once."""
    every = [place for found in options.values() for place in found]
    wanted = Counter((layer, i) for layer, start, stop in every for i in range(start, stop))
    chosen = {}
    for name, found in options.items():
        for layer, start, stop in found:
            if all(wanted[layer, i] == 1 for i in range(start, stop)):
                chosen[name] = (layer, start, stop)
                break
    rest = _search({name: found for name, found in options.items() if name not in chosen})
    if rest is None:
        unread = next((name for name, found in options.items() if not found), next(iter(options)))
        raise NetworkError(f"concat {unread!r} has no reader: no conv, fc, pool or concat has its parts as operands")
    return chosen | rest


def _search(options: dict[str, list[Place]]) -> dict[str, Place] | None:
    """Backtracking, the concat with the fewest places first; None where there is no choice without overlap."""
    if not options:
        return {}
    name = min(options, key=lambda key: len(options[key]))
    for place in options[name]:
        layer, start, stop = place
        rest = {
            other: [p for p in found if p[0] != layer or p[2] <= start or stop <= p[1]]
            for other, found in options.items()
            if other != name
        }
        solved = _search(rest)
        if solved is not None:
            return {name: place} | solved
    return None
