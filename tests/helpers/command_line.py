"""Runs the command line, in this process or in one of its own, and says what a malformed input must look like."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from cocco.cli import main

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-m", "cocco.cli"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}
SILENT = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)  #: as Python starts

Finished = subprocess.CompletedProcess[str]


def cocco(*arguments: object, folder: Path | None = None) -> Finished:
    """Run `cocco` with these arguments in this folder, in this process: what a process of its own would print.

    A process takes most of a second to begin with; tests/cocco/cli/test_process.py compares the two.
    """
    return in_this_process(main, *arguments, folder=folder)


def in_this_process(command: Callable[[list[str]], int], *arguments: object, folder: Path | None = None) -> Finished:
    """Run the main function of any command line so."""
    words = [str(each) for each in arguments]
    with _stream() as out, _stream() as err, _stream() as source, _like_a_process(folder):
        with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", source):
            try:
                code = command(words)
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
            except BaseException:
                traceback.print_exc()
                code = 1
        return subprocess.CompletedProcess(words, code, _text(out), _text(err))


def cocco_process(*arguments: object, folder: Path | None = None) -> Finished:
    """Run `cocco` with these arguments in this folder, in a process of its own."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@contextmanager
def _like_a_process(folder: Path | None) -> Iterator[None]:
    """Stand in the folder, with Python's own filters of warnings and none of them seen before."""
    before = Path.cwd()
    with warnings.catch_warnings(), patch.dict(os.environ, {"COLUMNS": "200"}):
        warnings.resetwarnings()
        for category in SILENT:
            warnings.simplefilter("ignore", category)
        os.chdir(folder or before)
        try:
            yield
        finally:
            os.chdir(before)


@contextmanager
def _stream() -> Iterator[io.TextIOWrapper]:
    """Give a stream of text over bytes, as those of a process are."""
    yield io.TextIOWrapper(io.BytesIO(), encoding="utf-8")


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode()


def answer(finished: Finished, code: int = 0) -> dict[str, Any]:
    """Return the one JSON object on standard output; NaN and infinity are no JSON."""
    assert finished.returncode == code, finished.stderr
    assert finished.stdout.count("\n") == 1

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    content = json.loads(finished.stdout, parse_constant=refuse)
    assert isinstance(content, dict)
    return content


def assert_malformed(finished: Finished, words: Sequence[str]) -> None:
    """Exit code 2, nothing on stdout, one line on stderr that has all these words."""
    assert finished.returncode == 2, (finished.stdout, finished.stderr)
    assert finished.stdout == ""
    assert finished.stderr.startswith("cocco: error: ")
    assert finished.stderr.count("\n") == 1 and finished.stderr.endswith("\n"), finished.stderr
    assert len(finished.stderr) < 1000
    for word in words:
        assert word in finished.stderr, finished.stderr


def write_json(path: Path, content: object) -> Path:
    """Write any content as JSON and return the path."""
    path.write_text(json.dumps(content))
    return path
