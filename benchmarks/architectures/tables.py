"""The tables of docs/importing.md, from files of answers, between markers of the page."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

Row = dict[str, Any]

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "importing.md"
#: counts that differ from those of torch, and why
REASONS = {
    "timm.sequencer2d_s": "the counter leaves LSTM out",
    "timm.maxvit_tiny_tf_224": "the counter has products of stored tables alone, which are computed once",
    "transformers.MambaForCausalLM": "the counter has what reads a scan's state, not its decay and what is added",
}
NO_FILE = "no file"
FAR = 4  #: times the least: plans beyond are explained, one by one


def read_rows(path: Path) -> dict[str, Row]:
    """Return the answers of a file by name; of several of one architecture the last."""
    if not path.exists():
        return {}
    return {row["name"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}


def architectures(rows: Sequence[Row]) -> str:
    """Return a line for each architecture that is read, and how many there are."""
    loaded = [row for row in rows if row["status"] == "loaded"]
    equal = sum(row["counted"] == row["macs"] for row in loaded)
    planned = [row for row in loaded if row.get("plan") == "verified"]
    numbers = sum(count for row in planned for how, count in row["compared"].items() if how in ("equal", "within"))
    lines = [
        f"{len(loaded)} of {len(rows)} load. MACs equal those of torch's counter in {equal}. Of {len(planned)} a "
        f"partition was executed as it is priced ({numbers:,} numbers equal or within); its bytes across DRAM are at "
        f"most {max((over(row) for row in planned), default=1):.2f} times the least, "
        f"{median(over(row) for row in planned) if planned else 1:.2f} in the median.",
        "",
        "| architecture | layers | MACs, million | torch's counter | weights, million | of parameters | at 2 MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in loaded:
        lines.append(
            f"| {row['name']} | {row['layers']:,} | {row['macs'] / 1e6:,.1f} | {counter(row)} | "
            f"{row['weights'] / 1e6:,.3f} | {of_parameters(row)} | {plan(row)} |"
        )
    for row in rows:
        if row["status"] != "loaded":
            lines.append(f"| {row['name']} | {row['status']}: {row['why'].split(': ', 1)[-1]} | | | | | |")
    return "\n".join(lines)


def counter(row: Row) -> str:
    """Return how the MACs compare with those of torch's counter."""
    if row["counted"] is None:
        return "does not run"
    if row["counted"] == row["macs"]:
        return "equal"
    return f"{row['counted'] / 1e6:,.1f}: {REASONS.get(row['name'], 'not explained')}"


def of_parameters(row: Row) -> str:
    """Return how the weights follow from the module's parameters of two dimensions and more, in millions."""
    words = [f"{row['parameters'] / 1e6:,.3f}"]
    for how, size in differences(row).items():
        number = f"{abs(size) / 1e6:,.3f}" if abs(size) >= 500 else f"{abs(size) / 1e6:,.6f}"
        words.append(f"{'+' if size > 0 else '-'} {number} {how}")
    return " ".join(words)


def differences(row: Row) -> dict[str, int]:
    """Return what is added to the parameters, and taken from them, to have the weights.

    Parameters that are read (tables of positions) are not noted apart from other constants that are; what is left over
    was multiplied into the weights of a layer (gains).
    """
    notes = row["notes"]
    found = {"shared": notes.get("shared", 0)} | {
        how: -notes.get(how, 0) for how in ("chosen", "not loaded", "experts")
    }
    rest = row["weights"] - row["parameters"] - sum(found.values())
    found["read" if -notes.get("read", 0) <= rest < 0 else "folded"] = rest
    return {how: size for how, size in found.items() if size}


def over(row: Row) -> float:
    """Return the bytes across DRAM of the plan over the least."""
    return float(row["ema"] / row["floor"])


def plan(row: Row) -> str:
    """Return off-chip bytes over the least that any plan has, and whether the plan was executed as priced."""
    if row.get("plan") in (None, "none"):
        return "no price: a window over time" if row.get("plan") else "not searched"
    return f"{over(row):.2f}" + ("" if row["plan"] == "verified" else ", differs")


def exports(rows: Sequence[Row]) -> str:
    """Return a line for each architecture: which of its ONNX files have the MACs and weights of the module."""
    forms = list(dict.fromkeys(form for row in rows for form, found in row.items() if isinstance(found, dict)))
    forms.sort(key=lambda form: (form.startswith("int8"), form.split()[-1]))
    every = [_export(row, row[form]) for row in rows for form in forms]
    made, same = sum(each != NO_FILE for each in every), every.count("equal")
    refused = every.count("refused")
    lines = [
        f"Of {len(every)} files {made} were made; {made - refused} of them are read, {same} as the module itself.",
        "",
        f"| architecture | {' | '.join(forms)} |",
        f"|---|{'---|' * len(forms)}",
    ]
    for row in rows:
        lines.append(f"| {row['name']} | {' | '.join(_export(row, row[form]) for form in forms)} |")
    return "\n".join([*lines, "", *_not_made(rows, forms)])


def _not_made(rows: Sequence[Row], forms: Sequence[str]) -> list[str]:
    """Why there is no file, reason by reason."""
    places: dict[str, list[str]] = {}
    for row in rows:
        for form in forms:
            if _export(row, row[form]) == NO_FILE:
                reason = row[form]["why"].splitlines()[0].partition(": ")[2].partition(". ")[0].split(" to ONNX")[0]
                places.setdefault(reason.partition("\x1b")[0], []).append(f"{row['name']} ({form})")
    return [f"- {NO_FILE}, {reason!r}: {', '.join(names)}" for reason, names in sorted(places.items())]


def _export(row: Row, found: Row) -> str:
    """The status of one file, or its counts where they are not those of the module."""
    if found["status"] != "loaded":
        return {"not made": NO_FILE}.get(found["status"], found["status"])
    if (found["macs"], found["weights"]) == (row["macs"], row["weights"]):
        return "equal"
    return f"{found['macs'] / row['macs']:.3f}, {found['weights'] / row['weights']:.3f}"


def files(rows: Sequence[Row]) -> str:
    """Return a line for each ONNX file of a package: its counts, or the line with which it is refused."""
    loaded = [row for row in rows if row["status"] == "loaded"]
    verified = sum(row["plan"] == "verified" for row in loaded)
    lines = [
        f"{len(loaded)} of {len(rows)} load; of {verified} a partition was executed as it is priced.",
        "",
        "| file | extents given | layers | MACs, million | weights, million | at 2 MB |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        package, path = row["name"].split(": ")
        given = " ".join(f"{name}={extent}" for name, extent in row["extents"].items()) or "none"
        start = f"| {package}: {path.rpartition('/')[2]} | {given} |"
        if row["status"] == "loaded":
            counts = f"{row['layers']:,} | {row['macs'] / 1e6:,.1f} | {row['weights'] / 1e6:,.3f}"
            lines.append(f"{start} {counts} | {plan(row)} |")
        else:
            lines.append(f"{start} refused: {row['why']} | | | |")
    return "\n".join(lines)


TABLES: dict[str, Callable[[Sequence[Row]], str]] = {"architectures": architectures, "exports": exports, "files": files}


def on_page(page: str, name: str, rows: Sequence[Row]) -> str:
    """Return the page with this table between its markers; raises ValueError where it has none."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    if page.count(begin) != 1 or page.count(end) != 1:
        raise ValueError(f"the page has no markers {begin} and {end}")
    before, rest = page.split(begin)
    return f"{before}{begin}\n{TABLES[name](rows)}\n{end}{rest.split(end)[1]}"
