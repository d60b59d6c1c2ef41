"""Attentions with their projections: the dense layers that make queries, keys and values, scores, softmax, context.

Each makes a row from one of its source; the sources are one tensor, or two where a sequence attends to another.
(by_heads.py has the loop order.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simulator.integers import row_bytes
from simulator.model.kept import Kept
from simulator.model.layer.axes import WHOLE, Axis
from simulator.model.layer.loop_layer import HEADS, NO_EPILOGUE, LoopBits, LoopLayer, Part, Stays, results_of, round_up
from simulator.model.layer.orders import LoopPlan, Loops
from simulator.model.nests.attention import Attention, attentions
from simulator.model.nests.by_heads import Heads, Operand, heads_at_once
from simulator.model.nests.nest import Other
from simulator.model.subgraph.regions import Region
from simulator.model.subgraph.subgraph import Subgraph
from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


class Projected(NamedTuple):
    """An attention, and the projections that run with it, head by head."""

    attention: Attention
    made: tuple[int, ...]  #: the layers that make queries, keys and values
    sources: tuple[int, ...]  #: what each of them reads
    leaving: tuple[int, ...]  #: those whose rows are read outside, too: what is appended to a cache
    others: tuple[Other, ...] = ()

    @property
    def layers(self) -> tuple[int, ...]:
        """Their ids, ascending."""
        return tuple(sorted((*self.attention.layers, *self.made)))

    @property
    def operands(self) -> tuple[int, ...]:
        """The sources, each once."""
        return tuple(dict.fromkeys(self.sources))

    @property
    def result(self) -> int:
        """The context."""
        return self.attention.result

    @property
    def inner(self) -> frozenset[int]:
        """All layers but the context: of what they make only heads exist."""
        return frozenset(self.layers) - {self.result}

    def layer(self, network: Network) -> Layer:
        """Return a projection: it reads the sources as all do."""
        return network.layers[self.made[0]]

    def loops(self, network: Network, batch: int, technology: Technology, kept: Kept | None) -> LoopLayer:
        """Return the nest as its loops see it."""
        tensors, scores, context = (
            network.tensors,
            network.layers[self.attention.parts.scores],
            network.layers[self.result],
        )
        groups = scores.second_heads
        operands = [
            Operand(tensors[v].channels // heads, tensors[v].bits, self.operands.index(source))
            for v, source, heads in zip(self.made, self.sources, (scores.groups, groups, groups))
        ]
        stays, left = Stays(), [tensors[v].size_bytes for v in self.leaving if kept is None or v in kept.written]
        if kept is not None:
            stays = Stays(
                producers=tuple(u in kept.on_chip for u in self.operands),
                output=self.result in kept.on_chip,
                is_written=self.result in kept.written,
                arriving_bytes=sum(tensors[u].size_bytes for u in self.operands if u in kept.on_chip & kept.loaded),
            )
        return LoopLayer(
            kind=HEADS,
            rows=Axis(scores.height, scores.height),
            columns=Axis(1, 1),
            producers=tuple(tensors[u].channels for u in self.operands),
            operands=tuple(range(len(self.operands))),
            part=Part(0, operands[2].width, operands[0].width, ((1, 1),)),
            outputs=context.channels,
            weights=sum(network.layers[v].weight_bytes for v in self.made),
            whole=(),
            unmet_bytes=0,
            batch=1,
            repeat=batch,
            word=technology.channel_alignment,
            at_most=1,
            squares=technology.tiles,
            stays=stays,
            bits=LoopBits(
                tuple(tensors[u].bits for u in self.operands), self.layer(network).bits.weights, context.output_bits
            ),
            keys=tensors[self.made[1]].height,
            epilogue=NO_EPILOGUE._replace(left=sum(left)),
            heads=Heads(
                tuple(operands), tuple(tensors[u].height for u in self.operands), groups, scores.groups // groups
            ),
        )


def projected_attentions(network: Network) -> Iterator[Projected]:
    """Yield every attention whose queries, keys and values are made by projections.

    Examples
    --------
    >>> import workloads
    >>> network = workloads.load("transformer")
    >>> found = list(projected_attentions(network))
    >>> len(found), network.names(found[0].layers)
    (18, ('enc1_q', 'enc1_k', 'enc1_v', 'enc1_scores', 'enc1_softmax', 'enc1_context'))
    """
    for attention in attentions(network):
        made = attention.operands
        if len(set(made)) == len(made) == 3 and all(_is_projection(network, v) for v in made):
            sources, inside = tuple(network.operands[v][0] for v in made), {*made, *attention.layers}
            leaving = tuple(v for v in made if network.is_output[v] or set(network.consumers[v]) - inside)
            if not set(sources) & inside and _fills_bytes(network, attention, made):
                yield Projected(attention, made, sources, leaving)


def _is_projection(network: Network, v: int) -> bool:
    """Return whether a layer makes each row of a map of one column from one row of its source."""
    if v >= len(network.layers):
        return False
    layer, sources = network.layers[v], [network.tensors[u] for u in network.operands[v]]
    if layer.op not in ("fc", "conv") or layer.groups > 1 or layer.experts is not None or len(sources) > 1:
        return False
    has_window = layer.kernel != (1, 1) or layer.stride != (1, 1) or any(layer.padding)
    return not has_window and (sources[0].height, sources[0].width) == (layer.height, 1)


def _fills_bytes(network: Network, attention: Attention, made: tuple[int, ...]) -> bool:
    """Return whether weights of a head fill bytes, alike in all projections, and the context has bits of scores."""
    layers, heads = [network.layers[v] for v in made], network.layers[attention.parts.scores].groups
    parts = [layer.channels // heads * layer.in_channels * layer.bits.weights for layer in layers]
    is_plain = not network.layers[attention.result].appended and len({layer.bits.weights for layer in layers}) == 1
    return is_plain and all(size % 8 == 0 for size in parts)


NOWHERE = (0, 0)


def heads_regions(subgraph: Subgraph, layer: LoopLayer, plan: LoopPlan) -> dict[int, Region]:
    """Return the regions by tensor id; the softmax lies where the scores were.

    Sources that pass one after the other have the room of the one that takes most, under that one.
    """
    operands = subgraph.geometry.network.operands
    scores, context = (v for v in subgraph.layers if subgraph.geometry.network.layers[v].op == "matmul")
    made, loops = (*operands[scores], operands[context][1]), Loops._make(plan[3:9])
    found = {scores: _rows(plan.tile[0], results_of(layer, layer.keys))}
    found[context] = _rows(plan.tile[0], 0 if layer.stays.output else results_of(layer, layer.part.outputs))
    passing, widest = 0, context
    for i, (v, each) in enumerate(zip(made, layer.heads.operands)):
        size = heads_at_once(layer, plan.mode, loops, i) * row_bytes(round_up(layer, each.width), each.bits)
        found[v] = _rows(plan.chunk if i == 0 else layer.keys, size)
        (source,), rows = operands[v], layer.heads.rows[each.source]
        position = row_bytes(round_up(layer, layer.passing[each.source]), layer.producer_bits[each.source])
        there = rows if plan.mode == WHOLE else min(plan.kept, rows)
        found[source] = _rows(there, position)
        if min(plan.tile[0], rows - there) * position > passing:
            passing, widest = min(plan.tile[0], rows - there) * position, source
    found[widest] = found[widest]._replace(main_bytes=found[widest].main_bytes + passing)
    return {u: found.get(u, _rows(0, 0)) for u in subgraph.tensors}


def _rows(count: int, size: int) -> Region:
    return Region((count, 1) if count else NOWHERE, NOWHERE, count * size, 0)
