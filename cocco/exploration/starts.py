"""Partitions that a search starts from (Cocco, Sec. 4.4.1): its answer costs no more than any of them in any memory.

They are priced as given in every memory of the question. Where tensors may stay on chip, they are priced with their own
kept intervals, and with those chosen for the best memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from cocco.bank.bank import Starts, most_starts
from cocco.candidates.judge import judged_plans
from cocco.candidates.rounding import SAME
from cocco.effort.effort import Effort, Initial
from cocco.effort.planned import Memory, Planned
from cocco.effort.settings import Settings
from cocco.exploration.answers.result import Result
from cocco.plans.keeping import keep_on_chip
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.model.cost import Totals, price_subgraphs, total
from simulator.model.kept import Reserved
from simulator.model.priced import models_of, reserved_in
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.partition.partition import Partition
from workloads.files import digest

METHOD = "given"  #: of an answer that is one of the partitions it started from

Plans = tuple[Partition, ...]  # one per network


def starts(initial: Initial) -> list[Plans]:
    """Return the starts of a search, each a tuple with one partition per network."""
    given: list[Partition | Sequence[Partition]] = [initial] if isinstance(initial, Partition) else list(initial)
    return [(each,) if isinstance(each, Partition) else tuple(each) for each in given]


def known_plans(problem: Problem, effort: Effort, default: Settings, wanted: object) -> Starts:
    """Return the plans of the bank that a search starts from beside its own; default: of settings."""
    if effort.bank is None:
        return Starts([], ())
    population = (effort.settings or default).population
    most = most_starts(effort.samples, population, len(starts(effort.initial)))
    return effort.bank.starts(problem, most, search_name(problem, effort, wanted))


def search_name(problem: Problem, effort: Effort, wanted: object) -> str:
    """Return a name of all that a search is asked, but for the networks; wanted: its method, and what it seeks."""
    given = [[plan.subgraphs for plan in plans] for plans in starts(effort.initial)]
    told = (effort.samples, effort.level, effort.seed, repr(effort.settings), effort.prove, effort.check_addresses)
    return digest(repr((wanted, problem.buffers, problem.accelerator, problem.objective, problem.keep, told, given)))


def no_worse(problem: Problem, result: Result, initial: Initial) -> Result:
    """Return the answer of a search, or the best of its starts if that costs less.

    Where nothing may stay on chip, the partitions are taken without their intervals.
    """
    if result.status == "optimal" or not starts(initial):
        return result
    found = [_anywhere(problem, _allowed(problem, plans), result.cost) for plans in starts(initial)]
    best = min(found, key=attrgetter("cost"))
    if best.cost < math.inf and problem.keep == "auto":
        best = min(best, _kept(problem, best), key=attrgetter("cost"))
    if best.cost >= result.cost:
        return result
    winner = judged_plans(problem, best.plans, best.memory, [best.cost], None, SAME)
    ended = result if result.plans else replace(result, status="feasible")
    return ended.of(winner, winner.values[0], method=METHOD)


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


def _anywhere(problem: Problem, plans: Plans, most: float) -> Planned:
    """Return these plans in the memory where they cost least; of infinite cost if that is certainly not below `most`.

    Memories whose bound is no better than the best cost so far are skipped.
    """
    parts = [_Models(rules, plan) for rules, plan in zip(problem.rules, plans)]
    least, best = [part.least() for part in parts], Planned((), plans, math.inf, math.inf)
    machines = [(problem.accelerator_of(memory), memory) for memory in problem.memories]
    floors = [(problem.objective.cost(problem.objective.value(least, each), each), memory) for each, memory in machines]
    for floor, memory in sorted(floors):
        if floor >= min(most, best.cost):
            break
        best = min(best, _priced(problem, parts, memory, plans), key=attrgetter("cost"))
    return best


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


def _priced(problem: Problem, parts: Sequence[_Models], memory: Memory, plans: Plans) -> Planned:
    machine = problem.accelerator_of(memory)
    totals = [each for part in parts if (each := part.totals(machine)) is not None]
    if len(totals) < len(parts):
        return Planned(memory, plans, math.inf, math.inf)
    value = problem.objective.value(totals, machine)
    return Planned(memory, plans, value, problem.objective.cost(value, machine))


def _kept(problem: Problem, best: Planned) -> Planned:
    """Return the plans with their kept intervals chosen again for the memory."""
    machine = problem.accelerator_of(best.memory)
    plans = tuple(
        keep_on_chip(network, plan, machine, tile_rule=problem.tile_rule).partition
        for network, plan in zip(problem.networks, best.plans)
    )
    return _priced(problem, [_Models(*each) for each in zip(problem.rules, plans)], best.memory, plans)
