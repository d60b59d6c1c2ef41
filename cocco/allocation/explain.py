"""Why there is no allocation: a few buffers that cannot be placed together, all of them needed for the conflict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cocco.allocation.exact.complete import complete
from cocco.allocation.problem import make_problem
from simulator.allocation.buffers import Allocation, Buffer, live_intervals
from simulator.allocation.judge import check_allocation, lower_bound

NODES_PER_TEST = 2_000  #: our choice: most subsets are decided within a few hundred


def fixed_conflict(buffers: Sequence[Buffer], capacity: int) -> tuple[str, ...] | None:
    """Return a buffer that is too large, or fixed beyond the capacity, or two fixed ones that collide; else None."""
    for buffer in buffers:
        if buffer.size > capacity:
            return (buffer.id,)
    fixed = [buffer for buffer in buffers if buffer.offset is not None]
    addresses = {buffer.id: buffer.offset for buffer in fixed if buffer.offset is not None}
    for violation in check_allocation(fixed, Allocation(addresses), capacity):
        return violation.ids
    return None


def irreducible(buffers: Sequence[Buffer], capacity: int, nodes: int, engine: str) -> tuple[tuple[str, ...], bool]:
    """Return ids of buffers that do not fit together in this capacity, and whether each was proved to be needed.

    The buffers must be known not to fit. Buffers are left out, first in chunks and then one by one, if the search
    proves that the rest still does not fit; `nodes` limits the whole.
    """
    members = crowded(buffers, capacity)
    if members is not None and all(each.alignment == 1 and each.offset is None for each in members):
        return tuple(buffer.id for buffer in members), True  # any fewer are stacked
    kept, spent, is_sure = list(members or buffers), 0, True
    chunk = len(kept) // 2
    while chunk:
        at, is_sure = 0, True
        while at < len(kept):
            rest = kept[:at] + kept[at + chunk :]
            problem = make_problem(rest)
            found = complete(problem, capacity // problem.granule, min(NODES_PER_TEST, nodes - spent), engine)
            spent += found.nodes or 0
            if found.status == "infeasible":
                kept = rest
            else:
                is_sure = is_sure and found.status == "feasible"
                at += chunk
        chunk //= 2
    return tuple(buffer.id for buffer in kept), is_sure


def crowded(buffers: Sequence[Buffer], capacity: int) -> list[Buffer] | None:
    """Return a minimal set of buffers that are live in one step and exceed the capacity; None if there is none."""
    if lower_bound(buffers) <= capacity:
        return None
    step = _first_crowded_step(buffers, capacity)
    live = [buffer for buffer in buffers if any(a <= step < b for a, b in live_intervals(buffer))]
    total = sum(buffer.size for buffer in live)
    for buffer in sorted(live, key=lambda each: each.size):
        if total - buffer.size > capacity:
            total -= buffer.size
            live.remove(buffer)
    return live


def _first_crowded_step(buffers: Sequence[Buffer], capacity: int) -> int:
    changes: dict[int, int] = {}
    for buffer in buffers:
        for first, after in live_intervals(buffer):
            changes[first] = changes.get(first, 0) + buffer.size
            changes[after] = changes.get(after, 0) - buffer.size
    steps = sorted(changes)
    totals = np.cumsum([changes[step] for step in steps])
    return steps[int(np.argmax(totals > capacity))]
