"""What to choose: the on-chip memory to build, and how to run networks on it (Cocco, ASPLOS 2024)."""

from cocco.allocation.allocate import allocate
from cocco.explore import explore, partition
from cocco.result import Result
from cocco.search.settings import Settings
from cocco.space import Range, SeparateBuffers, SharedBuffer

__all__ = ["Range", "Result", "SeparateBuffers", "Settings", "SharedBuffer", "allocate", "explore", "partition"]
