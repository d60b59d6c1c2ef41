"""Judge how good a row of criteria is: the least of one of them, under limits of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cocco.problem.plane import Plane


class Judge:
    """One criterion to minimize, and the largest values of others."""

    def __init__(self, plane: Plane, criterion: str, limits: Mapping[str, float]) -> None:
        self.plane, self.target, self.limits = plane, plane.names.index(criterion), dict(limits)

    def excess(self, values: Sequence[float]) -> float:
        """Return by which factor the worst limit is exceeded, at most 1 where all are kept."""
        return max(values[self.plane.names.index(name)] / bound for name, bound in self.limits.items())

    def key(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the sort key: smaller is better; all other criteria break ties, in their order."""
        excess = self.excess(values)
        return (max(1.0, excess), values[self.target] if excess <= 1 else 0.0, *values)

    def may_beat(self, values: Sequence[float], best: Sequence[float]) -> bool:
        """Return whether something no worse than these values can keep all limits and be better than the best."""
        return self.excess(values) <= 1 and self.key(values) < self.key(best)
