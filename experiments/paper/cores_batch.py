"""Table 3 of the paper: energy, latency and memory with 1, 2, 4 cores and batches of 1, 2, 8."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.common import command, published, searches
from experiments.common.drawing import PAPER_STYLE, bars, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.common.published import with_paper
from experiments.sweep.points import Point

CORES, BATCHES = (1, 2, 4), (1, 2, 8)
CYCLES_PER_MS = 1e6  #: at 1 GHz (Cocco, Sec. 5.1.2)


def rows(
    compute: Compute, seed: int, networks: Sequence[str], samples: int, cores: Sequence[int], batch: Sequence[int],
    case: Mapping[str, Any],
) -> list[Point]:  # fmt: skip
    """Return one row per network, cores and batch: energy and latency of the batch, and the buffer of one core."""
    common: dict[str, Any] = {"seed": seed, "samples": samples}
    points = [
        searches.point(name, **{"space": "shared", "method": "Cocco", **case}, **common, cores=n, batch=each)
        for name in networks
        for n in cores
        for each in batch
    ]
    return [_row(row, case) for row in compute(searches.explored, points)]


def _row(row: Point, case: Mapping[str, Any]) -> Point:
    ours = {
        "network": row["network"],
        "cores": row["cores"],
        "batch": row["batch"],
        "energy_mj": row["energy_pj"] * 1e-9,
        "latency_ms": row["latency_cycles"] / CYCLES_PER_MS,
        **searches.sizes(row),
        **{name: row[name] for name in ("cost", "samples", "seed", "status", "gap")},
    }
    is_paper = row["space"] == "shared" and case.get("alpha", searches.ALPHA) == searches.ALPHA
    cell = published.TABLE_3.get(row["network"], {}).get(f"{row['cores']}x{row['batch']}") if is_paper else None
    return with_paper(ours, dict(zip(published.TABLE_3_FIELDS, cell or (None,) * 3)))


def plot(table: pandas.DataFrame) -> Figure:
    """Return energy, latency and memory of each network: ours as bars, the paper's as marks."""
    names = list(dict.fromkeys(table["network"]))
    table = table.assign(buffers_kb=searches.capacity_kb(table))
    table = table.assign(paper_buffers_kb=table.get("paper_shared_kb"))
    columns = {"energy_mj": "energy (mJ)", "latency_ms": "latency (ms)", "buffers_kb": "buffers of one core (KB)"}
    figure, axes = panels(len(columns), len(names), max(6.4, 3 * len(names)), 7)
    for place, (column, label) in enumerate(columns.items()):
        for i, name in enumerate(names):
            each = axes[place * len(names) + i]
            _draw(each, table[table["network"] == name], column)
            if place == 0:
                each.set_title(title(name), size=10)
            if i == 0:
                each.set_ylabel(label)
            if place == len(columns) - 1:
                each.set_xlabel("batch")
    axes[0].legend(fontsize=7)
    return figure


def _draw(axes: Axes, table: pandas.DataFrame, column: str) -> None:
    heights: dict[str, Sequence[float | None]] = {}
    paper: dict[str, list[float]] = {}
    for cores, rows in table.groupby("cores"):
        label = f"{cores} core{'s' if cores != 1 else ''}"
        heights[label] = [float(value) for value in rows[column]]
        paper[label] = [float(value) if value is not None else float("nan") for value in rows[f"paper_{column}"]]
    middles = bars(axes, [str(batch) for batch in table["batch"].unique()], heights)
    for i, (label, places) in enumerate(middles.items()):
        axes.plot(places, paper[label], label="the paper" if i == 0 else None, **PAPER_STYLE)


EXPERIMENT = Experiment(
    "cores_batch",
    "What do more cores and larger batches cost (Table 3)?",
    rows,
    plot,
    Seconds(quick=8, full=220),
    full={"networks": searches.FOUR, "samples": searches.CORES_SAMPLES, "cores": CORES, "batch": BATCHES},
    quick={"networks": searches.FOUR[:1], "samples": 5_000},
    axes=("alphas", "buffers"),
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
