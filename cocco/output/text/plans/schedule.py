"""What cocco schedule prints for people: how it ended, the budgets, what is spilled and retrieved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cocco.output.text.layout.numbers import counted, table

if TYPE_CHECKING:
    from cocco.scheduling.answer import ScheduleResult

STAYS_SHOWN = 30  #: stays that are printed for people; our choice: a screen
REPACK = (
    "linear allocator: smallest gap; where only what an operator needs is left and no gap fits, all of it is moved out "
    "and back, packed from 0, and counted"
)


def schedule_text(result: ScheduleResult) -> str:
    """Return the answer for people."""
    with_weights = "with parameters" if result.parameters else "activations only"
    peak = "" if result.peak_proved else " (an upper bound, unproven)"
    lines = [
        f"{result.network}: {result.status}, {counted(result.operators, 'operator')} in "
        f"{result.scratchpad_bytes:,} bytes, {with_weights}",
        f"granularity: one operator a layer, concat {result.concat}, alignment {result.alignment}, model inputs "
        f"{'have' if result.input_has_host_copy else 'have no'} copy on the host",
        f"minimum (MR) {result.minimum_bytes:,}, set by {result.largest}; half {result.half_bytes:,}; "
        f"peak (MP) {result.peak_bytes:,}{peak}",
    ]
    if result.status == "infeasible":
        needed = f"{result.largest} needs {result.minimum_bytes:,} bytes, there are {result.scratchpad_bytes:,}"
        return "\n".join([*lines, f"infeasible: {needed}"])
    done = result.replay
    if done is None:
        return "\n".join([*lines, f"no schedule within the limit; lower bound {result.lower_bound_bytes} bytes"])
    proof = "proven" if result.status == "optimal" else f"not proven, lower bound {result.lower_bound_bytes:,}"
    order = "any order" if result.order_from == "free" else f"the {result.order_from} order"
    lines += [
        f"off-chip {done.offchip_bytes:,} bytes ({proof}, for {order}): spilled {done.spilled_bytes:,}, retrieved "
        f"{done.retrieved_bytes:,}; compulsory in addition {result.compulsory_bytes:,}",
        f"by {result.method}, packing {result.packing}, {counted(result.cuts, 'cut')}; peak live "
        f"{done.peak_live_bytes:,}, height {done.height_bytes:,}; replayed by the simulator",
    ]
    if result.windows:
        lines.append(f"{counted(result.windows, 'window')}, {result.windows_proved} closed by the solver")
    if result.method in ("belady", "greedy"):
        lines.append(REPACK)
    return "\n".join(lines + _spills(result))


def _spills(result: ScheduleResult) -> list[str]:
    """Return the table of what moves."""
    assert result.schedule is not None
    moved = [each for each in result.schedule.segments if each.leaves == "spilled" or each.enters == "retrieved"]
    if not moved:
        return []
    heads = ("tensor", "first", "last", "address", "bytes", "enters", "leaves")
    rows = [
        (each.tensor, each.first, each.last, each.address, f"{each.size:,}", *each[5:]) for each in moved[:STAYS_SHOWN]
    ]
    more = [f"  ... and {len(moved) - STAYS_SHOWN} more"] if len(moved) > STAYS_SHOWN else []
    return ["", table(heads, rows), *more]
