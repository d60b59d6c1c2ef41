"""Cores as an axis: the memory to build, and what the networks cost on it, for each number of cores."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from cocco.effort.shown import Shown
from cocco.effort.status import Interrupted, Status
from cocco.exploration.answers.result import Result
from cocco.exploration.explore import explore
from simulator.accelerator import MAX_COUNT
from simulator.partition.schemes import CORE_SCHEMES
from workloads.errors import check_count
from workloads.network.network import Network

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False, repr=False)
class CoresAxis(Shown):
    """What `explore` answers for several numbers of cores.

    Attributes
    ----------
    cores
        The numbers of cores, in the order requested.
    results
        The `Result` of each.

    Examples
    --------
    >>> import cocco, workloads
    >>> space = cocco.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
    >>> found = cocco.explore_cores(workloads.load("vgg16"), [1, 2], space=space, keep="none", samples=200)
    >>> found.to_frame()[["cores", "capacity_bytes", "capacity_all_bytes"]].values.tolist()
    [[1, 1048576, 1048576], [2, 524288, 1048576]]
    """

    cores: tuple[int, ...]
    results: tuple[Result, ...]

    @property
    def samples(self) -> int:
        """Genomes priced in all searches."""
        return sum(result.samples for result in self.results)

    @property
    def engine(self) -> str:
        """The engine that priced them."""
        return self.results[0].engine

    @property
    def status(self) -> Status:
        """How the searches ended, by the least certain of them: "optimal" only where each is proved."""
        ends = [result.status for result in self.results]
        order: tuple[Status, ...] = ("stopped", "infeasible", "gave_up", "feasible")
        return next((status for status in order if status in ends), "optimal")

    def facts(self) -> dict[str, object]:
        """Return the networks, the numbers of cores, and how the searches ended."""
        names = ", ".join(each.network for each in self.results[0].evaluations)
        cores = ", ".join(map(str, self.cores))
        return {"networks": names, "cores": cores, "status": self.status, "samples": self.samples}

    def rows(self) -> list[dict[str, Any]]:
        """Return a row of plain numbers for each number of cores; of several networks the sums."""
        return [_row(cores, result) for cores, result in zip(self.cores, self.results)]

    def to_frame(self) -> pandas.DataFrame:
        """Return one row for each number of cores; it says how many subgraphs the cores share in each scheme."""
        import pandas

        frame = pandas.DataFrame(self.rows())
        for scheme in CORE_SCHEMES:
            frame[scheme] = [counts.get(scheme, 0) for counts in frame["schemes"]]
        return frame.drop(columns="schemes")

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco explore --cores 1 2 --json` prints."""
        return {"status": self.status, "cores": self.rows(), "results": [result.to_json() for result in self.results]}


def explore_cores(
    networks: Network | Sequence[Network], cores: Sequence[int], *, workers: int = 1, **question: Any
) -> CoresAxis:
    """Return what `explore` answers for each number of cores.

    The same arguments give the same answers, to the byte, with any number of workers.

    Parameters
    ----------
    networks
        As `explore` takes them.
    cores
        The numbers of cores, each once.
    workers
        Processes that search at the same time, each for another number of cores.
    **question
        All other arguments of `explore`.

    Raises
    ------
    ValueError
        If cores is empty, has a number twice or one that is no valid number of cores; and whatever `explore` raises.
    Interrupted
        After Ctrl-C, with the numbers of cores searched so far as its `result`.

    Examples
    --------
    >>> import cocco, workloads
    >>> space = cocco.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
    >>> cocco.explore_cores(workloads.load("vgg16"), [1, 2], space=space, keep="none", samples=200)
    CoresAxis(networks='vgg16', cores='1, 2', status='optimal', samples=389)
    """
    counts = check_cores(cores)
    check_count("workers", workers, MAX_COUNT)
    if "cores" in question:
        raise TypeError("explore_cores() takes the numbers of cores once, as its second argument")
    done: list[Result] = []
    try:
        for result in _searched(partial(explore, networks, **question), counts, workers):
            done.append(result)
    except Interrupted as stop:
        done.append(stop.result)
        raise Interrupted(_axis(counts, done)) from None
    except KeyboardInterrupt:
        if not done:
            raise
        raise Interrupted(_axis(counts, done)) from None
    return _axis(counts, done)


def check_cores(cores: Sequence[int]) -> tuple[int, ...]:
    """Return the numbers of cores, checked; raises ValueError if there are none or one appears twice."""
    counts = tuple(cores)
    if not counts:
        raise ValueError("cores must have a number at least")
    for count in counts:
        check_count("cores", count, MAX_COUNT)
        if counts.count(count) > 1:
            raise ValueError(f"cores has {count} twice; give each number once")
    return counts


def _searched(search: Any, counts: tuple[int, ...], workers: int) -> Iterator[Result]:
    """Yield the results in order, computed in this process or in several."""
    if workers == 1:
        yield from (search(cores=count) for count in counts)
        return
    from concurrent.futures.process import BrokenProcessPool

    from joblib import Parallel, delayed

    from cocco.exploration.workers.processes import ATTEMPTS, DIED

    left = list(counts)
    for _ in range(ATTEMPTS):
        try:
            start = Parallel(n_jobs=workers, return_as="generator")
            for result in start(delayed(search)(cores=count) for count in tuple(left)):
                del left[0]
                yield result
            return
        except BrokenProcessPool:
            warnings.warn(DIED, RuntimeWarning, stacklevel=2)
    yield from (search(cores=count) for count in left)


def _axis(counts: tuple[int, ...], done: Sequence[Result]) -> CoresAxis:
    return CoresAxis(counts[: len(done)], tuple(done))


def _row(cores: int, result: Result) -> dict[str, Any]:
    """Return a row of the table; None where no plan fits."""
    chip, found = result.accelerator, result.evaluations
    fits = bool(result.plans)
    schemes = Counter(cost.scheme for each in found for cost in each.subgraphs if cost.scheme)

    def summed(name: str) -> float | None:
        return sum(getattr(each, name) for each in found) if fits else None

    return {
        "cores": cores,
        "capacity_bytes": chip.buffer_bytes if fits else None,
        "capacity_all_bytes": cores * chip.buffer_bytes if fits else None,
        "area_mm2": chip.area_mm2 if fits else None,
        **{name: summed(name) for name in ("energy_pj", "latency_cycles", "ema_bytes", "crossbar_bytes")},
        "subgraphs": sum(len(each.subgraphs) for each in found) if fits else None,
        "schemes": dict(sorted(schemes.items())) if fits else {},
        "cost": result.cost if fits else None,
        "status": result.status,
        "gap": result.gap,
    }
