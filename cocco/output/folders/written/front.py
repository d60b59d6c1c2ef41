"""Where fronts go: points, samples, picture and a partition file for each point, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.exploration.answers.front import Front, FrontPoint
from cocco.exploration.answers.limited import Limited
from cocco.output.folders.written.about import FRONT, PARTITIONS, RESULT, SAMPLES_FILE, csv_text, json_text
from cocco.output.folders.written.atomic_write import whole
from cocco.output.pictures.saving import PICTURE_FORMATS, save_picture
from cocco.problem.criteria import CRITERIA
from workloads.files import write_atomic

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cocco.chips.front import ChipPoint

PICTURE = "pareto"
FILES = [RESULT, FRONT, SAMPLES_FILE, *(f"{PICTURE}{suffix}" for suffix in PICTURE_FORMATS)]


def save(folder: Path, found: Front | Limited, about: dict[str, Any], is_brief: bool = False) -> list[Path]:
    """Write all files, or none, and return their paths, one of partitions/ for all.

    `about` is what result.json holds (`About`). Rows of pareto.csv name their partition files. is_brief: as after
    Ctrl-C (cocco.output.folders.written.run).
    """
    points = found.found if isinstance(found, Front) else _point(found)
    with whole(folder) as new:
        partitions = save_partitions(new / PARTITIONS, points)
        front = found.front if isinstance(found, Front) else _front(found, points[0])
        texts = {
            RESULT: json_text(about),
            FRONT: csv_text(front.assign(partition=partitions)),
            SAMPLES_FILE: csv_text(found.points, is_brief),
        }
        for name, text in texts.items():
            write_atomic(new / name, text)
        written = [new / PARTITIONS, *(new / name for name in texts)]
        written += [] if is_brief else save_picture(new, PICTURE, front_picture(found))
    return [folder / path.relative_to(new) for path in written]


def front_picture(found: Front | Limited) -> Figure:
    """Return all samples by the first two objectives, the best under limits as a star."""
    from cocco.output.pictures import front_figure

    x, y = found.objectives[:2]
    if isinstance(found, Limited) and y == "capacity":
        x, y = y, x
    points = found.points.rename(columns={CRITERIA[name].column: name for name in found.objectives})
    best = None
    if isinstance(found, Limited) and found.best is not None:
        values = dict(zip(found.objectives, found.best.values))
        best = values[x], values[y]
    names = ", ".join(found.networks)
    return front_figure({names: points[[x, y]]}, x, y, best=best, title=f"{names}: {found.samples:,} samples")


def _point(limited: Limited) -> tuple[FrontPoint, ...]:
    point = limited.best or limited.nearest
    assert point is not None, "what has no point is not saved"
    return (point,)


def _front(limited: Limited, point: FrontPoint) -> Any:
    return Front(
        "", limited.objectives, limited.networks, limited.weights, limited.seed, limited.samples, limited.status,
        (point,), limited.engine, limited.points,
    ).front  # fmt: skip


def save_partitions(folder: Path, points: Sequence[FrontPoint | ChipPoint]) -> list[str]:
    """Write the partitions of each point and return their names, several separated by spaces."""
    folder.mkdir()
    width, names = len(str(len(points))), list[str]()
    for number, point in enumerate(points, 1):
        stem = f"{number:0{width}}"
        files = [f"{stem}.json"]
        if len(point.plans) > 1:
            files = [f"{stem}-{place}.json" for place in range(1, len(point.plans) + 1)]
        for plan, name in zip(point.plans, files):
            plan.save(folder / name, point.accelerator)
        names.append(" ".join(f"{PARTITIONS}/{name}" for name in files))
    return names
