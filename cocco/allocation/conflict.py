"""Why buffers over time have no addresses: a few of them, in few steps, that are proved to have none.

Any set with at least these buffers, as large and live together as long, has no addresses either, because leaving out
buffers or steps or shortening lives only makes room. So a search that finds such a set forbids it wherever it appears.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from cocco.allocation.exact.complete import complete
from cocco.allocation.heuristics.greedy import PORTFOLIO, greedy
from cocco.allocation.heuristics.least import height_of
from cocco.allocation.heuristics.rescue import Rescue
from cocco.allocation.problem import KERNEL, make_problem, time_parts
from cocco.allocation.windows import clip
from cocco.effort.status import Status
from simulator.allocation.judge import Buffer

REDUCTION_NODES = (
    20_000  #: of the complete search, for a window or a step of a reduction; our choice: a hundredth of a second
)
MORE_NODES = 100_000  #: for a window where none is proved with fewer; our choice
WHOLE_NODES = 200_000  #: for all steps, and for what comes after the search: GoogleNet's plans took 75,000; our choice
LENGTH = 12  #: steps of a window; our choice
TIMES_PROOF = 3  #: times as many nodes as the proof before may one take that leaves something out; our choice

Window = tuple[range, Status]


class Packing:
    """Tells which buffers have addresses in a memory; remembers answers, also for the same buffers at another time."""

    def __init__(self, capacity: int, most: int) -> None:
        """most: nodes of all searches together; after that, whatever greedy rules do not place is given up."""
        self.capacity, self.most, self.spent = capacity, most, 0
        self.known: dict[tuple[tuple[int, int, int, int], ...], tuple[Status, int]] = {}

    @property
    def is_spent(self) -> bool:
        """Whether no nodes are left."""
        return self.spent >= self.most

    def status(self, buffers: Sequence[Buffer], nodes: int) -> Status:
        """Return "feasible", "infeasible" if that is proved, or "gave_up"; nodes: for each part of time."""
        is_open = False
        for members in time_parts(make_problem(buffers)) if buffers else ():
            found = self._part([buffers[i] for i in members], nodes)
            if found == "infeasible":
                return found
            is_open |= found == "gave_up"
        return "gave_up" if is_open else "feasible"

    def _part(self, part: list[Buffer], nodes: int) -> Status:
        first = min(each.lower for each in part)
        shape = tuple(sorted((each.lower - first, each.upper - first, each.size, each.alignment) for each in part))
        found, limit = self.known.get(shape, ("gave_up", 0))
        if found == "gave_up" and limit < nodes:
            found = self._decided(part, nodes)
            self.known[shape] = found, nodes
        return found

    def _decided(self, part: list[Buffer], nodes: int) -> Status:
        problem = make_problem(part)
        capacity = self.capacity // problem.granule
        if problem.bound > capacity:
            return "infeasible"
        if min(height_of(problem, greedy(problem, *rule)) for rule in PORTFOLIO) <= capacity:
            return "feasible"
        if self.is_spent:
            return "gave_up"
        engine = KERNEL.choice(None)
        rescue = Rescue(nodes, engine, asks_solver=False).solve if nodes == WHOLE_NODES else None
        found = complete(problem, capacity, nodes, engine, rescue=rescue)
        self.spent += found.nodes or 0
        return "feasible" if found.address is not None else "infeasible" if found.status == "infeasible" else "gave_up"

    def open_windows(self, buffers: Sequence[Buffer], end: int) -> list[Window]:
        """Return short windows proved to have no addresses, none within another; empty if all have addresses.

        A single window of all steps if the question was given up: unknown. end: the steps are 0, ..., end - 1.
        """
        if self.status(buffers, REDUCTION_NODES) == "feasible":
            return []
        for nodes in (REDUCTION_NODES, MORE_NODES):
            found: list[range] = []
            for length in range(1, min(LENGTH, end) + 1):
                for first in range(end - length + 1):
                    here = range(first, first + length)
                    if not any(here.start <= each.start and each.stop <= here.stop for each in found) and (
                        self.status(clip(buffers, here), nodes) == "infeasible"
                    ):
                        found.append(here)
            if found:
                return [(each, "infeasible") for each in found]
        status = self.status(buffers, WHOLE_NODES)
        return [] if status == "feasible" else [(range(end), status)]

    def reduced(self, buffers: Sequence[Buffer]) -> list[Buffer]:
        """Return buffers with no addresses, reduced to fewer and shorter ones as long as that is proved."""
        return _Reduction(self, buffers).run()


class _Reduction:
    """Buffers that are known to have no addresses."""

    def __init__(self, packing: Packing, buffers: Sequence[Buffer]) -> None:
        self.packing, self.buffers = packing, list(buffers)
        self.nodes = self._nodes(self.buffers, REDUCTION_NODES) or 0

    def run(self) -> list[Buffer]:
        """Leave out the short-lived buffers of a step, then single buffers, then steps, then ends of lives."""
        for step in sorted({each.lower for each in self.buffers}):
            self._try([each for each in self.buffers if (each.lower, each.upper) != (step, step + 1)])
        for each in sorted(self.buffers, key=lambda each: (each.size, each.id)):
            self._try([other for other in self.buffers if other.id != each.id])
        self.buffers = contracted(self.buffers)
        while self._shorten():
            pass
        return contracted(self.buffers)

    def _shorten(self) -> bool:
        for i, each in enumerate(self.buffers):
            if each.upper - each.lower > 1:
                for shorter in (replace(each, lower=each.lower + 1), replace(each, upper=each.upper - 1)):
                    if self._try([*self.buffers[:i], shorter, *self.buffers[i + 1 :]]):
                        return True
        return False

    def _try(self, fewer: list[Buffer]) -> bool:
        nodes = (
            self._nodes(fewer, min(REDUCTION_NODES, TIMES_PROOF * self.nodes + REDUCTION_NODES // 20))
            if len(fewer)
            else None
        )
        if nodes is None:
            return False
        self.buffers, self.nodes = fewer, min(nodes, self.nodes)
        return True

    def _nodes(self, buffers: list[Buffer], most: int) -> int | None:
        """Return the nodes of a proof that these have no addresses; None if there is none within the limit."""
        before = self.packing.spent
        for members in time_parts(make_problem(buffers)):
            if self.packing._decided([buffers[i] for i in members], most) == "infeasible":
                return self.packing.spent - before
        return None


def contracted(buffers: Sequence[Buffer]) -> list[Buffer]:
    """Return the buffers in as few steps as possible, from 0 on, such that the same buffers still meet.

    A step is dropped if all its buffers also live in an adjacent step.

    Examples
    --------
    >>> contracted([Buffer("a", 2, 5, 8), Buffer("b", 4, 6, 8), Buffer("c", 5, 7, 8)])
    [Buffer(id='a', lower=0, upper=1, size=8, alignment=1, offset=None, gaps=()), \
Buffer(id='b', lower=0, upper=2, size=8, alignment=1, offset=None, gaps=()), \
Buffer(id='c', lower=1, upper=2, size=8, alignment=1, offset=None, gaps=())]
    """
    first, last = min(each.lower for each in buffers), max(each.upper for each in buffers)
    live = [{i for i, each in enumerate(buffers) if each.lower <= t < each.upper} for t in range(first, last)]
    at = 0
    while at < len(live):
        if any(live[at] <= live[k] for k in (at - 1, at + 1) if 0 <= k < len(live)):
            del live[at]
            at = max(0, at - 1)
        else:
            at += 1
    found = []
    for i, each in enumerate(buffers):
        steps = [t for t, here in enumerate(live) if i in here]
        assert all(b - a == 1 for a, b in pairwise(steps)), "a buffer that lives on both sides of a step lives in it"
        found.append(replace(each, lower=steps[0], upper=steps[-1] + 1))
    return found
