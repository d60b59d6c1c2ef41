"""Workers of a search or a sweep on other machines, through a dask scheduler.

Anyone who reaches the port of a scheduler can have its workers run any code (docs/sweeps.md). An answer is accepted
only from a worker with the same code and versions as this machine (cocco.candidates.code); each answer states them,
since workers may join at any time. The logs of dask are off: we report what matters, in one line.
"""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from cocco.candidates.code import difference, made_by
from cocco.effort.work_units import LOST
from cocco.exploration.workers.outside import refuted
from cocco.exploration.workers.processes import LOOK_SECONDS
from cocco.exploration.workers.worker import answered
from workloads.errors import one_line

ANSWER_SECONDS = 4.0  #: for the scheduler to answer, and again for a first worker to be there; our choice


class MachinesError(ValueError):
    """One line: an address does not answer, has no workers, went away, or its workers have other code or versions."""


class Machines:
    """The workers of a scheduler, for one search."""

    def __init__(self, address: str, stack: ExitStack) -> None:
        """stack: closes the connection at the end of the search. Raises MachinesError."""
        self.address, self.client = address, connected(address)
        stack.callback(self.client.close, timeout=2)
        self._checked: set[str] = set()
        self._last_seen = time.monotonic()
        self._look()

    def run(self, function: Callable[..., Any], asked: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return a function's answer to each of these tuples of arguments; LOST where workers died of it repeatedly.

        Raises MachinesError.
        """
        from distributed import wait

        futures = [self.client.submit(answered, made_by(), function, each, pure=False) for each in asked]
        self._last_seen = time.monotonic()
        try:
            while not all(each.done() for each in futures):
                try:
                    with self.client.as_current():
                        wait(futures, timeout=LOOK_SECONDS)
                except (TimeoutError, CancelledError):
                    self._look()
            return [self._answer(future, each) for future, each in zip(futures, asked)]
        finally:
            self.client.cancel(futures, force=True)

    def _look(self) -> None:
        """Check the workers that joined since the last look; raises MachinesError."""
        try:
            workers = set(self.client.sync(self.client.nthreads, callback_timeout=ANSWER_SECONDS))
        except Exception:  # whatever a closing connection raises
            raise MachinesError(f"dask scheduler {self.address}: went away") from None
        if workers:
            self._last_seen = time.monotonic()
        elif time.monotonic() - self._last_seen > ANSWER_SECONDS:
            raise MachinesError(f"dask scheduler {self.address}: has no workers any more")
        check_workers(self.client, self.address, workers - self._checked)
        self._checked |= workers

    def _answer(self, future: Any, asked: tuple[Any, ...]) -> Any:
        """Return the answer of a finished future."""
        from distributed import KilledWorker

        if future.status in ("cancelled", "lost"):
            raise MachinesError(f"dask scheduler {self.address}: went away")
        error = future.exception()
        if isinstance(error, KilledWorker):
            text = f"workers of dask scheduler {self.address} died of a step again and again; this machine computes it"
            warnings.warn(text, RuntimeWarning, stacklevel=3)
            return LOST
        if error is not None:  # a worker with other code may raise anything
            self._checked = set()
            self._look()
            raise error
        made, answer = future.result()
        _check(made, self.address, "a worker")
        told = refuted(asked, answer)
        if told:
            raise MachinesError(f"dask scheduler {self.address}: a worker's answer does not hold: {told}")
        return answer


def connected(address: str) -> Any:
    """Return a client of the scheduler, which has at least one worker; raises MachinesError."""
    try:
        from distributed import Client
    except ImportError:
        raise MachinesError("dask needs the extra 'dask': pip install 'cocco[dask]'") from None
    for name in ("distributed.client", "distributed.comm", "distributed.core", "distributed.scheduler"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    _check_scheduler(address)
    client = Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
    try:
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
    except (OSError, TimeoutError):
        client.close(timeout=2)
        text = f"dask scheduler {address}: has no workers; start some with: dask worker {address}"
        raise MachinesError(text) from None
    return client


def check_workers(client: Any, address: str, workers: Collection[str]) -> None:
    """Raise MachinesError unless each of these workers has the same code and versions as this machine."""
    if not workers:
        return
    ask = {"workers": list(workers), "on_error": "return", "callback_timeout": ANSWER_SECONDS}
    try:
        found = client.sync(client.run, made_by, **ask)
    except Exception as error:
        reason = "nothing in time" if isinstance(error, TimeoutError) else one_line(error)
        raise MachinesError(f"dask scheduler {address}: its workers do not answer: {reason}") from None
    for worker, made in sorted(found.items()):
        if not isinstance(made, OSError):  # else it went away
            _check(made, address, f"worker {worker}")


def _check(made: object, address: str, worker: str) -> None:
    told = difference(made)
    if told:
        raise MachinesError(f"dask scheduler {address}: {worker} has {told}; install the same there as here")


def _check_scheduler(address: str) -> None:
    """Check that a dask scheduler answers there; a client would take longer to give up."""

    def ask() -> str:
        return asyncio.run(asyncio.wait_for(_kind(address), ANSWER_SECONDS))

    try:
        with ThreadPoolExecutor(1) as thread:  # the caller's thread may run an event loop, as in notebooks
            kind = thread.submit(ask).result()
    except Exception as error:  # whatever answers there may send anything
        reason = "nothing in time" if isinstance(error, TimeoutError) else one_line(error) or type(error).__name__
        raise MachinesError(f"dask scheduler {address}: does not answer: {reason}") from None
    if kind != "Scheduler":
        raise MachinesError(f"dask scheduler {address}: is no scheduler but a {kind}")


async def _kind(address: str) -> str:
    """Return what the dask process at an address says it is: Scheduler, Worker or Nanny."""
    from distributed import Security, rpc

    arguments = Security().get_connection_args("client")  # certificates of tls://, from the configuration of dask
    async with rpc(address, timeout=ANSWER_SECONDS, connection_args=arguments) as remote:
        return str((await remote.identity())["type"])
