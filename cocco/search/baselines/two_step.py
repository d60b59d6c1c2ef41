"""Two-step search: first a memory, then a partition for it (Cocco, Sec. 5.1.3: RS+GA and GS+GA)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import count, cycle, product
from typing import NamedTuple

from cocco.candidates.genome import random_capacities
from cocco.candidates.spread import spread
from cocco.candidates.stream import Stream
from cocco.problem.problem import Problem, in_memory

SAMPLES_PER_CANDIDATE = 5_000  #: Cocco, Sec. 5.1.3


class Partitioned(NamedTuple):
    """What the second step found for one memory; a plain pair of labels and value is accepted as well."""

    labels: list[int]
    value: float  #: Formula 1
    is_stopped: bool = False  #: whether the user ended the search, which ends the first step too


Search = Callable[
    [Problem, int, int], Partitioned | tuple[list[int], float]
]  #: (problem of given hardware, samples, seed)


class Candidate(NamedTuple):
    """A memory that was searched; capacities are positions in the problem's candidates."""

    capacities: tuple[int, ...]
    labels: list[int]
    value: float  #: Formula 1
    cost: float  #: Formula 2


class TwoStep(NamedTuple):
    """The best memory by Formula 2, and what each candidate gave, in the order of the search."""

    best: Candidate
    candidates: list[Candidate]
    samples: int  #: given out to the second step
    is_stopped: bool


def random_search(
    problem: Problem, samples: int, seed: int, search: Search, per_candidate: int = SAMPLES_PER_CANDIDATE
) -> TwoStep:
    """Return the best of random memories, drawn uniformly, until the samples are spent."""
    draws = (random_capacities(problem, Stream(seed, 0, i)) for i in count())
    return _search_each(problem, draws, samples, seed, search, per_candidate)


def grid_search(
    problem: Problem, samples: int, seed: int, search: Search, per_candidate: int = SAMPLES_PER_CANDIDATE
) -> TwoStep:
    """Return the best memory of a coarse grid, from large to small, until the samples are spent.

    Our choice: the grid is the coarsest one that the samples do not exhaust. If the whole space is smaller than that,
    it is searched once more with other seeds.
    """
    grid = coarse_grid(problem, -(-samples // per_candidate))
    return _search_each(problem, cycle(grid), samples, seed, search, per_candidate)


def coarse_grid(problem: Problem, wanted: int) -> list[tuple[int, ...]]:
    """Return at least so many memories (if that many exist), evenly spread with both ends, from large to small."""
    lengths = [len(sizes) for sizes in problem.candidates]
    points = [1] * len(lengths)
    while math.prod(points) < wanted and points != lengths:
        axis = min((i for i, length in enumerate(lengths) if points[i] < length), key=lambda i: points[i])
        points[axis] += 1
    axes = [[length - 1 - i for i in spread(length, number)] for length, number in zip(lengths, points)]

    def size(capacities: tuple[int, ...]) -> int:
        return sum(sizes[i] for sizes, i in zip(problem.candidates, capacities))

    return sorted(product(*axes), key=lambda capacities: (-size(capacities), capacities))


def _search_each(
    problem: Problem, memories: Iterable[tuple[int, ...]], samples: int, seed: int, search: Search, per_candidate: int
) -> TwoStep:
    """Give each memory its samples; the last one gets what is left. Ctrl-C keeps the candidates that are complete."""
    if not problem.buffers:
        raise ValueError("two-step search needs capacities to choose, but the hardware is given; use over_space")
    if samples < 1 or per_candidate < 1:
        raise ValueError(f"samples and per_candidate must be at least 1, got {samples} and {per_candidate}")
    candidates: list[Candidate] = []
    spent = 0
    is_stopped = False
    try:
        for i, capacities in enumerate(memories):
            share = min(per_candidate, samples - spent)
            found = Partitioned(*search(in_memory(problem, capacities), share, Stream(seed, 1, i).draw()))
            cost = problem.objective.cost(found.value, problem.accelerator_of(capacities))
            candidates.append(Candidate(capacities, list(found.labels), found.value, cost))
            spent += share
            is_stopped = found.is_stopped
            if is_stopped or spent == samples:
                break
    except KeyboardInterrupt:
        if not candidates:
            raise
        is_stopped = True
    best = min(candidates, key=lambda candidate: candidate.cost)  # of equals the first
    return TwoStep(best, candidates, spent, is_stopped)
