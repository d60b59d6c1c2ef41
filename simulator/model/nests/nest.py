"""What is the same for all kinds of nests: subgraphs of several layers that run as one loop nest."""

from __future__ import annotations

from typing import Protocol

from simulator.model.kept import Kept
from simulator.model.layer.loop_layer import LoopLayer
from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


class Nest(Protocol):
    """Layers that are a nest. What lies between them exists only in pieces."""

    @property
    def layers(self) -> tuple[int, ...]:
        """Their ids, ascending."""

    @property
    def operands(self) -> tuple[int, ...]:
        """The tensors that the nest reads, as operands in the order of its `LoopLayer`; one may repeat."""

    @property
    def result(self) -> int:
        """The layer whose tensor the nest makes."""

    @property
    def inner(self) -> frozenset[int]:
        """The layers whose tensors lie between the others and are never whole: nothing outside reads them."""

    def layer(self, network: Network) -> Layer:
        """Return a layer that reads the operands as the nest does."""

    def loops(self, network: Network, batch: int, technology: Technology, kept: Kept | None) -> LoopLayer:
        """Return the layers as their loops see them; kept: nothing of `inner` is."""
