"""The folder of a run: the plans, those of other sizes too, result.json, tables and pictures, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.exploration.answers.result import Result
from cocco.output.folders.written import addresses
from cocco.output.folders.written.about import (
    HISTORY,
    RESULT,
    SAMPLES_FILE,
    SIZES_FOLDER,
    csv_text,
    json_text,
    partition_names,
)
from cocco.output.folders.written.atomic_write import whole
from cocco.output.pictures.saving import PICTURE_FORMATS, save_picture
from simulator.technology import KiB
from workloads.files import write_atomic

if TYPE_CHECKING:
    from cocco.allocation.address_map import AddressMap
    from cocco.exploration.answers.result import Result

PICTURES = ("cost", "samples")


def size_names(networks: Sequence[str], sizes: Sequence[int]) -> list[str]:
    """Return the names of the partition files of one size, a file for each network.

    Examples
    --------
    >>> size_names(["vgg16"], [1048576])
    ['sizes/1024KB.json']
    """
    size = "-".join(f"{each // KiB}KB" if each % KiB == 0 else f"{each}B" for each in sizes)
    ends = [name.removeprefix("partition").removesuffix(".json") for name in partition_names(networks)]
    return [f"{SIZES_FOLDER}/{size}{end}.json" for end in ends]


def save_sizes(folder: Path, result: Result) -> list[Path]:
    """Write the plans of the other sizes, and return their folder in a list; empty if there are none."""
    inner = folder / SIZES_FOLDER
    networks = [evaluation.network for evaluation in result.evaluations]
    for each in result.ranges.candidates if result.ranges is not None else ():
        if each.plans is None or each.plans == result.plans and each.cost == result.cost:
            continue
        inner.mkdir(exist_ok=True)
        sizes = {name.removesuffix("_bytes"): size for name, size in each.buffers}
        accelerator = result.accelerator.machine.with_buffers(**sizes)
        for plan, name in zip(each.plans, size_names(networks, [size for _, size in each.buffers])):
            plan.save(folder / name, accelerator)
    return [inner] if inner.is_dir() else []


def file_names(networks: Sequence[str]) -> list[str]:
    """Return the names of all files that `save` writes for these networks."""
    pictures = [f"{name}{suffix}" for name in PICTURES for suffix in PICTURE_FORMATS]
    return [*partition_names(networks), RESULT, HISTORY, SAMPLES_FILE, *pictures]


def save(
    folder: Path, result: Result, about: dict[str, Any], maps: Sequence[AddressMap] = (), is_brief: bool = False
) -> list[Path]:
    """Write all files, or none, and return their paths; `about` is what result.json holds (`About`).

    maps: where every region of each network lies, if requested. is_brief: within a second, as after Ctrl-C: no
    pictures, and tables of at most FEW_ROWS rows and the improvements.
    """
    with whole(folder) as new:
        written = _save(new, result, about, is_brief) + addresses.save(new, maps, is_brief)
    return [folder / path.relative_to(new) for path in written]


def _save(folder: Path, result: Result, about: dict[str, Any], is_brief: bool) -> list[Path]:
    networks = [evaluation.network for evaluation in result.evaluations]
    paths = [folder / name for name in partition_names(networks)] if result.plans else []
    for plan, path in zip(result.plans, paths):
        plan.save(path, result.accelerator)
    tables = {HISTORY: result.history, SAMPLES_FILE: result.points}
    texts = {name: csv_text(table, is_brief) for name, table in tables.items()}
    for name, text in {RESULT: json_text(about), **texts}.items():
        write_atomic(folder / name, text)
        paths.append(folder / name)
    paths += save_sizes(folder, result)
    if result.plans and not is_brief:
        from cocco.output import pictures

        for name, draw in zip(PICTURES, (pictures.cost_figure, pictures.plane_figure)):
            paths += save_picture(folder, name, draw(result))
    return paths
