"""A script as those of experiments/: `python sweep_script.py --points 8 --seconds 0.2`."""

from __future__ import annotations

import argparse
import resource
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from experiments.common import command
from experiments.sweep.sweep import sweep
from tests.helpers.sweep_tasks import square

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    parser.add_argument("--points", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--most-bytes", type=int, help="the largest file that may be written, as on a full disk")


def run(
    *, quick: bool, seed: int, folder: Path, workers: int, dask: str | None,
    points: int, seconds: float, size: int, most_bytes: int | None,
) -> pandas.DataFrame:  # fmt: skip
    """Return one row per point."""
    import pandas

    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    asked: list[dict[str, Any]] = [{"x": x + seed, "seconds": seconds, "size": size} for x in range(points)]
    return pandas.DataFrame(sweep(square, asked, folder, workers=workers, dask=dask))


def plot(table: pandas.DataFrame) -> Figure:
    """Return the squares."""
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot().plot(table["x"], table["square"])
    return figure


if __name__ == "__main__":
    sys.exit(
        command.main("squares", run, plot, question="Squares?", seconds=command.Seconds(1, 240), options=add)
    )  # fmt: skip
