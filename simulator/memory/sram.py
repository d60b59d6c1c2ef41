"""How a buffer is built of SRAM: macros of a table, banks of them, and whether it must cycle in one clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from simulator.memory.table import SramRow, SramTable, check_amount
from workloads.display import changes
from workloads.errors import check_count, shown

Sizes = Literal["any", "rows"]
MAX_BANKS = 2**12  #: our choice: far above what is built


@dataclass(frozen=True)
class Sram:
    """A buffer of SRAM macros: what reading, writing, leaking and its area cost by capacity.

    Parameters
    ----------
    table
        What one macro costs by its capacity.
    banks
        Macros that make the buffer, all alike: area and leakage of all, energy and cycle time of one.
    bank_pj_per_byte
        What a byte takes beside that of its macro, on the way to it, pJ.
    sizes
        "rows": a buffer has the capacity of a row (times banks), as the macros of a compiler; "any": between rows, too.
    pipelined
        Whether an access may take more than a clock, one starting in each.
    node
        Of the table's numbers, such as "22nm"; unless it is said, that in the name of the table, if there is one.

    Raises
    ------
    ValueError
        One line that names the field, the rule and the value.

    Examples
    --------
    >>> from simulator import Sram, SramRow, SramTable
    >>> table = SramTable("mine", (SramRow(1024, 0.5, 0.5, 2.0, 0.01, 0.7), SramRow(4096, 1.0, 1.0, 8.0, 0.04, 1.1)))
    >>> Sram(table).at(1024)
    SramRow(capacity_bytes=1024, read_pj_per_byte=0.5, write_pj_per_byte=0.5, leakage_mw=2.0, area_mm2=0.01, \
cycle_ns=0.7)
    >>> Sram(table, banks=4, bank_pj_per_byte=0.25).at(4096)
    SramRow(capacity_bytes=4096, read_pj_per_byte=0.75, write_pj_per_byte=0.75, leakage_mw=8.0, area_mm2=0.04, \
cycle_ns=0.7)
    >>> Sram(table).misses(4096, clock_ghz=1.0)  # 1.1 ns in a clock of 1 ns
    1.1
    """

    table: SramTable
    banks: int = 1
    bank_pj_per_byte: float = 0.0
    sizes: Sizes = "any"
    pipelined: bool = False
    node: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.table, SramTable):
            raise ValueError(f"sram.table must be a simulator.SramTable, got {shown(self.table)}")
        check_count("sram.banks", self.banks, MAX_BANKS)
        check_amount("sram.bank_pj_per_byte", self.bank_pj_per_byte)
        if self.sizes not in get_args(Sizes):
            raise ValueError(f"sram.sizes must be one of {', '.join(get_args(Sizes))}, got {shown(self.sizes)}")
        if not isinstance(self.pipelined, bool):
            raise ValueError(f"sram.pipelined must be true or false, got {shown(self.pipelined)}")
        if not isinstance(self.node, str):
            raise ValueError(f"sram.node must be a text such as 22nm, got {shown(self.node)}")

    def __repr__(self) -> str:
        return changes(self)

    @property
    def made_in(self) -> str:
        """The node that is said, or that is in the name of the table; nothing where nobody says."""
        named = re.search(r"[0-9]+nm", self.table.name)
        return self.node or (named[0] if named else "")

    @property
    def capacities(self) -> tuple[int, ...]:
        """The capacities of buffers whose macros are rows of the table, bytes, ascending."""
        return tuple(self.banks * each for each in self.table.capacities)

    def at(self, capacity_bytes: int) -> SramRow:
        """Return what a buffer of so many bytes costs; raises ValueError, one line, where there is none."""
        if self.sizes == "rows" and capacity_bytes not in self.capacities:
            near = min(self.capacities, key=lambda each: abs(each - capacity_bytes))
            rule = f"{self.table} has rows only (sizes: rows), the nearest makes a buffer of {near} bytes"
            raise ValueError(f"{rule}; got {capacity_bytes} bytes")
        macro = self.table.at(capacity_bytes if self.banks == 1 else capacity_bytes / self.banks)
        return SramRow(
            capacity_bytes,
            macro.read_pj_per_byte + self.bank_pj_per_byte,
            macro.write_pj_per_byte + self.bank_pj_per_byte,
            self.banks * macro.leakage_mw,
            self.banks * macro.area_mm2,
            macro.cycle_ns,
        )

    def has(self, capacity_bytes: int) -> bool:
        """Return whether there is a buffer of so many bytes."""
        if self.sizes == "rows":
            return capacity_bytes in self.capacities
        return self.capacities[0] <= capacity_bytes <= self.capacities[-1]

    def misses(self, capacity_bytes: int, clock_ghz: float) -> float | None:
        """Return the cycle time, ns, of a buffer that does not cycle in one clock; None where it does, or need not."""
        cycle = self.at(capacity_bytes).cycle_ns
        return None if cycle is None or self.pipelined or cycle * clock_ghz <= 1.0 else cycle

    def to_json(self) -> dict[str, Any]:
        """Return plain data from which `sram_of` makes the same."""
        content = {each.name: getattr(self, each.name) for each in fields(self) if self.node or each.name != "node"}
        rows = [list(row) for row in self.table.rows]
        return content | {"table": {"name": self.table.name, "source": self.table.source, "rows": rows}}


def sram_of(content: Mapping[str, Any]) -> Sram:
    """Return the Sram of plain data (Sram.to_json); raises ValueError or TypeError where it is none."""
    table = content["table"]
    rows = tuple(SramRow(*row) for row in table["rows"])
    return Sram(**{**content, "table": SramTable(table["name"], rows, table["source"])})
