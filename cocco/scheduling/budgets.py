"""The budgets of COSMA (Sec. V-A): what the largest operator needs, the least peak without spilling, half way."""

from __future__ import annotations

from typing import NamedTuple

from cocco.scheduling.graph import Graph
from cocco.scheduling.searches.peak import least_peak

NAMES = ("minimum", "half", "peak")


class Budgets(NamedTuple):
    """Bytes of scratchpad. Where the peak is not proved, it is an upper bound, and half is half way to it."""

    minimum: int  #: M_R: operands, result and parameters, aligned, of the operator that needs the most
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


def budgets_of(graph: Graph, alignment: int = 1) -> Budgets:
    """Return the budgets of a graph. The gaps of an alignment count in the minimum, below which nothing runs.

    The peak is of live bytes, without gaps, but never below the minimum.
    """
    need = [aligned_need(graph, o, alignment) for o in range(len(graph))]
    minimum = max(need)
    peak = least_peak(graph)
    return Budgets(minimum, need.index(minimum), max(peak.bytes, minimum), peak.order, peak.is_proved)


def aligned_need(graph: Graph, o: int, alignment: int) -> int:
    """Return the bytes that an operator needs where addresses are aligned: the last tensor has no gap behind it."""
    sizes = [graph.size[o], *(graph.size[a] for a in graph.reads[o]), *([graph.weight[o]] if graph.weight[o] else [])]
    gaps = [-size % alignment for size in sizes]
    return sum(sizes) + sum(gaps) - max(gaps)
