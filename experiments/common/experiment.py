"""One experiment as one value: its question, its table, its picture, what --quick changes, and what it takes."""

from __future__ import annotations

import argparse
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from experiments.common import aims
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
    settings are those of `full`; with --quick those of `quick` in their place, and in place of both what it is aimed
    at. With `axes` it is also given `case`, the fields that all of its points share, and called once for each case.
    """

    name: str  #: of the script, its folder and its files
    question: str
    rows: Callable[..., Any]
    plot: Callable[[pandas.DataFrame], Figure]
    seconds: Seconds
    full: Mapping[str, Any] = field(default_factory=dict)
    quick: Mapping[str, Any] = field(default_factory=dict)
    options: Callable[[argparse.ArgumentParser], object] | None = None  #: adds to the parser what this script takes
    keeps: bool = False  #: whether its searches keep tensors on chip, whose proofs take longer
    check: Callable[[Mapping[str, Any]], None] | None = None  #: raises ValueError for settings that it cannot have
    axes: Sequence[str] = ()  #: which of `aims.FIELDS` it may be aimed at beside its own settings

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
        None; what an axis is aimed at becomes a column. Raises ValueError, one line, for what this experiment does not
        take, and SweepError where a point cannot be computed or stored.
        """

        import pandas

        def compute(run: Run, points: Sequence[Point]) -> list[Point]:
            asked = [{**point, **_contents(point)} for point in points]
            answers = sweep(run, asked, folder, workers=workers, dask=dask)
            return [{**point, **answer} for point, answer in zip(points, answers)]

        chosen = self.checked(given, quick)
        settings = {**self.full, **(self.quick if quick else {})}
        settings |= {name: value for name, value in chosen.items() if name not in self.axes}
        tables = []
        for case in aims.cases(chosen, self.axes):
            more = {"case": case} if self.axes else {}
            table = pandas.DataFrame(self.rows(compute, seed, **settings, **more))
            for place, (name, value) in enumerate(case.items(), start=1):
                if name not in table:
                    table.insert(place, name, value)
            tables.append(table)
        table = pandas.concat(tables, ignore_index=True).infer_objects()
        return table.astype(dict.fromkeys(table.columns[table.isna().all()], float))  # None is NaN, as read again

    def checked(self, given: Mapping[str, Any], quick: bool = False) -> dict[str, Any]:
        """Return what this experiment is aimed at, without what is None; ValueError, one line, for what it cannot."""
        chosen = aims.checked(self.name, self.taken, given)
        if self.check is not None:
            self.check({**self.full, **(self.quick if quick else {}), **chosen})
        return chosen

    @property
    def taken(self) -> list[str]:
        """The names of `aims.AIMS` that this experiment takes."""
        return [name for name in aims.AIMS if name in self.full or name in self.axes]

    def picture(self, table: pandas.DataFrame) -> Figure:
        """Return the picture; where axes vary, each combination of a network and its case is drawn as a network."""
        from experiments.common import drawing

        return self.plot(drawing.by_case(table, [aims.FIELDS[name] for name in self.axes]))


def _contents(point: Point) -> Point:
    """Return what distinguishes points on files that were changed in between; {} for what is built in."""
    files = {name: value for name, value in point.items() if isinstance(value, str) and os.path.isfile(value)}
    return {f"{name}_sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest() for name, path in files.items()}
