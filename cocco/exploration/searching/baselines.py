"""No search ends above greedy and dp in the memories where these are run: its own, some others, and nearby ones.

They also serve as founders, but only where that takes few of the samples: with few samples or many layers there are no
founders. The answers of greedy and dp are priced at the end in any case, in addition to the samples. (The choice of
memories is ours; the paper's own genetic algorithm, which has no founders, looks at none.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from cocco.effort.planned import Memory
from cocco.effort.stages import tell
from cocco.effort.work_units import once, precompute, stored
from cocco.exploration.question.question import Question
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, in_memory
from cocco.search.baselines.dynamic import depth_order, dynamic
from cocco.search.baselines.greedy import greedy
from cocco.search.genetic.engine import make_engine
from cocco.search.pricing.compiled import subgraph_costs
from cocco.search.pricing.genomes import Sample

LEAST_MEMORIES = 3  #: memories that are asked, beside that of the best genome and near ones
LAYERS_PER_SAMPLE = 0.25  #: of all memories together, of larger searches; our choices: a few percent of what they take
NEARBY_MEMORIES = 8  #: near memories that are asked at most


@stored
class Grouped(NamedTuple):
    """Labels of the partitions of greedy and of dp in one memory."""

    greedy: list[int]
    dp: list[int]


def grouped(problem: Problem, memory: Memory, engine: EngineName) -> Grouped:
    """Return the partitions of greedy and dp in one memory."""
    given = in_memory(problem, memory)
    costs = subgraph_costs(given, engine)
    return Grouped(greedy(given, costs)[0], dynamic(given, costs, depth_order(given))[0])


def better_of_baselines(question: Question, best: Sample) -> Sample:
    """Return the cheapest partition of greedy and dp in some memories, or the best genome of a search if cheaper."""
    problem, at = question.problem, best.genome.capacities
    spread = list(_spread(problem, at, max(LEAST_MEMORIES, int(LAYERS_PER_SAMPLE * question.samples) // problem.size)))
    for number, memory in enumerate(spread):
        precompute(grouped, (_job(question, each) for each in spread[number:] if each not in _known(question)))
        tell("greedy and dp", number, len(spread), "memories", best=best.cost)
        best = _better(question, best, memory)
    asked, moves = set(spread), 0
    while moves < NEARBY_MEMORIES:
        near = [memory for memory in neighbours(problem, best.genome.capacities) if memory not in asked]
        if not near or best.genome.capacities == at:
            break
        asked.add(near[0])
        best, moves = _better(question, best, near[0]), moves + 1
    return best


def neighbours(problem: Problem, memory: Memory) -> Iterator[Memory]:
    """Yield the memories with one buffer a size smaller or larger."""
    for buffer, sizes in enumerate(problem.candidates):
        for step in (-1, 1):
            moved = memory[buffer] + step
            if 0 <= moved < len(sizes):
                yield (*memory[:buffer], moved, *memory[buffer + 1 :])


def _spread(problem: Problem, at: Memory, count: int) -> Iterator[Memory]:
    """Yield a memory, then `count` others, evenly spread over all."""
    yield at
    every = [each for each in problem.memories if each != at]
    count = min(count, len(every))
    for i in range(count):
        yield every[(2 * i + 1) * len(every) // (2 * count)]


def _job(question: Question, memory: Memory) -> tuple[Problem, Memory, EngineName]:
    return question.problem.plain, memory, question.engine


def _known(question: Question) -> dict[Memory, Grouped]:
    """The answers of `grouped` so far, of the search with nothing kept, too, that came before this one."""
    known: dict[Memory, Grouped] = question.problem.plain.memo.setdefault((Grouped, question.engine), {})
    return known


def _better(question: Question, best: Sample, memory: Memory) -> Sample:
    problem, known = question.problem, _known(question)
    found = known[memory] = known.get(memory) or once(grouped, *_job(question, memory))
    engine = make_engine(question.engine, problem, question.settings, question.threads)
    capacities = np.zeros((len(found), 2), np.int64)
    capacities[:, : len(memory)] = memory
    priced = engine.price(np.array(list(found), dtype=np.int64), capacities)
    first = int(priced.cost.argmin())
    return priced.sample(first, len(problem.buffers)) if priced.cost[first] < best.cost else best
