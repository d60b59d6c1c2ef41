"""What every allocator answers, and what `cocco.allocate` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from cocco.effort.status import Status
from simulator.allocation.buffers import Allocation

if TYPE_CHECKING:
    from cocco.allocation.problem import Ints


class Outcome(NamedTuple):
    """How a method ended, in granules; `allocate` turns it into an AllocationResult."""

    status: Status
    address: Ints | None = None
    nodes: int | None = None  #: what the method's limit counts: frames, branches
    refuted: int = -1  #: the largest capacity that was proved too small
    solved_by: str | None = None


@dataclass(frozen=True)
class AllocationResult:
    """Where the buffers live, or why there is no answer.

    status: "optimal" (the height is proved to be the least), "feasible", "infeasible" (proved), "gave_up" (the limit
    of nodes was reached), "stopped" (by the user; best so far, if any). The least height lies in
    [proved_infeasible_bytes + granule_bytes, height_bytes].
    """

    method: str
    status: Status
    buffers: int
    capacity_bytes: int
    granule_bytes: int  #: every height of a packed-down allocation is a multiple of it
    lower_bound_bytes: int  #: the largest contention, see simulator.allocation.lower_bound
    allocation: Allocation | None
    height_bytes: int | None
    proved_infeasible_bytes: int | None  #: the largest capacity that was refuted, a multiple of the granule
    nodes: int | None
    solved_by: str | None
    conflict: tuple[str, ...] | None  #: if infeasible: buffers that cannot be placed together
    conflict_is_irreducible: bool | None  #: whether each of them was proved to be needed for that

    @property
    def fragmentation(self) -> float | None:
        """Height over lower bound, minus 1."""
        if self.height_bytes is None or not self.lower_bound_bytes:
            return None
        return self.height_bytes / self.lower_bound_bytes - 1

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco allocate --json` prints after the file; null: not applicable."""
        names = (
            "method", "buffers", "capacity_bytes", "lower_bound_bytes", "height_bytes", "fragmentation", "status",
            "proved_infeasible_bytes", "nodes", "solved_by",
        )  # fmt: skip
        return {name: getattr(self, name) for name in names} | {
            "conflict": None if self.conflict is None else list(self.conflict),
            "conflict_is_irreducible": self.conflict_is_irreducible,
            "addresses": None if self.allocation is None else dict(self.allocation.addresses),
        }
