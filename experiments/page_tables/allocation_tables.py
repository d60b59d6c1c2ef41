"""The tables of docs/allocation.md on time, in Markdown, from experiments/reference/*.csv.

`python -m experiments.allocation_tables` prints them; a test keeps the page equal to them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas

from experiments.page_tables.tables import markdown, reference
from experiments.paper.related import allocation_time


def solver_times() -> str:
    """Return milliseconds of CPU, median and spread, of each method on whole instances."""
    short = allocation_time.summary(reference("allocation_time"))
    whole = short[short["part"].astype(str) == "all"].to_dict("records")
    cells = {(row["instance"], row["method"]): _spread(row) for row in whole}
    methods = [method for method in allocation_time.METHODS if method in {*short["method"]}]
    names = dict.fromkeys(row["instance"] for row in whole)
    rows = [[name, *(cells.get((name, method), "-") for method in methods)] for name in names]
    return markdown(["ms", *(allocation_time.LABELS[method] for method in methods)], rows)


def _spread(found: Mapping[Any, Any]) -> str:
    """Return median and, in brackets, least and most; with > where not all seeds were decided."""
    median, least, most = (f"{_rounded(1e3 * found[name]):,}" for name in ("median", "least", "most"))
    more = "" if found["decided"] == found["seeds"] else f"{found['decided']} of {found['seeds']}: > "
    return f"{more}{median} ({least}-{most})"


def _rounded(value: float) -> int | float:
    """Round to two significant digits."""
    digits = 1 - math.floor(math.log10(value))
    return round(value, digits) if digits > 0 else int(round(value, digits))


def solver_summary() -> str:
    """Return of each method how many questions it decides, and its median time over ours, over all instances."""
    short = allocation_time.summary(reference("allocation_time"))
    rows = []
    for part in dict.fromkeys(short["part"].astype(str)):
        for method in allocation_time.METHODS:
            mine = short[(short["part"].astype(str) == part) & (short["method"] == method)]
            if mine.empty:
                continue
            ratio, spread = _mean(mine["over_ours"]), mine["most"] / mine["least"]
            rows.append([
                "all" if part == "all" else f"first {part}", allocation_time.LABELS[method],
                f"{mine['decided'].sum()} of {mine['seeds'].sum()}",
                f"{ratio:,.1f}", f"{_mean(spread):.2f}", f"{spread.max():.1f}",
            ])  # fmt: skip
    heads = ["buffers", "method", "decided", "median time over auto's", "most over least", "at worst"]
    return markdown(heads, rows)


def _mean(values: Sequence[float] | pandas.Series[float]) -> float:
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


PAGES: dict[str, tuple[Callable[[], str], ...]] = {"allocation.md": (solver_summary, solver_times)}


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for tables in PAGES.values() for table in tables) + "\n")
