"""A new answer replaces the contents of a folder, all of its files or none: written to a side folder, then moved.

The file that marks a folder as a run (MARKS) is removed first and written last: whenever moving is interrupted, what is
left is either a whole run or none.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cocco.output.folders.written.about import RUN_MARKS
from cocco.output.folders.written.earlier import remove_earlier

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # pragma: no cover  # not on Windows: two that end at once may mix their files there
    flock = None  # type: ignore[assignment]


@contextmanager
def whole(folder: Path) -> Iterator[Path]:
    """Yield an empty folder inside the folder to write into; at the end of the `with` block its files are moved.

    Raises OSError, which names the file, if the disk is full; the folder is then unchanged.
    """
    new = Path(tempfile.mkdtemp(prefix=".new.", dir=folder))
    try:
        yield new
        with _alone_in(folder):
            _take_place(folder, new)
    except OSError as error:
        path = Path(error.filename or folder)
        path = folder / path.relative_to(new) if path.is_relative_to(new) else path
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _take_place(folder: Path, new: Path) -> None:
    """Move all that was written, after removing what an earlier run wrote in each folder that now holds a run."""
    written = sorted(path.relative_to(new) for path in new.rglob("*") if path.is_file())
    for run in {path.parent for path in written if path.name in RUN_MARKS}:
        remove_earlier(folder / run, {path.relative_to(run).as_posix() for path in written if path.is_relative_to(run)})
    for path in sorted(
        written, key=lambda path: path.name in RUN_MARKS and len(RUN_MARKS) - RUN_MARKS.index(path.name)
    ):
        (folder / path.parent).mkdir(parents=True, exist_ok=True)
        os.replace(new / path, folder / path)


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Let one process at a time move files into a folder."""
    if flock is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        flock(handle, LOCK_EX)
        yield
    finally:
        os.close(handle)
