"""NSGA-II from greedy partitions in several memories, then polished: the samples of a search for a front."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cocco.candidates.judge import judged
from cocco.candidates.spread import spread
from cocco.effort.work_units import once
from cocco.exploration.answers.front import FrontPoint
from cocco.exploration.memories.front import of_value
from cocco.exploration.question.question import Question
from cocco.exploration.searching.polish import LEAST_SAMPLES, polish
from cocco.problem.criteria import metric_of, metrics_of
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem
from cocco.search.baselines.greedy import greedy
from cocco.search.genetic.engine import Engine, make_engine
from cocco.search.genetic.nsga import Cloud, nsga
from cocco.search.genetic.population import Population
from cocco.search.pricing.compiled import subgraph_costs

FOUNDER_MEMORIES = 8  #: memories, from small to large, that greedy makes a partition for; our choice, with the next
KNOWN_MEMORIES = 64  #: memories that each plan of the bank is priced in, at most; our choice
FOUNDING = 0.1  #: share of the samples; no further founder is made once they have taken that much


def searched(question: Question, cloud: Cloud) -> Cloud:
    """Return the samples of NSGA-II from greedy partitions in several memories, then polished (our choices).

    cloud: an empty one, whose engines make and price the genomes of the problem.
    """
    problem, samples, settings = question.problem, question.samples, question.settings
    polishing = int(settings.polish * samples)
    if polishing < LEAST_SAMPLES * problem.size:
        polishing = 0
    try:
        start, initial = _founders(question, cloud)
        nsga(cloud, problem, samples - polishing, question.seed, settings, start, initial)
        if polishing:
            _polish(question, cloud)
            nsga(cloud, problem, samples, question.seed, settings, _of_front(cloud))
    except KeyboardInterrupt:
        cloud.is_stopped = True
        if not len(cloud.values):
            cloud.price(*rows_of(problem, range(problem.size), [(0,) * len(problem.buffers)]))
    return cloud


def empty_cloud(question: Question, plane: Plane) -> Cloud:
    """Return an empty cloud, with an engine for each metric that the objectives need."""
    engines: dict[str, Engine] = {}
    for metric in metrics_of(plane.names):
        problem = of_value(question.problem, metric)
        engines[metric] = make_engine(question.engine, problem, question.settings, question.threads)
    return Cloud(plane, engines, question.samples, question.progress)


def _founders(question: Question, cloud: Cloud) -> tuple[tuple[Population, np.ndarray], list[list[int]]]:
    """Return greedy partitions in several memories, from small to large: priced, with criteria, and their labels.

    First come the partitions that were given, in all memories. Greedy ones there are none if they would take too many
    of the samples, as in cocco.exploration.searching.founders.
    """
    problem, found = question.problem, list[list[int]]()
    start = Population.empty(0, problem.size, len(problem.buffers)), np.zeros((0, len(cloud.plane.names)))
    for labels in question.initial:
        found.append(list(labels))
        memories = [problem.memories[i] for i in spread(len(problem.memories), KNOWN_MEMORIES)]
        priced, values = cloud.price(*rows_of(problem, found[-1], memories[: max(1, cloud.left - 1)]))
        start = start[0].joined(priced), np.concatenate([start[1], values])
    if not question.settings.seeds or question.samples < problem.size:
        return start, found
    for number in range(FOUNDER_MEMORIES):
        if cloud.samples > FOUNDING * question.samples:
            break
        share = (number + 1) / (FOUNDER_MEMORIES + 1)
        memory = [int(share * len(sizes)) for sizes in problem.candidates]
        given = cloud.plane.given(memory)
        prices = subgraph_costs(given, question.engine)
        found.append(greedy(given, prices)[0])
        cloud.spend(min(prices.samples, max(0, cloud.left - 1)))
        if not cloud.left:
            break
        priced, values = cloud.price(*rows_of(problem, found[-1], [memory]))
        start = start[0].joined(priced), np.concatenate([start[1], values])
    return start, found


def _polish(question: Question, cloud: Cloud) -> None:
    """Improve partitions of the front by iterated order DP (polish.py), in memories from small to large.

    Each starts from the cheapest known partition that fits, and its result is also priced in all larger memories of the
    front. As many memories are taken as the samples suffice for, evenly spread, for one metric after another.
    """
    problem, metrics = question.problem, metrics_of(list(cloud.engines))
    memories = list(dict.fromkeys(tuple(each) for each in cloud.capacities.tolist()))
    memories.sort(key=lambda each: (cloud.plane.machine(each).buffer_bytes, each))
    least = LEAST_SAMPLES * problem.size + len(memories)
    wanted = min(len(memories) * len(metrics), cloud.left // least)
    tasks = [(memory, metric) for memory in memories for metric in metrics]
    tasks = [tasks[(2 * i + 1) * len(tasks) // (2 * wanted)] for i in range(wanted)]
    for number, (memory, metric) in enumerate(tasks):
        share = cloud.left // (len(tasks) - number) - len(memories)
        if share < least - len(memories):
            break
        labels = cheapest(cloud, memory, metric)
        assert labels is not None, "a memory of the front has a partition"
        given = of_value(cloud.plane.given(memory), metric)
        found = once(polish, given, labels, (), share, question.seed, question.engine)
        cloud.spend(min(found.samples, cloud.left - 1))
        larger = [each for each in memories if all(a >= b for a, b in zip(each, memory[: cloud.plane.sizes]))]
        cloud.price(*rows_of(problem, found.labels, larger[: cloud.left]))
        if found.is_stopped:
            raise KeyboardInterrupt


def point_of(cloud: Cloud, row: int) -> FrontPoint:
    """Return a row of a cloud's front as a point priced by the simulator."""
    plane, values = cloud.plane, cloud.values[row].tolist()
    labels, capacities = cloud.labels[row].tolist(), cloud.capacities[row].tolist()
    winner = judged(plane.problem, labels, capacities, values, plane.judged)
    return FrontPoint(winner.values, winner.accelerator, winner.plans, winner.evaluations)


def cheapest(cloud: Cloud, memory: Sequence[int], metric: str) -> list[int] | None:
    """Return the labels on the front that cost least in this metric, among memories no larger than this one."""
    column = next(i for i, name in enumerate(cloud.plane.names) if metric_of(name) == metric)
    buffers = cloud.plane.sizes
    rows = np.flatnonzero((cloud.capacities[:, :buffers] <= np.array(memory[:buffers])).all(axis=1))
    if not len(rows):
        return None
    labels: list[int] = cloud.labels[rows[cloud.values[rows, column].argmin()]].tolist()
    return labels


def _of_front(cloud: Cloud) -> tuple[Population, np.ndarray]:
    """Return the genomes on the front, without their cost, and their criteria."""
    nothing = np.zeros(len(cloud.values))
    return Population(cloud.labels, cloud.capacities, nothing, nothing), cloud.values


def rows_of(
    problem: Problem, labels: Sequence[int], memories: Sequence[Sequence[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return one partition in several memories as rows of labels and of capacities."""
    capacities = Population.empty(len(memories), 0, len(problem.buffers)).capacities
    capacities[:, : len(problem.buffers)] = [list(memory)[: len(problem.buffers)] for memory in memories]
    return np.tile(np.array(labels, dtype=np.int64), (len(memories), 1)), capacities
