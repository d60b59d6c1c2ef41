"""A sweep over several machines: the workers of a dask scheduler compute, the caller stores (extra `dask`).

The workers need this package in the same version, and no common disk. A worker that dies loses the points it was
computing; the scheduler gives them to another. Where the scheduler drops this client, as a busy one may, what is left
is submitted again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from experiments.sweep.points import Point, SweepError, code_version
from experiments.sweep.task import Ended, Task, compute, message_of, printable
from workloads.errors import one_line

ANSWER_SECONDS = 4.0  #: for the scheduler to answer, and again for a first worker to be there; our choice
ATTEMPTS = 3  #: connections to a scheduler that drops its clients; our choice


def over_machines(task: Task, left: Mapping[str, Point], address: str) -> Iterator[Ended]:
    """Yield the outcomes as they come, each with its file as text, which the caller stores.

    Raises SweepError where the address does not answer, has no workers, goes away, or its workers have other code.
    """
    waiting = dict(left)
    for attempt in range(ATTEMPTS):
        try:
            client = _connected(address)
        except SweepError:
            if attempt:
                break
            raise
        try:
            for outcome in _until_dropped(task, waiting, client, address):
                del waiting[outcome.key]
                yield outcome
            return
        except _DroppedError:
            continue
    raise SweepError(f"dask scheduler {address}: went away; what was finished is stored")


class _DroppedError(Exception):
    """The scheduler forgot what it was asked for, or is gone."""


def _until_dropped(task: Task, left: Mapping[str, Point], client: Any, address: str) -> Iterator[Ended]:
    """Yield the outcomes as they come, and close the client; raises _DroppedError where a point is not computed."""
    from distributed import as_completed

    try:
        futures = {
            client.submit(_compute, task, key, point, key=f"cocco-{code_version()}-{key}", pure=False): key
            for key, point in left.items()
        }
        waiting = as_completed(list(futures), loop=client.loop)
        for future in waiting:
            yield _outcome(future, futures.pop(future), address)
            future.release()
    finally:
        client.close(timeout=2)


def _compute(task: Task, key: str, point: Point) -> tuple[str, Ended]:
    """Compute a point on the other machine, and say by which code."""
    return code_version(), compute(task, key, point)


def _connected(address: str) -> Any:
    """Return a client of the scheduler, with a worker at least."""
    try:
        from distributed import Client
    except ImportError:
        raise SweepError("a sweep over machines needs the extra 'dask': pip install 'cocco[dask]'") from None
    for name in ("distributed.client", "distributed.comm", "distributed.core", "distributed.scheduler"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is said in one line, by us
    _check_scheduler(address)
    client = Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
    try:
        client.wait_for_workers(1, timeout=ANSWER_SECONDS)
    except (OSError, TimeoutError):
        client.close(timeout=2)
        raise SweepError(f"dask scheduler {address}: has no workers; start some with: dask worker {address}") from None
    return client


def _check_scheduler(address: str) -> None:
    """Ask who answers there, before a client that would take its time to give up."""

    def ask() -> str:
        return asyncio.run(asyncio.wait_for(_kind(address), ANSWER_SECONDS))

    try:
        with ThreadPoolExecutor(1) as thread:  # the caller's may run an event loop, as notebooks do
            kind = thread.submit(ask).result()
    except Exception as error:  # whatever it is that answers there, it may send anything
        reason = printable(one_line(error)) or type(error).__name__
        reason = "nothing in time" if isinstance(error, TimeoutError) else reason
        raise SweepError(f"dask scheduler {address}: does not answer: {reason}") from None
    if kind != "Scheduler":
        raise SweepError(f"dask scheduler {address}: is no scheduler but a {kind}")


async def _kind(address: str) -> str:
    """Return what the process at an address of dask says it is: Scheduler, Worker or Nanny."""
    from distributed import rpc

    async with rpc(address, timeout=ANSWER_SECONDS) as remote:
        return str((await remote.identity())["type"])


def _outcome(future: Any, key: str, address: str) -> Ended:
    """Return the outcome in a future that is done; a point whose workers died again and again has failed."""
    if future.status in ("cancelled", "lost"):
        raise _DroppedError
    error = future.exception()
    if error is not None:
        return Ended(key, failure=message_of(error))
    version, outcome = future.result()
    if version != code_version():
        raise SweepError(f"dask scheduler {address}: a worker has cocco {version}, this machine {code_version()}")
    found: Ended = outcome
    return found
