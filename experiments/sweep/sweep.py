"""sweep(): one function at many points, on this machine or others; what is finished is stored and never run again."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from typing import Any

from cocco.cli.running.progress import watched
from cocco.exploration.workers.worker import end_with
from experiments.sweep import points as stored
from experiments.sweep.points import Point, Run, SweepError
from experiments.sweep.task import Ended, PointTask, compute_and_keep, keep
from workloads.errors import one_line, shown

SWEEP_ROUNDS = 3  #: rounds with all workers before the points run one by one; our choice

Progress = Callable[[int, int], object]  #: points done, points in total


def sweep(
    run: Run,
    points: Sequence[Mapping[str, Any]],
    folder: str | PathLike[str],
    *,
    workers: int = 1,
    dask: str | None = None,
    progress: Progress | None = None,
) -> list[Any]:
    """Return what `run` answers at each point, in the order of the points, whoever computed it and when.

    Parameters
    ----------
    run : callable
        A function of a module; takes a point, returns what JSON can hold, and draws all its randomness from a seed in
        the point.
    points : sequence of mapping
        Settings that JSON can hold.
    folder : path
        Each finished point is stored there at once; a sweep that was killed goes on where it was.
    workers : int
        Processes of this machine.
    dask : str, optional
        The address of a scheduler, "tcp://HOST:PORT", whose workers compute instead.
    progress : callable, optional
        Called with (points done, points in total); by default a bar moves on a terminal.

    Returns
    -------
    list
        The answers.

    Raises
    ------
    ValueError
        For malformed arguments.
    SweepError
        One line, for a folder of something else, a stored point of another version, a full disk, an address that does
        not answer. A point at which `run` raises does not stop the others: the error that names it comes last.
    KeyboardInterrupt
        After Ctrl-C; what is finished is stored, and half of a search is not.

    Examples
    --------
    >>> import json, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sweep(json.dumps, [{"seed": 1}, {"seed": 2}], folder)
    ['{"seed": 1}', '{"seed": 2}']
    """
    if workers < 1:
        raise ValueError(f"workers must be at least 1, got {workers}")
    task, settings = PointTask(run, stored.name_of(run), Path(folder), stored.source_of(run)), _checked(points)
    keys = [stored.key_of(task.run_name, point) for point in settings]
    wanted, about = dict(zip(keys, settings)), stored.about(task.run_name, task.source)
    with stored.opened(task.folder):
        answers = {key: stored.load(task.folder, key, about, point) for key, point in wanted.items()}
        left = {key: wanted[key] for key, answer in answers.items() if answer is None}
        with _watched(progress, len(wanted), len(wanted) - len(left)) as moved:
            failed = _compute_all(task, dict(left), workers, dask, moved) if left else {}
        if failed:
            raise _failure(task.folder, {key: failed[key] for key in wanted if key in failed}, wanted)
        answers |= {key: stored.load(task.folder, key, about, point) for key, point in left.items()}
    return [_found(answers[key], task.folder) for key in keys]


def in_worker(parent: int, task: PointTask, key: str, point: Point) -> Ended:
    """Compute a point and store it in a worker process, which ends with its parent, however that dies."""
    if parent != os.getpid():  # joblib computes in this one where it has no others
        end_with(parent)
    return compute_and_keep(task, key, point)


def _checked(points: Sequence[Mapping[str, Any]]) -> list[Point]:
    """Return the points as JSON gives them back."""
    settings = []
    for position, point in enumerate(points):
        try:
            settings.append(stored.plain(dict(point)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"point {position} of the sweep is no mapping of JSON values: {one_line(error)}") from None
    return settings


def _compute_all(
    task: PointTask, left: dict[str, Point], workers: int, dask: str | None, moved: Callable[[], object]
) -> dict[str, Ended]:
    """Compute and store every point, and return the outcomes of those that failed."""
    failed = {}
    with closing(_outcomes(task, left, workers, dask)) as outcomes:
        for outcome in outcomes:
            if outcome.failure is not None:
                failed[outcome.key] = outcome
            moved()
    return failed


def _outcomes(task: PointTask, left: dict[str, Point], workers: int, dask: str | None) -> Generator[Ended, None, None]:
    """Yield the outcomes as they come, stored."""
    if dask is not None:
        from experiments.sweep.machines import over_machines

        for outcome in over_machines(task, left, dask):
            yield keep(task, outcome)
    elif workers == 1:
        for key, point in left.items():
            yield compute_and_keep(task, key, point)
    else:
        yield from _in_processes(task, left, min(workers, max(2, len(left))))


def _in_processes(task: PointTask, left: dict[str, Point], workers: int) -> Iterator[Ended]:
    """Yield the outcomes of worker processes; where one is killed, its point runs again in another.

    joblib gives up all workers where one dies. What was lost runs again, and at last one by one, so that a point
    that kills its worker each time is found and the others finish.
    """
    from joblib.externals.loky.process_executor import BrokenProcessPool

    for _ in range(SWEEP_ROUNDS):
        try:
            for outcome in _parallel(task, left, workers):
                left.pop(outcome.key, None)
                yield outcome
            return
        except BrokenProcessPool:
            for key in [key for key in left if stored.path_of(task.folder, key).exists()]:
                del left[key]
                yield Ended(key)
    for key, point in left.items():
        try:
            yield from _parallel(task, {key: point}, 2)
        except BrokenProcessPool:
            yield Ended(key, failure="its worker process dies, each time")


def _parallel(task: PointTask, left: Mapping[str, Point], workers: int) -> Iterator[Ended]:
    from joblib import Parallel, delayed

    start = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1, max_nbytes=None)
    found: Iterator[Ended] = start(
        delayed(in_worker)(os.getpid(), task, key, point) for key, point in dict(left).items()
    )
    return found


def _failure(folder: Path, failed: Mapping[str, Ended], wanted: Mapping[str, Point]) -> SweepError:
    """Return the error that names the first point that failed; its traceback is a note."""
    first, outcome = next(iter(failed.items()))
    error = SweepError(
        f"{folder}: {len(failed)} of {len(wanted)} points failed, at first {shown(wanted[first])}: {outcome.failure}; "
        "the others are stored, and the same sweep again runs only what is missing"
    )
    if outcome.details:
        error.add_note(outcome.details)
    return error


def _found(answer: tuple[Any] | None, folder: Path) -> Any:
    if answer is None:
        raise SweepError(f"{folder}: a point that was stored is gone; did somebody remove it?")
    return answer[0]


@contextmanager
def _watched(progress: Progress | None, total: int, done: int) -> Iterator[Callable[[], object]]:
    """Give what to call after each point: it moves the caller's progress, or what a command shows."""
    with watched(total, "points", done) if progress is None else nullcontext(progress) as moved:
        counted = itertools.count(done + 1)
        yield lambda: moved(next(counted), total) if moved is not None else None
