"""Attentions with their projections: the dense layers that make queries, keys or values, scores, softmax, context.

Which projections belong to it: all whose source is the same tensor. So self-attention is one nest, and an attention of
one sequence over another is three: with the projection of its queries, with those of keys and values, or with all.
(by_heads.py has the loop order.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from simulator.model.kept import Kept
from simulator.model.layer.axes import Axis
from simulator.model.layer.loop_layer import HEADS, Heads, LoopBits, LoopLayer, Operand, Part, Stays
from simulator.model.nests.attention import Attention, attentions
from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.network import Network

NOT_MADE = -1


class Projected(NamedTuple):
    """An attention, and the projections that run with it, head by head."""

    attention: Attention
    rows: tuple[tuple[int, ...], ...]  #: the tensors of queries, keys and values, each one below the other
    made: tuple[int, ...]  #: which of these a projection of the nest makes, of each; NOT_MADE where none does
    sources: tuple[int, ...]  #: what each is made of

    @property
    def projections(self) -> tuple[int, ...]:
        """The layers that make queries, keys or values."""
        return tuple(v for v in self.made if v != NOT_MADE)

    @property
    def layers(self) -> tuple[int, ...]:
        """Their ids, ascending."""
        return tuple(sorted((*self.attention.layers, *self.projections)))

    @property
    def operands(self) -> tuple[int, ...]:
        """The sources, then the rows of queries, keys and values that are not made."""
        sources = [u for u in self.sources if u != NOT_MADE]
        return tuple(dict.fromkeys(sources)) + tuple(u for rows in self.rows for u in rows if u not in self.made)

    @property
    def result(self) -> int:
        """The context."""
        return self.attention.result

    @property
    def inner(self) -> frozenset[int]:
        """All layers but the context: of what they make only heads exist."""
        return frozenset(self.layers) - {self.result}

    def layer(self, network: Network) -> Layer:
        """Return a projection: it reads the sources."""
        return network.layers[self.projections[0]]

    def loops(self, network: Network, batch: int, technology: Technology, kept: Kept | None) -> LoopLayer:
        """Return the nest as its loops see it."""
        scores, context = network.layers[self.attention.parts.scores], network.layers[self.result]
        weights = [network.layers[v] for v in self.projections]
        groups, sources = scores.second_heads, dict.fromkeys(u for u in self.sources if u != NOT_MADE)
        operands = tuple(self._operand(network, i, scores, kept) for i in range(3))
        arriving = [u for u in self.operands if kept is not None and u in kept.on_chip & kept.loaded]
        return LoopLayer(
            kind=HEADS,
            rows=Axis(scores.height, scores.height),
            columns=Axis(1, 1),
            producers=tuple(network.tensors[u].channels for u in sources),
            operands=tuple(range(len(sources))),
            part=Part(0, context.channels // context.groups, scores.in_channels // scores.groups, ((1, 1),)),
            outputs=context.channels,
            weights=sum(layer.weight_bytes for layer in weights),
            whole=(),
            unmet_bytes=0,
            batch=1,
            repeat=batch,
            word=technology.channel_alignment,
            at_most=1,
            squares=technology.tiles,
            stays=Stays(
                output=kept is not None and self.result in kept.on_chip,
                is_written=kept is None or self.result in kept.written,
                arriving_bytes=sum(network.tensors[u].size_bytes for u in arriving),
            ),
            bits=LoopBits((), weights[0].bits.weights, context.output_bits),
            keys=scores.channels // scores.groups,
            heads=Heads(operands, groups, scores.groups // groups),
        )

    def _operand(self, network: Network, place: int, scores: Layer, kept: Kept | None) -> Operand:
        tensors = {u: network.tensors[u] for u in self.rows[place]}
        one, v, source = tensors[self.rows[place][0]], self.made[place], self.sources[place]
        width = one.channels // (scores.groups if place == 0 else scores.second_heads)
        made = 0 if v == NOT_MADE else tensors[v].height
        loaded = {u: each.height for u, each in tensors.items() if u != v}
        coming = sum(count for u, count in loaded.items() if kept is None or u not in kept.on_chip)
        rows = width, sum(loaded.values()), coming, made, one.bits
        if v == NOT_MADE:
            return Operand(*rows, source=NOT_MADE)
        outside = network.is_output[v] or not set(network.consumers[v]) <= set(self.layers)
        return Operand(
            *rows, network.tensors[source].channels, self.sources.index(source),
            network.tensors[source].bits, kept is not None and source in kept.on_chip,
            outside if kept is None else v in kept.written,
        )  # fmt: skip


def projected_attentions(network: Network) -> Iterator[Projected]:
    """Yield every attention with those projections that have the same sources.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("transformer")
    >>> found = list(projected_attentions(network))
    >>> len(found), network.names(found[0].layers)
    (30, ('enc1_q', 'enc1_k', 'enc1_v', 'enc1_scores', 'enc1_softmax', 'enc1_context'))
    """
    for attention in attentions(network):
        scores, context = (network.operands[v] for v in (attention.parts.scores, attention.parts.context))
        rows = scores[:1], scores[1:], context[1:]
        made = [_projection(network, each) for each in rows]
        sources = [NOT_MADE if v == NOT_MADE else network.operands[v][0] for v in made]
        distinct = sorted(set(sources) - {NOT_MADE})
        for count in range(1, len(distinct) + 1):
            for chosen in combinations(distinct, count):
                inside = tuple(v if u in chosen else NOT_MADE for v, u in zip(made, sources))
                nest = Projected(attention, rows, inside, tuple(u if u in chosen else NOT_MADE for u in sources))
                if _runs(network, nest):
                    yield nest


def _projection(network: Network, rows: Sequence[int]) -> int:
    """Return the layer that makes some of these rows, each from a position of its source; NOT_MADE if none does."""
    found = [v for v in rows if v < len(network.layers) and _is_projection(network, v)]
    return found[0] if len(found) == 1 else NOT_MADE


def _is_projection(network: Network, v: int) -> bool:
    layer = network.layers[v]
    if layer.op not in ("fc", "conv") or layer.groups > 1 or layer.experts is not None or layer.frames is not None:
        return False
    source = network.tensors[network.operands[v][0]]
    has_window = layer.kernel != (1, 1) or layer.stride != (1, 1) or any(layer.padding)
    return len(network.operands[v]) == 1 and not has_window and (source.height, source.width) == (layer.height, 1)


def _runs(network: Network, nest: Projected) -> bool:
    """Return whether the heads of a nest can run one after the other, in whole bytes."""
    rows = [u for each in nest.rows for u in each]
    scores, context = network.layers[nest.attention.parts.scores], network.layers[nest.result]
    weights = {network.layers[v].bits.weights for v in nest.projections}
    parts = [network.layers[v].channels // scores.groups * network.layers[v].in_channels for v in nest.projections]
    return (
        len({*rows, *nest.sources} - {NOT_MADE}) == len(rows) + len(set(nest.sources) - {NOT_MADE})
        and all(network.tensors[u].width == 1 for u in rows)
        and not set(nest.sources) & set(nest.layers)
        and not context.appended
        and len(weights) == 1
        and all(size * weights_bits % 8 == 0 for size in parts for weights_bits in weights)
    )
