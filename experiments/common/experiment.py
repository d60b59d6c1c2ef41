"""One experiment as one value: its question, its table, its picture, what --quick changes, and what it takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.sweep.points import Point, Run
from experiments.sweep.sweep import sweep

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

Compute = Callable[[Run, Sequence[Point]], list[Point]]  #: sweeps a function; each point comes back with its answer


class Seconds(NamedTuple):
    """What a script takes on one core, measured; for the estimate it prints first."""

    quick: float
    full: float


@dataclass(frozen=True)
class Experiment:
    """A question, how its table is computed, and how that is drawn.

    `rows` is called as rows(compute, seed, **settings) and returns the rows of the table; `plot` only draws. The
    settings are those of `full`; with --quick those of `quick` in their place.
    """

    name: str  #: of the script, its folder and its files
    question: str
    rows: Callable[..., Any]
    plot: Callable[[pandas.DataFrame], Figure]
    seconds: Seconds
    full: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    options: Callable[[argparse.ArgumentParser], object] | None = None  #: adds to the parser what this script takes

    def run(
        self,
        folder: Path,
        *,
        quick: bool = False,
        seed: int = 0,
        workers: int = 1,
        dask: str | None = None,
        **given: Any,
    ) -> pandas.DataFrame:
        """Return the table; what is computed on the way is stored in the folder, and never computed again there.

        workers, dask: see `experiments.sweep.sweep`. given: in place of the settings of this experiment, where not
        None. Raises SweepError, one line, where a point cannot be computed or stored.
        """
        import pandas

        def compute(run: Run, points: Sequence[Point]) -> list[Point]:
            answers = sweep(run, points, folder, workers=workers, dask=dask)
            return [{**point, **answer} for point, answer in zip(points, answers)]

        chosen = {name: value for name, value in given.items() if value is not None}
        return pandas.DataFrame(self.rows(compute, seed, **{**self.full, **(self.quick if quick else {}), **chosen}))
