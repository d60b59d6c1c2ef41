"""Where each buffer lives in one memory: the problem, and the judge of every answer (TelaMalloc, ASPLOS 2023, Sec. 3).

The judge compares every pair of buffers and shares no code with the allocators of `cocco.allocation`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from workloads.errors import shown

MAX_VALUE = 2**53  #: of a step, size, alignment or offset; our choice: exact in JSON readers, far above any memory
MAX_TOTAL = 2**61  #: of sizes and alignments together; sums of a few of them stay within 64 bits

Interval = tuple[int, int]  #: first and one after the last


class AllocationError(ValueError):
    """A buffer or a list of buffers that is malformed: the message names the buffer, the rule and the value.

    Examples
    --------
    >>> from simulator.allocation import Buffer
    >>> Buffer("a", lower=3, upper=3, size=8)
    Traceback (most recent call last):
    simulator.allocation.judge.AllocationError: buffer 'a': upper must exceed lower 3, got 3
    """


@dataclass(frozen=True, slots=True)
class Buffer:
    """Some bytes that one thing needs for some steps: live in [lower, upper) but for its gaps.

    Raises
    ------
    AllocationError
        Values are out of range: 0 <= lower < upper, size and alignment from 1, an offset that is a multiple of the
        alignment, gaps in order that lie within the life and leave some of it.

    Examples
    --------
    >>> from simulator.allocation import Buffer
    >>> Buffer("x", lower=0, upper=10, size=64, gaps=((3, 7),))
    Buffer(id='x', lower=0, upper=10, size=64, alignment=1, offset=None, gaps=((3, 7),))
    """

    id: str
    lower: int  #: first live step
    upper: int  #: the step after the last live one
    size: int  #: bytes
    alignment: int = 1  #: bytes; the address is a multiple of it
    offset: int | None = None  #: bytes; the address, where it is given
    gaps: tuple[Interval, ...] = ()  #: [first, end) of the steps in between in which others may use its bytes

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id or not self.id.isprintable():
            raise AllocationError(f"a buffer's id must be a printable text, not empty, got {shown(self.id)}")
        self._check("lower", self.lower, 0)
        self._check("upper", self.upper, 0)
        if self.lower >= self.upper:
            raise AllocationError(f"buffer {shown(self.id)}: upper must exceed lower {self.lower}, got {self.upper}")
        self._check("size", self.size, 1)
        self._check("alignment", self.alignment, 1)
        if self.offset is not None:
            self._check("offset", self.offset, 0)
            if self.offset % self.alignment:
                raise AllocationError(
                    f"buffer {shown(self.id)}: offset must be a multiple of the alignment {self.alignment}, "
                    f"got {self.offset}"
                )
        self._check_gaps()

    def _check(self, name: str, value: object, least: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MAX_VALUE:
            raise AllocationError(
                f"buffer {shown(self.id)}: {name} must be an integer from {least} to {MAX_VALUE}, got {shown(value)}"
            )

    def _check_gaps(self) -> None:
        end = self.lower
        for gap in self.gaps:
            first, after = gap
            self._check("gap", first, 0)
            self._check("gap", after, 0)
            if not end <= first < after <= self.upper:
                raise AllocationError(
                    f"buffer {shown(self.id)}: gaps must be in order, apart, and within [{self.lower}, {self.upper}), "
                    f"got [{first}, {after})"
                )
            end = after
        if self.gaps and not live_intervals(self):
            raise AllocationError(f"buffer {shown(self.id)}: gaps must leave a live step, got {shown(self.gaps)}")


@dataclass(frozen=True)
class Allocation:
    """The address in bytes of each buffer, by its id.

    Examples
    --------
    >>> from simulator.allocation import Allocation
    >>> Allocation({"a": 0, "b": 64})
    Allocation(2 addresses)
    """

    addresses: Mapping[str, int]  #: id -> first byte

    def __repr__(self) -> str:
        return f"Allocation({len(self.addresses)} addresses)"


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


def live_intervals(buffer: Buffer) -> list[Interval]:
    """Return the intervals [first, end) in which a buffer is live, in order, none empty."""
    found, start = [], buffer.lower
    for first, after in buffer.gaps:
        if start < first:
            found.append((start, first))
        start = after
    if start < buffer.upper:
        found.append((start, buffer.upper))
    return found


def check_buffers(buffers: Iterable[Buffer]) -> None:
    """Check the buffers of one memory as a whole; each is checked when it is made.

    Parameters
    ----------
    buffers : iterable of Buffer

    Raises
    ------
    AllocationError
        An id is repeated, or the totals could outgrow 64-bit integers.

    Examples
    --------
    >>> from simulator.allocation import Buffer, check_buffers
    >>> check_buffers([Buffer("a", 0, 2, 8), Buffer("a", 2, 4, 8)])
    Traceback (most recent call last):
    simulator.allocation.judge.AllocationError: buffer id 'a' is repeated; every buffer needs its own
    """
    seen: set[str] = set()
    total = 0
    for buffer in buffers:
        if buffer.id in seen:
            raise AllocationError(f"buffer id {shown(buffer.id)} is repeated; every buffer needs its own")
        seen.add(buffer.id)
        total += buffer.size + buffer.alignment + (buffer.offset or 0)
    if total > MAX_TOTAL:
        raise AllocationError(f"sizes, alignments and offsets must sum to at most {MAX_TOTAL}, got {total}")


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
