"""Traces of an earlier run in a folder: whether a new answer may replace it, and what must be removed before."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path
from typing import Any

from cocco.output.folders.written.about import (
    CHIP,
    CHIPS_TABLE,
    CORES_FILE,
    FRONT,
    HISTORY,
    PARTITIONS,
    RESULT,
    RUN_MARKS,
    SAMPLES_FILE,
    SIZES_FOLDER,
    address_names,
    partition_names,
    remove_pages,
)
from cocco.output.pictures.saving import PICTURE_FORMATS
from workloads.errors import FileFormatError, one_line
from workloads.files import read_mapping

PICTURES = ("cost", "samples", "pareto", "chips", "cores")  #: the last of runs for several numbers of cores
MEMORIES = ("global", "weight", "shared")  #: of address maps with kept tensors
_ADVICE = "name another folder with -o, or replace it with --force"


def check_free(folder: Path, settings: dict[str, Any] | None, seed: int) -> None:
    """Check that a folder holds no run, or one of the same question, whose answer may be overwritten.

    settings: as result.json has them; None for runs for several numbers of cores, which have folders of their own
    inside.

    Raises FileFormatError, one line that names the folder, where it holds another.
    """
    if settings is not None and (folder / CORES_FILE).exists():
        raise FileFormatError(f"{folder}: holds runs for several numbers of cores; {_ADVICE}")
    if not (folder / RESULT).exists():
        return
    try:
        content = read_mapping(folder / RESULT)
    except FileFormatError as error:
        raise FileFormatError(f"{folder}: holds a run that cannot be read ({one_line(error)}); {_ADVICE}") from None
    if settings is None:
        raise FileFormatError(f"{folder}: holds the run of another question (for one number of cores); {_ADVICE}")
    asked = json.loads(json.dumps(settings | {"seed": seed}))
    found = content.get("settings")
    known = (found if isinstance(found, dict) else {}) | {"seed": content.get("seed")}
    other = next((name for name in [*asked, *known] if asked.get(name) != known.get(name)), None)
    if other is not None:
        before, now = json.dumps(known.get(other)), json.dumps(asked.get(other))
        differs = f"its {other} is {_short(before)}, here {_short(now)}"
        raise FileFormatError(f"{folder}: holds the run of another question ({differs}); {_ADVICE}")


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 3]}..."


def remove_earlier(folder: Path, keep: Collection[str]) -> None:
    """Remove the pages and files of an earlier run, except those that will be overwritten (keep).

    The file that marks it as a run goes first.
    """
    remove_pages(folder)
    cores = (CORES_FILE, *(f"{PICTURES[-1]}{suffix}" for suffix in PICTURE_FORMATS))
    earlier = [*_written(folder), *(cores if (folder / CORES_FILE).is_file() else ())]
    for name in (*RUN_MARKS, *(name for name in earlier if name not in keep)):
        (folder / name).unlink(missing_ok=True)
    for name in (PARTITIONS, SIZES_FOLDER):
        with suppress(OSError):  # it holds other files, or is not there
            (folder / name).rmdir()


def _written(folder: Path) -> list[str]:
    """Return the names of the files that an earlier run wrote, according to its result.json; empty if it has none."""
    try:
        settings = read_mapping(folder / RESULT).get("settings")
    except FileFormatError:  # there is none, or it is torn
        settings = None
    points = (each.name for each in (folder / PARTITIONS).glob("*.json") if re.fullmatch(r"\d+(-\d+)?", each.stem))
    sizes = (each.name for each in (folder / SIZES_FOLDER).glob("*.json") if re.match(r"\d+K?B", each.stem))
    plans = [f"{PARTITIONS}/{name}" for name in points] + [f"{SIZES_FOLDER}/{name}" for name in sizes]
    networks = settings.get("networks") if isinstance(settings, dict) else None
    if not isinstance(networks, list) or not all(isinstance(name, str) for name in networks) or not networks:
        return plans
    tables = address_names(networks)
    names = [*partition_names(networks), RESULT, HISTORY, SAMPLES_FILE, FRONT, CHIPS_TABLE, CHIP, *tables]
    names += [f"{name}{suffix}" for name in PICTURES[:-1] for suffix in PICTURE_FORMATS]
    maps = [f"{Path(table).stem}-{name}" for table in tables for name in MEMORIES]
    return names + [f"{name}{suffix}" for name in maps for suffix in PICTURE_FORMATS] + plans
