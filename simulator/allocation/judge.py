"""The judge of every placement of buffers in one memory, and how much they need at least (TelaMalloc, Sec. 3).

It compares every pair of buffers and shares no code with the allocators of `cocco.allocation`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from simulator.allocation.buffers import Allocation, Buffer, check_buffers, live_intervals
from workloads.errors import shown


class Violation(NamedTuple):
    """One broken rule of an allocation.

    Examples
    --------
    >>> from simulator.allocation import Allocation, Buffer, check_allocation
    >>> check_allocation([Buffer("a", 0, 2, 8)], Allocation({"a": -8}), capacity=64)
    [Violation(kind='negative', ids=('a',), message="buffer 'a' is at -8, below 0")]
    """

    kind: Literal["missing", "unknown", "negative", "beyond_capacity", "misaligned", "moved", "overlap"]
    ids: tuple[str, ...]  #: of the buffers
    message: str  #: a line that says how


def lower_bound(buffers: Sequence[Buffer]) -> int:
    """Return the largest contention: the sum of the sizes live in one step (TelaMalloc, Sec. 3.1).

    No allocation is lower; with alignment, gaps or fixed offsets there may be none as low.

    Parameters
    ----------
    buffers : sequence of Buffer

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> from simulator.allocation import Buffer, lower_bound
    >>> lower_bound([Buffer("a", 0, 2, 8), Buffer("b", 1, 3, 16), Buffer("c", 2, 4, 8)])
    24
    """
    changes: dict[int, int] = {}
    for buffer in buffers:
        for first, after in live_intervals(buffer):
            changes[first] = changes.get(first, 0) + buffer.size
            changes[after] = changes.get(after, 0) - buffer.size
    most = live = 0
    for step in sorted(changes):
        live += changes[step]
        most = max(most, live)
    return most


def height(buffers: Sequence[Buffer], allocation: Allocation) -> int:
    """Return the memory that an allocation takes: the largest address + size; 0 without buffers.

    Parameters
    ----------
    buffers : sequence of Buffer
    allocation : Allocation
        With an address for each of them.

    Returns
    -------
    int
        Bytes.

    Examples
    --------
    >>> from simulator.allocation import Allocation, Buffer, height
    >>> height([Buffer("a", 0, 2, 8), Buffer("b", 1, 3, 16)], Allocation({"a": 0, "b": 8}))
    24
    """
    return max((allocation.addresses[buffer.id] + buffer.size for buffer in buffers), default=0)


def check_allocation(buffers: Sequence[Buffer], allocation: Allocation, capacity: int) -> list[Violation]:
    """Return every broken rule of an allocation; an empty list if it is right.

    Every buffer has an address, it is no less than 0, a multiple of the alignment and the fixed offset where one is
    given, address + size is at most the capacity, and no two buffers that share a live step share a byte. Touching
    is allowed in time and in space. Every pair is compared (TelaMalloc, Sec. 3).

    Parameters
    ----------
    buffers : sequence of Buffer
    allocation : Allocation
        The answer to judge, whoever made it.
    capacity : int
        Bytes of the memory.

    Returns
    -------
    list of Violation

    Raises
    ------
    AllocationError
        The buffers are malformed.

    Examples
    --------
    >>> from simulator.allocation import Allocation, Buffer, check_allocation
    >>> buffers = [Buffer("a", 0, 2, 8), Buffer("b", 1, 3, 16)]
    >>> check_allocation(buffers, Allocation({"a": 0, "b": 8}), capacity=24)
    []
    >>> check_allocation(buffers, Allocation({"a": 0, "b": 4}), capacity=24)[0].kind
    'overlap'
    """
    check_buffers(buffers)
    addresses = allocation.addresses
    known = {buffer.id for buffer in buffers}
    found = [Violation("unknown", (name,), f"{shown(name)} is no buffer") for name in addresses if name not in known]
    placed = []
    for buffer in buffers:
        if buffer.id in addresses:
            found += _check_one(buffer, addresses[buffer.id], capacity)
            placed.append(buffer)
        else:
            found.append(Violation("missing", (buffer.id,), f"buffer {shown(buffer.id)} has no address"))
    return found + _overlaps(placed, addresses)


def _check_one(buffer: Buffer, address: int, capacity: int) -> list[Violation]:
    found: list[Violation] = []
    name, ids = shown(buffer.id), (buffer.id,)
    if address < 0:
        found.append(Violation("negative", ids, f"buffer {name} is at {address}, below 0"))
    if address + buffer.size > capacity:
        message = f"buffer {name} at {address} ends at {address + buffer.size}, beyond the capacity {capacity}"
        found.append(Violation("beyond_capacity", ids, message))
    if address % buffer.alignment:
        message = f"buffer {name} is at {address}, which is no multiple of its alignment {buffer.alignment}"
        found.append(Violation("misaligned", ids, message))
    if buffer.offset is not None and address != buffer.offset:
        found.append(Violation("moved", ids, f"buffer {name} is at {address}, its fixed offset is {buffer.offset}"))
    return found


def _overlaps(buffers: Sequence[Buffer], addresses: Mapping[str, int]) -> list[Violation]:
    """Compare every pair, one row at a time: first the hulls of their lives, then the live steps themselves."""
    lower = np.array([buffer.lower for buffer in buffers], dtype=np.int64)
    upper = np.array([buffer.upper for buffer in buffers], dtype=np.int64)
    low = np.array([addresses[buffer.id] for buffer in buffers], dtype=np.int64)
    high = low + np.array([buffer.size for buffer in buffers], dtype=np.int64)
    found = []
    for i, one in enumerate(buffers[:-1]):
        shared = (lower[i + 1 :] < upper[i]) & (lower[i] < upper[i + 1 :])
        shared &= (low[i + 1 :] < high[i]) & (low[i] < high[i + 1 :])
        for j in (np.flatnonzero(shared) + i + 1).tolist():
            other = buffers[j]
            step = _shared_step(one, other)
            if step is not None:
                message = (
                    f"buffers {shown(one.id)} [{low[i]}, {high[i]}) and {shown(other.id)} [{low[j]}, {high[j]}) "
                    f"share bytes in step {step}"
                )
                found.append(Violation("overlap", (one.id, other.id), message))
    return found


def _shared_step(one: Buffer, other: Buffer) -> int | None:
    """Return the first step in which both are live."""
    steps = [
        max(a, c) for a, b in live_intervals(one) for c, d in live_intervals(other) if max(a, c) < min(b, d)
    ]  # fmt: skip
    return min(steps, default=None)
