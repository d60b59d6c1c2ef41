"""The tables of docs/experiments.md, in Markdown, from experiments/reference/*.csv.

`python -m experiments.tables` prints them; a test keeps the page equal to them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from importlib import resources
from typing import Any

import pandas

from experiments.common.drawing import TITLES

Row = dict[str, Any]

FIXED = "Buf"  #: with which the names of the rows of fixed hardware start, in Tables 1 and 2


def reference(name: str) -> pandas.DataFrame:
    """Return a kept table; raises FileNotFoundError where there is none."""
    with (resources.files("experiments") / "reference" / f"{name}.csv").open(encoding="utf-8") as file:
        return pandas.read_csv(file)


def fusion_depth() -> str:
    """Figure 3: change of traffic and bandwidth against L = 1."""
    table = reference("fusion_depth")
    heads = [""]
    for what in ("EMA", "of activations", "EMA / latency", "mean need"):
        heads += [f"{what}, 3" if heads[1:] else f"{what}, L = 3", "5"]
    rows = []
    for network in _networks(table):
        kept = [_one(table, network=network, layers=layers) for layers in (3, 5)]
        columns = ("ema_share", "ema_activation_share", "rate_share", "bandwidth_share")
        rows.append([TITLES[network], *(_percent(each[name] - 1) for name in columns for each in kept)])
    return markdown(heads, rows)


def partition_quality() -> str:
    """Figure 11: EMA and bandwidth over greedy's, and the gap of ours."""
    table = reference("partition_quality")
    methods = ("dp", "enumeration", "Cocco")
    heads = ["", "greedy, MB", *(f"EMA: {methods[0]}", *methods[1:]), *(f"EMA / latency: {methods[0]}", *methods[1:])]
    rows = []
    for network in _networks(table):
        kept = {name: _one(table, network=network, method=name) for name in ("greedy", *methods)}
        shares = [_share(kept[name][column]) for column in ("ema_share", "rate_share") for name in methods]
        megabytes = f"{kept['greedy']['ema_bytes'] / 2**20:.2f}"
        rows.append([TITLES[network], megabytes, *shares, f"{100 * kept['Cocco']['gap']:.2f} %"])
    return markdown([*heads, "gap of Cocco"], rows)


def coexploration(kind: str) -> str:
    """Table 1 (kind "separate") or 2 ("shared"): the memory and the cost of each method, ours / the paper's."""
    table = reference(f"coexploration_{kind}")
    names = ("shared_kb",) if kind == "shared" else ("global_kb", "weight_kb")
    rows = []
    for method in table["method"].unique():
        row = [method]
        for network in _networks(table):
            found = _one(table, network=network, method=method)
            ours, theirs = found["cost"] / 1e6, found["paper_cost"] / 1e6
            size = "+".join(f"{found[name]:.0f}" for name in names)
            published = "" if math.isnan(found[f"paper_{names[0]}"]) else _paper_size(found, names)
            if method.startswith(FIXED):
                size = published = ""
            text = f"{size}{ours:.3f}" if not size else f"{size}: {ours:.3f}"
            if not math.isnan(theirs):
                text += f" / {published}{theirs:.2f} ({_percent(found['cost_difference'])})"
            row.append(text)
        rows.append(row)
    return markdown(["", *(TITLES[name] for name in _networks(table))], rows)


def convergence(name: str = "convergence") -> str:
    """Figure 12: cost above the best known at the end; samples until within 1 %, medians over the seeds."""
    table = reference(name)
    rows = []
    for method in table["method"].unique():
        row = [method]
        for network in _networks(table):
            kept = table[(table["network"] == network) & (table["method"] == method)]
            last = 100 * kept[kept["samples"] == kept["samples"].max()]["over_best"]
            within = kept.drop_duplicates("seed")["samples_within"].fillna(math.inf).median()
            reached = "never" if math.isinf(within) else f"{within:,.0f}"
            row.append(f"{last.median():.2f} % ({last.min():.2f} to {last.max():.2f}); {reached}")
        rows.append(row)
    return markdown(["", *(TITLES[name] for name in _networks(table))], rows)


def sample_cloud() -> str:
    """Figure 13: mean and standard deviation of the cost of some groups, in millions."""
    table = reference("sample_cloud").drop_duplicates(["network", "group"])
    rows = []
    for group in (1, 2, 3, 5, 7, 10):
        found = [_one(table, network=name, group=group) for name in _networks(table)]
        rows.append([str(group), *(f"{each['mean_cost'] / 1e6:.2f} ± {each['deviation'] / 1e6:.2f}" for each in found)])
    return markdown(["group", *(TITLES[name] for name in _networks(table))], rows)


def alpha_sweep() -> str:
    """Figure 14: the chosen shared buffer, and its energy over that of the first alpha."""
    table = reference("alpha_sweep")
    rows = []
    for alpha in table["alpha"].unique():
        row = [f"{alpha:g}"]
        for network in _networks(table):
            found = _one(table, network=network, alpha=alpha)
            proven = " (proven)" if found["status"] == "optimal" else ""
            row.append(f"{found['shared_kb']} KB, {found['energy_share']:.3f}{proven}")
        rows.append(row)
    return markdown(["alpha", *(TITLES[name] for name in _networks(table))], rows)


def cores_batch() -> str:
    """Table 3: energy, latency and memory, with the differences to the paper."""
    table = reference("cores_batch")
    rows = []
    for cores, batch in dict.fromkeys(zip(table["cores"], table["batch"])):
        row = [f"{cores}, {batch}"]
        for network in _networks(table):
            found = _one(table, network=network, cores=cores, batch=batch)
            parts = [f"{found[name]:.2f}{_beside(found, name)}" for name in ("energy_mj", "latency_ms")]
            paper = found["paper_shared_kb"]
            parts.append(f"{found['shared_kb']}" + ("" if math.isnan(paper) else f" ({paper:.0f})"))
            row.append("; ".join(parts))
        rows.append(row)
    return markdown(["cores, batch", *(TITLES[name] for name in _networks(table))], rows)


def over_cores() -> str:
    """Table 3 at batch 1, over cores: ours and the paper's."""
    table = reference("cores_batch").query("batch == 1").sort_values("cores", kind="stable")
    columns = {"energy_mj": ("energy, mJ", 2), "latency_ms": ("latency, ms", 2), "shared_kb": ("KB of a core", 0)}
    rows = []
    for network in _networks(table):
        found, row = table[table["network"] == network], [TITLES[network]]
        for column, (_, digits) in columns.items():
            for values in (found[column], found[f"paper_{column}"]):
                row.append(", ".join("n/a" if math.isnan(each) else f"{each:.{digits}f}" for each in values))
        rows.append(row)
    heads = [head for name, _ in columns.values() for head in (name, "the paper")]
    cores = ", ".join(map(str, table["cores"].unique()))
    return markdown([f"batch 1, cores {cores}", *heads], rows)


TABLES: tuple[Callable[[], str], ...] = (
    fusion_depth,
    partition_quality,
    lambda: coexploration("separate"),
    lambda: coexploration("shared"),
    convergence,
    lambda: convergence("convergence_separate"),
    sample_cloud,
    alpha_sweep,
    cores_batch,
    over_cores,
)  #: in the order of the page


def _networks(table: pandas.DataFrame) -> list[str]:
    return list(table["network"].unique())


def _one(table: pandas.DataFrame, **where: Any) -> Row:
    """Return the one row with these values."""
    for column, value in where.items():
        table = table[table[column] == value]
    row: Row
    (row,) = table.to_dict("records")  # type: ignore[assignment]
    return row


def _paper_size(found: Row, names: Sequence[str]) -> str:
    return "+".join(f"{found[f'paper_{name}']:.0f}" for name in names) + ": "


def _beside(found: Row, name: str) -> str:
    difference = found[f"{name}_difference"]
    return "" if math.isnan(difference) else f" ({_percent(difference)})"


def _percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def _share(value: float) -> str:
    return "gave up" if math.isnan(value) else f"{value:.4f}"


def markdown(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines).replace("|  |", "| |").replace(" --- ", "---")


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for table in TABLES) + "\n")
