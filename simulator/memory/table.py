"""SRAM tables: what a memory of some capacities costs, as a memory compiler or CACTI says, and in between."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workloads.errors import check_count, shown

MAX_NUMBER = 1e15  #: of energies, leakage, area and time; our choice: the cost of any network stays finite
MAX_CAPACITY = 2**50  #: bytes; our choice: above any memory
MAX_ROWS = 4096  #: our choice: far more than a compiler makes


class SramRow(NamedTuple):
    """What a memory of one capacity costs.

    Examples
    --------
    >>> from simulator import SramRow
    >>> row = SramRow(1024, read_pj_per_byte=0.5, write_pj_per_byte=0.75, leakage_mw=0.1, area_mm2=0.01)
    >>> row.energy_pj(100, 20)  # 80 bytes are read and 20 are written
    55.0
    """

    capacity_bytes: float
    read_pj_per_byte: float
    write_pj_per_byte: float
    leakage_mw: float
    area_mm2: float
    cycle_ns: float | None = None  #: from one access to the next; None where nobody says

    def energy_pj(self, moved_bytes: int, written_bytes: int) -> float:
        """Return the energy of so many bytes read and written, pJ; written_bytes: how many of them are written."""
        if self.read_pj_per_byte == self.write_pj_per_byte:
            return self.read_pj_per_byte * moved_bytes
        return self.read_pj_per_byte * (moved_bytes - written_bytes) + self.write_pj_per_byte * written_bytes


COLUMNS = SramRow._fields  #: of a table, in this order; cycle_ns may be missing
NEEDED = COLUMNS[:-1]


@dataclass(frozen=True)
class SramTable:
    """What a memory costs by its capacity: rows in ascending order, and what lies between two of them.

    Between rows every number is linear on logarithmic scales, and exact at the rows. Where a number is 0 at one of the
    two rows it is linear in the capacity.

    Parameters
    ----------
    name
        What it is called: the name of its file, or of a table that ships.
    rows
        At least two, each of a larger capacity than the one before.
    source
        Where the numbers come from.

    Raises
    ------
    ValueError
        One line that names the row, the column and the rule.

    Examples
    --------
    >>> from simulator import SramRow, SramTable
    >>> small = SramRow(1024, 0.5, 0.5, 0.0, 0.01)
    >>> table = SramTable("mine", (small, SramRow(4096, 1.0, 2.0, 3.0, 0.01)))
    >>> table.at(2048)
    SramRow(capacity_bytes=2048, read_pj_per_byte=0.7071067811865476, write_pj_per_byte=1.0, leakage_mw=1.0, \
area_mm2=0.01, cycle_ns=None)
    >>> table.at(8192)
    Traceback (most recent call last):
    ValueError: SRAM table 'mine' goes from 1024 to 4096 bytes, got a capacity of 8192 bytes
    """

    name: str
    rows: tuple[SramRow, ...] = field(repr=False)
    source: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(SramRow(*row) for row in self.rows))
        if not 2 <= len(self.rows) <= MAX_ROWS:
            raise ValueError(f"{self} must have 2 to {MAX_ROWS} rows, got {len(self.rows)}")
        for number, row in enumerate(self.rows, 1):
            check_row(f"{self}, row {number}", row)
        for number, (before, row) in enumerate(zip(self.rows, self.rows[1:]), 2):
            where = f"{self}, row {number}: capacity_bytes"
            if row.capacity_bytes == before.capacity_bytes:
                raise ValueError(f"{where} must differ from the row before, got {row.capacity_bytes} again")
            if row.capacity_bytes < before.capacity_bytes:
                got = f"got {row.capacity_bytes} after {before.capacity_bytes}"
                raise ValueError(f"{where} must be larger than in the row before, {got}")
            if (row.cycle_ns is None) != (before.cycle_ns is None):
                raise ValueError(f"{self}, row {number}: cycle_ns must be given in all rows or in none")

    def __str__(self) -> str:
        return f"SRAM table {shown(self.name)}"

    @property
    def capacities(self) -> tuple[int, ...]:
        """The capacities of the rows, bytes, ascending."""
        return tuple(int(row.capacity_bytes) for row in self.rows)

    def at(self, capacity_bytes: float) -> SramRow:
        """Return what a memory of so many bytes costs; raises ValueError, one line, outside the table."""
        first, last = self.capacities[0], self.capacities[-1]
        if not first <= capacity_bytes <= last:
            got = f"got a capacity of {capacity_bytes:.16g} bytes"
            raise ValueError(f"{self} goes from {first} to {last} bytes, {got}")
        i = bisect_left(self.rows, capacity_bytes, key=lambda row: row.capacity_bytes)
        upper = self.rows[i]
        if upper.capacity_bytes == capacity_bytes:
            return upper
        lower = self.rows[i - 1]
        numbers = (between(capacity_bytes, lower, upper, name) for name in COLUMNS[1:])
        return SramRow(capacity_bytes, *numbers)  # type: ignore[arg-type]


def between(capacity_bytes: float, lower: SramRow, upper: SramRow, name: str) -> float | None:
    """Return a number of a capacity between those of two rows: linear in log-log, or linear where one end is 0."""
    low, high = getattr(lower, name), getattr(upper, name)
    if low is None or low == high:
        return low
    start, end = lower.capacity_bytes, upper.capacity_bytes
    if not low or not high:
        return low + (high - low) * ((capacity_bytes - start) / (end - start))
    share = math.log(capacity_bytes / start) / math.log(end / start)
    found = math.exp(math.log(low) + (math.log(high) - math.log(low)) * share)
    return min(max(found, min(low, high)), max(low, high))  # rounding leaves no row behind


def check_row(where: str, row: SramRow) -> None:
    """Raise ValueError, one line that names the column and the rule, unless a row can be one of a memory."""
    check_count(f"{where}: capacity_bytes", row.capacity_bytes, MAX_CAPACITY)
    for name in COLUMNS[1:]:
        value = getattr(row, name)
        if name == "cycle_ns" and value is None:
            continue
        check_amount(f"{where}: {name}", value)


def check_amount(where: str, value: Any) -> None:
    """Raise ValueError, one line, unless a value is a finite number of at least 0 that a memory can have."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not 0 <= value <= MAX_NUMBER:
        raise ValueError(
            f"{where} must be a finite number of at least 0 and at most {MAX_NUMBER:g}, got {shown(value)}"
        )
