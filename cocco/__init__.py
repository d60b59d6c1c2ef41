"""What to choose: the on-chip memory to build, and how to run networks on it (Cocco, ASPLOS 2024)."""

from cocco.allocation.allocate import allocate
from cocco.exploration.compromise import Compromise, compromise
from cocco.exploration.explore import explore, partition
from cocco.exploration.front import Front
from cocco.exploration.limits import Limited, minimize
from cocco.exploration.pareto import pareto
from cocco.exploration.result import Result
from cocco.plans.compare import Comparison, compare
from cocco.plans.explain import Explanation, explain
from cocco.plans.files import load_partition
from cocco.problem.settings import Settings
from cocco.problem.space import Range, SeparateBuffers, SharedBuffer
from cocco.scheduling.schedule import schedule
from simulator.views.chrome_trace import chrome_trace

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
    "schedule",
]
