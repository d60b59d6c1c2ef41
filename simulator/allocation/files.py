"""Buffers in files: the CSV format of google/minimalloc, one buffer a line."""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Sequence
from os import PathLike

from simulator.allocation.buffers import MAX_TOTAL, Allocation, AllocationError, Buffer, Interval
from workloads.errors import FileFormatError, one_line, shown
from workloads.files import read_bytes, write_atomic

MAX_BYTES = 64 * 2**20  #: of a file; our choice: 12,063 buffers have 0.24 MB
COLUMNS = {
    "id": "id", "buffer": "id", "buffer_id": "id", "lower": "lower", "start": "lower", "begin": "lower",
    "upper": "upper", "stop": "upper", "end": "upper", "size": "size", "alignment": "alignment", "offset": "offset",
    "gaps": "gaps", "hint": "hint",
}  # fmt: skip
REQUIRED = ("id", "lower", "upper", "size")

DIGITS = 20  #: of a number, at most; our choice: more than any total that may be
_WHOLE = re.compile(rf"-?[0-9]{{1,{DIGITS}}}")
_GAP = re.compile(rf"([0-9]{{1,{DIGITS}}})-([0-9]{{1,{DIGITS}}})")


def read_buffers(
    path: str | PathLike[str], inclusive: bool = False, ignore_offsets: bool = False
) -> tuple[Buffer, ...]:
    """Return the buffers of a CSV file in the order of its lines; none where it has only the line of column names.

    Columns in any order: id, lower (start, begin), upper (stop, end), size, and where wanted alignment, offset and
    gaps (such as "3-5 8-9", split by blanks); empty cells of these three mean none. A column `hint` is not used.

    Parameters
    ----------
    path : str or PathLike
        In the format of google/minimalloc.
    inclusive : bool
        Upper and the ends of gaps are the last step rather than the one after it. google/minimalloc reads the column
        name `end` like that, and no other; here it has one meaning under every name (our choice), and a warning says
        so.
    ignore_offsets : bool
        Leave the column `offset` out, so that no buffer is fixed.

    Returns
    -------
    tuple of Buffer

    Raises
    ------
    FileFormatError
        One line with file, line, column and value, for anything malformed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from simulator.allocation import read_buffers
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "buffers.csv")
    ...     _ = file.write_text("id,lower,upper,size\\na,0,2,8\\nb,1,3,16\\n")
    ...     [buffer.size for buffer in read_buffers(file)]
    [8, 16]
    """
    rows = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        names = _names([cell.strip() for cell in next(rows)])
        if names[1] == "end" and not inclusive:
            warnings.warn(
                "the column 'end' is read as the step after the last; google/minimalloc reads it as the last step: "
                "then ask for inclusive ends",
                stacklevel=2,
            )
        found: list[Buffer] = []
        seen: dict[str, int] = {}
        total = 0
        for row in rows:
            if not row:
                continue
            try:
                buffer = _buffer(names[0], row, int(inclusive), ignore_offsets)
                if buffer.id in seen:
                    raise AllocationError(f"id {shown(buffer.id)} stands in line {seen[buffer.id]} already")
                total += buffer.size + buffer.alignment + (buffer.offset or 0)
                if total > MAX_TOTAL:
                    raise AllocationError(f"sizes, alignments and offsets so far sum to {total}; at most {MAX_TOTAL}")
            except AllocationError as error:
                raise FileFormatError(f"line {rows.line_num}: {error}") from None
            seen[buffer.id] = rows.line_num
            found.append(buffer)
    except csv.Error as error:
        raise FileFormatError(f"{path}: line {rows.line_num}: is not CSV: {one_line(error)}") from None
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None
    return tuple(found)


def write_buffers(path: str | PathLike[str], buffers: Sequence[Buffer], allocation: Allocation | None = None) -> None:
    """Write buffers to a CSV file, whole or not at all.

    Reading the file back gives the same buffers, each fixed where the allocation has it. Columns that no buffer uses
    are left out.

    Parameters
    ----------
    path : str or PathLike
        Of the file; a file that is there is replaced.
    buffers : sequence of Buffer
    allocation : Allocation, optional
        Its addresses are the offsets.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from simulator.allocation import Allocation, Buffer, write_buffers
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "buffers.csv")
    ...     write_buffers(file, [Buffer("a", 0, 2, 8)], Allocation({"a": 16}))
    ...     print(file.read_text(), end="")
    id,lower,upper,size,offset
    a,0,2,8,16
    """
    columns = [*REQUIRED]
    columns += ["alignment"] if any(buffer.alignment != 1 for buffer in buffers) else []
    columns += ["gaps"] if any(buffer.gaps for buffer in buffers) else []
    columns += ["offset"] if allocation or any(buffer.offset is not None for buffer in buffers) else []
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for buffer in buffers:
        offset = allocation.addresses[buffer.id] if allocation else buffer.offset
        cells = {
            "id": buffer.id, "lower": buffer.lower, "upper": buffer.upper, "size": buffer.size,
            "alignment": buffer.alignment, "gaps": " ".join(f"{first}-{after}" for first, after in buffer.gaps),
            "offset": "" if offset is None else offset,
        }  # fmt: skip
        writer.writerow([cells[name] for name in columns])
    write_atomic(path, text.getvalue())


def _text(path: str | PathLike[str]) -> str:
    data = read_bytes(path, MAX_BYTES)
    if not data.strip():
        raise FileFormatError(f"{path}: line 1: is empty; the first line names the columns {', '.join(REQUIRED)}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise FileFormatError(f"{path}: line {line}: is not text: byte {error.start} is not UTF-8") from None


def _names(heads: Sequence[str]) -> tuple[list[str], str]:
    """Return what each column is, and under which name the upper ends stand."""
    for head in heads:
        if head not in COLUMNS:
            raise FileFormatError(f"line 1: unknown column {shown(head)}; known are {', '.join(COLUMNS)}")
    names = [COLUMNS[head] for head in heads]
    for name in (*REQUIRED, "alignment", "offset", "gaps"):
        if names.count(name) > 1:
            raise FileFormatError(f"line 1: has {names.count(name)} columns for {name!r}; one is the most")
    for name in REQUIRED:
        if name not in names:
            raise FileFormatError(f"line 1: has no column {name!r}; it needs {', '.join(REQUIRED)}")
    return names, heads[names.index("upper")]


def _buffer(names: Sequence[str], row: Sequence[str], addend: int, ignore_offsets: bool) -> Buffer:
    if len(row) != len(names):
        raise AllocationError(f"has {len(row)} cells; the first line names {len(names)} columns")
    cells = {name: cell if name == "id" else cell.strip() for name, cell in zip(names, row)}
    numbers = {name: _whole(name, cells[name]) for name in ("lower", "upper", "size")}
    alignment = cells.get("alignment", "")
    offset = "" if ignore_offsets else cells.get("offset", "")
    return Buffer(
        cells["id"], numbers["lower"], numbers["upper"] + addend, numbers["size"],
        _whole("alignment", alignment) if alignment else 1, _whole("offset", offset) if offset else None,
        _gaps(cells.get("gaps", ""), addend),
    )  # fmt: skip


def _whole(name: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        most = f" of at most {DIGITS} digits" if len(text) > DIGITS else ""
        raise AllocationError(f"{name} must be a whole number{most}, got {shown(text)}")
    return int(text)


def _gaps(text: str, addend: int) -> tuple[Interval, ...]:
    found = []
    for part in text.split():
        match = _GAP.fullmatch(part)
        if not match:
            raise AllocationError(
                f"gaps must be pairs such as '3-5' split by blanks, without windows ('@0:4'), got {shown(part)}"
            )
        found.append((int(match[1]), int(match[2]) + addend))
    return tuple(sorted(found))
