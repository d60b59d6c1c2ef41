"""The bank: folders of entries; where a search may start, and what it leaves.

Only a search that is given a bank looks at one, so the same question with the same bank has the same answer, to the
byte, and without one it depends on nothing else. A search that finds nothing there but what the very same search has
left starts anew: it would find that again, and says the same, to the byte.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from cocco.bank.entry import (
    Entry,
    Stored,
    network_name,
    question_name,
    question_of,
    read_entry,
    sizes_of,
    write_entry,
)
from cocco.candidates.spread import spread
from cocco.problem.criteria import CRITERIA
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.partition.partition import Partition
from workloads.files import digest
from workloads.network.network import Network

VARIABLE = "COCCO_BANK"  #: of the environment: the folder of the user's bank; empty for none
MOST_STARTS = 6  #: of a search; our choice, with the next: each is priced in every memory
OF_ENTRY = 3  #: of one entry
SAMPLES_EACH = 100  #: a search has no more starts than one for so many samples: a small one finds its own
MOST_ENTRIES = 64  #: of a network; our choice. Those that were changed longest ago go first

Plans = tuple[Partition, ...]  #: one per network
Answer = tuple[Accelerator, Sequence[Partition], Sequence[Evaluation]]


class Starts(NamedTuple):
    """Plans to start from, and the names of the entries that have them, with a hash of their content."""

    plans: list[Plans]
    entries: tuple[str, ...]


@dataclass(frozen=True)
class Bank:
    """Folders of plans that were priced best before, for searches to start from.

    Parameters
    ----------
    folder
        Where answers are added; None: nowhere. It need not exist.
    known
        Other folders that are only read.

    Examples
    --------
    >>> import tempfile, cocco, workloads
    >>> network = workloads.load("randwire_a")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bank = cocco.Bank(folder)
    ...     first = cocco.explore(network, alpha=0.001, keep="none", method="ga", samples=200, ranges=False, bank=bank)
    ...     again = cocco.explore(network, alpha=0.002, keep="none", method="ga", samples=200, ranges=False, bank=bank)
    >>> len(again.bank), again.cost <= first.accelerator.buffer_bytes + 0.002 * first.evaluation.energy_pj
    (1, True)
    """

    folder: str | os.PathLike[str] | None = None
    known: tuple[str | os.PathLike[str], ...] = ()

    def starts(self, problem: Problem, most: int, search: str | None = None) -> Starts:
        """Return at most so many plans for a problem: of the same question first, then of the nearest ones.

        search: the name of the search that asks; if all of them are its own, there are none.
        """
        asked, of_each, entries = question_of(problem), list[list[Partition]](), dict[str, None]()
        is_own = True
        for network in problem.networks:
            found: dict[Partition, None] = {}
            for name, entry in sorted(self._entries(network), key=lambda each: (_distance(each[1], asked), each[0])):
                before = len(found)
                for each in _ranked(problem, entry):
                    if len(found) == min(before + OF_ENTRY, most):
                        break
                    plan = _usable(problem, network, each)
                    if plan is not None and plan not in found:
                        found[plan] = entries[name] = None
                        is_own &= each.asked == search
            of_each.append(list(found))
        if is_own or not all(of_each):
            return Starts([], ())
        count = max(map(len, of_each))
        return Starts([tuple(each[min(i, len(each) - 1)] for each in of_each) for i in range(count)], tuple(entries))

    def keep(self, problem: Problem, answers: Iterable[Answer], search: str = "") -> None:
        """Add answers of a problem that a search of this name found.

        A disk that is full or cannot be written loses them, and nothing else.
        """
        if self.folder is None:
            return
        asked, column = question_of(problem), CRITERIA[problem.objective.metric].column
        plans: dict[Network, list[Stored]] = {network: [] for network in problem.networks}
        for accelerator, partitions, evaluations in answers:
            for network, plan, evaluation in zip(problem.networks, partitions, evaluations):
                value = float(getattr(evaluation, column))
                if evaluation.fits and math.isfinite(value) and not (plan.spare or plan.ahead):
                    plans[network].append(Stored.of(plan, accelerator, value, search))
        with suppress(OSError):
            for network, found in plans.items():
                if found:
                    folder = Path(self.folder) / network_name(network)
                    write_entry(folder / f"{question_name(asked)}.json", network, asked, found)
                    _forget(folder)

    def _entries(self, network: Network) -> Iterator[tuple[str, Entry]]:
        """Yield the entries of a network, of all folders, by name."""
        folders = [Path(each) for each in (*self.known, *([] if self.folder is None else [self.folder]))]
        for folder in folders:
            for path in sorted((folder / network_name(network)).glob("*.json")):
                entry = read_entry(path)
                if entry is not None:
                    content = digest(entry.to_text(network))[:8]
                    yield f"{path.parent.name}/{path.stem}@{content}", entry


def users_bank() -> Bank | None:
    """Return the bank in the user's cache directory, or in the folder that COCCO_BANK names; None if that is empty."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.environ.get(VARIABLE, os.path.join(cache, "cocco", "bank"))
    return Bank(folder) if folder else None


def most_starts(samples: int, population: int, given: int) -> int:
    """Return how many starts a search may take beside those that it was given."""
    return max(0, min(MOST_STARTS, samples // SAMPLES_EACH, min(samples, population) - given))


def _distance(entry: Entry, asked: Mapping[str, Any]) -> int:
    """Return in how many ways a question is another one; what may be kept counts most, then the metric."""
    other = entry.question
    ways = {"keep": 4, "metric": 2}
    return sum(ways.get(name, 1) for name in {*asked, *other} if asked.get(name) != other.get(name))


def _ranked(problem: Problem, entry: Entry) -> list[Stored]:
    """Return the plans of an entry, the most promising first.

    On given hardware those of the nearest size; for a memory that is chosen those of the least cost, by stored prices,
    or spread over all sizes where these are in another metric.
    """
    if not problem.buffers:
        wanted = sizes_of(problem.accelerator)
        return sorted(entry.plans, key=lambda each: (abs(math.log(sum(each.sizes) / sum(wanted))), each))
    objective, alpha = problem.objective, problem.objective.alpha
    if alpha is None or entry.question.get("metric") != objective.metric:
        chosen = spread(len(entry.plans), OF_ENTRY)
        return [entry.plans[i] for i in chosen]
    counted = problem.accelerator.cores if objective.count == "all" else 1
    return sorted(entry.plans, key=lambda each: (counted * sum(each.sizes) + alpha * each.value, each))


def _usable(problem: Problem, network: Network, stored: Stored) -> Partition | None:
    """Return a plan where it is one of the network on this machine."""
    try:
        return stored.partition(network, problem.objective.metric, problem.accelerator.connection)
    except (ValueError, IndexError, TypeError):  # the file of another hand
        return None


def _forget(folder: Path) -> None:
    """Remove the entries of a network that were changed longest ago, if there are too many."""
    paths = sorted(folder.glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name), reverse=True)
    for path in paths[MOST_ENTRIES:]:
        path.unlink(missing_ok=True)
