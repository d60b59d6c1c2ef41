"""The names of the ways in which cores share a subgraph, and what such a way moves."""

from __future__ import annotations

from typing import NamedTuple

from simulator.partition.schemes import CORE_SCHEMES, CoreScheme

__all__ = ["CORE_SCHEMES", "CoreScheme", "TeamMoves"]


class TeamMoves(NamedTuple):
    """What all samples and cores move, not counting DRAM transfers, and the cycles."""

    buffered: int  #: of the global buffers: results, operands read by each core that hears them, SIDE copies
    written: int  #: of these, what is written and not read
    weights_written: int  #: to the weight buffers
    weights_read: int
    crossing: int  #: from core to core
    cycles: int
