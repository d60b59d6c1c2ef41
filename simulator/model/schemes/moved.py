"""The names of the ways in which cores share a subgraph, and what one of them moves."""

from __future__ import annotations

from typing import Literal, NamedTuple

#: "" of one core; channels dealt; columns shared, weights rotated or all of them held by every core; a single layer
#: in a loop order on one core alone, while the others wait
CoreScheme = Literal["", "channels", "rotated", "held", "alone"]
CORE_SCHEMES: tuple[CoreScheme, ...] = ("channels", "rotated", "held", "alone")


class TeamMoves(NamedTuple):
    """What all samples and cores move beside the DRAM side, and the cycles."""

    buffered: int  #: of the global buffers: results, operands read by each core that hears them, SIDE copies
    written: int  #: of these, what is written and not read
    weights_written: int  #: to the weight buffers
    weights_read: int
    crossing: int  #: from core to core
    cycles: int
