"""Where each buffer lives in one memory: the problem, and an answer (TelaMalloc, ASPLOS 2023, Sec. 3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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
    simulator.allocation.buffers.AllocationError: buffer 'a': upper must exceed lower 3, got 3
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
    simulator.allocation.buffers.AllocationError: buffer id 'a' is repeated; every buffer needs its own
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
