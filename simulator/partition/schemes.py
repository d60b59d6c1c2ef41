"""How several cores share each subgraph of a partition, as a plan says it (docs/partitions.md; model.md, section 7)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Literal, TypeVar

from simulator.partition.errors import PartitionError
from workloads.errors import shown

#: "" of one core; channels dealt; columns or samples shared, weights rotated or the same in every core; a single layer
#: in a loop order on one core alone, while the others wait
CoreScheme = Literal["", "channels", "rotated", "held", "alone"]
T = TypeVar("T", bound=Hashable)
CORE_SCHEMES: tuple[CoreScheme, ...] = ("channels", "rotated", "held", "alone")


def check_schemes(schemes: object, groups: Sequence[Sequence[object]]) -> list[CoreScheme]:
    """Return what was given for each group, "" where it is left to the price.

    Raises TypeError where it is no list, PartitionError where it does not go with the groups.
    """
    if isinstance(schemes, (str, Mapping)) or not isinstance(schemes, Iterable):
        raise TypeError(f"schemes must be a list, one for each subgraph; got {shown(schemes)}")
    found: list[CoreScheme] = []
    given = list(schemes)
    if given and len(given) != len(groups):
        raise PartitionError(f"'schemes' has {len(given)} entries for {len(groups)} subgraphs; it needs one for each")
    for position, (scheme, group) in enumerate(zip(given, groups)):
        if scheme is not None and scheme not in ("", *CORE_SCHEMES):
            known = ", ".join(CORE_SCHEMES)
            raise PartitionError(
                f"schemes {position} is {shown(scheme)}; it must be one of {known}, or null: the cheapest"
            )
        if scheme == "alone" and len(group) > 1:
            raise PartitionError(
                f"schemes {position} is 'alone', in which one core runs a single layer; subgraph {position} has "
                f"{len(group)}"
            )
        found.append(scheme or "")
    return found


def reordered(
    values: Sequence[T], groups: Sequence[tuple[int, ...]], ordered: Sequence[tuple[int, ...]], missing: T
) -> tuple[T, ...]:
    """Return what is said of groups in another order, `missing` of those of which nothing is. () where all is that."""
    given = dict(zip(groups, values))
    found = tuple(given.get(group, missing) for group in ordered)
    return found if any(each != missing for each in found) else ()
