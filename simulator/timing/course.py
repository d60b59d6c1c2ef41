"""What a subgraph does in the simulation: its stages, and the room that working ahead takes."""

from __future__ import annotations

from typing import NamedTuple


class Stage(NamedTuple):
    """One row operation, or one step of the loops of a layer that does not fit. Bytes cross to DRAM, all cores."""

    input_bytes: int
    weights: tuple[tuple[int, int], ...]  #: (layer, bytes) that must be there from here on
    computing: tuple[tuple[int, int], ...]  #: (layer, slots), one after the other
    output_bytes: int
    crossing: tuple[tuple[int, int, int], ...] = ()  #: (layer, bytes, slots) between cores while it computes
    ahead_bytes: int = 0  #: of one core, beside its regions, for the input rows while the stage before computes
    behind_bytes: int = 0  #: for the output rows while the next stage computes
    chunk_bytes: int = 0  #: for the weights while the stage before computes; where all weights are held, 0
    early_bytes: int = 0  #: for the input rows of the first stage before the subgraph starts; 0 where they may not come
    late_bytes: int = 0  #: for the output rows when the subgraph has ended


class Course(NamedTuple):
    """The stages of a subgraph."""

    stages: tuple[Stage, ...]
    is_streamed: bool = False  #: whether weights take the room of those before them; else they stay to its end

    @property
    def ahead_bytes(self) -> int:
        """The most that input rows take in one core while the stage before computes."""
        return max((stage.ahead_bytes for stage in self.stages[1:]), default=0)

    @property
    def behind_bytes(self) -> int:
        """The most that output rows take in one core while the next stage computes."""
        return max((stage.behind_bytes for stage in self.stages[:-1]), default=0)
