"""The folder of `cocco explore --cores 1 2 4`: a run folder for each number of cores, the table, the picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.output.folders.written import run
from cocco.output.folders.written.about import CORES_FILE, csv_text, folder_of
from cocco.output.folders.written.atomic_write import whole
from cocco.output.folders.written.ready import ready
from cocco.output.pictures.saving import PICTURE_FORMATS, save_picture
from workloads.files import write_atomic

if TYPE_CHECKING:
    from cocco.exploration.answers.result import Result
    from cocco.exploration.cores import CoresAxis

PICTURE = "cores"
FILES = (CORES_FILE, *(f"{PICTURE}{suffix}" for suffix in PICTURE_FORMATS))


def save(
    folder: Path, axis: CoresAxis, about: Callable[[int, Result], dict[str, Any]], is_brief: bool = False
) -> Sequence[Path]:
    """Write all files or none, and return their paths; about: gives the result.json for each number of cores.

    is_brief: as after Ctrl-C (cocco.output.folders.written.run).
    """
    frame = axis.to_frame()
    with whole(folder) as new:
        write_atomic(new / CORES_FILE, csv_text(frame))
        written = [new / CORES_FILE]
        for cores, result in zip(axis.cores, axis.results):
            if not result.plans:
                continue
            names = run.file_names([evaluation.network for evaluation in result.evaluations])
            with ready(folder / folder_of(cores), names), ready(new / folder_of(cores), ()) as inner:
                written += run.save(inner, result, about(cores, result), is_brief=is_brief)
        if frame["energy_pj"].notna().any() and not is_brief:
            from cocco.output import pictures

            written += save_picture(new, PICTURE, pictures.cores_figure(axis))
    return [folder / path.relative_to(new) for path in written]
