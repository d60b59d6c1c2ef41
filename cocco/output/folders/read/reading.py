"""Files of a run folder, read without trusting them: JSON mappings and CSV tables."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.output.folders.written.about import CHIPS_FRONT, FRONT, RESULT, About
from workloads.errors import FileFormatError, one_line, shown
from workloads.files import open_regular, read_mapping

if TYPE_CHECKING:
    import pandas

MAX_CSV_BYTES = 2**30  #: our choice: 10 million samples
NUMBER = (int, float)


def result_file(folder: Path) -> Reader:
    """Return what result.json of a run's folder holds."""
    path = folder / RESULT
    if not path.exists():
        what = f"{folder} is not the folder of a run, which 'cocco explore -o' and 'cocco pareto -o' write"
        if (folder / CHIPS_FRONT).exists():
            what = f"a front of chips has {FRONT} and a folder of hardware files, but no page"
        raise FileFormatError(f"{path}: cannot be read: No such file or directory; {what}")
    return Reader(path, read_mapping(path))


class Reader:
    """Takes values out of a mapping; raises FileFormatError, which says where, if one is missing or of another kind."""

    def __init__(self, path: Path, content: Any, where: str = "") -> None:
        if not isinstance(content, Mapping):
            raise FileFormatError(f"{path}: {where or 'it'} is {shown(content)}, which no search of cocco writes")
        self.path, self.content, self.where = path, content, where

    def get(self, key: str, *kinds: type) -> Any:
        """Return a value of these kinds."""
        value = self.content.get(key)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            found = f"is {shown(value)}" if key in self.content else "is missing"
            raise FileFormatError(
                f"{self.path}: {self.where}{key!r} {found}; 'cocco explore -o' and 'cocco pareto -o' write it otherwise"
            )
        return value

    def one_of(self, key: str, known: Collection[str]) -> Any:
        """Return a text that is one of the known."""
        value = self.get(key, str)
        if value not in known:
            raise FileFormatError(f"{self.path}: {self.where}{key!r} is {shown(value)}; known are {', '.join(known)}")
        return value

    def optional(self, key: str) -> float | None:
        """Return a number, None for null or nothing."""
        return None if self.content.get(key) is None else float(self.get(key, *NUMBER))

    def broken(self, key: str, rule: str) -> FileFormatError:
        """Return the error of a value that breaks a rule."""
        return FileFormatError(f"{self.path}: {self.where}{key!r} is {shown(self.content.get(key))}; {rule}")

    def inner(self, key: str) -> Reader:
        """Return a mapping inside."""
        return Reader(self.path, self.get(key, dict), f"{self.where}{key}: ")

    def items(self, key: str) -> list[Reader]:
        """Return a list of mappings inside."""
        found = self.get(key, list)
        return [Reader(self.path, each, f"{self.where}{key} {i}: ") for i, each in enumerate(found)]

    def list_of(self, key: str, *kinds: type) -> tuple[Any, ...]:
        """Return a list that is not empty, of these kinds, as a tuple."""
        found = self.get(key, list)
        if not found or not all(isinstance(each, kinds) for each in found):
            raise FileFormatError(f"{self.path}: {self.where}{key!r} is {shown(found)}, which is no list it writes")
        return tuple(found)


def about_of(content: Reader) -> About:
    """Return what result.json says of a search."""
    return About(
        command=content.get("command", str),
        settings=content.get("settings", dict),
        seed=content.get("seed", int),
        versions={str(name): str(text) for name, text in content.get("versions", dict).items()},
        engine=content.get("engine", str),
        seconds=content.optional("seconds"),
        result=content.get("result", dict),
    )


def table_of(path: Path, texts: Sequence[str] = ()) -> pandas.DataFrame:
    """Return a CSV file of finite numbers, texts: columns that hold none; raises FileFormatError otherwise."""
    import pandas

    try:
        with open_regular(path) as file:
            if path.stat().st_size > MAX_CSV_BYTES:
                raise FileFormatError(f"{path}: is larger than {MAX_CSV_BYTES} bytes, the most that is read")
            table = pandas.read_csv(file)
        numbers = table.drop(columns=list(texts), errors="ignore").astype(float)
    except FileFormatError:
        raise
    except OSError as error:
        raise FileFormatError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise FileFormatError(f"{path}: is no table of numbers: {one_line(error)}") from None
    if table.empty or not (abs(numbers) < float("inf")).all(axis=None):
        raise FileFormatError(f"{path}: is empty or cut off, or has a number that is not finite")
    return table
