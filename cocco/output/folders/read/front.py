"""What a folder holds, checked: a run, or a front that `cocco pareto -o` or `cocco explore --minimize -o` wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cocco.output.folders.read import run
from cocco.output.folders.read.chips import ChipsRun, read_chips
from cocco.output.folders.read.compared import SAME
from cocco.output.folders.read.parts import Placing, placing_of
from cocco.output.folders.read.reading import NUMBER, Reader, about_of, result_file, table_of
from cocco.output.folders.written.about import FRONT, RESULT, SAMPLES_FILE, About
from cocco.output.text.layout.numbers import buffer_columns
from cocco.problem.criteria import CRITERIA
from simulator.accelerator import Accelerator
from simulator.model.subgraph.tiling import TileRule
from workloads.errors import FileFormatError

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class FrontRun:
    """What a search for a front, or for the least of a criterion under limits, answered.

    Under limits there is one point, and accelerator and networks are its plan. If no memory meets the limits, these are
    None and empty, and the point is the nearest one.
    """

    folder: Path
    about: About
    method: str
    objectives: tuple[str, ...]
    names: tuple[str, ...]  #: of the networks
    status: str
    samples: int
    minimize: str | None
    limits: dict[str, float]  #: by criterion
    accelerator: Accelerator | None
    tile_rule: TileRule
    networks: tuple[run.RunNetwork, ...]
    front: pandas.DataFrame  #: as pareto.csv
    points: pandas.DataFrame  #: as samples.csv
    placing: tuple[Placing | None, ...]  #: by row of the front; None: no addresses were sought
    space: tuple[str, ...] = ()  #: as in Run
    floors: tuple[dict[str, float | None], ...] = ()  #: under limits, what no plan at a capacity undercuts, by column

    @property
    def is_limited(self) -> bool:
        """Whether one criterion was minimised under limits."""
        return self.minimize is not None

    @property
    def axes(self) -> tuple[str, ...]:
        """The objectives as they are drawn, the first across: the capacity where it is one of them."""
        return tuple(sorted(self.objectives, key=lambda name: name != "capacity"))


def read_front(folder: Path, about: About, result: Reader) -> FrontRun:
    """Return the front in a folder."""
    limited = "minimize" in result.content
    minimize = result.one_of("minimize", CRITERIA) if limited else None
    limits = _limits(result) if limited else {}
    plans = run.plans_of(result) if limited and "nearest" not in result.content else []
    points = _table(folder / SAMPLES_FILE, ["sample"])
    objectives = _objectives(folder, points)
    columns = [CRITERIA[name].column for name in objectives]
    front = _table(folder / FRONT, [*columns, "partition"], texts=["partition"])
    told = [result] if limited else result.items("front")
    if len(front) != len(told):
        raise FileFormatError(f"{folder / 'pareto.csv'}: has {len(front)} rows, {RESULT} tells of {len(told)} points")
    for row, point in zip(front.to_dict("records"), told):
        point = point.inner("nearest") if "nearest" in point.content else point
        for column in (each for each in columns if each in point.content):
            if abs(row[column] - point.get(column, *NUMBER)) > SAME * abs(row[column]):
                raise FileFormatError(
                    f"{folder / FRONT}: {column} is {row[column]!r}, {RESULT} has {point.content[column]!r}"
                )
    names = [plan.get("network", str) for plan in plans] or result.list_of("networks", str)
    return FrontRun(
        folder, about, "search under limits" if limited else result.get("method", str), objectives, tuple(names),
        result.get("status", str), result.get("samples", int),
        minimize, limits,
        run.common_accelerator(plans), run.tile_rule_of(plans), run.networks_of(plans), front, points,
        tuple(map(placing_of, told)), run.space_said(result), _floors(result, columns) if limited else (),
    )  # fmt: skip


def _objectives(folder: Path, points: pandas.DataFrame) -> tuple[str, ...]:
    """Return the criteria that samples.csv has, in its order: those of the front, or of the limits and more."""
    known = {unit.column: name for name, unit in CRITERIA.items()}
    found = tuple(known[column] for column in points.columns if column in known)
    if len(found) < 2:
        raise FileFormatError(f"{folder / 'samples.csv'}: has fewer than two of the columns {', '.join(known)}")
    return found


def _limits(result: Reader) -> dict[str, float]:
    inner = result.inner("limits")
    known = {unit.column: name for name, unit in CRITERIA.items()}
    for column in inner.content:
        if column not in known:
            raise FileFormatError(f"{result.path}: {inner.where}{column!r} is none of {', '.join(known)}")
    return {known[column]: float(inner.get(column, int, float)) for column in inner.content}


def _floors(result: Reader, columns: Sequence[str]) -> tuple[dict[str, float | None], ...]:
    rows = result.items("floors") if "floors" in result.content else []
    return tuple({name: row.optional(name) for name in columns} for row in rows)


def _table(path: Path, needed: Sequence[str], texts: Sequence[str] = ()) -> pandas.DataFrame:
    """Return a table that has the buffers and these columns."""
    table = table_of(path, texts)
    missing = [column for column in needed if column not in table.columns]
    if missing or not buffer_columns(table.columns):
        raise FileFormatError(f"{path}: has no column {(missing or ['..._buffer_bytes'])[0]!r}")
    return table


def read(folder: Path) -> run.Run | FrontRun | ChipsRun:
    """Return what a search wrote into a folder.

    Raises FileFormatError, one line that names the file, if it is missing, cut off or something else.
    """
    if not folder.is_dir():
        raise FileFormatError(f"{folder}: is no directory; give one that 'cocco explore' or 'cocco pareto' wrote (-o)")
    content = result_file(folder)
    result = content.inner("result")
    about = about_of(content)
    if "machines" in result.content:
        return read_chips(folder, about, result)
    is_front = "front" in result.content or "minimize" in result.content
    return read_front(folder, about, result) if is_front else run.read_run(folder, about, result)
