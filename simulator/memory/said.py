"""What a hardware file says of SRAM and DRAM (docs/memory.md): `sram:`, `dram:`, and `sram:` of one buffer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from json import dumps
from os import PathLike
from pathlib import Path
from typing import Any

from simulator.memory.dram import DRAM_KINDS, MAX_CHANNELS, dram_kind, fields_of
from simulator.memory.reading import find_table, shipped
from simulator.memory.sram import Sram
from simulator.memory.table import COLUMNS, MAX_NUMBER, SramRow, SramTable
from workloads.errors import check_count, shown

SRAM = tuple(each.name for each in fields(Sram))
DRAM = ("kind", "channels", "pj_per_bit", "gigabytes_per_second", "background_mw")
TABLE = ("name", "source", "rows")


def sram_said(path: str | PathLike[str], content: object) -> Sram:
    """Return the SRAM of a file: the name of a table or its file, or a mapping with `table` and fields of Sram.

    A table may also stand there itself, with its name, source and rows. Raises ValueError, one line.
    """
    if isinstance(content, str):
        content = {"table": content}
    if not isinstance(content, Mapping) or content.get("table") is None:
        raise ValueError(f"sram is {shown(content)}; it must be a table ({', '.join(shipped())} or a .csv file), or "
                         f"a mapping with table and perhaps {', '.join(SRAM[1:])}")  # fmt: skip
    check_keys("sram", content, SRAM)
    table = content["table"]
    if isinstance(table, str):
        return Sram(**{**content, "table": find_table(table, Path(path).parent)})
    return Sram(**{**content, "table": _table(table)})


def dram_said(content: object, clock_ghz: float) -> dict[str, Any]:
    """Return the fields of a Technology for the DRAM of a file: a kind, or a mapping with what differs from it.

    Channels are those of the chip; without their number each core has one. Raises ValueError, one line.
    """
    if isinstance(content, str):
        content = {"kind": content}
    if not isinstance(content, Mapping):
        kinds = ", ".join(DRAM_KINDS)
        raise ValueError(f"dram is {shown(content)}; it must be one of {kinds}, or a mapping with {', '.join(DRAM)}")
    check_keys("dram", content, DRAM)
    kind, channels = content.get("kind"), content.get("channels")
    found: dict[str, Any] = {} if kind is None else fields_of(kind, clock_ghz)
    rate = None if kind is None else dram_kind(kind).gigabytes_per_second
    if "pj_per_bit" in content:
        found["dram_pj_per_byte"] = 8 * _number("dram.pj_per_bit", content["pj_per_bit"])
    if "gigabytes_per_second" in content:
        rate = _number("dram.gigabytes_per_second", content["gigabytes_per_second"])
        found["dram_bytes_per_cycle"] = max(1, math.floor(rate / clock_ghz))
    if "channels" in content:
        check_count("dram.channels", channels, MAX_CHANNELS)
        if rate is None:
            raise ValueError("dram.channels needs a kind, or gigabytes_per_second of one channel")
        found |= {"dram_channels": channels, "channel_gb_per_s": rate}
        found.pop("dram_bytes_per_cycle", None)
    if "background_mw" in content:
        found["dram_background_mw"] = _number("dram.background_mw", content["background_mw"])
    return found


def sram_text(sram: Sram) -> str:
    """Return an Sram as YAML on one line that `sram_said` reads again from a file in any folder."""
    table = sram.table
    parts = [f"table: {table.name if _ships(table) else _inline(table)}"]
    for each in fields(sram)[1:]:
        value = getattr(sram, each.name)
        if value != each.default:
            parts.append(f"{each.name}: {str(value).lower() if isinstance(value, bool) else value}")
    return "{" + ", ".join(parts) + "}"


def dram_source(kind: str) -> str:
    """Return where the numbers of a kind come from, with them."""
    found = dram_kind(kind)
    rate = f"{found.gigabytes_per_second:g} GB/s a channel, {found.burst_bytes} B a burst"
    return f"{found.pj_per_bit:g} pJ/bit, {rate}; {found.source}"


def check_keys(what: str, content: Mapping[Any, Any], known: tuple[str, ...]) -> None:
    """Raise ValueError, one line, where there is a key of another name."""
    for key in content:
        if key not in known:
            raise ValueError(f"unknown key {shown(key)}; {what} has {', '.join(known)}")


def _table(content: object) -> SramTable:
    """Return a table that stands in the file itself."""
    if not isinstance(content, Mapping):
        raise ValueError(f"sram.table is {shown(content)}; it must be a name, a .csv file, or {', '.join(TABLE)}")
    check_keys("sram.table", content, TABLE)
    rows = content.get("rows")
    name, source = (content.get(key, "") for key in TABLE[:2])
    if not isinstance(name, str) or not isinstance(source, str) or not isinstance(rows, list):
        raise ValueError(f"sram.table must have a name, a source and a list of rows, got {shown(dict(content))}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, list) or not len(COLUMNS) - 1 <= len(row) <= len(COLUMNS):
            raise ValueError(f"sram.table: row {number} is {shown(row)}; it must be a list of {', '.join(COLUMNS)}")
    return SramTable(name, tuple(SramRow(*row) for row in rows), source)


def _ships(table: SramTable) -> bool:
    return table.name in shipped() and find_table(table.name) == table


def _inline(table: SramTable) -> str:
    rows = [list(row) if row.cycle_ns is not None else list(row)[:-1] for row in table.rows]
    return f"{{name: {dumps(table.name)}, source: {dumps(table.source)}, rows: {_yaml_rows(rows)}}}"


def _yaml_rows(rows: Iterable[Iterable[float | None]]) -> str:
    lines = ("[" + ", ".join(map(_yaml_number, row)) + "]" for row in rows)
    return "[" + ", ".join(lines) + "]"


def _yaml_number(value: float | None) -> str:
    text = repr(value)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text  # YAML reads 1e-06 as text


def _number(where: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= MAX_NUMBER:
        raise ValueError(
            f"{where} must be a finite number of at least 0 and at most {MAX_NUMBER:g}, got {shown(value)}"
        )
    return value
