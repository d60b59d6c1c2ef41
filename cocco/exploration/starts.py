"""Partitions that a search starts from (Cocco, Sec. 4.4.1): its answer costs no more than any of them in any memory.

They are priced as given in every memory of the question. Where tensors may stay on chip, they are priced with their own
kept intervals, and with those chosen for the best memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from cocco.candidates.judge import judged_plans
from cocco.candidates.rounding import SAME
from cocco.effort.effort import Initial
from cocco.exploration.answers.result import Result
from cocco.plans.keeping import keep_on_chip
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.model.cost import Totals, price_subgraphs, total
from simulator.model.kept import Reserved
from simulator.model.priced import models_of, reserved_in
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.partition.partition import Partition

METHOD = "given"  #: of an answer that is one of the partitions it started from

Plans = tuple[Partition, ...]  # one per network
Capacities = tuple[int, ...]  # positions in the candidates


class _Best(NamedTuple):
    """The cheapest so far."""

    cost: float
    plans: Plans
    capacities: Capacities


def starts(initial: Initial) -> list[Plans]:
    """Return the starts of a search, each a tuple with one partition per network."""
    given: list[Partition | Sequence[Partition]] = [initial] if isinstance(initial, Partition) else list(initial)
    return [(each,) if isinstance(each, Partition) else tuple(each) for each in given]


def no_worse(problem: Problem, result: Result, initial: Initial) -> Result:
    """Return the answer of a search, or the best of its starts if that costs less.

    Where nothing may stay on chip, the partitions are taken without their intervals.
    """
    if result.status == "optimal" or not starts(initial):
        return result
    best = None
    for plans in starts(initial):
        best = _better(best, _anywhere(problem, _allowed(problem, plans), result.cost))
    if best is not None and problem.keep == "auto":
        best = _better(best, _kept(problem, best))
    if best is None or best.cost >= result.cost:
        return result
    winner = judged_plans(problem, best.plans, best.capacities, [best.cost], None, SAME)
    found = result if result.plans else replace(result, status="feasible")
    return found.of(winner, winner.values[0], method=METHOD)


def _allowed(problem: Problem, plans: Plans) -> Plans:
    """Return the partitions in the form this question allows: with its metric, with kept intervals or without.

    How several cores share each subgraph is chosen again, which costs no more.
    """
    return tuple(
        replace(plan, metric=problem.metric, schemes=())
        if problem.keep == "auto"
        else Partition.from_ids(network, plan.subgraphs, problem.metric)
        for network, plan in zip(problem.networks, plans)
    )


def _anywhere(problem: Problem, plans: Plans, most: float) -> _Best | None:
    """Return the memory in which these plans cost least; None where they run in none that may cost less than `most`.

    Memories whose bound is no better than the best cost so far are skipped.
    """
    parts = [_Models(rules, plan) for rules, plan in zip(problem.rules, plans)]
    best: _Best | None = None
    for floor, capacities in _memories(problem, parts):
        if floor >= (most if best is None else min(most, best.cost)):
            break
        cost = _cost(problem, parts, problem.accelerator_of(capacities))
        if cost < (math.inf if best is None else best.cost):
            best = _Best(cost, plans, capacities)
    return best


def _memories(problem: Problem, parts: Sequence[_Models]) -> list[tuple[float, Capacities]]:
    """Return (bound, memory) for each memory of the question, sorted: these plans cost at least the bound there."""
    least = [part.least() for part in parts]
    found = []
    for capacities in problem.memories:
        accelerator = problem.accelerator_of(capacities)
        found.append((problem.objective.cost(problem.objective.value(least, accelerator), accelerator), capacities))
    return sorted(found)


class _Models:
    """The steps of a plan, which are priced in one memory after another."""

    def __init__(self, rules: PricingRules, plan: Partition) -> None:
        self.rules = rules
        self.models: Sequence[SubgraphModel]
        self.models, steps = models_of(rules, plan)
        self.reserved: list[Reserved] = [reserved_in(rules, step) for step in steps]

    def least(self) -> Totals:
        """Return totals that are least in any memory: each crossing happens once, weights are written and read once."""
        rules, rows = self.rules, []
        for model in self.models:
            moved = rules.batch * (model.inputs + model.outputs) + model.weights
            rows.append((moved, 0, 2 * model.weights, 0, model.operations, moved))
        return Totals(*map(sum, zip(*rows)))

    def totals(self, accelerator: Accelerator) -> Totals | None:
        """Return the totals; None where a step does not fit."""
        prices = price_subgraphs(self.models, accelerator, self.reserved)
        found = [price for price in prices if isinstance(price, Price)]
        return total(found, accelerator) if len(found) == len(prices) else None


def _cost(problem: Problem, parts: Sequence[_Models], accelerator: Accelerator) -> float:
    found = [part.totals(accelerator) for part in parts]
    totals = [each for each in found if each is not None]
    if len(totals) < len(found):
        return math.inf
    return problem.objective.cost(problem.objective.value(totals, accelerator), accelerator)


def _kept(problem: Problem, best: _Best) -> _Best:
    """Return the plans with their kept intervals chosen again for the memory."""
    accelerator = problem.accelerator_of(best.capacities)
    plans = tuple(
        keep_on_chip(network, plan, accelerator, tile_rule=problem.tile_rule).partition
        for network, plan in zip(problem.networks, best.plans)
    )
    parts = [_Models(rules, plan) for rules, plan in zip(problem.rules, plans)]
    return _Best(_cost(problem, parts, accelerator), plans, best.capacities)


def _better(one: _Best | None, other: _Best | None) -> _Best | None:
    if one is None or other is None:
        return one or other
    return other if other.cost < one.cost else one
