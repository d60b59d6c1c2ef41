"""Addresses of buffers in one memory: the data, their judge, their files (docs/allocation.md)."""

from simulator.allocation.buffers import Allocation, AllocationError, Buffer, check_buffers
from simulator.allocation.files import read_buffers, write_buffers
from simulator.allocation.judge import Violation, check_allocation, height, lower_bound

__all__ = [
    "Allocation",
    "AllocationError",
    "Buffer",
    "Violation",
    "check_allocation",
    "check_buffers",
    "height",
    "lower_bound",
    "read_buffers",
    "write_buffers",
]
