"""The whole front in one run: memories and partitions that no other beats (the paper sweeps alpha, Fig. 14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Unpack, get_args

import numpy as np

from cocco.bounds.enumeration import Solver
from cocco.candidates.judge import judged
from cocco.effort.effort import Effort, FrontFields, effort_of
from cocco.effort.levels import LevelName
from cocco.effort.settings import Settings
from cocco.effort.status import Interrupted, Status
from cocco.effort.work_units import once
from cocco.exploration.explore import plan_that_runs
from cocco.exploration.front import Front, FrontPoint
from cocco.exploration.jobs import helped
from cocco.exploration.kept_front import KeptPoints, best_points, with_points
from cocco.exploration.kept_pareto import points_with_kept
from cocco.exploration.lacking import layer_by_layer
from cocco.exploration.placed_points import placed_front
from cocco.exploration.polish import LEAST_SAMPLES, polish
from cocco.exploration.question import Question, question_of
from cocco.problem.criteria import check_objectives, metric_of, metrics_of
from cocco.problem.names import FrontMethod, Keep, Metric
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem, in_memory, over_space
from cocco.problem.space import Space
from cocco.search.baselines.greedy import greedy
from cocco.search.genetic.engine import Engine, make_engine
from cocco.search.genetic.nsga import Cloud, nsga
from cocco.search.genetic.population import Population
from cocco.search.pricing.compiled import subgraph_costs
from simulator.accelerator import Machine, machine_of
from simulator.keywords import check_keywords
from simulator.model.subgraph.tiling import TileRule
from workloads.network.network import Network

FOUNDERS = 8  #: memories, from small to large, that greedy makes a partition for; our choice, with the next
FOUNDING = 0.1  #: share of the samples; no further founder is made once they have taken that much
STEPS = 100_000_000  #: of the enumeration of one memory by "exact"; our choice: half a minute compiled
FRONT_SETTINGS = Settings(population=100, tournament=2)
"""Our choice: each of the 46 memories of the paper's space has one place on the front; tournaments as in NSGA-II."""


def pareto(
    networks: Network | Sequence[Network],
    *,
    space: Space | None = None,
    machine: Machine | None = None,
    objectives: Sequence[str] = ("capacity", "energy"),
    weights: Sequence[float] | None = None,
    method: FrontMethod = "nsga2",
    tile_rule: TileRule = "exact",
    keep: Keep = "auto",
    effort: Effort | LevelName | None = None,
    **fields: Unpack[FrontFields],
) -> Front:
    """Return the memories, with partitions, of which none found is better than another in all objectives.

    The paper sweeps alpha for such a front (Cocco, Fig. 14); one run of NSGA-II finds all of it (our choice). The same
    arguments give the same front, to the byte.

    Parameters
    ----------
    networks
        One network, or several that run one after another on the same memory.
    space
        The memories to choose from: SharedBuffer or SeparateBuffers; by default the paper's shared buffer.
    machine
        Everything else of the hardware: cores, batch, technology, mapper; by default one core of the paper.
    objectives
        Two or more of capacity (bytes), energy (pJ), ema (bytes), latency (cycles), area (mm2) and bandwidth (bytes per
        cycle), all minimized (cocco.problem.criteria).
    weights
        How much each network counts: one positive number per network, by default 1.
    method
        "nsga2", or "exact": each memory enumerated, which proves the front between capacity or area and one of the
        others.
    tile_rule
        As in `simulator.evaluate`.
    keep
        As in `explore`. With "auto" every memory is also solved with kept tensors where the exact search finishes; the
        front is never above the one without.
    effort
        Samples, seed, engine, and everything else about how to search; by default 50,000 samples. Or "quick", "normal",
        "thorough". Its progress is called with the points on the front; initial, prove and check_addresses do not
        apply to fronts.
    **fields
        Fields of the machine and of the effort by name, which replace their own: cores=2, samples=10_000, ... Also
        count: with "one" (the default) capacity is that of one core, as in the paper, with "all" that of all cores.

    Raises
    ------
    ValueError
        Names the argument, the rule and the value.
    TypeError
        If a keyword is neither a parameter nor such a field.
    RuntimeError
        If the simulator's price of a point differs from that of the search.
    Interrupted
        After Ctrl-C; its `result` is the front so far.

    Examples
    --------
    >>> import cocco, workloads
    >>> space = cocco.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
    >>> front = cocco.pareto(workloads.load("vgg16"), space=space, samples=500)
    >>> front.front["capacity_bytes"].tolist()
    [262144, 524288, 786432, 1048576]
    """
    check_keywords(pareto, fields, FrontFields.__optional_keys__)
    checked = check_objectives(objectives)
    if method not in get_args(FrontMethod):
        raise ValueError(f"method must be one of {', '.join(get_args(FrontMethod))}, got {method!r}")
    if method == "exact" and (len(checked) > 2 or all(metric_of(name) is not None for name in checked)):
        raise ValueError(f"method 'exact' needs two objectives, one of them capacity or area, got {', '.join(checked)}")
    problem = over_space(
        networks, space, machine=machine_of(machine, fields), metric=metrics_of(checked)[0], weights=weights,
        tile_rule=tile_rule, keep=keep, count=fields.get("count", "one"),
    )  # fmt: skip
    question = front_question(problem, effort, fields)
    plane = Plane(question.problem, checked)
    with helped(effort_of(effort, fields)):
        if question.may_run:
            front = _with_kept(question, plane, method) if keep == "auto" else _without(question, plane, method)
            if front.found:
                return front
        return _of_one(question, plane, method)


def _without(question: Question, plane: Plane, method: FrontMethod) -> Front:
    """Return the front without kept tensors."""
    if method == "exact":
        cloud, is_proven = enumerated(question, plane)
        return front_of_cloud(cloud, question.seed, "exact", "optimal" if is_proven else "gave_up")
    return front_of_cloud(searched(question, plane), question.seed, "nsga2", "feasible")


def _with_kept(question: Question, plane: Plane, method: FrontMethod) -> Front:
    """Return the front with kept tensors, built on the one without."""
    plain = replace(question, problem=replace(question.problem, keep="none"))
    if method == "exact":
        cloud = empty_cloud(plain, plane)
        cloud.price(np.arange(question.problem.size)[None], np.zeros((1, 2), np.int64))
    else:
        cloud = searched(plain, plane)
    rows = [point_of(cloud, row) for row in range(len(cloud.values))]
    kept = KeptPoints([], False, True) if cloud.is_stopped else points_with_kept(question, plane, method, rows)
    status: Status = "optimal" if kept.is_proven else "gave_up" if method == "exact" else "feasible"
    found, is_stopped = best_points([*kept.found, *rows]), kept.is_stopped
    if found and not is_stopped:
        try:
            found, is_same = placed_front(plane, [*kept.found, *rows])
        except KeyboardInterrupt:
            is_stopped = True
        else:
            status = "feasible" if status == "optimal" and not is_same else status
    front = front_with(cloud, question.seed, method, status, found)
    changed = [point for point in found if point.moved]
    front = replace(front, points=with_points(front.points, plane.names, [*kept.found, *changed]))
    if is_stopped:
        raise Interrupted(replace(front, status="stopped"))
    return front


def _of_one(question: Question, plane: Plane, method: FrontMethod) -> Front:
    """Return the front where a search found no point: that of one plan, or why none runs."""
    result = plan_that_runs(question)
    points = tuple[FrontPoint, ...]()
    if result.plans:
        values = plane.judged(result.evaluations)
        points = (FrontPoint(values, result.accelerator, result.plans, result.evaluations),)
        points = placed_front(plane, points)[0] if question.problem.keep == "auto" else points
    status: Status = "feasible" if result.status == "optimal" else result.status
    front = front_with(empty_cloud(question, plane), question.seed, method, status, points)
    front = replace(front, samples=result.samples, points=with_points(front.points, plane.names, points))
    if status == "stopped":
        raise Interrupted(front)
    return front


def front_question(problem: Problem, effort: Effort | LevelName | None, fields: Mapping[str, object]) -> Question:
    """Return the checked question of a search for a front."""
    chosen = effort_of(effort, fields)
    for name in ("initial", "prove", "check_addresses"):
        if getattr(chosen, name):
            raise ValueError(f"effort.{name} is for explore and partition; a search for a front has no use for it")
    return question_of(problem, chosen, FRONT_SETTINGS)


def searched(question: Question, plane: Plane) -> Cloud:
    """Return the samples of NSGA-II from greedy partitions in several memories, then polished (our choices)."""
    problem, samples, settings = question.problem, question.samples, question.settings
    cloud = empty_cloud(question, plane)
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
            cloud.price(np.arange(problem.size)[None], np.zeros((1, 2), np.int64))
    return cloud


def enumerated(question: Question, plane: Plane) -> tuple[Cloud, bool]:
    """Return the cheapest partition of each memory, and whether all are proven; layer by layer where one is not."""
    problem, cloud, is_proven = question.problem, empty_cloud(question, plane), True
    solver = Solver(problem, question.engine)
    try:
        for memory in problem.memories:
            found, _ = solver.solve(memory, STEPS, None)
            is_proven = is_proven and found is not None
            labels = list(range(problem.size)) if found is None else found.genome.labels
            cloud.price(*rows_of(problem, labels, [memory]))
    except KeyboardInterrupt:
        cloud.is_stopped = True
        if not len(cloud.values):
            cloud.price(np.arange(problem.size)[None], np.zeros((1, 2), np.int64))
    return cloud, is_proven


def front_of_cloud(cloud: Cloud, seed: int, method: FrontMethod, status: Status) -> Front:
    """Return the front of these samples, its points judged by the simulator; raises Interrupted where it is half."""
    points = tuple(point_of(cloud, row) for row in range(len(cloud.values)))
    front = front_with(cloud, seed, method, "stopped" if cloud.is_stopped else status, points)
    if cloud.is_stopped:
        raise Interrupted(front)
    return front


def front_with(cloud: Cloud, seed: int, method: FrontMethod, status: Status, points: tuple[FrontPoint, ...]) -> Front:
    """Return a front with these points and the samples of a search."""
    problem = cloud.plane.problem
    return Front(
        method=method,
        objectives=cloud.plane.names,
        networks=tuple(network.name for network in problem.networks),
        weights=problem.objective.weights,
        seed=seed,
        samples=cloud.samples,
        status=status,
        found=points,
        engine=cloud.breeder.name,
        points=cloud.points(),
        lacking=() if points else layer_by_layer(problem),
    )


def point_of(cloud: Cloud, row: int) -> FrontPoint:
    """Return a row of a cloud's front as a point priced by the simulator."""
    plane, values = cloud.plane, cloud.values[row].tolist()
    labels, capacities = cloud.labels[row].tolist(), cloud.capacities[row].tolist()
    winner = judged(plane.problem, labels, capacities, values, plane.judged)
    return FrontPoint(winner.values, winner.accelerator, winner.plans, winner.evaluations)


def empty_cloud(question: Question, plane: Plane) -> Cloud:
    """Return an empty cloud, with an engine for each metric that the objectives need."""
    engines: dict[str, Engine] = {}
    for metric in metrics_of(plane.names):
        problem = of_metric(question.problem, metric)
        engines[metric] = make_engine(question.engine, problem, question.settings, question.threads)
    return Cloud(plane, engines, question.samples, question.progress)


def of_metric(problem: Problem, metric: Metric) -> Problem:
    """Return the problem with another metric; tiles and loop orders are still chosen by the problem's first metric."""
    return replace(problem, objective=replace(problem.objective, metric=metric), chosen_by=problem.metric)


def _founders(question: Question, cloud: Cloud) -> tuple[tuple[Population, np.ndarray], list[list[int]]]:
    """Return greedy partitions in several memories, from small to large: priced, with criteria, and their labels.

    There are none if they would take too many of the samples, as in cocco.exploration.founders.
    """
    problem, found = question.problem, list[list[int]]()
    start = Population.empty(0, problem.size), np.zeros((0, len(cloud.plane.names)))
    if not question.settings.seeds or question.samples < problem.size:
        return start, found
    for number in range(FOUNDERS):
        if cloud.samples > FOUNDING * question.samples:
            break
        share = (number + 1) / (FOUNDERS + 1)
        memory = [int(share * len(sizes)) for sizes in problem.candidates]
        given = in_memory(problem, memory)
        prices = subgraph_costs(given, question.engine)
        found.append(greedy(given, prices)[0])
        cloud.spend(min(prices.samples, max(0, cloud.left - 1)))
        if not cloud.left:
            break
        priced, values = cloud.price(*rows_of(problem, found[-1], [memory]))
        start = start[0].joined(priced), np.concatenate([start[1], values])
    return start, found


def _polish(question: Question, cloud: Cloud) -> None:
    """Improve partitions of the front by iterated order DP (cocco.exploration.polish), in memories from small to large.

    Each starts from the cheapest known partition that fits, and its result is also priced in all larger memories of the
    front. As many memories are taken as the samples suffice for, evenly spread, for one metric after another.
    """
    problem, metrics = question.problem, metrics_of(cloud.plane.names)
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
        given = of_metric(problem, metric)
        found = once(polish, given, labels, memory, share, question.seed, question.engine)
        cloud.spend(min(found.samples, cloud.left - 1))
        larger = [each for each in memories if all(a >= b for a, b in zip(each, memory))]
        cloud.price(*rows_of(problem, found.labels, larger[: cloud.left]))
        if found.is_stopped:
            raise KeyboardInterrupt


def cheapest(cloud: Cloud, memory: Sequence[int], metric: str) -> list[int] | None:
    """Return the labels on the front that cost least in this metric, among memories no larger than this one."""
    column = next(i for i, name in enumerate(cloud.plane.names) if metric_of(name) == metric)
    buffers = len(cloud.plane.problem.buffers)
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
    capacities = np.zeros((len(memories), 2), np.int64)
    capacities[:, : len(problem.buffers)] = [list(memory)[: len(problem.buffers)] for memory in memories]
    return np.tile(np.array(labels, dtype=np.int64), (len(memories), 1)), capacities
