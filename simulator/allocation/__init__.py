"""Addresses of buffers in one memory: the data, their judge, their files (docs/allocation.md)."""

from simulator.allocation.files import read_buffers, write_buffers
from simulator.allocation.judge import (
    Allocation,
    AllocationError,
    Buffer,
    Violation,
    check_allocation,
    check_buffers,
    height,
    lower_bound,
)

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
