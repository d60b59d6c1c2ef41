"""Where in time buffers find no addresses: the first short window of steps, and by how much it is too high."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cocco.allocation.exact.complete import complete
from cocco.allocation.heuristics.greedy import PORTFOLIO, greedy
from cocco.allocation.heuristics.least import height_of
from cocco.allocation.heuristics.rescue import Rescue
from cocco.allocation.problem import KERNEL, make_problem, time_parts
from simulator.allocation.buffers import Buffer

Shape = tuple[tuple[int, int, int, int], ...]  #: of a part: (first and last step from its start, size, alignment)


class Windows:
    """Answers for time windows of many similar plans: what did not change is not solved again."""

    def __init__(self, capacity: int, nodes: int) -> None:
        self.capacity, self.nodes = capacity, nodes
        self.known: dict[Shape, int] = {}

    def first_open(self, buffers: Sequence[Buffer], low: int = 0) -> range | None:
        """Return steps in which the buffers find no addresses, though they do before the last of them; None: all do.

        As few as bisection finds: what does not fit in a window does not in a longer one. low: so many steps from the
        first are known to have them.
        """
        if not self.missing(buffers):
            return None
        first, end = 0, max(each.upper for each in buffers)
        while end - low > 1:
            middle = (low + end) // 2
            if self.missing(clip(buffers, range(middle))):
                end = middle
            else:
                low = middle
        high = end  # all fits in [high, end)
        while high - first > 1:
            middle = (first + high) // 2
            if self.missing(clip(buffers, range(middle, end))):
                first = middle
            else:
                high = middle
        return range(first, end)

    def missing(self, buffers: Sequence[Buffer]) -> int:
        """Return 0 where all have addresses, else by how much the lowest greedy packings of the parts are too high."""
        found = 0
        for members in time_parts(make_problem(buffers)):
            part = [buffers[i] for i in members]
            first = min(each.lower for each in part)
            shape = tuple(sorted((each.lower - first, each.upper - first, each.size, each.alignment) for each in part))
            if shape not in self.known:
                self.known[shape] = self._missing(part)
            found += self.known[shape]
        return found

    def _missing(self, part: Sequence[Buffer]) -> int:
        problem = make_problem(part)
        height = min(height_of(problem, greedy(problem, *rule)) for rule in PORTFOLIO) * problem.granule
        if height <= self.capacity:
            return 0
        engine = KERNEL.choice(None)
        rescue = Rescue(self.nodes, engine, asks_solver=False).solve
        found = complete(problem, self.capacity // problem.granule, self.nodes, engine, rescue=rescue)
        return height - self.capacity if found.address is None else 0


def clip(buffers: Sequence[Buffer], steps: range) -> list[Buffer]:
    """Return the buffers as far as they live in these steps.

    Examples
    --------
    >>> clip([Buffer("a", 0, 4, 8), Buffer("b", 3, 4, 8)], range(1, 3))
    [Buffer(id='a', lower=1, upper=3, size=8, alignment=1, offset=None, gaps=())]
    """
    return [
        each
        if steps.start <= each.lower and each.upper <= steps.stop
        else replace(each, lower=max(each.lower, steps.start), upper=min(each.upper, steps.stop))
        for each in buffers
        if each.lower < steps.stop and steps.start < each.upper
    ]
