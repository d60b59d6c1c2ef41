"""The bytes that subgraphs of a plan leave free, and the most that others take while they run (docs/partitions.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from simulator.partition.errors import PartitionError
from workloads.errors import shown


def check_spare(spare: object, groups: Sequence[Sequence[object]]) -> list[int]:
    """Return the bytes that each group leaves free; nothing where nothing is given.

    Raises as check_ahead does; every entry is a size.
    """
    given = check_ahead(spare, groups, "spare")
    for position, size in enumerate(given):
        if size is None:
            raise PartitionError(f"spare {position} is None; it must be a whole number of bytes, 0 or more")
    return [size or 0 for size in given]


def check_ahead(ahead: object, groups: Sequence[Sequence[object]], name: str = "ahead") -> list[int | None]:
    """Return the most bytes for what comes ahead while each group runs, None for all that is free.

    Raises TypeError where it is no list, PartitionError where it does not go with the groups.
    """
    if isinstance(ahead, (str, Mapping)) or not isinstance(ahead, Iterable):
        raise TypeError(f"{name} must be a list, one for each subgraph; got {shown(ahead)}")
    given = list(ahead)
    if given and len(given) != len(groups):
        raise PartitionError(f"'{name}' has {len(given)} entries for {len(groups)} subgraphs; it needs one for each")
    for position, size in enumerate(given):
        if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
            raise PartitionError(f"{name} {position} is {shown(size)}; it must be a whole number of bytes, 0 or more")
    return given
