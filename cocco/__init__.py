"""What to choose: the on-chip memory to build, and how to run networks on it (Cocco, ASPLOS 2024)."""

from cocco.allocation.allocate import allocate
from cocco.compromise import Compromise, compromise
from cocco.explore import explore, partition
from cocco.front import Front
from cocco.limits import Limited, minimize
from cocco.pareto import pareto
from cocco.result import Result
from cocco.scheduling.schedule import schedule
from cocco.search.settings import Settings
from cocco.space import Range, SeparateBuffers, SharedBuffer

__all__ = [
    "Compromise",
    "Front",
    "Limited",
    "Range",
    "Result",
    "SeparateBuffers",
    "Settings",
    "SharedBuffer",
    "allocate",
    "compromise",
    "explore",
    "minimize",
    "pareto",
    "partition",
    "schedule",
]
