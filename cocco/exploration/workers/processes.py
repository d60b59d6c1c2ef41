"""Workers of a search that are processes on this machine; if one is killed, its step is computed again.

Where possible they are forks of this process, which has already imported all they need and built the tables of the
problem. Otherwise loky makes them, and they stay from one search to the next. Both kinds notice when a worker dies. All
workers then end, since the dead one may have held a lock that they share, and new ones are made, a few times. This
process computes what is still missing after that when it is requested.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any

from cocco.candidates.code import difference, made_by
from cocco.effort.stages import PROGRESS
from cocco.effort.work_units import LOST
from cocco.exploration.workers.worker import answered, begin, remembered
from cocco.problem.problem import Problem

ATTEMPTS = 3  #: of workers at the same steps; our choice
LOOK_SECONDS = 1.0  #: between two looks at whether all workers live, and which there are; our choice
IDLE_SECONDS = 300  #: after which workers that loky made end; our choice
DIED = "a worker process died (the system kills some where memory is short); what it was computing is computed again"


class Processes:
    """The workers of one search, made when first needed; forks end with the search."""

    def __init__(self, workers: int, stack: ExitStack) -> None:
        """stack: ends the workers when the search ends."""
        self.workers = workers
        self._pool: Executor | None = None
        self._copies: list[BaseProcess] = []
        stack.callback(self._close)

    def run(self, function: Callable[..., Any], asked: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return a function's answer to each of these tuples of arguments; LOST where workers died repeatedly."""
        found = [LOST] * len(asked)
        if multiprocessing.current_process().daemon:  # it may not start processes
            return found
        for _ in range(ATTEMPTS):
            futures: dict[int, Future[Any]] = {}
            try:
                pool = self._opened(asked)
                for i in (i for i, each in enumerate(found) if each is LOST):
                    futures[i] = pool.submit(answered, made_by(), function, asked[i])
                self._wait(futures.values())
                for i, future in futures.items():
                    found[i] = _ours(future)
                return found
            except BrokenProcessPool:
                done = [i for i, future in futures.items() if future.done() and future.exception() is None]
                for i in done:
                    found[i] = _ours(futures[i])
                self._end()
                warnings.warn(DIED, RuntimeWarning, stacklevel=2)
            except (ImportError, NotImplementedError, OSError):
                self._end()
                if futures:
                    raise
                return found  # the system lacks what workers need: this process computes
            except BaseException:
                self._end()
                raise
        return found

    def _opened(self, asked: Sequence[tuple[Any, ...]]) -> Executor:
        if self._pool is not None:
            return self._pool
        made_by()  # so that forks know it
        if not may_fork():
            from joblib.externals.loky import get_reusable_executor

            self._pool = get_reusable_executor(
                self.workers, timeout=IDLE_SECONDS, initializer=begin, initargs=(os.getpid(),)
            )
            return self._pool
        for each in (each for job in asked for each in job if isinstance(each, Problem)):
            remembered(each)
        others = multiprocessing.active_children()
        context = multiprocessing.get_context("fork")
        self._pool = ProcessPoolExecutor(self.workers, context, initializer=begin, initargs=(os.getpid(),))
        with _no_interrupt():
            try:
                self._pool.submit(os.getpid)  # starts all of them
            finally:
                self._copies = [each for each in multiprocessing.active_children() if each not in others]
        return self._pool

    def _wait(self, futures: Collection[Future[Any]]) -> None:
        """Wait for all, or for the first that fails; raise BrokenProcessPool if a fork died.

        The pool raises that itself, except if a fork died in the middle of a long answer: it would wait for the rest.
        """
        while True:
            are_dead = bool(connection.wait([each.sentinel for each in self._copies], 0))
            ended = wait(futures, LOOK_SECONDS, FIRST_EXCEPTION)
            if not ended.not_done or any(each.exception() is not None for each in ended.done):
                return
            if are_dead:
                raise BrokenProcessPool(DIED)

    def _close(self) -> None:
        if self._copies:
            self._end()

    def _end(self) -> None:
        """End the workers, whatever they are doing."""
        pool, self._pool = self._pool, None
        copies, self._copies = self._copies, []
        for each in copies:
            each.kill()
        if isinstance(pool, ProcessPoolExecutor):
            answers: Any = vars(pool).get("_result_queue")
            if answers is not None:
                answers._writer.close()  # the last open end: no one waits for the rest of an answer
            pool.shutdown(cancel_futures=True)
        elif pool is not None:
            pool.shutdown(kill_workers=True)  # type: ignore[call-arg]  # of loky


def _ours(future: Future[Any]) -> Any:
    """Return the answer of a worker on this machine, whose code may have been edited since it started."""
    made, answer = future.result()
    told = difference(made)
    if told:
        raise ValueError(f"a worker process has {told}: the code changed while it ran; start again")
    return answer


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Delay Ctrl-C until the end of the `with` block; processes forked inside it ignore it for good."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def may_fork() -> bool:
    """Whether workers can be forks of this process, which has already imported all that they need.

    Not if the system cannot fork, nor if a thread other than that of our own progress display might hold a lock.
    """
    method = multiprocessing.get_start_method(allow_none=True) or multiprocessing.get_all_start_methods()[0]
    if method != "fork":
        return False
    others = [each for each in threading.enumerate() if each is not threading.main_thread()]
    return threading.current_thread() is threading.main_thread() and all(each.name == PROGRESS for each in others)
