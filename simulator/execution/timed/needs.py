"""What the operations of a step load, compute and store: what a replay of its run is held to.

An operation is a row operation of a subgraph that is held, or a step of the loops of a layer or nest. Bytes are those
of all cores, as they cross to DRAM; room is that of one core.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Input(NamedTuple):
    """Rows that an operation needs, in the order in which the operations need them."""

    operation: int
    size_bytes: int
    room_bytes: int  #: while they do not lie in their region
    since: int = 0  #: the operation from which on their region has room for them
    sources: tuple[tuple[int, int], ...] = ()  #: (tensor, rows): what must have been stored, where the plan makes it


class Weights(NamedTuple):
    """Weights that a layer needs in an operation and in all after it up to the last one that uses them."""

    operation: int
    layer: int
    size_bytes: int
    room_bytes: int
    last: int


class Output(NamedTuple):
    """Rows that leave when an operation has computed."""

    operation: int
    size_bytes: int
    room_bytes: int
    since: int | None  #: the step at whose end they take room of their own; None: when the next operation begins
    tensor: int = -1
    rows: int = 0  #: of the tensor that are in DRAM then


@dataclass(frozen=True)
class Needs:
    """What one step needs. slots: by layer, how long it has computed after each operation, from 0."""

    slots: Mapping[int, Sequence[int]]
    inputs: Sequence[Input]
    weights: Sequence[Weights]
    outputs: Sequence[Output]
    activation_bytes: int  #: of all regions
    crossbar_bytes: int = 0
    layers: Sequence[int] = ()  #: of a nest, or of one layer in its loops: they share the slots of each operation

    @property
    def is_looped(self) -> bool:
        """Whether it runs in loops."""
        return bool(self.layers)
