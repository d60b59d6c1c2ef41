"""What a subgraph does in the simulation: its stages, and the room that working ahead takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Stage(NamedTuple):
    """One row operation, or one step of the loops of a layer that does not fit. Bytes cross to DRAM, all cores."""

    input_bytes: int
    weights: tuple[tuple[int, int], ...]  #: (layer, bytes) that must be there from here on
    computing: tuple[tuple[int, int], ...]  #: (layer, slots), one after the other
    output_bytes: int
    crossing: tuple[tuple[int, int, int], ...] = ()  #: (layer, bytes, slots) between cores while it computes


class Course(NamedTuple):
    """The stages of a subgraph, and the most bytes of one core that working ahead takes beyond its regions."""

    stages: tuple[Stage, ...]
    ahead_bytes: int  #: input rows of the next stage
    behind_bytes: int  #: output rows of the last stage, while they are written
    chunk_bytes: int | None = None  #: weights of the next chunk; None where all weights are held


def spread(total: int, places: Sequence[bool]) -> list[int]:
    """Return how much of a total each place takes: the marked places share it evenly and exactly.

    Examples
    --------
    >>> spread(10, [True, False, True, True])
    [3, 0, 3, 4]
    """
    count, number, found = sum(places), 0, []
    for is_marked in places:
        found.append(total * (number + is_marked) // count - total * number // count)
        number += is_marked
    return found
