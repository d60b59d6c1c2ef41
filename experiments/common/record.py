"""What an experiment leaves: a table as CSV, the same bytes for the same question, and where it came from as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from cocco.candidates.code import code_version, version
from cocco.output.folders.written.about import versions as search_versions
from workloads.files import write_atomic

if TYPE_CHECKING:
    import pandas

PACKAGES = ("pandas", "matplotlib", "joblib")  #: beside those of a search


def write(folder: Path, name: str, table: pandas.DataFrame, about: Mapping[str, Any]) -> list[Path]:
    """Write <name>.csv and <name>.json, each whole or not at all, and return their paths.

    about: settings, seed and command. Versions are added, times are not: a run that was killed and went on ends with
    the same bytes. Raises OSError.
    """
    content = {**about, "versions": versions(), "rows": len(table), "columns": list(table.columns)}
    texts = {
        f"{name}.csv": table.to_csv(index=False, lineterminator="\n"),
        f"{name}.json": json.dumps(content, indent=1, allow_nan=False, default=str) + "\n",
    }
    for file_name, text in texts.items():
        write_atomic(folder / file_name, text)
    return [folder / file_name for file_name in texts]


@contextmanager
def together(folder: Path) -> Iterator[Path]:
    """Give a folder for several files, which go into another at the end of the `with` block: all of them, or none.

    So no table stands beside the picture of another where the disk is full. Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".record.", suffix=".tmp", dir=folder) as beside:
        try:
            yield Path(beside)
        except OSError as error:  # it names a file that is gone then
            raise OSError(error.errno, error.strerror or str(error), str(folder)) from None
        for path in sorted(Path(beside).iterdir()):
            path.replace(folder / path.name)


def versions() -> dict[str, str]:
    """Return what an experiment was computed with; "code" has a fingerprint of this package's code."""
    others = {name: version(name) for name in PACKAGES}
    return {**search_versions(), **others, "code": code_version()}
