"""Divided search: several independent searches share the samples, then one more starts from the best of all.

Several workers can run them at the same time. Their number follows from the samples alone, and each has its own random
numbers, so the answer is the same to the byte for any number of workers (our choice; in addition to the islands of
cocco.search.genetic, which run one after another).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from cocco.candidates.stream import DIVIDED, Stream
from cocco.effort.effort import Progress
from cocco.effort.settings import Settings
from cocco.effort.stages import tell
from cocco.effort.work_units import once, precompute, stored
from cocco.exploration.question.question import Question
from cocco.exploration.searching.founders import Founders, founders
from cocco.exploration.searching.one_search import of_founders, one_search
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.genetic.population import Population
from cocco.search.genetic.trace import Trace

PARALLEL_SEARCHES = 4  #: searches beside each other; our choice: two, three or four workers have enough to do
LEAST_DIVIDED = 100_000  #: of a search that is divided; our choice: below, each would end too early
LAST_SHARE = 0.12  #: share of the samples of the search from the best of all; our choice: it runs by itself


@stored
class SearchPart(NamedTuple):
    """What one search found: the state of its trace, and the best genomes of its populations."""

    trace: tuple[dict[str, Any], dict[str, np.ndarray]]
    best: Population
    is_stopped: bool = False


def search(question: Question) -> Trace:
    """Return what the genetic algorithm (Cocco, Sec. 4.4) finds from founders, whose work counts among the samples."""
    found = Founders([], 0)
    if question.settings.seeds:
        asked = question.problem, question.engine, question.settings.islands, question.samples, question.seed
        found = once(founders, *asked)
    return (divided_search if is_divided(question) else one_search)(question, found)


def is_divided(question: Question) -> bool:
    """Return whether there are enough samples for several searches."""
    settings = question.settings
    return question.samples >= LEAST_DIVIDED and settings.islands > 1 and not settings.operators


def divided_search(question: Question, found: Founders) -> Trace:
    """Return what several searches from these founders find, then one more from the best of them.

    After Ctrl-C: what was found until then, at least the founders.
    """
    problem, wanted = question.problem, question.samples
    trace = Trace(problem, wanted, question.progress, question.engine)
    trace.spend(found.samples)
    parents: list[Population] = []
    try:
        jobs = [] if found.is_stopped else list(_jobs(question, found))
        for number, job in enumerate(jobs):
            precompute(search_part, jobs[number:])
            made = once(search_part, *job)
            trace.follow(_trace(problem, made))
            parents.append(made.best)
            if trace.is_stopped:
                return trace
            if question.progress is not None:
                question.progress(trace.samples, wanted, trace.best.cost)
        if parents:
            last = replace(
                question, samples=wanted - trace.samples, progress=_told(trace.samples, wanted, question.progress),
                initial=(),
            )  # fmt: skip
            most = len(parents) * _share(question.settings)
            trace.follow(one_search(last, Founders([], 0), best_of(parents, most)))
    except KeyboardInterrupt:
        trace.is_stopped = True
    return trace if parents else of_founders(question, found)


def search_part(
    problem: Problem, samples: int, before: int, wanted: int, seed: int, settings: Settings, found: Founders,
    initial: list[list[int]], engine: EngineName,
) -> SearchPart:  # fmt: skip
    """Return what one search finds; before, wanted: samples of the searches before it and of all, for its progress."""
    left: list[Population] = []
    question = Question(problem, samples, seed, settings, engine, progress=_told(before, wanted, None), initial=initial)
    trace = one_search(question, found, left=left)
    best = best_of([Population.of([trace.best], problem.size), *left], _share(settings))
    return SearchPart(trace.state(), best, trace.is_stopped)


def _share(settings: Settings) -> int:
    """Return how many genomes the last search takes over from each other one: together they are its elite."""
    return max(1, settings.elite // PARALLEL_SEARCHES)


def _jobs(question: Question, found: Founders) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of each search: they share the samples that the founders left."""
    each = int((1 - LAST_SHARE) * (question.samples - found.samples)) // PARALLEL_SEARCHES
    initial = [list(map(int, labels)) for labels in question.initial]
    for number in range(PARALLEL_SEARCHES):
        seed = Stream(question.seed, DIVIDED, number).draw()
        yield (
            question.problem, each, found.samples + number * each, question.samples, seed, question.settings,
            found._replace(samples=0), initial, question.engine,
        )  # fmt: skip


def best_of(populations: Sequence[Population], most: int) -> Population:
    """Return the best genomes of several populations, without duplicates."""
    whole = populations[0]
    for other in populations[1:]:
        whole = whole.joined(other)
    ordered, kept, seen = whole.by_cost(), [], set()
    for row, (labels, memory) in enumerate(zip(ordered.labels, ordered.capacities)):
        key = labels.tobytes(), memory.tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(row)
    return Population(*(array[kept[:most]] for array in ordered))


def _told(before: int, wanted: int, progress: Progress | None) -> Progress:
    """Return a callback that reports the progress of one search; before: samples of the searches before it."""
    if progress is not None:
        return lambda samples, _, best: progress(before + samples, wanted, best)
    return lambda samples, _, best: tell("search", before + samples, wanted, "samples", best=best)


def _trace(problem: Problem, made: SearchPart) -> Trace:
    """Return the trace of one search."""
    plain, arrays = made.trace
    trace = Trace(problem, plain["samples"])
    trace.restore(plain, arrays)
    trace.is_stopped = made.is_stopped
    return trace
