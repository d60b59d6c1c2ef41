"""One task of a sweep: what to run, what came out, computed and kept."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, NamedTuple

from experiments.sweep import points as stored
from experiments.sweep.points import Point, Run, SweepError
from workloads.errors import one_line


class PointTask(NamedTuple):
    """What every process needs to compute a point."""

    run: Run
    run_name: str
    folder: Path
    source: str  #: a fingerprint of the module of `run`


class Ended(NamedTuple):
    """How one point ended: `text` is its file where that is still to be stored, `failure` what `run` raised."""

    key: str
    text: str | None = None
    failure: str | None = None
    details: str = ""


def compute(task: PointTask, key: str, point: Point) -> Ended:
    """Return how the point ended, its file not yet stored; whatever `run` raises but Ctrl-C is an outcome."""
    try:
        with _uninterrupted():
            answer = task.run(stored.plain(point))
        if _is_half(answer):
            return Ended(key, failure="its search was stopped; half of a search is not stored")
        return Ended(key, stored.text_of(stored.about(task.run_name, task.source), point, answer))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a point that raises SystemExit does not end the sweep either
        return Ended(key, failure=message_of(error), details=printable(traceback.format_exc()))


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Raise KeyboardInterrupt at the end of the block if Ctrl-C was pressed in it, whoever answered it.

    A search of cocco raises; but a solver, or `run` itself, may go on with the best so far, which must not be stored
    as the answer of the point.
    """
    before = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or not callable(before):  # nobody is interrupted here
        yield
        return
    pressed = False

    def press(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        pressed = True
        before(number, frame)

    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if pressed:
            raise KeyboardInterrupt


def _is_half(answer: Any) -> bool:
    """Return whether a row of the answer has the status of a search that the user stopped."""
    rows = answer if isinstance(answer, list) else [answer]
    return any(isinstance(row, dict) and row.get("status") == "stopped" for row in rows)


def message_of(error: BaseException) -> str:
    """Return what was raised in one line, safe to print."""
    return printable(one_line(f"{type(error).__name__}: {error}"))


def printable(text: str) -> str:
    """Return the lines with all that a terminal could take for a command written out, such as \\x1b."""
    return "".join(c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text)


def keep(task: PointTask, outcome: Ended) -> Ended:
    """Store the file of a point, and return the outcome without it; raises SweepError where there is no room."""
    if outcome.text is None:
        return outcome
    try:
        stored.store(stored.path_of(task.folder, outcome.key), outcome.text)
    except OSError as error:
        reason = error.strerror or one_line(error)
        raise SweepError(f"{task.folder}: a point cannot be stored: {reason}; those before it are") from None
    return outcome._replace(text=None)


def compute_and_keep(task: PointTask, key: str, point: Point) -> Ended:
    """Compute a point and store it, in whichever process this is."""
    return keep(task, compute(task, key, point))
