"""Figure 14 of the paper: what more weight on energy buys, and the memory it takes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from experiments.common import command, published, searches
from experiments.common.drawing import LINES, panels, title
from experiments.sweep.sweep import sweep

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

QUESTION = "How does alpha trade capacity for energy (Figure 14)?"
SECONDS = command.Seconds(quick=12, full=125)
ALPHAS = (published.FIGURE_14_FIRST_ALPHA, 0.001, 0.002, 0.005, 0.01)  #: bytes per pJ; all but the first our choice
QUICK_SAMPLES = 5_000


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
    """Return one row per network and alpha: the memory, its energy, and that over the energy of the first alpha."""
    import pandas

    named = networks or (searches.FOUR[:2] if quick else searches.FOUR)
    count = samples or (QUICK_SAMPLES if quick else searches.SAMPLES)
    points = [
        searches.point(name, "shared", "Cocco", seed=seed, samples=count, alpha=alpha)
        for name in named
        for alpha in ALPHAS
    ]
    rows = searches.rows_of(points, sweep(searches.explored, points, folder, workers=workers, dask=dask))
    first = {row["network"]: row["energy_pj"] for row in rows if row["alpha"] == ALPHAS[0]}
    columns = ("network", "alpha", "shared_kb", "energy_pj", "energy_share", "cost", "samples", "seed", "status", "gap")
    for row in rows:
        row["energy_share"] = row["energy_pj"] / first[row["network"]]
    return pandas.DataFrame([{name: row[name] for name in columns} for row in rows])


def plot(table: pandas.DataFrame) -> Figure:
    """Return energy and capacity against alpha, a line per network."""
    figure, axes = panels(1, 2, 9, 3.8)
    for (name, rows), style in zip(table.groupby("network", sort=False), LINES):
        axes[0].plot(rows["alpha"], rows["energy_share"], label=title(str(name)), **style)
        axes[1].plot(rows["alpha"], rows["shared_kb"], label=title(str(name)), **style)
    for each in axes:
        each.set_xscale("log")
        each.set_xticks(ALPHAS, [f"{alpha:g}" for alpha in ALPHAS])
        each.minorticks_off()
        each.set_xlabel("alpha (bytes per pJ)")
    axes[0].set_ylabel(f"energy (alpha = {ALPHAS[0]:g}: 1)")
    axes[1].set_ylabel("shared buffer of one core (KB)")
    axes[0].legend(fontsize=8)
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line of this script and return its exit code."""
    return command.main("alpha_sweep", run, plot, question=QUESTION, seconds=SECONDS, arguments=arguments)


if __name__ == "__main__":
    sys.exit(main())
