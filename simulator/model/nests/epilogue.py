"""A dense layer in a loop order with its epilogue: element-wise layers that follow it, applied to each result made.

A result is finished when it is made: a sum or product with another map takes no room but a word of that map, and the
maps in between never exist as a whole. A norm needs all channels of a position at once: the results of a tile are
stored, read again and written in their place. A map in between that is read elsewhere, too, leaves from there.
(Our choice, as for the loop order of any layer; docs/model.md, section 3.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulator.model.kept import Kept
from simulator.model.layer.loop_layer import DENSE, Epilogue, LoopLayer
from simulator.model.layer.loops import kind_of, loop_layer
from simulator.technology import Technology
from workloads.network.layers.layer import Tensor
from workloads.network.layers.ops import ELEMENTWISE_OPS, JOIN_OPS
from workloads.network.layers.types import row_bytes
from workloads.network.network import Network


def epilogues_of(network: Network) -> Iterator[tuple[int, ...]]:
    """Yield the ids of the layers of every dense layer with an epilogue, ascending."""
    for v in range(len(network.layers)):
        found: list[tuple[int, ...]] = [(v,)] if kind_of(network, v) == DENSE else []
        while found:
            layers = found.pop()
            longer = [each for w in network.consumers[layers[-1]] if is_epilogue(network, each := (*layers, w))]
            found += longer
            yield from longer


def is_epilogue(network: Network, layers: Sequence[int]) -> bool:
    """Return whether these layers (ascending) are a dense one and element-wise ones, each of the one before it.

    What else these read must not wait for any of them.
    """
    if len(layers) < 2 or kind_of(network, layers[0]) != DENSE:
        return False
    first, operands = network.layers[layers[0]], []
    for before, v in zip(layers, layers[1:]):
        layer, result = network.layers[v], network.tensors[before]
        places = [i for i, u in enumerate(network.operands[v]) if u == before]
        if layer.op not in ELEMENTWISE_OPS or len(places) != 1 or places[0] in layer.whole:
            return False
        if (result.height, result.width, result.channels) != (layer.height, layer.width, layer.channels):
            return False
        if first.groups > 1 and layer.op not in JOIN_OPS:  # groups run one after the other
            return False
        operands += [u for u in network.operands[v] if u != before]
        if any(network.tensors[u].channels != layer.channels for u in operands):
            return False
    words = (first.channels // first.groups * network.tensors[u].bits for u in (*layers, *operands))
    has_bytes = first.groups == 1 or not any(bits % 8 for bits in words)
    later = {*layers}
    for v in range(layers[0], layers[-1]):
        later |= {v} if later.intersection(network.producers[v]) else set()
    return has_bytes and not later.intersection(operands) and len({*operands}) == len(operands)


def epilogue_layer(
    network: Network,
    layers: Sequence[int],
    batch: int = 1,
    technology: Technology | None = None,
    kept: Kept | None = None,
) -> LoopLayer | None:
    """Return a dense layer with its epilogue as its loops see it, None if these layers are not one.

    Parameters
    ----------
    network : Network
        The network of the layers.
    layers : sequence of int
        Their ids, ascending.
    batch : int
        Samples.
    technology : Technology, optional
        Channel alignment and PE array; defaults if not given.
    kept : Kept, optional
        Which of their tensors stay on chip, and which are written to DRAM.

    Examples
    --------
    The other map passes through the room of a word, and is read once more than it is loaded:

    >>> from workloads import Builder
    >>> b = Builder("block")
    >>> x = b.input("x", 8, 8, 16)
    >>> _ = b.add("sum", [b.conv("a", x, 16, 3, padding=1), x])
    >>> epilogue_layer(b.build(), (0, 1)).epilogue
    Epilogue(room=8, loaded=1024, left=0, traffic=1024, written=0, bits=0, by_position=0)
    """
    if not is_epilogue(network, layers):
        return None
    first, last, tensors = layers[0], layers[-1], network.tensors
    loops = loop_layer(network, first, batch, technology, kept)
    on_chip = frozenset[int]() if kept is None else kept.on_chip
    leaving = [v for v in layers[:-1] if network.is_output[v] or {*network.consumers[v]} - {*layers}]
    mixed = [v for v in layers[1:] if network.layers[v].op not in JOIN_OPS]
    stored = [tensors[v] for v, after in zip(layers, layers[1:]) if v in leaving or after in mixed]
    bits = max((tensor.bits for tensor in stored), default=0)
    if last in on_chip and bits > tensors[last].bits:
        return None  # what is stored lies where the last results will
    others = {u: v for v in layers[1:] for u in network.operands[v] if u not in layers}
    whole = [u for u, v in others.items() if network.operands[v].index(u) in network.layers[v].whole]
    coming = [u for u in others if u not in on_chip]
    gates = [tensors[u] for u in whole if u in coming]
    held = loops.batch * sum(each.height * each.width * _word_bytes(loops, each) for each in gates)
    passing = max((row_bytes(loops.word, tensors[u].bits) for u in coming if u not in whole), default=0)
    positions = loops.rows.windows * loops.columns.windows
    read = sum(positions * row_bytes(tensors[u].channels, tensors[u].bits) for u in others)
    again = sum(tensor.size_bytes for tensor in stored)
    stays = loops.stays
    if kept is not None:
        leaving = [v for v in leaving if v in kept.written]
        arriving = kept.loaded & kept.on_chip & others.keys() - {*network.operands[first]}
        stays = stays._replace(
            output=last in on_chip,
            is_written=last in kept.written,
            arriving_bytes=stays.arriving_bytes + sum(tensors[u].size_bytes for u in arriving),
        )
    return loops._replace(
        stays=stays,
        bits=loops.bits._replace(output=tensors[last].bits),
        epilogue=Epilogue(
            room=held + passing,
            loaded=sum(tensors[u].size_bytes for u in coming),
            left=sum(tensors[v].size_bytes for v in leaving),
            traffic=read + 2 * again,
            written=again,
            bits=bits,
            by_position=int(bool(mixed)),
        ),
    )


def _word_bytes(loops: LoopLayer, tensor: Tensor) -> int:
    """Return the bytes that a position of a tensor takes in a buffer."""
    return row_bytes(-(-tensor.channels // loops.word) * loops.word, tensor.bits)
