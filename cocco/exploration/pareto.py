"""The whole front in one run: memories and partitions that no other beats (the paper sweeps alpha, Fig. 14)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Unpack, get_args

import numpy as np

from cocco.bounds.kinds import kept_or_not, kinds_of_plans
from cocco.effort.effort import Effort, FrontFields, effort_of
from cocco.effort.levels import LevelName
from cocco.effort.settings import Settings
from cocco.effort.status import Interrupted, Status
from cocco.exploration.answers.front import Front, FrontPoint, best_points, with_points
from cocco.exploration.answers.lacking import layer_by_layer
from cocco.exploration.explore import plan_that_runs
from cocco.exploration.memories.edges import edges
from cocco.exploration.memories.front import SolvedPoints, of_value
from cocco.exploration.placing.addresses import placed_front
from cocco.exploration.question.question import Question, question_of
from cocco.exploration.searching.cloud import empty_cloud, point_of, searched
from cocco.exploration.searching.front import memory_points
from cocco.exploration.starts import known_plans, search_name
from cocco.exploration.ties.settled import settled_points
from cocco.exploration.workers.jobs import helped
from cocco.problem.criteria import check_objectives, metric_of, metrics_of
from cocco.problem.names import FrontMethod, Keep
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem, over_space
from cocco.problem.space import Space
from cocco.search.genetic.nsga import Cloud
from simulator.accelerator import Machine, machine_of
from simulator.keywords import check_keywords
from simulator.metrics import METRIC_NAMES
from simulator.model.subgraph.tiling import TileRule
from workloads.network.network import Network

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
    keep: Keep | None = None,
    effort: Effort | LevelName | None = None,
    **fields: Unpack[FrontFields],
) -> Front:
    """Return the memories, with partitions, of which none found is better than another in all objectives.

    The paper sweeps alpha for such a front (Cocco, Fig. 14); one run of NSGA-II finds all of it (our choice). The same
    arguments give the same front, to the byte.

    Parameters
    ----------
    networks, space, machine, weights, tile_rule
        As in `explore`.
    objectives
        Two or more of capacity (bytes), energy (pJ), ema (bytes), latency (cycles), area (mm2) and bandwidth (bytes per
        cycle), all minimized (cocco.problem.criteria).
    method
        "nsga2", or "exact": each memory solved, which proves the front between capacity or area and one of the
        others.
    keep
        As in `explore`. With "auto" every memory is also solved with kept tensors where the exact search finishes; the
        front is never above the one without.
    effort
        As in `explore`. Its progress is called with the points on the front; initial, prove and check_addresses do not
        apply to fronts.
    **fields
        Fields of the machine and of the effort by name, which replace their own: cores=2, samples=10_000, ... Also
        count: with "one" (the default) capacity is that of one core, as in the paper, with "all" that of all cores.

    Raises
    ------
    ValueError, TypeError, RuntimeError
        As in `explore`.
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
    shared = machine_of(machine, fields)
    problem = over_space(
        networks, space, machine=shared, metric=metrics_of(checked)[0], weights=weights, tile_rule=tile_rule,
        keep=kept_or_not(keep, shared), count=fields.get("count", "one"),
    )  # fmt: skip
    question = front_question(problem, effort, fields, (checked, method))
    plane = Plane(question.problem, checked)
    chosen = effort_of(effort, fields)
    with helped(chosen):
        if question.may_run:
            front = _front(question, plane, method)
            if front.found:
                keep_points(question, plane, chosen, front.found)
                met = [question.problem.memory_of(point.accelerator) for point in front.found]
                return replace(front, edges=edges(question.problem, met, is_final=True), bank=question.bank)
        return _of_one(question, plane, method)


def _front(question: Question, plane: Plane, method: FrontMethod) -> Front:
    """Return the front; with kept tensors it is built on the one without."""
    plain = replace(question, problem=question.problem.plain)
    cloud = empty_cloud(plain, plane)
    if method == "exact":
        cloud.price(np.arange(question.problem.size)[None], np.zeros((1, 2), np.int64))
    else:
        cloud = searched(plain, cloud)
    rows = [point_of(cloud, row) for row in range(len(cloud.values))]
    kept = SolvedPoints([], False, cloud.is_stopped)
    if not cloud.is_stopped and (method == "exact" or question.problem.keep == "auto"):
        kept = memory_points(question, plane, method, rows)
    status: Status = "optimal" if kept.is_proven else "gave_up" if method == "exact" else "feasible"
    found, is_stopped = best_points([*kept.found, *rows]), kept.is_stopped
    if found and not is_stopped:
        try:
            found, is_same = placed_front(plane, [*kept.found, *rows])
            status = "feasible" if status == "optimal" and not is_same else status
            found = settled_points(question, plane, found)
        except KeyboardInterrupt:
            is_stopped = True
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
        points, _ = placed_front(plane, points)
    status: Status = "feasible" if result.status == "optimal" else result.status
    front = front_with(empty_cloud(question, plane), question.seed, method, status, points)
    front = replace(front, samples=result.samples, points=with_points(front.points, plane.names, points))
    if status == "stopped":
        raise Interrupted(front)
    return front


def front_question(
    problem: Problem, effort: Effort | LevelName | None, fields: Mapping[str, object], wanted: object
) -> Question:
    """Return the checked question of a search for a front, which also starts from the bank; wanted: what is sought."""
    chosen = effort_of(effort, fields)
    for name in ("initial", "prove", "check_addresses"):
        if getattr(chosen, name):
            raise ValueError(f"effort.{name} is for explore and partition; a search for a front has no use for it")
    of_all_sizes = replace(problem, objective=replace(problem.objective, alpha=None))
    known = known_plans(of_all_sizes, chosen, FRONT_SETTINGS, wanted)
    question = question_of(problem, replace(chosen, initial=known.plans), FRONT_SETTINGS)
    return replace(question, bank=known.entries, search=search_name(of_all_sizes, chosen, wanted))


def keep_points(question: Question, plane: Plane, effort: Effort, found: Iterable[FrontPoint]) -> None:
    """Add points to the bank, if the effort has one, in each metric of the objectives."""
    if effort.bank is None:
        return
    answers = [(each.accelerator, each.plans, each.evaluations) for each in found]
    for metric in metrics_of(plane.names):
        if metric in METRIC_NAMES:
            effort.bank.keep(of_value(question.problem, metric), answers, question.search)


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
        searched=problem.space,
        space=kinds_of_plans(problem.accelerator, problem.keep),
    )
