"""A script as those of experiments/: `python sweep_script.py --points 8 --seconds 0.2`."""

from __future__ import annotations

import argparse
import resource
import sys
from typing import TYPE_CHECKING

from experiments.common import command
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
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


def rows(
    compute: Compute, seed: int, points: int, seconds: float, size: int, most_bytes: int | None = None
) -> list[Point]:
    """Return one row per point."""
    if most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    return compute(square, [{"x": x + seed, "seconds": seconds, "size": size} for x in range(points)])


def plot(table: pandas.DataFrame) -> Figure:
    """Return the squares."""
    from matplotlib.figure import Figure

    figure = Figure()
    figure.add_subplot().plot(table["x"], table["square"])
    return figure


EXPERIMENT = Experiment("squares", "Squares?", rows, plot, Seconds(1, 240), options=add)

if __name__ == "__main__":
    sys.exit(command.main(EXPERIMENT))
