"""What to choose: the on-chip memory to build, and how to run networks on it (Cocco, ASPLOS 2024)."""

from cocco.allocation.allocate import allocate
from cocco.chrome_trace import chrome_trace
from cocco.compare import Comparison, compare
from cocco.compromise import Compromise, compromise
from cocco.explain import Explanation, explain
from cocco.explore import explore, partition
from cocco.front import Front
from cocco.handwritten import load_partition
from cocco.limits import Limited, minimize
from cocco.pareto import pareto
from cocco.result import Result
from cocco.search.settings import Settings
from cocco.space import Range, SeparateBuffers, SharedBuffer

__all__ = [
    "Comparison",
    "Compromise",
    "Explanation",
    "Front",
    "Limited",
    "Range",
    "Result",
    "SeparateBuffers",
    "Settings",
    "SharedBuffer",
    "allocate",
    "chrome_trace",
    "compare",
    "compromise",
    "explain",
    "explore",
    "load_partition",
    "minimize",
    "pareto",
    "partition",
]
