"""Where results go: checked before the search starts, then written file by file, each whole or not at all."""

from __future__ import annotations

import json
import platform
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.output.pictures.saving import PICTURE_FORMATS, save_picture
from workloads.files import write_atomic

if TYPE_CHECKING:
    from cocco.exploration.result import Result

PARTITION_SUFFIXES = (".json", ".yaml", ".yml")
PICTURES = ("cost", "samples")
MAX_STEM = 80  #: characters of a network's name in a file name; our choice: file systems end at 255 bytes


@contextmanager
def ready(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Make the folder where it is missing, and check that these files can be written into it.

    Raises OSError, one line, where they cannot. What was made here goes again if an error ends the `with` block.
    """
    made = _make(folder)
    try:
        for name in names:
            if (folder / name).exists() and not (folder / name).is_file():
                raise OSError(f"{folder / name}: cannot be written: it is there and is no regular file")
        try:
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise OSError(f"{folder}: cannot be written: {error.strerror}") from None
        yield folder
    except BaseException:
        _remove_empty(made)
        raise


def file_names(networks: Sequence[str]) -> list[str]:
    """Return the names of all files that `save` writes for these networks."""
    pictures = [f"{name}{suffix}" for name in PICTURES for suffix in PICTURE_FORMATS]
    return [*partition_names(networks), "result.json", "history.csv", "samples.csv", *pictures]


def partition_names(networks: Sequence[str]) -> list[str]:
    """Return partition.json, or partition-<network>.json for each if there are several."""
    if len(networks) == 1:
        return ["partition.json"]
    names: list[str] = []
    for network in networks:
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", network)[:MAX_STEM]
        ends = ("", *(f"-{number}" for number in range(2, len(networks) + 1)))
        names.append(next(name for end in ends if (name := f"partition-{stem}{end}.json") not in names))
    return names


def address_names(networks: Sequence[str]) -> list[str]:
    """Return addresses.csv, or addresses-<network>.csv for each if there are several."""
    names = partition_names(networks)
    return [f"addresses{name.removeprefix('partition').removesuffix('.json')}.csv" for name in names]


def save(folder: Path, result: Result, about: dict[str, Any]) -> list[Path]:
    """Write all files and return their paths; `about` is what result.json holds.

    The plans are first and the pictures, which take a second, last: a Ctrl-C on the way loses as little as can be.
    """
    networks = [evaluation.network for evaluation in result.evaluations]
    paths = [folder / name for name in partition_names(networks)] if result.plans else []
    for plan, path in zip(result.plans, paths):
        plan.save(path)
    content = json.dumps(about, indent=1, allow_nan=False) + "\n"
    texts = {"result.json": content, "history.csv": csv_text(result.history), "samples.csv": csv_text(result.points)}
    for name, text in texts.items():
        write_atomic(folder / name, text)
        paths.append(folder / name)
    if result.plans:
        from cocco.output import pictures

        for name, draw in zip(PICTURES, (pictures.cost_figure, pictures.plane_figure)):
            paths += save_picture(folder, name, draw(result))
    return paths


def versions() -> dict[str, str]:
    """Return what the result was computed with."""
    return {"python": platform.python_version(), **{name: version(name) for name in ("cocco", "numpy", "deap")}}


def version(package: str) -> str:
    """Return the version of an installed package, or 'not installed' (a checkout on the path)."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def csv_text(frame: Any) -> str:
    """Return a table as CSV text, the same on every system."""
    text: str = frame.to_csv(index=False, lineterminator="\n")
    return text


def _make(folder: Path) -> list[Path]:
    """Make the folder and those above it; return the ones made, outermost first."""
    made: list[Path] = []
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            each.mkdir()
            made.append(each)
        if not folder.is_dir():
            raise ValueError("it is there and is no directory")
    except (OSError, ValueError) as error:  # ValueError: a null character too
        _remove_empty(made)
        reason = error.strerror if isinstance(error, OSError) else error
        raise OSError(f"{folder}: cannot be written: {reason}") from None
    return made


def _remove_empty(folders: Sequence[Path]) -> None:
    for folder in reversed(folders):
        if not any(folder.iterdir()):
            folder.rmdir()
