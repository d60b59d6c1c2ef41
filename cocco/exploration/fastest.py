"""The plan that runs fastest on given hardware, searched from the plans of all metrics: none of them is faster.

The latency that is executed is no sum over subgraphs, so neither the exact nor the genetic search can find it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from cocco.allocation.address_map import address_map
from cocco.bounds.floors.least import gap
from cocco.effort.effort import Effort
from cocco.effort.stages import tell, watched_by
from cocco.effort.status import Interrupted, Status
from cocco.exploration.answers.result import Result
from cocco.exploration.answers.second import Second
from cocco.exploration.starts import starts
from cocco.latency.bounds import Bound, bounds_of
from cocco.latency.draft import Draft, draft_of
from cocco.latency.moves import Moves
from cocco.latency.places import placed_run
from cocco.latency.search import Found, Search
from cocco.latency.seeds import all_kept
from cocco.latency.timed import Timed
from cocco.problem.names import Keep, Metric
from cocco.search.pricing.samples import Seen
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.metrics import DEFAULT_METRIC, METRIC_NAMES
from simulator.model.priced import price_partition
from simulator.model.rules import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network

TRIES = 8  #: plans for which addresses are sought, the best first; our choice: a plan takes about a second
#: by which plans are chosen where the least of another criterion is asked
ORDERS: dict[str, Callable[[Found], float]] = {"energy": attrgetter("energy_pj"), "ema": attrgetter("ema_bytes")}
SHARE = 10  #: of the samples of an effort one in so many is a plan that is priced; our choice: a plan takes ms


class Simulated(NamedTuple):
    """What was simulated of one network on given hardware, from the answers for other metrics, by metric."""

    search: Search
    answers: dict[Metric, Result]
    bound: Bound  #: what no plan undercuts
    is_stopped: bool


def fastest(
    network: Network, accelerator: Accelerator, tile_rule: TileRule, keep: Keep, effort: Effort,
    solved: Callable[[Metric, Effort], Result], slack: float = 0.0,
) -> Result:  # fmt: skip
    """Return the plan of the least executed latency found; solved: the answer for another metric with an effort.

    With a slack, the one that takes the least energy of those found that are within it of the fastest.

    Raises Interrupted after Ctrl-C, with the fastest plan so far.
    """
    found = simulated(network, accelerator, tile_rule, keep, effort, solved)
    if isinstance(found, Result):
        return found
    energy, first = found.answers.get("energy"), next(iter(found.answers.values()))
    least = 0.0 if energy is None else energy.lower_bound or 0.0
    result = _answer(network, first, found.search, found.bound, tile_rule, effort.seed, slack, least)
    if found.is_stopped:
        raise Interrupted(result if result.status == "optimal" else replace(result, status="stopped"))
    return result


def simulated(
    network: Network, accelerator: Accelerator, tile_rule: TileRule, keep: Keep, effort: Effort,
    solved: Callable[[Metric, Effort], Result], enough: int = 0, key: Callable[[Found], float] | None = None,
    more: Iterable[Draft] = (),
) -> Simulated | Result:  # fmt: skip
    """Return plans simulated and improved; where no plan runs, the answer that says so.

    enough: slots with which a plan need not be improved; no further metric is asked where the answer for one takes no
    more, with places, unless it is of another metric than the key. key: by which the plans to improve are chosen; the
    fastest without. more: drafts to start from, changed where they do not fit.
    """
    answers, is_stopped = dict[Metric, Result](), False
    try:
        for metric in METRIC_NAMES:
            with watched_by(None):  # its costs are no latencies
                answers[metric] = solved(metric, replace(effort, progress=None))
            if enough and key in (None, ORDERS.get(metric)) and _takes(network, answers[metric], tile_rule) <= enough:
                break
    except Interrupted as stop:
        answers[metric], is_stopped = stop.result, True
    except KeyboardInterrupt:
        if not answers:
            raise
        is_stopped = True
    if not any(each.plans for each in answers.values()):
        return replace(next(iter(answers.values())), metric="latency")
    rules = {
        metric: PricingRules(Geometry(network, accelerator.technology), accelerator, tile_rule, metric)
        for metric in METRIC_NAMES
    }
    timed = Timed(rules, accelerator)
    least = math.ceil(answers["ema"].lower_bound or 0) if "ema" in answers else 0
    bound = bounds_of(rules[DEFAULT_METRIC], accelerator, least)[0]
    moves = Moves(network, accelerator.connection, keep == "auto")
    port = accelerator.dram_bytes_per_cycle

    def told() -> None:
        best = min(search.found).slots / port
        tell("latency", search.priced, search.most, "plans", best=best, bound=bound.slots / port)
        if effort.progress is not None:
            effort.progress(min(SHARE * search.priced, effort.samples), effort.samples, best)

    search = Search(timed, moves, max(1, effort.samples // SHARE), effort.seed, max(bound.slots, enough), told)
    try:
        search.start(draft_of(network, each.plan) for each in answers.values() if each.plans)
        if not is_stopped:
            search.start(draft_of(network, plan) for plans in starts(effort.initial) for plan in _allowed(plans, keep))
            search.start(pair[0] for each in more if (pair := search.fitting(each)) is not None)
            if keep == "auto":
                search.start(each for metric in METRIC_NAMES if (each := all_kept(timed, metric)) is not None)
            search.improve(key)
            search.save()
    except KeyboardInterrupt:
        is_stopped = True
        if not search.found:  # the plans of other metrics run: simulating them takes little
            search.start(draft_of(network, each.plan) for each in answers.values() if each.plans)
    return Simulated(search, answers, bound, is_stopped)


def _takes(network: Network, answer: Result, tile_rule: TileRule) -> float:
    """Return the slots that the plan of an answer takes where all that lies ahead has a place; inf without any."""
    if not answer.plans:
        return math.inf
    found = placed_run(price_partition(network, answer.plan, answer.evaluation.accelerator, tile_rule))
    return math.inf if found is None else found.run.end


def _allowed(plans: tuple[Partition, ...], keep: Keep) -> tuple[Partition, ...]:
    """Return plans without their kept intervals, where nothing may stay on chip."""
    return plans if keep == "auto" else tuple(replace(plan, keep=()) for plan in plans)


def _answer(
    network: Network, first: Result, search: Search, bound: Bound, rule: TileRule, seed: int, slack: float,
    least_energy: float,
) -> Result:  # fmt: skip
    """Return the fastest plan found whose run has addresses, as the simulator judges it; without any, the fastest.

    Of plans within the slack the one that takes the least energy; least_energy: what none takes less than.
    """
    chip, order = search.timed.accelerator, sorted(search.found)
    placed = placed_plan(network, search.timed, order, rule, 0.0)
    best = fastest_of_all = placed or PlacedPlan(order[0].slots, order[0].energy_pj, order[0].draft.partition(network))
    if slack and placed:
        most = placed.slots * (1 + slack)
        near = sorted((each for each in order if each.slots <= most), key=lambda each: (each.energy_pj, each))
        thrifty = placed_plan(network, search.timed, near, rule, most)
        best = thrifty if thrifty is not None and thrifty.slots <= most else best
    evaluation = evaluate(network, best.plan, chip, rule)
    cost, least = evaluation.latency_executed_cycles, bound.slots / chip.dram_bytes_per_cycle
    if cost != best.slots / chip.dram_bytes_per_cycle:
        raise RuntimeError(
            f"the search simulated its winner in {best.slots:,} slots, evaluate() in "
            f"{cost * chip.dram_bytes_per_cycle:,.0f}; please report this with the network and the seed"
        )
    status: Status = "optimal" if best.slots <= bound.slots else "feasible"
    before, shortest = fastest_of_all.energy_pj, fastest_of_all.slots / chip.dram_bytes_per_cycle
    second = Second("energy", evaluation.energy_pj, least_energy, slack, shortest, cost, before) if slack else None
    return replace(
        first, method="auto", metric="latency", seed=seed, samples=max(1, search.priced), status=status, cost=cost,
        plans=(evaluation.plan,), evaluations=(evaluation,), lower_bound=least, gap=gap(cost, least),
        bounded_by=bound.why, seen=_seen(search.found, chip), splits=None, moved=() if evaluation.keep else None,
        placed=placed is not None if evaluation.keep else None, second=second,
    )  # fmt: skip


class PlacedPlan(NamedTuple):
    """A plan whose run has addresses for all that it holds."""

    slots: int
    energy_pj: float
    plan: Partition


def placed_plan(
    network: Network, timed: Timed, order: Sequence[Found], rule: TileRule, most: float
) -> PlacedPlan | None:
    """Return the first plan whose run has addresses and at most so many slots; without any, the fastest that has."""
    best: PlacedPlan | None = None
    for found in order[:TRIES]:
        if best is not None and best.slots <= max(most, found.slots):
            break
        addresses = address_map(network, found.draft.partition(network), timed.accelerator, rule)
        if addresses is not None and not addresses.fits:
            continue
        run = placed_run(timed.priced(found.draft))
        if run is not None and (best is None or run.run.end < best.slots):
            best = PlacedPlan(run.run.end, found.energy_pj, run.run.priced.partition)
    return best


def _seen(found: list[Found], chip: Accelerator) -> Seen:
    """Return what was simulated and kept as samples of one generation."""
    costs = np.array([each.slots / chip.dram_bytes_per_cycle for each in found])
    least = costs.min(keepdims=True)
    samples = {
        "number": np.array([each.number for each in found]), "generation": np.zeros(len(found), np.int32),
        "subgraphs": np.array([len(each.draft.groups) for each in found]), "value": costs, "cost": costs,
        "capacities": np.empty((len(found), 0), np.int32),
    }  # fmt: skip
    generations = {
        "generation": np.zeros(1, np.int64), "samples": np.array([found[-1].number]), "best_cost": least,
        "min_cost": least, "mean_cost": costs.mean(keepdims=True), "std_cost": costs.std(keepdims=True),
        "distinct": np.array([len(found)]),
    }  # fmt: skip
    return Seen(samples, generations, chip, {})
