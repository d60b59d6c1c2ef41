"""The budgets of COSMA (Sec. V-A): what the largest operator needs, the least peak without spilling, half way."""

from __future__ import annotations

from typing import NamedTuple

from cocco.scheduling.graph import Graph
from cocco.scheduling.peak import least_peak

NAMES = ("minimum", "half", "peak")


class Budgets(NamedTuple):
    """Bytes of scratchpad. Where the peak is not proved, it is an upper bound, and half is half way to it."""

    minimum: int  #: M_R: operands, result and parameters of the operator that needs the most
    operator: int  #: that operator
    peak: int  #: M_P: the least peak of live bytes over all orders without spilling
    peak_order: tuple[int, ...]
    peak_is_proved: bool

    @property
    def half(self) -> int:
        """M_H = (M_R + M_P) / 2, rounded down."""
        return (self.minimum + self.peak) // 2

    def bytes_of(self, name: str) -> int:
        """Return the budget of a name of NAMES."""
        return {"minimum": self.minimum, "half": self.half, "peak": self.peak}[name]


def budgets_of(graph: Graph) -> Budgets:
    """Return the budgets of a graph."""
    minimum = max(graph.need)
    peak = least_peak(graph)
    return Budgets(minimum, graph.need.index(minimum), peak.bytes, peak.order, peak.is_proved)
