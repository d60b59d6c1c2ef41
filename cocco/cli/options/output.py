"""What a command prints and where it writes."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cocco.cli.options.usage import UsageError
from cocco.effort.status import Interrupted
from cocco.output.text.layout.tables import seen_tables, wrapped

CODES = {"infeasible": 1, "gave_up": 1}  #: exit codes of answers; all others are 0

T = TypeVar("T")


def searched(find: Callable[[], T]) -> tuple[T, bool]:
    """Return what a search found, or its best so far where Ctrl-C ended it; and whether it did."""
    try:
        return find(), False
    except Interrupted as stop:
        return stop.result, True


def print_answer(
    options: Namespace, content: Callable[[], dict[str, Any]], text: Callable[[], str], notes: Sequence[str] = ()
) -> None:
    """Print one JSON object, or the answer for people, or its tables alone in another format.

    notes: what people should know of it; below it, and on stderr where standard output is for programs.
    """
    if options.json or options.format != "table":
        for each in notes:
            print(f"cocco: note: {each}", file=sys.stderr)
    if options.json:
        print_json(content())
    elif options.format == "table":
        print(wrapped("\n\n".join([text(), *(f"{each[0].upper()}{each[1:]}." for each in notes)])))
    else:
        with seen_tables() as tables:
            words = text()
        if not tables:
            print(f"cocco: note: there is no table in this answer for --format {options.format}", file=sys.stderr)
            print(words)
        else:
            print("\n".join(getattr(each, options.format)() for each in tables), end="")


def print_json(content: dict[str, Any]) -> None:
    """Print one object on one line; a number that is not finite would be no JSON."""
    print(json.dumps(content, allow_nan=False))


def output_path(text: str | None) -> Path | None:
    """Return where -o says, None where it was not given; raises UsageError where it is empty."""
    if text == "":
        raise UsageError("-o is empty; it must be a path")
    return None if text is None else Path(text)


def say_written(*paths: Path | None) -> None:
    """Say which of these files were written."""
    for path in paths:
        if path:
            print(f"cocco: wrote {path}", file=sys.stderr)


def check_folder(options: Namespace, folder: Path | None, settings: dict[str, Any] | None) -> None:
    """Check before the search that the folder of -o holds no run of another question, unless --force is given."""
    if folder is None and options.force:
        raise UsageError("--force needs -o DIR: the directory that may be written over")
    if folder is not None and not options.force:
        from cocco.output.folders.written.earlier import check_free

        check_free(folder, settings, options.seed)


def file_path(text: str | None, option: str, suffixes: Collection[str]) -> Path | None:
    """Return the file that an option names; raises UsageError where it ends in none of the suffixes."""
    if text is None:
        return None
    if Path(text).suffix.lower() not in suffixes:
        raise UsageError(f"{option} must end in {' or '.join(suffixes)}, got {text!r}")
    return Path(text)
