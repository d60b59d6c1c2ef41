"""Schedules in files: tensor-schedule/1 (.json), an object with the order and all stays; an order alone is read too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike
from typing import Any, get_args

from simulator.schedule.schedule import Enters, Leaves, Schedule, Segment
from workloads.errors import FileFormatError, shown
from workloads.files import read_mapping, write_atomic

FORMAT = "tensor-schedule/1"
SEGMENT_KEYS = Segment._fields
NUMBERS = ("first", "last", "address", "size")
MAX_NUMBER = 2**62


def read_schedule(path: str | PathLike[str]) -> Schedule:
    """Return the schedule in a file; keys that are not the order or the segments are information only.

    Whether the schedule works, `replay` says.

    Parameters
    ----------
    path : str or PathLike
        A tensor-schedule/1 file (.json): docs/scheduling.md.

    Returns
    -------
    Schedule

    Raises
    ------
    FileFormatError
        One line with file, place, rule and value, for anything malformed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from simulator.schedule import Schedule, read_schedule, write_schedule
    >>> with TemporaryDirectory() as folder:
    ...     write_schedule(Path(folder, "x.json"), Schedule(("x", "y"), ()), {"network": "tiny"})
    ...     read_schedule(Path(folder, "x.json"))
    Schedule(2 operators, 0 stays)
    """
    content = _content(path)
    order = _order(path, content)
    segments = content.get("segments")
    if not isinstance(segments, list):
        raise FileFormatError(f"{path}: segments is {shown(segments)}; it must be a list")
    return Schedule(order, tuple(_segment(f"{path}: segment {i}", each) for i, each in enumerate(segments)))


def read_order(path: str | PathLike[str]) -> tuple[str, ...]:
    """Return the order in a file: {"order": [names]}, so a schedule will do.

    Parameters
    ----------
    path : str or PathLike
        A .json or .yaml file.

    Returns
    -------
    tuple of str
        Names of operators, one a step.

    Raises
    ------
    FileFormatError
        One line with file, place, rule and value, for anything malformed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from simulator.schedule import read_order
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "order.json")
    ...     _ = file.write_text('{"order": ["x", "y"]}')
    ...     read_order(file)
    ('x', 'y')
    """
    return _order(path, _content(path))


def write_schedule(path: str | PathLike[str], schedule: Schedule, about: Mapping[str, Any]) -> None:
    """Write a schedule to a file, whole or not at all.

    Parameters
    ----------
    path : str or PathLike
        Of the file (.json); a file that is there is replaced.
    schedule : Schedule
    about : mapping
        Plain data that the file holds beside it, such as the network.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from simulator.schedule import Schedule, read_order, write_schedule
    >>> with TemporaryDirectory() as folder:
    ...     write_schedule(Path(folder, "x.json"), Schedule(("x", "y"), ()), {})
    ...     read_order(Path(folder, "x.json"))
    ('x', 'y')
    """
    content = {
        "format": FORMAT,
        **about,
        "order": list(schedule.order),
        "segments": [each._asdict() for each in schedule.segments],
    }
    write_atomic(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def _content(path: str | PathLike[str]) -> dict[str, Any]:
    content = read_mapping(path)
    if content.get("format", FORMAT) != FORMAT:
        raise FileFormatError(f"{path}: format is {shown(content['format'])}; it must be {FORMAT!r}")
    return content


def _order(path: str | PathLike[str], content: Mapping[str, Any]) -> tuple[str, ...]:
    if "order" not in content:
        raise FileFormatError(f"{path}: has no 'order'; it must hold a list of names of operators")
    order = content["order"]
    if not isinstance(order, list):
        raise FileFormatError(f"{path}: order is {shown(order)}; it must be a list of names of operators")
    for step, name in enumerate(order):
        if not isinstance(name, str):
            raise FileFormatError(f"{path}: order: step {step} is {shown(name)}; it must be the name of an operator")
    return tuple(order)


def _segment(where: str, content: Any) -> Segment:
    if not isinstance(content, dict):
        raise FileFormatError(f"{where} is {shown(content)}; it must have {', '.join(SEGMENT_KEYS)}")
    for key in SEGMENT_KEYS:
        if key not in content:
            raise FileFormatError(f"{where} has no {key!r}; it must have {', '.join(SEGMENT_KEYS)}")
    if not isinstance(content["tensor"], str):
        raise FileFormatError(f"{where}: tensor is {shown(content['tensor'])}; it must be a name")
    for key in NUMBERS:
        value = content[key]
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_NUMBER:
            raise FileFormatError(f"{where}: {key} is {shown(value)}; it must be a whole number from 0 to {MAX_NUMBER}")
    for key, known in (("enters", get_args(Enters)), ("leaves", get_args(Leaves))):
        if content[key] not in known:
            raise FileFormatError(f"{where}: {key} is {shown(content[key])}; it must be one of {', '.join(known)}")
    return Segment(**{key: content[key] for key in SEGMENT_KEYS})
