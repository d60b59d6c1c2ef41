"""A dense layer, or a chain, with its epilogue: element-wise layers that follow it, applied to each result made.

A result is finished when it is made: a sum or product with another map takes no room but a word of that map, and the
maps in between never exist as a whole. A norm needs all channels of a position at once: the results of a tile are
stored, read again and written in their place. A map in between that is read elsewhere, too, leaves from there.
(Our choice, as for the loop order of any layer; docs/model.md, section 3.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from simulator.model.kept import Kept
from simulator.model.layer.loop_layer import DENSE, Epilogue, LoopLayer, Stays, round_up
from simulator.model.layer.loops import kind_of, loop_layer
from simulator.model.layer.orders import LoopPlan
from simulator.model.nests.chain import Links, chains, links_of
from simulator.model.nests.nest import Other
from simulator.technology import Technology
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.layers.ops import ELEMENTWISE_OPS, JOIN_OPS
from workloads.network.layers.types import row_bytes
from workloads.network.network import Network


class Followed(NamedTuple):
    """A dense layer, or a chain, and the layers that follow it, each of which reads the one before."""

    layers: tuple[int, ...]
    links: Links | None  #: of a chain
    leaving: tuple[int, ...]  #: of those in between, which others read or the network gives
    operands: tuple[int, ...]  #: of the dense layer, or chain
    others: tuple[Other, ...]  #: what else the followers read

    @property
    def result(self) -> int:
        """The last layer."""
        return self.layers[-1]

    @property
    def inner(self) -> frozenset[int]:
        """All layers before, except for those that leave."""
        return frozenset(self.layers[:-1]) - {*self.leaving}

    @property
    def made(self) -> tuple[int, ...]:
        """The layer whose results the others follow, and these."""
        return self.layers[0 if self.links is None else len(self.links.layers) - 1 :]

    def layer(self, network: Network) -> Layer:
        """Return the first dense layer."""
        return network.layers[self.layers[0]]

    def loops(self, network: Network, batch: int, technology: Technology, kept: Kept | None) -> LoopLayer | None:
        """Return the layers as their loops see them.

        None where the result stays on chip with fewer bits than what is stored in its place.

        Examples
        --------
        The other map passes through the room of a word, and is read as often as it is loaded:

        >>> from workloads import Builder
        >>> b = Builder("block")
        >>> x = b.input("x", 8, 8, 16)
        >>> _ = b.add("sum", [b.conv("a", x, 16, 3, padding=1), x])
        >>> (nest,) = epilogues(network := b.build())
        >>> nest.loops(network, 1, Technology(), None).epilogue[:4]  # room, loaded, left, traffic
        (8, 1024, 0, 1024)
        """
        tensors, (first, *after) = network.tensors, self.made
        if self.links is None:
            loops = loop_layer(network, first, batch, technology, kept)
        else:
            loops = self.links.loops(network, batch, technology, kept)
        on_chip = frozenset[int]() if kept is None else kept.on_chip
        leaving = [v for v in self.leaving if kept is None or v in kept.written]
        mixed = [v for v in after if network.layers[v].op not in JOIN_OPS]
        stored = [tensors[v] for v, then in zip(self.made, after) if v in self.leaving or then in mixed]
        bits, again = max((t.bits for t in stored), default=0), sum(t.size_bytes for t in stored)
        if self.result in on_chip and bits > tensors[self.result].bits:
            return None
        positions = loops.rows.windows * loops.columns.windows
        read = sum(positions * row_bytes(tensors[u].channels, tensors[u].bits) for u, _ in self.others)
        coming = [each for each in self.others if each.tensor not in on_chip]
        rooms = [room_of(loops, tensors[u], is_gate) for u, is_gate in coming]
        loaded = sum(tensors[u].size_bytes for u, _ in coming)
        left = sum(tensors[v].size_bytes for v in leaving)
        room = sum(held for held, _ in rooms) + max((word for _, word in rooms), default=0)
        epilogue = Epilogue(
            room, loaded, left, read + 2 * again, again, bits, int(bool(mixed)),
            passing=tuple(tensors[u].bits for u, is_gate in coming if not is_gate),
            leaving=tuple(tensors[v].bits for v in leaving),
        )  # fmt: skip
        return loops._replace(
            stays=loops.stays if kept is None else self._stays(network, loops.stays, kept),
            bits=loops.bits._replace(output=tensors[self.result].bits),
            epilogue=epilogue,
        )

    def cycles_of(self, layer: LoopLayer, plan: LoopPlan, cycles: Callable[[int], int]) -> dict[int, int]:
        """Return the cycles of each layer in a plan; cycles: of a layer that makes everything once."""
        found = {v: cycles(v) for v in self.layers}
        return found if self.links is None else found | self.links.cycles_of(layer, plan, cycles)

    def _stays(self, network: Network, stays: Stays, kept: Kept) -> Stays:
        """Return what stays where the last layer makes the result, from what stays of the first."""
        arriving = kept.loaded & kept.on_chip & {u for u, _ in self.others} - {*self.operands}
        return stays._replace(
            output=self.result in kept.on_chip,
            is_written=self.result in kept.written,
            arriving_bytes=stays.arriving_bytes + sum(network.tensors[u].size_bytes for u in arriving),
        )


def epilogues(network: Network) -> Iterator[Followed]:
    """Yield every dense layer, and every chain, with each number of layers that follow it."""
    dense = [v for v, layer in enumerate(network.layers) if kind_of(network, v) == DENSE and layer.op != "recurrent"]
    starts = [((v,), None) for v in dense]
    for layers, links in [*starts, *((links.layers, links) for links in chains(network))]:
        found: list[tuple[int, ...]] = [layers]
        while found:
            layers = found.pop()
            for w in network.consumers[layers[-1]]:
                nest = followed(network, (*layers, w), links)
                if nest is not None:
                    found.append(nest.layers)
                    yield nest


def followed(network: Network, layers: Sequence[int], links: Links | None = None) -> Followed | None:
    """Return these layers (ascending) as a dense layer, or a chain, and those that follow it; None if they are not.

    What else these read waits for none of them. The chain has all layers that it can have.
    """
    made, operands = layers[0 if links is None else len(links.layers) - 1 :], network.operands[layers[0]]
    if links is not None and links_of(network, layers[: len(links.layers) + 1]) is not None:
        return None
    first, others, gates = network.layers[made[0]], list[int](), list[int]()
    for before, v in pairwise(made):
        layer, result, reads = network.layers[v], network.tensors[before], network.operands[v]
        more, whole = [u for u in reads if u != before], [reads[place] for place in layer.whole]
        if layer.op not in ELEMENTWISE_OPS or layer.mask or len(more) != len(reads) - 1 or before in whole:
            return None
        if (result.height, result.width, result.channels) != (layer.height, layer.width, layer.channels):
            return None
        if first.groups > 1 and layer.op not in JOIN_OPS:  # groups run one after the other
            return None
        if any(network.tensors[u].channels != layer.channels for u in more):
            return None
        others, gates = others + more, gates + whole
    words = (first.channels // first.groups * network.tensors[u].bits for u in (*made, *others))
    if first.groups > 1 and any(bits % 8 for bits in words):
        return None
    later = {*layers}
    for v in range(layers[0], layers[-1]):
        later |= {v} if later.intersection(network.producers[v]) else set()
    if later.intersection(others) or len({*others}) < len(others):
        return None
    leaving = tuple(v for v in made[:-1] if network.is_output[v] or {*network.consumers[v]} - {*layers})
    if any(network.layers[v].op not in JOIN_OPS for v in made[1:]):  # which pass again where sums have been
        if max(network.tensors[v].bits for v in made) > 8 * -(-first.bits.sums // 8):
            return None
    found = tuple(Other(u, u in gates) for u in others)
    return Followed(tuple(layers), links, leaving, operands, found)


def room_of(loops: LoopLayer, tensor: Tensor, is_gate: bool) -> tuple[int, int]:
    """Return the bytes that a map of an epilogue takes: held whole for all samples, or of a word that passes."""
    if not is_gate:
        return 0, row_bytes(loops.word, tensor.bits)
    return loops.batch * tensor.height * tensor.width * row_bytes(round_up(loops, tensor.channels), tensor.bits), 0
