"""What runs in a worker: one step, without a listener, and who it is that answers."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import cache
from threading import Thread
from typing import Any

from cocco.problem.code import made_by
from cocco.problem.problem import Problem

PROBLEMS = 8  #: that a worker remembers, with what it worked out about them; our choice
PARENT_SECONDS = 1.0  #: between two looks of a worker process at whether its parent lives; our choice
_known: list[Problem] = []


def begin(parent: int) -> None:
    """Leave Ctrl-C to the parent process, and end with it, however that dies: what a worker process does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


@cache
def end_with(parent: int) -> None:
    """Let this process end as soon as that is not its parent any more."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_SECONDS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def answered(
    made: Mapping[str, str], function: Callable[..., Any], asked: tuple[Any, ...]
) -> tuple[Mapping[str, str], Any]:
    """Return what made this worker's answer (`made_by`), and the answer; none where whoever asks was made otherwise."""
    ours = made_by()
    return ours, in_worker(function, asked) if ours == made else None


def in_worker(function: Callable[..., Any], asked: tuple[Any, ...]) -> Any:
    """Return what a function answers to arguments, of which this worker may have had the problem before."""
    arguments = [remembered(each) if isinstance(each, Problem) else each for each in asked]
    return Context().run(function, *arguments)  # it knows nobody who watches, nor steps


def remembered(problem: Problem) -> Problem:
    """Return an equal problem that this worker had before: it has its tables."""
    for known in _known:
        if known == problem:
            return known
    _known.insert(0, problem)
    del _known[PROBLEMS:]
    return problem
