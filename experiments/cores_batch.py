"""Table 3 of the paper: energy, latency and memory with 1, 2, 4 cores and batches of 1, 2, 8."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.common import command, published, searches
from experiments.common.comparison import with_paper
from experiments.common.drawing import PAPER, bars, panels, title
from experiments.sweep.points import Point
from experiments.sweep.sweep import sweep

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

QUESTION = "What do more cores and larger batches cost (Table 3)?"
SECONDS = command.Seconds(quick=8, full=220)
CORES, BATCHES = (1, 2, 4), (1, 2, 8)
QUICK_SAMPLES = 5_000
CYCLES_PER_MS = 1e6  #: at 1 GHz (Cocco, Sec. 5.1.2)


def run(
    *,
    quick: bool,
    seed: int,
    folder: Path,
    workers: int = 1,
    dask: str | None = None,
    networks: Sequence[str] | None = None,
    samples: int | None = None,
) -> pandas.DataFrame:
    """Return one row per network, cores and batch: energy and latency of the batch, and the buffer of one core."""
    import pandas

    named = networks or (searches.FOUR[:1] if quick else searches.FOUR)
    count = samples or (QUICK_SAMPLES if quick else searches.SAMPLES)
    points = [
        searches.point(name, "shared", "Cocco", seed=seed, samples=count, cores=cores, batch=batch)
        for name in named
        for cores in CORES
        for batch in BATCHES
    ]
    rows = searches.rows_of(points, sweep(searches.explored, points, folder, workers=workers, dask=dask))
    return pandas.DataFrame([_row(row) for row in rows])


def _row(row: Point) -> Point:
    ours = {
        "network": row["network"],
        "cores": row["cores"],
        "batch": row["batch"],
        "energy_mj": row["energy_pj"] * 1e-9,
        "latency_ms": row["latency_cycles"] / CYCLES_PER_MS,
        "shared_kb": row["shared_kb"],
        **{name: row[name] for name in ("cost", "samples", "seed", "status", "gap")},
    }
    cell = published.TABLE_3.get(row["network"], {}).get((row["cores"], row["batch"]))
    return with_paper(ours, cell._asdict() if cell else dict.fromkeys(published.Machine._fields))


def plot(table: pandas.DataFrame) -> Figure:
    """Return energy, latency and memory of each network: ours as bars, the paper's as marks."""
    names = list(dict.fromkeys(table["network"]))
    columns = {"energy_mj": "energy (mJ)", "latency_ms": "latency (ms)", "shared_kb": "shared buffer (KB)"}
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
    middles = bars(axes, [str(batch) for batch in BATCHES], heights)
    for label, places in middles.items():
        axes.plot(places, paper[label], label="the paper" if label == "1 core" else None, **PAPER)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of this script and return its exit code."""
    return command.main("cores_batch", run, plot, question=QUESTION, seconds=SECONDS, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
