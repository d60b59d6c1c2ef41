"""Reading SRAM tables (.csv) without trusting them, and writing them.

Lines that begin with # say where the numbers come from. The first other line names the columns, in any order; a
compiler's own names are known, too (NAMES), with a number that makes its unit ours.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path

from simulator.memory.table import COLUMNS, MAX_ROWS, NEEDED, SramRow, SramTable
from workloads.errors import FileFormatError, shown
from workloads.files import read_text
from workloads.others import TABLES, of_packages

MAX_BYTES = 2**20  #: of a table; our choice: MAX_ROWS rows of 200 characters fit
MAX_SOURCE = 2000  #: characters that are kept of where the numbers come from; our choice
TABLES_FOLDER = Path(__file__).with_name("tables")

NAMES = {
    "size_bytes": ("capacity_bytes", 1.0),
    "capacity_kb": ("capacity_bytes", 1024.0),
    "size_kb": ("capacity_bytes", 1024.0),
    "leakage_uw": ("leakage_mw", 1e-3),
    "leakage_power_mw": ("leakage_mw", 1.0),
    "area_um2": ("area_mm2", 1e-6),
    "cycle_time_ns": ("cycle_ns", 1.0),
    "num_words": ("words", 1.0),
    "word_size": ("bits", 1.0),
    "word_bits": ("bits", 1.0),
    "read_energy_pj": ("read_pj", 1.0),
    "write_energy_pj": ("write_pj", 1.0),
}  #: other names of a column: ours, and what its numbers are multiplied with

MACRO_WORDS = (
    "words",
    "bits",
)  #: a macro as OpenRAM names it, in place of capacity_bytes: so many words of so many bits
ACCESSES = {"read_pj_per_byte": "read_pj", "write_pj_per_byte": "write_pj"}  #: of an access to a word of bits

_NUMBER = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?")
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}(\.0{0,40})?")


def shipped() -> dict[str, Path]:
    """Return the tables that ship by name."""
    return {path.stem: path for path in sorted(TABLES_FOLDER.glob("*.csv"))}


def find_table(name: str, folder: str | PathLike[str] = ".") -> SramTable:
    """Return the table of this name that ships, or else of a file.

    Parameters
    ----------
    name : str
        Of a table that ships (`cocco hardware --list`) or of the entry points "cocco.sram" of an installed package, or
        the path of a .csv file.
    folder : str or PathLike
        What the path is relative to.

    Returns
    -------
    SramTable

    Raises
    ------
    ValueError
        One line that names the file, the row, the column and the rule.

    Examples
    --------
    >>> from simulator import Accelerator, KiB, Sram, Technology, find_table
    >>> fast = Sram(find_table("cacti7_22nm_hp"))
    >>> chip = Accelerator(shared_buffer=896 * KiB, technology=Technology(activation_sram=fast, weight_sram=fast))
    >>> chip.leakage_mw, chip.area_mm2, chip.missed_clock
    (84.808, 0.8769, {})
    """
    known = shipped()
    if name in known:
        return read_table(known[name])
    if not name.lower().endswith(".csv"):
        path = of_packages(TABLES, name)
        if path is not None:
            return read_table(path)
        ways = f"tables that ship are {', '.join(known)}; a file ends in .csv"
        raise FileFormatError(f"no SRAM table is called {shown(name)}; {ways}")
    return read_table(Path(folder, name))


def read_table(path: str | PathLike[str]) -> SramTable:
    """Return the table of a file.

    Raises FileFormatError, one line that names the file, row, column and rule, where it is no table. Rows are counted
    from 1, without the line that names the columns.
    """
    path = Path(path)
    text = read_text(path, MAX_BYTES)
    lines = text.removeprefix("\ufeff").splitlines()
    source = " ".join(line.lstrip("#").strip() for line in lines if line.startswith("#"))
    name = path.stem if path.parent == TABLES_FOLDER else path.name
    try:
        rows = list(csv.reader((line for line in lines if line.strip() and not line.startswith("#")), strict=True))
        return SramTable(name, tuple(_rows(rows)), source[:MAX_SOURCE])
    except csv.Error as error:
        raise FileFormatError(f"{path}: is no CSV: {error}") from None
    except ValueError as error:
        raise FileFormatError(f"{path}: {error}") from None


def table_text(table: SramTable) -> str:
    """Return a table as a file that can be read again."""
    columns = COLUMNS if table.rows[0].cycle_ns is not None else NEEDED
    lines = [f"# {line}" for line in table.source.splitlines()] + [",".join(columns)]
    lines += [",".join(str(getattr(row, name)) for name in columns) for row in table.rows]
    return "\n".join(lines) + "\n"


def _rows(lines: Sequence[Sequence[str]]) -> Iterable[SramRow]:
    """Return the rows below the line that names the columns."""
    if not lines:
        raise ValueError(f"is empty; its first line names the columns {', '.join(NEEDED)}[, cycle_ns]")
    columns = [_column(each) for each in lines[0]]
    names = [name for name, _ in columns]
    given = _given(names)
    for name in NEEDED:
        if name not in given:
            raise ValueError(f"column {name} is missing; a table has {', '.join(NEEDED)}[, cycle_ns]")
    for name in (*COLUMNS, *MACRO_WORDS, *ACCESSES.values()):
        if names.count(name) > 1:
            raise ValueError(f"column {name} is there {names.count(name)} times; give it once")
    if len(lines) - 1 > MAX_ROWS:
        raise ValueError(f"has {len(lines) - 1} rows; a table has 2 to {MAX_ROWS}")
    for number, line in enumerate(lines[1:], 1):
        if len(line) != len(columns):
            raise ValueError(f"row {number} has {len(line)} columns; the first line names {len(columns)}")
        found = {
            name: _number(f"row {number}: {name}", text, factor, name in ("capacity_bytes", *MACRO_WORDS))
            for (name, factor), text in zip(columns, line)
            if name in COLUMNS or name not in given and name in (*MACRO_WORDS, *ACCESSES.values())
        }
        yield SramRow(**_of_words(f"row {number}", found, given))


def _given(names: Sequence[str]) -> set[str]:
    """Return which columns of ours are there, or follow from words, bits and accesses."""
    given = {name for name in names if name in COLUMNS}
    if "bits" in names:
        given |= {"capacity_bytes"} if "words" in names else set()
        given |= {ours for ours, access in ACCESSES.items() if access in names}
    return given


def _of_words(where: str, found: dict[str, float], given: set[str]) -> dict[str, float]:
    """Return a row with the capacity and the energy of a byte where words and accesses to them are said instead."""
    row = {name: value for name, value in found.items() if name in COLUMNS}
    if len(row) < len(given):
        words, bits = found.get("words", 1), found["bits"]
        if not (words >= 1 and bits >= 1 and words * bits % 8 == 0):
            raise ValueError(f"{where}: words x bits must be whole bytes from 1, got {words:.0f} x {bits:.0f} bits")
        row.setdefault("capacity_bytes", int(words * bits) // 8)
        for ours, access in ACCESSES.items():
            if ours not in row and access in found:
                row[ours] = found[access] / (bits / 8)
    return row


def _column(text: str) -> tuple[str, float]:
    """Return what a column is called here, and what its numbers are multiplied with."""
    name = text.strip().lower()
    return NAMES.get(name, (name, 1.0))


def _number(where: str, text: str, factor: float, is_whole: bool) -> float:
    text = text.strip()
    if is_whole:
        if not _WHOLE.fullmatch(text):
            raise ValueError(f"{where} must be a whole number of bytes, got {shown(text)}")
        return int(text.partition(".")[0]) * int(factor)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{where} must be a number, got {shown(text)}")
    return float(text) if factor == 1.0 else float(text) * factor
