"""Limits: minimize one criterion while others are bounded, such as the least SRAM with latency <= X.

Where all criteria are sums over subgraphs more is proved (sums.py); what is executed is none (executed.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Unpack

from cocco.bounds.kinds import kept_or_not, kinds_of_plans
from cocco.effort.effort import Effort, FrontFields, effort_of
from cocco.effort.levels import LevelName
from cocco.effort.status import Interrupted
from cocco.exploration.answers.limited import Limited
from cocco.exploration.executed import least_executed
from cocco.exploration.memories.edges import edges, extended
from cocco.exploration.memories.limits import Judge
from cocco.exploration.pareto import front_question, keep_points
from cocco.exploration.sums import of_sums, on_sums
from cocco.exploration.workers.jobs import helped
from cocco.problem.criteria import EXECUTED, MEMORY, check_criterion, metrics_of
from cocco.problem.names import Keep
from cocco.problem.plane import Plane, of_memory
from cocco.problem.problem import Problem, over_space
from cocco.problem.space import Space
from simulator.accelerator import Machine, machine_of
from simulator.keywords import check_keywords
from simulator.model.subgraph.tiling import TileRule
from workloads.network.network import Network


def minimize(
    networks: Network | Sequence[Network],
    criterion: str,
    limits: Mapping[str, float],
    *,
    space: Space | None = None,
    machine: Machine | None = None,
    weights: Sequence[float] | None = None,
    tile_rule: TileRule = "exact",
    keep: Keep | None = None,
    effort: Effort | LevelName | None = None,
    **fields: Unpack[FrontFields],
) -> Limited:
    """Return the memory and partitions that keep these limits and have the least of one criterion.

    Parameters
    ----------
    networks, space, machine, weights, tile_rule, keep, effort, **fields
        As in `pareto`.
    criterion
        What to minimize: capacity, energy, ema, latency, latency-sum, area, bandwidth or leakage
        (cocco.problem.criteria).
    limits
        The largest value of each limited criterion, as {"latency": 2_000_000}: bytes, pJ, cycles, mm2, bytes per cycle
        or mW. "latency" is what is executed, "latency-sum" the paper's sum over subgraphs, of which more is proved.

    Raises
    ------
    ValueError, TypeError, RuntimeError, Interrupted
        As in `explore`.

    Examples
    --------
    >>> import cocco, workloads
    >>> space = cocco.SharedBuffer(256 * 2**10, 1024 * 2**10, 256 * 2**10)
    >>> found = cocco.minimize(workloads.load("vgg16"), "capacity", {"ema": 145_000_000}, space=space, samples=500)
    >>> found.status, found.value
    ('optimal', 786432.0)
    """
    check_keywords(minimize, fields, FrontFields.__optional_keys__)
    bounds = check_limits(criterion, limits)
    chosen = effort_of(effort, fields)
    objectives = tuple(dict.fromkeys((criterion, *(name for name in bounds if name != EXECUTED))))
    if not metrics_of(objectives):
        objectives += ("energy",)  # of equally small memories the one with the least energy; our choice
    if not set(MEMORY) & set(objectives):
        objectives += ("capacity",)
    if EXECUTED in bounds and EXECUTED not in objectives:
        objectives += (EXECUTED,)  # the last to break ties: the largest memory always runs a little faster
    shared = machine_of(machine, fields)
    whole = over_space(
        networks, space, machine=shared, metric=metrics_of(objectives)[0], weights=weights, tile_rule=tile_rule,
        count=fields.get("count", "one"),
    )  # fmt: skip
    keep = kept_or_not(keep, shared)
    wider: Problem | None = whole
    with helped(chosen):
        while wider is not None:
            question = front_question(wider, effort, fields, (criterion, bounds))
            problem, question = question.problem, replace(question, problem=_narrowed(question.problem, bounds))
            judge = Judge(Plane(question.problem, objectives), criterion, bounds)
            asked = replace(question, problem=replace(question.problem, keep=keep))
            limited = (
                on_sums(question, asked, judge, chosen)
                if EXECUTED not in objectives
                else least_executed(asked, judge, chosen, partial(on_sums, question, asked, of_sums(judge), chosen))
            )
            if limited.status == "stopped":
                raise Interrupted(replace(limited, space=kinds_of_plans(shared, keep), searched=problem.space))
            nearest = limited.nearest
            keep_points(asked, judge.plane, chosen, [] if nearest is None else [nearest])
            met = [problem.memories[-1] if nearest is None else problem.memory_of(nearest.accelerator)]
            wider = extended(problem, met)
    return replace(
        limited, space=kinds_of_plans(shared, keep), searched=problem.space, edges=edges(problem, met),
        bank=question.bank,
    )  # fmt: skip


def check_limits(criterion: str, limits: Mapping[str, float]) -> dict[str, float]:
    """Return the limits, checked; a ValueError names the criterion, the rule and the value."""
    check_criterion("what to minimize", criterion)
    if not isinstance(limits, Mapping) or not limits:
        raise ValueError(f"limits must map criteria to their largest values, got {limits!r}")
    for name, bound in limits.items():
        check_criterion("limits", name)
        if isinstance(bound, bool) or not isinstance(bound, (int, float)) or not 0 < bound < math.inf:
            raise ValueError(f"the limit of {name} must be a finite number above 0, got {bound!r}")
    return {name: float(bound) for name, bound in limits.items()}


def _narrowed(problem: Problem, limits: Mapping[str, float]) -> Problem:
    """Return the problem without candidates that break the limits in every memory; at least the smallest stay."""
    if not set(MEMORY) & limits.keys():
        return problem
    keeping = [memory for memory in problem.memories if _keeps(problem, memory, limits)]
    buffers = {}
    for i, (name, sizes) in enumerate(problem.buffers.items()):
        chosen = sorted({memory[i] for memory in keeping})
        buffers[name] = tuple(sizes[each] for each in chosen) or sizes[:1]
    return replace(problem, buffers=buffers)


def _keeps(problem: Problem, memory: Sequence[int], limits: Mapping[str, float]) -> bool:
    machine, objective = problem.accelerator_of(memory), problem.objective
    return all(of_memory(what, machine, objective) <= limits.get(what, math.inf) for what in MEMORY)
