"""A sweep over several machines: the workers of a dask scheduler compute, the caller stores (extra `dask`).

The workers need the same code, libraries and function (cocco.candidates.code), and no common disk. A worker that dies
loses the points it was computing; the scheduler gives them to another. Where the scheduler drops this client, as a busy
one may, what is left is submitted again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cocco.candidates.code import code_version, difference, made_by
from cocco.exploration.workers.machines import MachinesError, check_workers, connected
from experiments.sweep.points import Point, SweepError, source_of
from experiments.sweep.task import Ended, PointTask, compute, message_of, printable
from workloads.errors import one_line

CONNECTIONS = 3  #: connections to a scheduler that drops its clients; our choice


def over_machines(task: PointTask, left: Mapping[str, Point], address: str) -> Iterator[Ended]:
    """Yield the outcomes as they come, each with its file as text, which the caller stores.

    Raises SweepError where the address does not answer, has no workers, goes away, or its workers have other code.
    """
    waiting = dict(left)
    for attempt in range(CONNECTIONS):
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


def _until_dropped(task: PointTask, left: Mapping[str, Point], client: Any, address: str) -> Iterator[Ended]:
    """Yield the outcomes as they come, and close the client; raises _DroppedError where a point is not computed."""
    from distributed import as_completed

    try:
        futures = {
            client.submit(_compute, made_by(), task, key, point, key=f"cocco-{code_version()}-{key}", pure=False): key
            for key, point in left.items()
        }
        waiting = as_completed(list(futures), loop=client.loop)
        for future in waiting:
            yield _outcome(future, task, futures.pop(future), address)
            future.release()
    finally:
        client.close(timeout=2)


def _compute(made: Mapping[str, str], task: PointTask, key: str, point: Point) -> tuple[Mapping[str, str], str, Ended]:
    """Compute a point on the other machine, and say by which code; nothing where it is another than here."""
    ours, source = made_by(), source_of(task.run, task.source)
    same = ours == made and source == task.source
    return ours, source, compute(task, key, point) if same else Ended(key)


def _connected(address: str) -> Any:
    """Return a client of the scheduler, with a worker at least, all of them made as this machine is."""
    try:
        client = connected(address)
    except MachinesError as error:
        raise SweepError(printable(one_line(error))) from None
    try:
        _check_all(client, address)
    except BaseException:
        client.close(timeout=2)
        raise
    return client


def _check_all(client: Any, address: str) -> None:
    """Raise SweepError where one of the workers that there are now is not made as this machine is."""
    try:
        check_workers(client, address, list(client.nthreads()))
    except MachinesError as error:
        raise SweepError(printable(one_line(error))) from None


def _outcome(future: Any, task: PointTask, key: str, address: str) -> Ended:
    """Return the outcome in a future that is done; a point whose workers died again and again has failed."""
    if future.status in ("cancelled", "lost"):
        raise _DroppedError
    error = future.exception()
    if error is not None:
        _check_all(future.client, address)  # one of another build may raise anything
        return Ended(key, failure=message_of(error))
    made, source, outcome = future.result()
    told = difference(made) or ("" if source == task.source else f"another text of {task.run_name}")
    if told:
        raise SweepError(f"dask scheduler {address}: a worker has {told}; install the same there as here")
    found: Ended = outcome
    return found
