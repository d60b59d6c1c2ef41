"""What runs in a worker: one step, without listeners, and the code and versions that it answers with."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping
from contextvars import Context
from functools import cache
from threading import Thread
from typing import Any

from cocco.candidates.code import made_by
from cocco.problem.problem import Problem

PROBLEMS = 8  #: that a worker remembers, with what it worked out about them; our choice
PARENT_SECONDS = 1.0  #: between two looks of a worker process at whether its parent lives; our choice
_known: list[Problem] = []


def begin(parent: int) -> None:
    """Set up a worker process: it leaves Ctrl-C to the parent process and ends with it, however that dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with(parent)


@cache
def end_with(parent: int) -> None:
    """Let this process end as soon as `parent` is no longer its parent."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PARENT_SECONDS)
        os._exit(1)

    Thread(target=watch, daemon=True).start()


def answered(
    made: Mapping[str, str], function: Callable[..., Any], asked: tuple[Any, ...]
) -> tuple[Mapping[str, str], Any]:
    """Return this worker's code and versions (`made_by`) and its answer; no answer if the caller's are different."""
    ours = made_by()
    return ours, in_worker(function, asked) if ours == made else None


def in_worker(function: Callable[..., Any], asked: tuple[Any, ...]) -> Any:
    """Return a function's answer; a problem among its arguments that this worker had before is reused."""
    arguments = [remembered(each) if isinstance(each, Problem) else each for each in asked]
    return Context().run(function, *arguments)  # an empty context: no listeners, no steps


def remembered(problem: Problem) -> Problem:
    """Return an equal problem that this worker had before, if any: its tables are built already."""
    for known in _known:
        if known == problem:
            return known
    _known.insert(0, problem)
    del _known[PROBLEMS:]
    return problem
