"""Effort: how much a search may do, and how: everything about it that does not change the question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from cocco.candidates.operators import Operators, operators_of
from cocco.candidates.stream import check_seed
from cocco.effort.levels import LEVELS, LevelName, level_of
from cocco.effort.settings import Settings
from cocco.effort.stages import Stages
from cocco.problem.names import Count, EngineName
from simulator.accelerator import MachineFields
from simulator.keywords import with_fields
from simulator.partition.partition import Partition
from workloads.errors import check_count

if TYPE_CHECKING:
    from cocco.bank.bank import Bank

MAX_WORKERS = 4096  #: our choice: above any number that could be meant
MAX_SAMPLES = 10**8  #: our choice: hours of the fastest engine; each sample keeps some 30 bytes

Initial = Partition | Sequence[Partition] | Sequence[Sequence[Partition]]
Progress = Callable[[int, int, Any], object]
"""Called with samples done, samples in total, and the best cost so far (of a front: how many points it has)."""


class SearchFields(TypedDict, total=False):
    """The fields of an Effort that every search has, as keywords."""

    samples: int
    level: LevelName
    seed: int
    settings: Settings | None
    engine: EngineName | None
    threads: int
    workers: int
    dask: str | None
    progress: Progress | None
    stages: Stages | None
    operators: Operators
    bank: Bank | None


class EffortFields(SearchFields, total=False):
    """All fields of an Effort as keywords."""

    initial: Initial
    prove: bool
    check_addresses: bool


class PartitionFields(EffortFields, total=False):
    """The keywords of `partition`. population: genomes per generation, which replaces the one in settings."""

    population: int | None


class ExploreFields(MachineFields, EffortFields, total=False):
    """The keywords of `explore`: fields of its machine and of its effort, whose buffers count, alpha in other words."""

    slack: float
    count: Count
    exchange: str | None
    ranges: bool


class FrontFields(MachineFields, SearchFields, total=False):
    """The keywords of `pareto` and `minimize`: fields of their machine and of their effort, and whose buffers count."""

    count: Count


@dataclass(frozen=True)
class Effort:
    """How a search goes about its question.

    Parameters
    ----------
    samples
        Genomes to price, and other work counted as such.
    level
        The counted budgets of proofs: those of "quick", "normal" or "thorough" (`Effort.of` also sets the samples of
        such a word; the searches accept the word instead of an effort).
    seed
        Names the random numbers: the same question gives the same answer, to the byte.
    settings
        Hyper-parameters of the genetic algorithm; None: the defaults of the search.
    initial
        Partitions to start from; for several networks, tuples of one partition each. The answer costs no more than
        any of them, with its kept intervals where tensors may stay on chip; its method is then "given" if it is one.
    engine
        "fast" (compiled; the default where it is built) or "reference", with the same answers.
    threads
        Of the fast engine.
    workers
        Processes that work for one search: on memories, points of fronts, and the parts of a large search at the same
        time. The answer is the same to the byte for any number. With dask: how many jobs are given out at a time.
    dask
        The address of a scheduler, "tcp://HOST:PORT", whose workers do the work instead (extra "dask").
    progress
        Called from time to time with (samples done, samples in total, best cost so far).
    stages
        Called with a `cocco.Stage` whenever the search makes progress: founders, search, annealing, polish, ...
    prove
        If the optimum is not proven, find a better lower bound by solvers, which takes minutes (docs/bounds.md; extra
        "solvers").
    check_addresses
        Split subgraphs that fit by their bytes but have no addresses (cocco.exploration.placing.addresses).
    operators
        Your own mutations and crossovers, functions or `cocco.Operator`, which the genetic search draws from in
        addition to its own (simulated annealing uses the mutations). They run in Python; "fast" prices their results.
    ranges
        If the memory is chosen: find which other sizes cost nearly as little (`Result.ranges`; docs/memory.md).
    bank
        Answers to earlier questions (`cocco.Bank`): the search also starts from the plans of those nearest to its own,
        and leaves its answer there. None: it starts anew.

    Raises
    ------
    ValueError
        Names the field, the rule and the value.

    Examples
    --------
    >>> Effort(samples=2_000, seed=7).engine is None
    True
    """

    samples: int = LEVELS["normal"].samples
    level: LevelName = "normal"
    seed: int = 0
    settings: Settings | None = None
    initial: Initial = ()
    engine: EngineName | None = None
    threads: int = 1
    workers: int = 1
    dask: str | None = None
    progress: Progress | None = None
    stages: Stages | None = None
    prove: bool = False
    check_addresses: bool = False
    ranges: bool = True
    operators: Operators = ()
    bank: Bank | None = None

    def __post_init__(self) -> None:
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or not 1 <= self.samples <= MAX_SAMPLES:
            raise ValueError(f"samples must be an integer from 1 to {MAX_SAMPLES}, got {self.samples!r}")
        level_of(self.level)
        check_count("workers", self.workers, MAX_WORKERS)
        check_seed(self.seed)
        if not isinstance(self.settings, Settings | None):
            raise ValueError(f"settings must be a cocco.Settings, got {self.settings!r}")
        operators_of(self.operators)

    @classmethod
    def of(cls, name: LevelName) -> Effort:
        """Return the effort named by a word: its samples and its budgets of proofs.

        Examples
        --------
        >>> Effort.of("thorough").samples
        200000
        """
        return cls(samples=level_of(name).samples, level=name)


def effort_of(
    effort: Effort | LevelName | None, keywords: Mapping[str, Any], default: Settings | None = None
) -> Effort:
    """Return the effort, or the default one, with fields replaced by the keywords; default: settings of the method."""
    if isinstance(effort, str):
        effort = Effort.of(effort)
    if not isinstance(effort, Effort | None):
        raise ValueError(f"effort must be a cocco.Effort, got {effort!r}")
    found = with_fields(effort or Effort(), keywords)
    population = keywords.get("population")
    if population is None:
        return found
    settings = found.settings or default or Settings()
    elite = min(settings.elite, population // 2) if isinstance(population, int) else settings.elite
    return replace(found, settings=replace(settings, population=population, elite=elite))
