"""What the papers claim, beside what the reference tables say of it; in Markdown.

`python -m experiments.claims` prints it; a test keeps docs/experiments.md and docs/scheduling.md equal to it.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pandas

from experiments.common.drawing import title
from experiments.common.published import HEADLINE
from experiments.page_tables.tables import markdown, reference
from experiments.paper.related.schedules import BASELINES

OURS = "Cocco"  #: of which "Cocco (paper)" and "Cocco (paper, 500)" are the paper's algorithm
COLUMNS = [f"{order}_{method}_bytes" for order, method in BASELINES]


def headline() -> str:
    """How much lower the cost of Cocco is than that of the other methods: the least and the most of each table."""
    rows = []
    for number, kind in ((1, "separate"), (2, "shared")):
        table = reference(f"coexploration_{kind}")
        rows.append([f"Table {number}, ours", *_range(table, "cost", OURS)])
        rows.append([f"Table {number}, the paper's numbers", *_range(table, "paper_cost", OURS)])
    rows.append(
        ["the paper's text (Sec. 5.3.1, Table 1)", *(f"{100 * low:.2f} % ({where})" for low, where in HEADLINE)]
    )
    return markdown(["lower cost than the other methods", "least", "most"], rows)


def _range(table: pandas.DataFrame, column: str, method: str) -> list[str]:
    """Return the least and the most that a method is below another, and where."""
    lower = []
    for name, rows in table.groupby("network", sort=False):
        costs = {str(each): float(cost) for each, cost in rows.set_index("method")[column].dropna().items()}
        others = [each for each in costs if not each.startswith(OURS)]
        lower += [
            (1 - costs[method] / costs[each], f"{each}, {title(str(name))}") for each in others if method in costs
        ]
    return [f"{100 * share:.2f} % ({where})" for share, where in (min(lower), max(lower))]


def shared_or_separate() -> str:
    """The cost with one shared buffer over that with two separate ones, ours and the paper's."""
    pairs = _both_spaces()
    rows = [
        [str(method), *(_change(row["ours"]) + _beside(row["paper"]) for _, row in part.iterrows())]
        for method, part in pairs.groupby("method", sort=False)
    ]
    return markdown(["shared against separate", *(title(name) for name in pairs["network"].unique())], rows)


def _both_spaces() -> pandas.DataFrame:
    """Return one row per network and method: by how much a shared buffer changes the cost, ours and the paper's."""
    keys = ["network", "method"]
    tables = [reference(f"coexploration_{kind}")[[*keys, "cost", "paper_cost"]] for kind in ("separate", "shared")]
    both = tables[0].merge(tables[1], on=keys, suffixes=("_separate", "_shared"))
    ours = both["cost_shared"] / both["cost_separate"] - 1
    return both[keys].assign(ours=ours, paper=both["paper_cost_shared"] / both["paper_cost_separate"] - 1)


def agreement() -> dict[str, int]:
    """Count the cells of `shared_or_separate`: where shared is cheaper in ours, and where the paper says the same."""
    pairs = _both_spaces()
    known = pairs[pairs["paper"].notna() & ~pairs["method"].str.startswith(f"{OURS} (")]  # the paper has one algorithm
    same = (known["ours"] < 0) == (known["paper"] < 0)
    return {
        "cells": len(pairs), "ours": int((pairs["ours"] < 0).sum()), "known": len(known), "same": int(same.sum()),
    }  # fmt: skip


def baselines() -> str:
    """COSMA's reductions at M_R against the mean of the four baselines, and against the best of them."""
    rows = []
    for label, table in _schedules().items():
        known = table[table[COLUMNS].min(axis=1) > 0]
        mean = 1 - known["offchip_bytes"] / known[COLUMNS].mean(axis=1)
        best = 1 - known["offchip_bytes"] / known[COLUMNS].min(axis=1)
        rows.append([label, str(len(known)), f"{100 * mean.mean():.1f} %", f"{100 * best.mean():.1f} %"])
    return markdown(["less than the baselines, at M_R", "networks", "their mean", "the best of them"], rows)


def _schedules() -> dict[str, pandas.DataFrame]:
    """Return the rows at M_R: networks that people designed, without and with weights, and of architecture search."""
    people, found = reference("tensor_schedules"), reference("nas_schedules")
    people = people[people["operators"].notna() & people["budget"].str.contains("minimum")]
    weights = people["parameters"].astype(bool)
    return {
        "designed by people, activations": people[~weights],
        "designed by people, with weights": people[weights],
        "architecture search, activations": found[
            (found["method"] == "free") & found["budget"].str.contains("minimum")
        ],
    }


def policies() -> str:
    """How often greedy replacement moves less than Belady's, and the MPMF order less than the default."""
    people, found = reference("tensor_schedules"), reference("nas_schedules")
    tables = {
        "designed by people": people[people["operators"].notna()],
        "architecture search": found[found["method"] == "free"],
    }
    questions = {
        "greedy against Belady, default order": ("default_greedy", "default_belady"),
        "greedy against Belady, MPMF order": ("mpmf_greedy", "mpmf_belady"),
        "MPMF against default order, Belady": ("mpmf_belady", "default_belady"),
        "MPMF against default order, greedy": ("mpmf_greedy", "default_greedy"),
    }
    rows = []
    for label, (one, other) in questions.items():
        row = [label]
        for table in tables.values():
            first, second = table[f"{one}_bytes"], table[f"{other}_bytes"]
            row.append(f"{(first < second).sum()}, {(first == second).sum()}, {(first > second).sum()}")
        rows.append(row)
    heads = [f"{name}: less, equal, more" for name in tables]
    return markdown(["", *heads], rows)


def searched_networks() -> str:
    """COSMA's Table II and Figure 4: MB moved and CPU seconds of each method, beside the paper's seconds."""
    table = reference("nas_schedules")
    rows = []
    for (network, budget, size), part in table.groupby(["network", "budget", "bytes"], sort=False):
        by_method: dict[Any, Any] = {each["method"]: each for each in part.to_dict("records")}
        free = by_method["free"]
        mean = sum(free[column] for column in COLUMNS) / len(COLUMNS)
        row = [str(network), f"{budget}, {size:,}", f"{mean / 2**20:.1f}"]
        for method in ("fixed default", "fixed MPMF", "divide"):
            found = by_method[method]
            row += [_moved(found), f"{found['cpu_seconds']:.1f} ({found['paper_seconds']:g})"]
        bound = "" if free["status"] == "optimal" else f"{free['lower_bound_bytes'] / 2**20:.1f}"
        row += [_moved(free), bound, f"{free['cpu_seconds']:.1f}", f"{100 * free['reduction']:.1f} %"]
        rows.append(row)
    given = ["default order, best", "s (paper)", "MPMF order, best", "s (paper)", "divide", "s (paper)"]
    free = ["free order", "proved at least", "s", "less than baselines"]
    return markdown(["", "budget, bytes", "baselines, mean", *given, *free], rows)


def _moved(found: Mapping[str, Any]) -> str:
    return f"{found['offchip_bytes'] / 2**20:.1f}{'*' if found['status'] == 'optimal' else ''}"


def production() -> str:
    """Figure 4: bytes of a tile by consumption and by production, of blocks of ResNet50 and GoogleNet."""
    table = reference("production_centric")
    rows = []
    for (network, block), part in table.groupby(["network", "block"], sort=False):
        row = [title(str(network)), str(block), str(part["count"].iloc[0])]
        for _, each in part.iterrows():
            row.append(f"{each['consumption_bytes']:,}, {each['production_bytes']:,} ({each['times']:.2f})")
        rows.append(row)
    heads = [f"{tile} x {tile}: consumption, production" for tile in table["tile"].unique()]
    return markdown(["", "block", "times", *heads], rows)


def _change(share: float) -> str:
    return f"{100 * share:+.1f} %"


def _beside(share: float) -> str:
    return "" if math.isnan(share) else f" ({_change(share)})"


PAGES: dict[str, tuple[Callable[[], str], ...]] = {
    "experiments.md": (headline, shared_or_separate, production),
    "scheduling.md": (searched_networks, baselines, policies),
}  #: what each page shows


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for found in PAGES.values() for table in found) + "\n")
