"""The tables of docs/importing.md, from files of answers, between markers of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]

PAGE = Path(__file__).parents[2] / "docs" / "importing.md"
CLOSE = 1.05  #: our choice: from here on the page says how far a plan is from the floor, and "floor" below


def architectures(rows: Sequence[Row]) -> str:
    """Return a line for each architecture that is read, and the number of each library."""
    loaded = [row for row in rows if row["status"] == "loaded"]
    lines = [
        "| architecture | layers | MACs, million | torch's counter | weights, million | of parameters | at 2 MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in loaded:
        lines.append(
            f"| {row['name']} | {row['layers']:,} | {row['macs'] / 1e6:,.1f} | {counter(row)} | "
            f"{row['weights'] / 1e6:,.3f} | {of_parameters(row)} | {plan(row)} |"
        )
    return "\n".join(lines)


def counter(row: Row) -> str:
    """Return how the MACs compare with those of torch's counter."""
    if row["counted"] is None:
        return "does not run"
    return "equal" if row["counted"] == row["macs"] else f"{row['counted'] / 1e6:,.1f}"


def of_parameters(row: Row) -> str:
    """Return how the weights follow from the module's parameters of two dimensions and more, in millions."""
    more = row["notes"].get("shared", 0)
    less = {how: row["notes"].get(how, 0) for how in ("chosen", "read", "not loaded")}
    words = [f"{row['parameters'] / 1e6:,.3f}"]
    words += [f"+ {more / 1e6:,.3f} shared"] if more else []
    words += [f"- {size / 1e6:,.3f} {how}" for how, size in less.items() if size]
    return " ".join(words)


def plan(row: Row) -> str:
    """Return off-chip bytes over the least that any plan has, and whether the plan was executed as priced."""
    if row.get("plan") in (None, "none"):
        return "no price"
    over = row["ema"] / row["floor"]
    return f"{over:.2f}" + ("" if row["plan"] == "verified" else ", differs")


def exports(rows: Sequence[Row]) -> str:
    """Return a line for each architecture: which of its ONNX files have the MACs and weights of the module."""
    forms = list(dict.fromkeys(form for row in rows for form, found in row.items() if isinstance(found, dict)))
    forms.sort(key=lambda form: (form.startswith("int8"), form.split()[-1]))
    lines = [f"| architecture | {' | '.join(forms)} |", f"|---|{'---|' * len(forms)}"]
    for row in rows:
        lines.append(f"| {row['name']} | {' | '.join(_export(row, row[form]) for form in forms)} |")
    return "\n".join(lines)


def _export(row: Row, found: Row) -> str:
    """The status of one file, or its counts where they are not those of the module."""
    if found["status"] != "loaded":
        return {"not made": "no file"}.get(found["status"], found["status"])
    if (found["macs"], found["weights"]) == (row["macs"], row["weights"]):
        return "equal"
    return f"{found['macs'] / row['macs']:.3f}, {found['weights'] / row['weights']:.3f}"


TABLES: dict[str, Callable[[Sequence[Row]], str]] = {"architectures": architectures, "exports": exports}


def on_page(page: str, name: str, rows: Sequence[Row]) -> str:
    """Return the page with this table between its markers; raises ValueError where it has none."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page has no markers {begin} and {end}")
    before, rest = page.split(begin)
    return f"{before}{begin}\n{TABLES[name](rows)}\n{end}{rest.split(end)[1]}"
