"""A language model as plain data: its layers, each with its parts, and the tables at both ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from workloads.network.decoding import FeedForward, Mixer
from workloads.network.layers.types import INT8, Bits


class DecoderLayer(NamedTuple):
    """The parts of one layer; see `Builder.decoder_layer`."""

    mixer: Mixer
    feed_forward: FeedForward | None
    norms_after: bool = False


@dataclass(frozen=True)
class Decoder:
    """Widths of a decoder-only model."""

    width: int
    vocabulary: int
    layers: tuple[DecoderLayer, ...]
    tied: bool = False  #: the head is the embedding
    positions: int = 0  #: learned, in a table
    bits: Bits = INT8
    expert_bits: int | None = None  #: of the weights of experts, where they have fewer

    @property
    def not_loaded(self) -> int:
        """Parameters of tables that are gathered from, and belong to no layer."""
        return self.width * ((0 if self.tied else self.vocabulary) + self.positions)
