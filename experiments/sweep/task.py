"""One task of a sweep: what to run, what came out, computed and kept."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import NamedTuple

from experiments.sweep import points as stored
from experiments.sweep.points import Point, Run, SweepError
from workloads.errors import one_line


class Task(NamedTuple):
    """What every process needs to compute a point."""

    run: Run
    run_name: str
    folder: Path


class Outcome(NamedTuple):
    """How one point ended: `text` is its file where that is still to be stored, `failure` what `run` raised."""

    key: str
    text: str | None = None
    failure: str | None = None
    details: str = ""


def compute(task: Task, key: str, point: Point) -> Outcome:
    """Return how the point ended, its file not yet stored; whatever `run` raises is an outcome."""
    try:
        return Outcome(key, stored.text_of(task.run_name, point, task.run(stored.plain(point))))
    except Exception as error:
        return Outcome(key, failure=one_line(f"{type(error).__name__}: {error}"), details=traceback.format_exc())


def keep(task: Task, outcome: Outcome) -> Outcome:
    """Store the file of a point, and return the outcome without it; raises SweepError where there is no room."""
    if outcome.text is None:
        return outcome
    try:
        stored.store(stored.path_of(task.folder, outcome.key), outcome.text)
    except OSError as error:
        reason = error.strerror or one_line(error)
        raise SweepError(f"{task.folder}: a point cannot be stored: {reason}; those before it are") from None
    return outcome._replace(text=None)


def compute_and_keep(task: Task, key: str, point: Point) -> Outcome:
    """Compute a point and store it, in whichever process this is."""
    return keep(task, compute(task, key, point))
