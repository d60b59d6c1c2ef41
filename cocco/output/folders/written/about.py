"""What result.json says about a search, and the names of the files next to it, for both writers and readers."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.candidates.code import version

if TYPE_CHECKING:
    import pandas

RESULT = "result.json"
HISTORY = "history.csv"  #: of a run: a row per generation
SAMPLES_FILE = "samples.csv"  #: a row per sample
FRONT = "pareto.csv"  #: of a front: a row per point
CORES_FILE = "cores.csv"  #: of runs for several numbers of cores: a row per number
CHIPS_TABLE = "chips.csv"  #: of a search over machines: a row per machine
CHIPS_FRONT = "chips.json"  #: of a front over machines, beside its table
CHIP = "chip.yaml"  #: the recommended machine as a hardware file
RUN_MARKS = (CORES_FILE, RESULT)  #: what makes a folder that of a run: written last, so that it is whole
PARTITIONS = "partitions"  #: of a front: the folder of the partition files
SIZES_FOLDER = "sizes"  #: of a run: the folder of the partition files of other sizes
PAGE, PAIR_PAGES = "report.html", "compare*.html"  #: of cocco report, about one run and about two
FEW_ROWS = 50_000  #: of a table written after Ctrl-C; our choice: the samples of a search by default, in 0.2 s
MAX_STEM = 80  #: characters of a network's name in a file name; our choice: file systems end at 255 bytes


@dataclass(frozen=True)
class About:
    """The question of a search and how it ended; the names of the fields are the keys of result.json."""

    command: str
    settings: dict[str, Any]
    seed: int
    versions: dict[str, str]  #: what it was computed with
    engine: str
    seconds: float | None  #: of wall time
    result: dict[str, Any]  #: what --json prints

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def remove_pages(folder: Path) -> None:
    """Remove the pages about what a folder held before, as a new answer is written into it."""
    for path in (folder / PAGE, *folder.glob(PAIR_PAGES)):
        path.unlink(missing_ok=True)


def json_text(about: dict[str, Any]) -> str:
    """Return the text of result.json."""
    return json.dumps(about, indent=1, allow_nan=False) + "\n"


def csv_text(frame: pandas.DataFrame, is_brief: bool = False) -> str:
    """Return a table as CSV text, the same on every system.

    is_brief: of more than FEW_ROWS leave out most: every so many rows up to the last stay, and each whose `best_cost`
    is lower than those before.
    """
    if is_brief and len(frame) > FEW_ROWS:
        import numpy as np

        stays = np.arange(len(frame))[::-1] % -(-len(frame) // FEW_ROWS) == 0
        stays |= frame["best_cost"].diff() < 0 if "best_cost" in frame else False
        frame = frame[stays]
    return frame.to_csv(index=False, lineterminator="\n")


def folder_of(cores: int) -> str:
    """Return the name of the inner run folder for this many cores."""
    return f"cores-{cores}"


def partition_names(networks: Sequence[str]) -> list[str]:
    """Return partition.json, or partition-<network>.json for each if there are several."""
    return [f"partition{end}.json" for end in _ends(networks)]


def address_names(networks: Sequence[str]) -> list[str]:
    """Return addresses.csv, or addresses-<network>.csv for each if there are several."""
    return [f"addresses{end}.csv" for end in _ends(networks)]


def _ends(networks: Sequence[str]) -> list[str]:
    """Return what distinguishes the files of each network."""
    if len(networks) == 1:
        return [""]
    found: list[str] = []
    for network in networks:
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", network)[:MAX_STEM]
        ends = ("", *(f"-{number}" for number in range(2, len(networks) + 1)))
        found.append(next(name for end in ends if (name := f"-{stem}{end}") not in found))
    return found


def versions() -> dict[str, str]:
    """Return the versions with which a result is computed."""
    return {"python": platform.python_version(), **{name: version(name) for name in ("cocco", "numpy", "deap")}}
