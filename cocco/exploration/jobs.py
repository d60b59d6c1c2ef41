"""Who watches a search and who works for it: listeners, processes of this machine, or those of a dask scheduler.

Jobs go through joblib. A job is a step (cocco.problem.steps): workers compute those that are likely to be asked for
next, so that the answer is the same to the byte for any number of them.
"""

from __future__ import annotations

import multiprocessing
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import Context
from typing import Any

from cocco.problem.effort import Effort
from cocco.problem.problem import Problem
from cocco.problem.stages import PROGRESS, watched_by
from cocco.problem.steps import Jobs, shared_out

PROBLEMS = 8  #: that a worker remembers, with what it worked out about them; our choice
_known: list[Problem] = []


@contextmanager
def helped(effort: Effort) -> Iterator[None]:
    """Let the listeners of an effort hear, and its workers work for, the search in the `with` block."""
    with ExitStack() as stack:
        stack.enter_context(watched_by(effort.stages))
        if effort.workers > 1 or effort.dask is not None:
            stack.enter_context(shared_out(_jobs(effort, stack), effort.workers))
        yield


def _jobs(effort: Effort, stack: ExitStack) -> Jobs:
    """Return what computes a function of several arguments at the same time."""
    from joblib import Parallel, delayed, parallel_config

    if effort.dask is not None:
        try:
            from distributed import Client
        except ImportError:
            raise ValueError("dask needs the extra 'dask': pip install 'cocco[dask]'") from None
        stack.enter_context(Client(effort.dask, set_as_default=True))
        stack.enter_context(parallel_config(backend="dask"))
    elif may_fork():
        return Forked(effort.workers, stack).run

    def run(function: Callable[..., Any], asked: Sequence[tuple[Any, ...]]) -> list[Any]:
        found: list[Any] = Parallel(n_jobs=effort.workers)(delayed(in_worker)(function, each) for each in asked)
        return found

    return run


def may_fork() -> bool:
    """Whether workers can be copies of this process, which has imported all that they need.

    Not where that is no way to start one, nor where another thread than that of our own progress may hold a lock.
    """
    method = multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]
    if method != "fork" or multiprocessing.current_process().daemon:
        return False
    others = [each for each in threading.enumerate() if each is not threading.main_thread()]
    return threading.current_thread() is threading.main_thread() and all(each.name == PROGRESS for each in others)


class Forked:
    """Workers that are copies of this process, made when they are first needed; they end with a search."""

    def __init__(self, workers: int, stack: ExitStack) -> None:
        """stack: of the search."""
        self.workers, self.stack = workers, stack
        self.pool: Any = None

    def run(self, function: Callable[..., Any], asked: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return what a function answers to each of these arguments."""
        from joblib import delayed

        try:
            pool = self._opened(asked)
            found: list[Any] = pool(delayed(in_worker)(function, each) for each in asked)
            return found
        except BaseException:  # joblib has ended them
            self.pool = None
            raise

    def _opened(self, asked: Sequence[tuple[Any, ...]]) -> Any:
        from joblib import Parallel

        if self.pool is None:
            for each in (each for job in asked for each in job if isinstance(each, Problem)):
                _remembered(each)
            before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # workers leave Ctrl-C to this process
            try:
                self.pool = self.stack.enter_context(Parallel(n_jobs=self.workers, backend="multiprocessing"))
            finally:
                signal.signal(signal.SIGINT, before)
        return self.pool


def in_worker(function: Callable[..., Any], asked: tuple[Any, ...]) -> Any:
    """Return what a function answers in a worker, which leaves Ctrl-C to the process that asked."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    arguments = [_remembered(each) if isinstance(each, Problem) else each for each in asked]
    return Context().run(function, *arguments)  # it knows nobody who watches, nor steps


def _remembered(problem: Problem) -> Problem:
    """Return an equal problem that this worker had before: it has its tables."""
    for known in _known:
        if known == problem:
            return known
    _known.insert(0, problem)
    del _known[PROBLEMS:]
    return problem
