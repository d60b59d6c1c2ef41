"""What is the same for all kinds of nests: subgraphs of several layers that run as one loop nest."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from simulator.model.kept import Kept
from simulator.model.layer.loop_layer import LoopLayer
from simulator.technology import Technology
from workloads.network.layers.layer import Layer
from workloads.network.network import Network


class Other(NamedTuple):
    """A map that an epilogue reads."""

    tensor: int
    is_gate: bool  #: broadcast over the map, and held whole


class Nest(Protocol):
    """Layers that are a nest. What lies between them exists only in pieces."""

    @property
    def layers(self) -> tuple[int, ...]:
        """Their ids, ascending."""

    @property
    def operands(self) -> tuple[int, ...]:
        """The tensors that the nest reads, as operands in the order of its `LoopLayer`; one may repeat."""

    @property
    def others(self) -> tuple[Other, ...]:
        """What layers read that follow the loops, beyond the operands, each once."""

    @property
    def leaving(self) -> tuple[int, ...]:
        """The layers before the last whose tensors are read outside, too."""

    @property
    def result(self) -> int:
        """The layer whose tensor the nest makes, besides those that leave from in between."""

    @property
    def inner(self) -> frozenset[int]:
        """The layers whose tensors lie between the others and are never whole: nothing outside reads them."""

    def layer(self, network: Network) -> Layer:
        """Return a layer that reads the operands as the nest does."""

    def loops(self, network: Network, batch: int, technology: Technology, kept: Kept | None) -> LoopLayer | None:
        """Return the layers as their loops see them, None if they do not run so; kept: nothing of `inner` is."""
