"""Checks where results go before a search starts, so that no search ends with "cannot be written"."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path


@contextmanager
def ready(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """Make the folder where it is missing, and check that these files can be written into it.

    Raises OSError, one line, where they cannot. What was made here goes again if nothing was written into it.
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
    finally:
        _remove_empty(made)


@contextmanager
def ready_files(*paths: Path | None) -> Iterator[None]:
    """Do the same for single files, of which some may not be wanted."""
    with ExitStack() as stack:
        for path in paths:
            if path is not None:
                stack.enter_context(ready(path.parent, [path.name]))
        yield


def _make(folder: Path) -> list[Path]:
    """Make the folder and those above it; return the ones made, outermost first."""
    made: list[Path] = []
    try:
        missing = [each for each in (folder, *folder.parents) if not each.exists()]
        for each in reversed(missing):
            with suppress(FileExistsError):  # another process made it meanwhile
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
        with suppress(OSError):  # it holds files, or another process removed it
            folder.rmdir()
