"""The bytes that subgraphs of a plan leave free, so that later weights can be loaded ahead (docs/partitions.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from simulator.partition.errors import PartitionError
from workloads.errors import shown


def check_spare(spare: object, groups: Sequence[Sequence[object]]) -> list[int]:
    """Return the bytes that each group leaves free; nothing where nothing is given.

    Raises TypeError where it is no list, PartitionError where it does not go with the groups.
    """
    if isinstance(spare, (str, Mapping)) or not isinstance(spare, Iterable):
        raise TypeError(f"spare must be a list, one for each subgraph; got {shown(spare)}")
    given = list(spare)
    if given and len(given) != len(groups):
        raise PartitionError(f"'spare' has {len(given)} entries for {len(groups)} subgraphs; it needs one for each")
    for position, size in enumerate(given):
        if isinstance(size, bool) or not isinstance(size, int) or size < 0:
            raise PartitionError(f"spare {position} is {shown(size)}; it must be a whole number of bytes, 0 or more")
    return given
