"""The whole front in one run: memories and partitions that nothing beats (the paper sweeps alpha, Fig. 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from cocco.bounds.enumeration import Solver
from cocco.exploration.explore import MAX_SAMPLES
from cocco.exploration.front import Front, FrontPoint
from cocco.exploration.polish import LEAST_SAMPLES, polish
from cocco.problem.criteria import check_objectives, metric_of, metrics_of
from cocco.problem.genome import groups_of
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem, in_memory, over_space
from cocco.problem.settings import Settings
from cocco.problem.space import Space
from cocco.problem.status import Status
from cocco.problem.stream import check_seed
from cocco.search.baselines.greedy import greedy
from cocco.search.genetic.engine import Engine, make_engine
from cocco.search.genetic.nsga import Cloud, Progress, nsga
from cocco.search.genetic.population import Population
from cocco.search.kernel.choice import engine_name
from simulator.evaluate import evaluate
from simulator.model.tiling import TileRule
from simulator.technology import MAX_REGIONS, Technology
from workloads.network.network import Network

METHODS = ("nsga2", "exact")
FOUNDERS = 8  #: memories, from small to large, that greedy makes a partition for; our choice, with the next
FOUNDING = 0.1  #: share of the samples; no further founder is made once they have taken that much
STEPS = 100_000_000  #: of the enumeration of one memory by "exact"; our choice: half a minute compiled
FRONT_SETTINGS = Settings(population=100, tournament=2)
"""Our choice: each of the 46 memories of the paper's space has one place on the front; tournaments as in NSGA-II."""


class Quest(NamedTuple):
    """What a search for a front is asked; engine is the name of the one that answers, threads are its threads."""

    problem: Problem
    objectives: tuple[str, ...]
    samples: int
    seed: int
    settings: Settings
    engine: str
    threads: int
    progress: Progress | None


def pareto(
    networks: Network | Sequence[Network],
    *,
    space: Space | None = None,
    objectives: Sequence[str] = ("capacity", "energy"),
    method: str = "nsga2",
    samples: int = 50_000,
    seed: int = 0,
    weights: Sequence[float] | None = None,
    cores: int = 1,
    batch: int = 1,
    max_regions: int | None = MAX_REGIONS,
    prefetch: Literal["free", "resident"] = "free",
    technology: Technology | None = None,
    tile_rule: TileRule = "exact",
    engine: str | None = None,
    threads: int = 1,
    progress: Progress | None = None,
    settings: Settings | None = None,
) -> Front:
    """Return the memories, with partitions, of which none found is better than another in all objectives.

    objectives: two or more of capacity, energy, ema, latency, area, bandwidth (cocco.problem.criteria), all minimized.
    method: "nsga2", or "exact": each memory enumerated, which proves the front between capacity or area and one of
    the others. progress: called with (samples done, samples in total, points on the front). The rest as in `explore`.
    The same arguments give the same front, to the byte. Ctrl-C ends the search with status "stopped".
    """
    checked = check_objectives(objectives)
    problem = over_space(
        networks, space, metric=metrics_of(checked)[0], weights=weights, cores=cores, batch=batch,
        max_regions=max_regions, prefetch=prefetch, technology=technology, tile_rule=tile_rule,
    )  # fmt: skip
    quest = quest_of(problem, checked, samples, seed, settings, engine, threads, progress)
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    if method == "exact":
        if len(checked) > 2 or all(metric_of(name) is not None for name in checked):
            raise ValueError(
                f"method 'exact' needs two objectives, one of them capacity or area, got {', '.join(checked)}"
            )
        cloud, is_proven = enumerated(quest)
        return judged(quest, cloud, "exact", "optimal" if is_proven else "gave_up")
    return judged(quest, searched(quest), "nsga2", "feasible")


def quest_of(
    problem: Problem,
    objectives: tuple[str, ...],
    samples: int,
    seed: int,
    settings: Settings | None,
    engine: str | None,
    threads: int,
    progress: Progress | None,
) -> Quest:
    """Return the question, checked."""
    if isinstance(samples, bool) or not isinstance(samples, int) or not 1 <= samples <= MAX_SAMPLES:
        raise ValueError(f"samples must be an integer from 1 to {MAX_SAMPLES}, got {samples!r}")
    check_seed(seed)
    settings = FRONT_SETTINGS if settings is None else settings
    if not isinstance(settings, Settings):
        raise ValueError(f"settings must be a cocco.Settings, got {settings!r}")
    name = engine_name(engine, problem, threads)
    return Quest(problem, objectives, samples, seed, settings, name, threads, progress)


def searched(quest: Quest) -> Cloud:
    """Return the samples of NSGA-II from greedy partitions in several memories, then polished (our choices)."""
    problem, samples, settings = quest.problem, quest.samples, quest.settings
    cloud = _cloud(quest)
    polishing = int(settings.polish * samples)
    if polishing < LEAST_SAMPLES * problem.size or prefetches(problem):
        polishing = 0
    try:
        start, initial = _founders(quest, cloud)
        nsga(cloud, problem, samples - polishing, quest.seed, settings, start, initial)
        if polishing:
            _polish(quest, cloud)
            nsga(cloud, problem, samples, quest.seed, settings, _of_front(cloud))
    except KeyboardInterrupt:
        cloud.is_stopped = True
        if not len(cloud.values):
            cloud.price(np.arange(problem.size)[None], np.zeros((1, 2), np.int64))
    return cloud


def prefetches(problem: Problem) -> bool:
    """Return whether subgraphs leave room for the next weights, so that their costs do not add up."""
    return problem.accelerator.prefetch == "resident"


def enumerated(quest: Quest) -> tuple[Cloud, bool]:
    """Return the cheapest partition of each memory, and whether all are proven; layer by layer where one is not."""
    problem, cloud, is_proven = quest.problem, _cloud(quest), True
    solver = Solver(problem, quest.engine)
    try:
        for memory in product(*[range(len(sizes)) for sizes in problem.candidates]):
            found, _ = solver.solve(memory, STEPS, None)
            is_proven = is_proven and found is not None
            labels = list(range(problem.size)) if found is None else found.genome.labels
            cloud.price(*rows_of(problem, labels, [memory]))
    except KeyboardInterrupt:
        cloud.is_stopped = True
        if not len(cloud.values):
            cloud.price(np.arange(problem.size)[None], np.zeros((1, 2), np.int64))
    return cloud, is_proven


def judged(quest: Quest, cloud: Cloud, method: str, status: Status) -> Front:
    """Return the front of these samples, each of its points priced again by the simulator.

    Raises RuntimeError if the search priced one differently.
    """
    found = tuple(
        point_of(cloud.plane, labels, capacities, values)
        for labels, capacities, values in zip(cloud.labels.tolist(), cloud.capacities.tolist(), cloud.values.tolist())
    )
    problem = quest.problem
    return Front(
        method=method,
        objectives=quest.objectives,
        networks=tuple(network.name for network in problem.networks),
        weights=problem.objective.weights,
        seed=quest.seed,
        samples=cloud.samples,
        status="stopped" if cloud.is_stopped else status,
        found=found,
        engine=cloud.breeder.name,
        points=cloud.points(),
    )


def point_of(plane: Plane, labels: Sequence[int], capacities: Sequence[int], values: Sequence[float]) -> FrontPoint:
    """Return a genome as the simulator prices it; raises RuntimeError where the search priced it differently."""
    problem, machine = plane.problem, plane.machine(capacities)
    plans = problem.partitions(groups_of(labels))
    evaluations = tuple(
        evaluate(network, plan, machine, problem.tile_rule) for network, plan in zip(problem.networks, plans)
    )
    judgement = plane.judged(evaluations)
    if judgement != tuple(values):
        raise RuntimeError(
            f"the search priced a point of the front at {tuple(values)!r}, the simulator at {judgement!r} "
            f"({', '.join(plane.names)}); please report this with the network and the seed"
        )
    return FrontPoint(judgement, machine, plans, evaluations)


def _cloud(quest: Quest) -> Cloud:
    """Return an empty cloud with an engine for each metric that the objectives need."""
    engines: dict[str, Engine] = {}
    for metric in metrics_of(quest.objectives):
        engines[metric] = make_engine(quest.engine, of_metric(quest.problem, metric), quest.settings, quest.threads)
    return Cloud(Plane(quest.problem, quest.objectives), engines, quest.samples, quest.progress)


def of_metric(problem: Problem, metric: str) -> Problem:
    """Return the problem with another metric."""
    return replace(problem, objective=replace(problem.objective, metric=metric))


def _founders(quest: Quest, cloud: Cloud) -> tuple[tuple[Population, np.ndarray], list[list[int]]]:
    """Return priced greedy partitions in several memories, from small to large, with criteria, and their labels.

    None where they would take too many of the samples, as in cocco.exploration.founders.
    """
    from cocco.exploration.methods import Question, subgraph_costs

    problem, found = quest.problem, list[list[int]]()
    start = Population.empty(0, problem.size), np.zeros((0, len(quest.objectives)))
    if not quest.settings.seeds or quest.samples < problem.size:
        return start, found
    question = Question(problem, quest.samples, quest.seed, quest.settings, (), None, quest.engine, quest.threads)
    for number in range(FOUNDERS):
        if cloud.samples > FOUNDING * quest.samples:
            break
        share = (number + 1) / (FOUNDERS + 1)
        memory = [int(share * len(sizes)) for sizes in problem.candidates]
        given = in_memory(problem, memory)
        prices = subgraph_costs(question, given)
        found.append(greedy(given, prices)[0])
        cloud.spend(min(prices.samples, max(0, cloud.left - 1)))
        if not cloud.left:
            break
        priced, values = cloud.price(*rows_of(problem, found[-1], [memory]))
        start = start[0].joined(priced), np.concatenate([start[1], values])
    return start, found


def _polish(quest: Quest, cloud: Cloud) -> None:
    """Improve partitions of the front by iterated order DP (cocco.exploration.polish), in memories from small to large.

    Each starts from the cheapest partition known that fits, and what it finds is priced in all larger memories of
    the front too. As many memories are taken as the samples do for, evenly spread, for one metric after the other.
    """
    problem, metrics = quest.problem, metrics_of(quest.objectives)
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
        found = polish(of_metric(problem, metric), labels, memory, share, quest.seed, quest.engine)
        cloud.spend(min(found.samples, cloud.left - 1))
        larger = [each for each in memories if all(a >= b for a, b in zip(each, memory))]
        cloud.price(*rows_of(problem, found.labels, larger[: cloud.left]))
        if found.is_stopped:
            raise KeyboardInterrupt


def cheapest(cloud: Cloud, memory: Sequence[int], metric: str) -> list[int] | None:
    """Return the labels on the front that cost least in this metric among those of memories no larger than this."""
    column = next(i for i, name in enumerate(cloud.plane.names) if metric_of(name) == metric)
    buffers = len(cloud.plane.problem.buffers)
    rows = np.flatnonzero((cloud.capacities[:, :buffers] <= np.array(memory[:buffers])).all(axis=1))
    if not len(rows):
        return None
    labels: list[int] = cloud.labels[rows[cloud.values[rows, column].argmin()]].tolist()
    return labels


def _of_front(cloud: Cloud) -> tuple[Population, np.ndarray]:
    """Return the genomes on the front; their cost is not asked for."""
    nothing = np.zeros(len(cloud.values))
    return Population(cloud.labels, cloud.capacities, nothing, nothing), cloud.values


def rows_of(
    problem: Problem, labels: Sequence[int], memories: Sequence[Sequence[int]]
) -> tuple[np.ndarray, np.ndarray]:
    """Return one partition in several memories as rows of labels and of capacities."""
    capacities = np.zeros((len(memories), 2), np.int64)
    capacities[:, : len(problem.buffers)] = [list(memory)[: len(problem.buffers)] for memory in memories]
    return np.tile(np.array(labels, dtype=np.int64), (len(memories), 1)), capacities
