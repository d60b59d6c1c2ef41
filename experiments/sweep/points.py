"""Where the points of a sweep are stored: one file each, whole or not there, in a folder that one sweep has at a time.

FOLDER/.sweep                 says that the folder is ours, and is locked while a sweep runs
FOLDER/points/<key>.json      a finished point: its settings, the version, the text of `run`, what that answered
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from cocco.candidates.code import DIGITS, code_version, digest_of
from workloads.errors import FileFormatError, shown
from workloads.files import MAX_JSON_BYTES, read_mapping, write_atomic

FORMAT = "cocco-sweep/1"
MARKER = ".sweep"
POINTS = "points"
KEY_DIGITS = 24  #: hexadecimal digits of SHA-256; our choice: 96 bits never collide by chance

Point = dict[str, Any]
Run = Callable[[Point], Any]


class SweepError(ValueError):
    """A sweep that cannot start or go on: one line that names the folder or the point, the rule and the way out."""


def name_of(run: Run) -> str:
    """Return where a function of a module is found, the same when the module runs as a script.

    Raises ValueError for what other processes could not find: a lambda, or a function inside another.
    """
    name = getattr(run, "__qualname__", "<object>")
    if "<" in name:
        raise ValueError(f"a sweep runs a function of a module, which other processes can find; got {name}")
    module = run.__module__
    if module == "__main__":
        main = sys.modules["__main__"]
        spec = getattr(main, "__spec__", None)
        module = spec.name if spec else Path(getattr(main, "__file__", "main")).stem
    return f"{module}.{name}"


@cache
def source_of(run: Run, otherwise: str = "") -> str:
    """Return a fingerprint of the file of the module in which a function is defined, or of its own text.

    It is taken once, near to when the function was loaded: an edit after that is not what runs.
    otherwise: where there is neither, as of a built-in function, or where this process has the function by value.
    """
    if run.__module__ == "__main__" and otherwise:
        return otherwise
    path = getattr(sys.modules.get(run.__module__), "__file__", None)
    if path is not None and Path(path).is_file():
        return digest_of({"": Path(path)})
    try:
        text = inspect.getsource(run)
    except (OSError, TypeError):
        return otherwise
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]


def key_of(run_name: str, point: Point) -> str:
    """Return the name of a point's file: the same settings have the same key, in whatever order."""
    text = json.dumps({"run": run_name, "point": point}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_DIGITS]


def plain(value: Any) -> Any:
    """Return a value as JSON gives it back; numbers of numpy are numbers.

    Raises ValueError or TypeError for what JSON cannot hold, NaN and infinity among it.
    """
    return json.loads(json.dumps(value, allow_nan=False, default=_item))


def about(run_name: str, source: str) -> dict[str, str]:
    """Return what the file of a point says of who answered: all that decides the answer beside the settings."""
    return {"format": FORMAT, "version": code_version(), "run": run_name, "source": source}


def text_of(about: Mapping[str, str], point: Point, answer: Any) -> str:
    """Return the file of a finished point. Raises ValueError or TypeError where the answer is no JSON or too large."""
    text = json.dumps({**about, "point": point, "answer": answer}, allow_nan=False, default=_item) + "\n"
    if len(text.encode()) > MAX_JSON_BYTES:
        raise ValueError(f"the answer takes more than {MAX_JSON_BYTES} bytes as JSON, the most that is read again")
    return text


def path_of(folder: Path, key: str) -> Path:
    """Return the file of the point with this key."""
    return folder / POINTS / f"{key}.json"


def store(path: Path, text: str) -> None:
    """Write a point so that it outlasts a power cut: the file, its name, then the folder. Raises OSError."""
    write_atomic(path, text)
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def load(folder: Path, key: str, about: Mapping[str, str], point: Point) -> tuple[Any] | None:
    """Return the stored answer, in a tuple because it may be None; None where there is no such file.

    Raises SweepError where the file is not what this sweep would have written.
    """
    path = path_of(folder, key)
    if not path.exists():
        return None
    try:
        found = read_mapping(path)
    except FileFormatError as error:
        raise SweepError(f"{error}; {_way_out(folder)}") from None
    for name, value in {**about, "point": point}.items():
        if found.get(name) != value:
            have = f"has {name} {shown(found.get(name))}, this sweep {shown(value)}"
            raise SweepError(f"{path}: the stored point {have}; {_way_out(folder)}")
    if "answer" not in found:
        raise SweepError(f"{path}: the stored point has no answer; {_way_out(folder)}")
    return (found["answer"],)


@contextmanager
def opened(folder: Path) -> Iterator[Path]:
    """Make the folder ours for the `with` block, and clear away, before and after, what killed writers left.

    Raises SweepError, and changes nothing, where the folder holds what no sweep wrote, or where another sweep runs
    in it. The system ends the lock with the process, however that dies.
    """
    handle = -1
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()) and not (folder / MARKER).exists():
                raise SweepError(f"{folder}: holds files, but no sweep wrote them; choose a new or empty folder")
            handle = os.open(folder / MARKER, os.O_RDWR | os.O_CREAT, 0o666)
            _lock(handle, folder)
            _mark(handle, folder)
            (folder / POINTS).mkdir(exist_ok=True)
            _clear(folder)
        except (OSError, ValueError) as error:  # ValueError: a null character in the path too
            if isinstance(error, SweepError):
                raise
            reason = error.strerror if isinstance(error, OSError) else error
            raise SweepError(f"{folder}: cannot be used as the folder of a sweep: {reason}") from None
        try:
            yield folder
        finally:  # where one worker fails, the others are killed wherever they are
            _remove_temporary(folder)
    finally:
        if handle >= 0:
            os.close(handle)


def _lock(handle: int, folder: Path) -> None:
    import fcntl

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SweepError(f"{folder}: another sweep is running in it; wait for it or choose another folder") from None


def _mark(handle: int, folder: Path) -> None:
    """Write the format into a new marker, and check that of an old one."""
    found = os.pread(handle, 100, 0)
    if not found:
        os.pwrite(handle, f"{FORMAT}\n".encode(), 0)
        os.fsync(handle)
    elif found != f"{FORMAT}\n".encode():
        raise SweepError(f"{folder / MARKER}: holds {shown(found)}, not {FORMAT}; choose a new or empty folder")


def _clear(folder: Path) -> None:
    """Remove temporary files; refuse a folder of points with anything else in it."""
    _remove_temporary(folder)
    wanted = re.compile(rf"[0-9a-f]{{{KEY_DIGITS}}}\.json")
    foreign = sorted(path.name for path in (folder / POINTS).iterdir() if not wanted.fullmatch(path.name))
    if foreign:
        raise SweepError(f"{folder / POINTS}: holds {shown(foreign[0])}, which no sweep wrote; choose another folder")


def _remove_temporary(folder: Path) -> None:
    """Remove what write_atomic began; nobody else writes in a folder that is locked."""
    for path in (*folder.glob(".*.tmp"), *(folder / POINTS).glob(".*.tmp")):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _way_out(folder: Path) -> str:
    return f"choose another folder, or remove {folder / POINTS} to compute all of it anew"


def _item(value: Any) -> Any:
    """Return a scalar of numpy as a number of Python."""
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{type(value).__name__} is no JSON")
