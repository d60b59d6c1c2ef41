"""The complete search around the engines: ranks in turn, capacities raced, parts of time one by one.

No rank solves every hard instance quickly, and a looser capacity can be harder than a tighter one, because the bounds
prune less. So short runs of all ranks at several capacities alternate, and their limits double. A solution at a smaller
capacity is also one at the given capacity; only a refutation at the given capacity proves that there is none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from cocco.allocation.answer import Outcome
from cocco.allocation.exact import canonical
from cocco.allocation.exact.canonical import RANKS, REFUTED, SOLVED
from cocco.allocation.problem import AllocationProblem, make_problem, time_parts

NODES = 200_000  #: the default limit; our choice: at it all hard instances of google/minimalloc are decided
FIRST_LIMIT = 2  #: nodes per buffer of the first run of each rank; our choice: easy problems take one per buffer
LIMIT_GROWTH = 3  #: of the limit from one round to the next; our choice: of 2, 3 and 4 it decides the hard ones soonest
CAPACITY_STEPS = 3  #: capacities are raced at the lower bound, the given capacity, and thirds of the way; our choice


class SearchRun(Protocol):
    """One run of the search, which can be resumed; see canonical.Search."""

    nodes: int

    @property
    def address(self) -> list[int]: ...

    def run(self, limit: int) -> int: ...


def new_run(problem: AllocationProblem, capacity: int, rank: str, engine: str) -> SearchRun:
    """Return a new run."""
    if engine == "fast":
        from cocco.allocation.compiled import _search

        return _search.Search(problem, capacity, rank)
    return canonical.Search(problem, capacity, rank)


def run_once(problem: AllocationProblem, capacity: int, rank: str, limit: int, engine: str) -> tuple[int, SearchRun]:
    """Return how one run ended (SOLVED, REFUTED or LIMIT), and the run."""
    run = new_run(problem, capacity, rank, engine)
    return run.run(limit), run


def complete(
    problem: AllocationProblem,
    capacity: int,
    nodes: int,
    engine: str,
    race_from: int = 0,
    rescue: Callable[[AllocationProblem, int], Outcome] | None = None,
) -> Outcome:
    """Return addresses within a capacity (granules), the proof that there are none, or that the nodes ran out.

    Capacities are raced from race_from, or from the lower bound if that is more. rescue: called for each part of time
    that is given up; its nodes are not limited by `nodes`, but are part of the nodes of the outcome.
    """
    parts = time_parts(problem)
    address = np.zeros(len(problem.size), dtype=np.int64)
    spent, more, refuted, names, open_parts = 0, 0, -1, dict[str, None](), False
    for members in parts:
        part, scale = problem, 1
        if len(parts) > 1:
            part = make_problem([problem.buffers[i] for i in members])
            scale = part.granule // problem.granule
        found = _race(part, max(problem.bound, race_from) // scale, capacity // scale, nodes - spent, engine)
        spent += found.nodes or 0
        refuted = max(refuted, (found.refuted + 1) * scale - 1)
        if found.status == "gave_up" and rescue is not None:
            found = rescue(part, capacity // scale)
            more += found.nodes or 0
            refuted = max(refuted, (found.refuted + 1) * scale - 1)
        if found.status == "infeasible":
            return Outcome("infeasible", None, spent + more, refuted, found.solved_by)
        if found.address is None:
            open_parts = True
        else:
            address[members] = found.address * scale
            names[found.solved_by or ""] = None
    if open_parts:
        return Outcome("gave_up", None, spent + more, refuted)
    return Outcome("feasible", address, spent + more, refuted, ", ".join(names) or None)


def _race(problem: AllocationProblem, least: int, capacity: int, nodes: int, engine: str) -> Outcome:
    """Decide one part of time: all ranks at all capacities from the least useful one up, with growing limits."""
    if problem.bound > capacity:
        return Outcome("infeasible", None, 0, problem.bound - 1, "contention")
    least = max(problem.bound, min(least, capacity))
    capacities = sorted({least + (capacity - least) * step // CAPACITY_STEPS for step in range(CAPACITY_STEPS + 1)})
    spent, refuted, limit = 0, problem.bound - 1, FIRST_LIMIT * len(problem.size)
    runs: dict[tuple[int, str], SearchRun] = {}  # each resumes where it stopped
    while spent < nodes:
        for at in capacities:
            for rank in RANKS:
                if (at, rank) not in runs:
                    runs[at, rank] = new_run(problem, at, rank, engine)
                run = runs[at, rank]
                before = run.nodes
                ended = run.run(min(limit, before + nodes - spent))
                spent += run.nodes - before
                name = f"search {rank} at {at * problem.granule}"
                if ended == SOLVED:
                    return Outcome("feasible", np.array(run.address, dtype=np.int64), spent, refuted, name)
                if ended == REFUTED:
                    refuted = max(refuted, at)
                    capacities = [each for each in capacities if each > at]
                    break
            if refuted == capacity:
                return Outcome("infeasible", None, spent, refuted, name)
        limit *= LIMIT_GROWTH
    return Outcome("gave_up", None, spent, refuted)
