"""What cocco allocate prints for people: how it ended, and the addresses of a table that is short enough."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import counted, table

if TYPE_CHECKING:
    from cocco.allocation.answer import AllocationResult
    from simulator.allocation.buffers import Buffer

BUFFERS_SHOWN = 40  #: buffers whose addresses are printed for people; our choice: a screen


def allocation_text(buffers: Sequence[Buffer], result: AllocationResult) -> str:
    """Return the answer for people."""
    count = counted(result.buffers, "buffer")
    lines = [f"{count} in {_bytes(result.capacity_bytes)}: {result.status}"]
    bound = f"lower bound {_bytes(result.lower_bound_bytes)}"
    if result.height_bytes is None:
        lines.append(bound)
    else:
        share = "" if result.fragmentation is None else f", fragmentation {100 * result.fragmentation:.2f} %"
        lines.append(f"height {_bytes(result.height_bytes)}, {bound}{share}")
    if result.status in ("feasible", "gave_up") and result.proved_infeasible_bytes is not None:
        lines.append(f"no allocation within {_bytes(result.proved_infeasible_bytes)} (proved)")
    if result.solved_by:
        lines.append(f"by {result.solved_by}" + (f", {result.nodes:,} nodes" if result.nodes else ""))
    if result.conflict:
        needed = ", and each of them is needed for that" if result.conflict_is_irreducible else ""
        shown = ", ".join(result.conflict[:BUFFERS_SHOWN]) + (", ..." if len(result.conflict) > BUFFERS_SHOWN else "")
        lines.append(f"{counted(len(result.conflict), 'buffer')} cannot be placed together{needed}: {shown}")
    if result.allocation is not None and 0 < len(buffers) <= BUFFERS_SHOWN:
        rows = [(b.id, b.lower, b.upper, b.size, result.allocation.addresses[b.id]) for b in buffers]
        lines += ["", table(("buffer", "lower", "upper", "size", "address"), rows)]
    return "\n".join(lines)


def _bytes(count: int) -> str:
    return f"{count:,} bytes"
