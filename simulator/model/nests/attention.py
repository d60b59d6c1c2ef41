"""An attention in blocks: scores, what scales them, softmax and context in the loop order of one layer (TB).

`LoopLayer` and plans are those of a layer of the operator attention, so a network whose attentions are written as
layers runs as one that was rewritten (workloads/network/rewriting/attentions.py says when layers are one).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simulator.model.kept import Kept
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.loops import loop_layer
from simulator.model.nests.nest import Other
from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.network import Network
from workloads.network.rewriting.attentions import Parts, as_one_layer, attentions_of, by_itself, why_not


class Attention(NamedTuple):
    """The layers of an attention, and what it reads: queries, keys and values."""

    parts: Parts
    operands: tuple[int, ...]
    others: tuple[Other, ...] = ()
    leaving: tuple[int, ...] = ()

    @property
    def layers(self) -> tuple[int, ...]:
        """Their ids, ascending."""
        return self.parts.layers

    @property
    def result(self) -> int:
        """The context."""
        return self.parts.context

    @property
    def inner(self) -> frozenset[int]:
        """Scores, what scales them, and softmax."""
        return frozenset(self.parts.inner)

    def layer(self, network: Network) -> Layer:
        """Return the attention as one layer."""
        return as_one_layer(network, self.parts)

    def loops(self, network: Network, batch: int, technology: Technology, kept: Kept | None) -> LoopLayer:
        """Return the attention as its loops see it."""
        one, ids = by_itself(network, self.parts)
        if kept is not None:
            places = {u: i for i, u in enumerate(ids)}
            kept = Kept(*(frozenset(places[u] for u in each if u in places) for each in kept))
        return loop_layer(one, 0, batch, technology, kept)


def attentions(network: Network) -> Iterator[Attention]:
    """Yield the attentions that one layer describes."""
    for parts in attentions_of(network):
        if not why_not(network, parts):
            yield Attention(parts, network.operands[parts.scores] + network.operands[parts.context][1:])
