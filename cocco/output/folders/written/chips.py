"""The folder of `cocco explore --axis`: the chip as a hardware file, its plans, the table of machines, the picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.output.folders.written.about import (
    CHIP,
    CHIPS_FRONT,
    CHIPS_TABLE,
    FRONT,
    PARTITIONS,
    RESULT,
    csv_text,
    json_text,
    partition_names,
)
from cocco.output.folders.written.atomic_write import whole
from cocco.output.folders.written.front import save_partitions
from cocco.output.pictures.saving import PICTURE_FORMATS, save_picture
from simulator.hardware_files import hardware_text
from workloads.files import write_atomic

if TYPE_CHECKING:
    from cocco.chips.answer import ChipsAnswer
    from cocco.chips.front import ChipsFront

PICTURE = "chips"
CHIPS = "chips"  #: of a front: the folder of the hardware files
FRONT_FILES = (FRONT, CHIPS_FRONT)


def file_names(networks: Sequence[str]) -> list[str]:
    """Return the names of all files that `save` writes for these networks."""
    return [
        *partition_names(networks),
        CHIP,
        CHIPS_TABLE,
        RESULT,
        *(f"{PICTURE}{suffix}" for suffix in PICTURE_FORMATS),
    ]


def save(folder: Path, found: ChipsAnswer, about: dict[str, Any], is_brief: bool = False) -> list[Path]:
    """Write all files or none, and return their paths; is_brief: as after Ctrl-C, without the picture."""
    with whole(folder) as new:
        texts = {CHIPS_TABLE: csv_text(found.to_frame()), RESULT: json_text(about)}
        if found.accelerator is not None:
            texts[CHIP] = hardware_text(found.accelerator)
        for name, text in texts.items():
            write_atomic(new / name, text)
        written = [new / name for name in texts]
        names = partition_names([network.name for network in found.question.networks])
        for plan, name in zip(found.plans, names):
            plan.save(new / name, found.accelerator)
            written.append(new / name)
        if found.accelerator is not None and not is_brief:
            from cocco.output import pictures

            written += save_picture(new, PICTURE, pictures.chips_figure(found))
    return [folder / path.relative_to(new) for path in written]


def save_front(folder: Path, found: ChipsFront, about: dict[str, Any]) -> list[Path]:
    """Write the points of a front, of each its chip and its partitions; all files or none; return their paths."""
    with whole(folder) as new:
        partitions = save_partitions(new / PARTITIONS, found.found)
        (new / CHIPS).mkdir()
        chips = [f"{CHIPS}/{Path(name.split()[0]).stem.partition('-')[0]}.yaml" for name in partitions]
        for chip, point in zip(chips, found.found):
            write_atomic(new / chip, hardware_text(point.accelerator))
        write_atomic(new / FRONT, csv_text(found.to_frame().assign(chip=chips, partition=partitions)))
        write_atomic(new / CHIPS_FRONT, json_text(about))
    return [folder / name for name in (PARTITIONS, CHIPS, *FRONT_FILES)]
