"""The exact search with kept tensors on the simulator's prices, network by network."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from cocco.bounds.kept_floors import floors, least_of_layers, with_forced
from cocco.bounds.kept_inside import inside_floors
from cocco.bounds.kept_patterns import PATTERN_STEPS, patterns_of
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.keeping.exact import ExactPlan, exact_way, no_plan, plan_of
from cocco.search.keeping.moves import Memo
from cocco.search.keeping.question import Group, KeepQuestion, KeptStep
from cocco.search.keeping.state import members
from cocco.search.keeping.window import (
    GROWTH,
    LOOK_STEPS,
    MAX_SETS,
    MAX_STATES,
    MAX_STEPS,
    PRICE_STEPS,
    ROUNDS,
    SLACK,
    Limits,
    Way,
    Window,
    all_of,
)
from cocco.search.kernel.choice import engine_name
from cocco.search.kernel.compiled import Compiled, first_of
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.cost import METRICS, Totals, total
from simulator.model.kept import Kept, Reserved
from simulator.model.pricing import Price, SubgraphModel
from simulator.partition.partition import Partition

ROUNDING = 1e-12  #: relative; above what the order of summation can change
Searcher = Callable[[Window, Limits], Way]

FIRST_STATES, FIRST_STEPS = 100_000, 16_000_000  #: of a search without patterns; our choice
MEMO = 2**12  #: our choice: models kept, those not used for longest are forgotten


class KeptOptimum(NamedTuple):
    """The cheapest plan of every network, or why the search gave up."""

    partitions: tuple[Partition, ...] | None
    cost: float  #: Formula 1
    plans: tuple[ExactPlan, ...]  #: of the networks that were searched

    @property
    def is_proven(self) -> bool:
        """Whether every network has its cheapest plan."""
        return self.partitions is not None


def cheapest_plans(
    problem: Problem,
    max_states: int = MAX_STATES,
    max_steps: int = MAX_STEPS,
    may_keep: bool = True,
    engine: EngineName | None = None,
    below: float = math.inf,
) -> KeptOptimum:
    """Return the cheapest partition, order and kept intervals of each network on given hardware.

    The networks run one after the other and nothing is kept between them, so each is searched by itself; budgets are
    for all together. engine: None for the default. below: plans that cost this much (Formula 1) or more together are
    not looked for; then the status of the last one searched is "none_below".
    """
    plans: list[ExactPlan] = []
    partitions, cost = [], 0.0
    questions = [keep_question(problem, i, may_keep, engine) for i in range(len(problem.networks))]
    for i, (network, question) in enumerate(zip(problem.networks, questions)):
        states, steps = (sum(each) for each in zip(*((plan.states, plan.steps) for plan in plans))) if plans else (0, 0)
        left = _left_below(below, cost, questions[i + 1 :])
        found = _cheapest(problem, i, question, Limits(max_states - states, max_steps - steps, left), engine)
        plans.append(found)
        if found.subgraphs is None:
            return KeptOptimum(None, math.inf, tuple(plans))
        cost += found.cost
        if cost >= below:  # by what the cut of several networks lets through
            plans[-1] = no_plan("none_below", found.states, found.steps)
            return KeptOptimum(None, math.inf, tuple(plans))
        partitions.append(Partition.from_ids(network, found.subgraphs, problem.metric, found.spans))
    return KeptOptimum(tuple(partitions), cost, tuple(plans))


def _cheapest(problem: Problem, i: int, question: KeepQuestion, limits: Limits, engine: EngineName | None) -> ExactPlan:
    """Return the cheapest plan of a network: first without patterns, which take longer than most networks."""
    first = limits._replace(states=min(limits.states, FIRST_STATES), steps=min(limits.steps, FIRST_STEPS))
    found = plan_of(searcher(problem, i, question, first, engine)(all_of(question.network), first), first)
    if found.status != "gave_up" or first == limits:
        return found
    is_whole = problem.objective.metric == "ema"
    patterns, steps = patterns_of(question, is_whole, min(PATTERN_STEPS, limits.steps - found.steps))
    steps += found.steps
    second = limits._replace(steps=limits.steps - steps)
    question = question._replace(patterns=patterns)
    last = plan_of(searcher(problem, i, question, second, engine)(all_of(question.network), second), limits)
    return last._replace(
        steps=last.steps + steps, bound=max(last.bound, found.bound), reached=max(last.reached, found.reached)
    )


def _part(problem: Problem, i: int) -> Problem:
    """Return the problem of one of its networks."""
    objective = replace(problem.objective, weights=problem.objective.weights[i : i + 1])
    return replace(problem, networks=problem.networks[i : i + 1], objective=objective)


def _left_below(below: float, cost: float, after: Sequence[KeepQuestion]) -> float:
    """Return what a network must cost less than; of several networks a little more, so that rounding cuts nothing."""
    if not cost and not after:
        return below
    for question in after:
        for each in question.layer_floor:
            cost += each
    return (below - cost) + ROUNDING * abs(below)


def searcher(problem: Problem, i: int, question: KeepQuestion, most: Limits, engine: EngineName | None) -> Searcher:
    """Return what finds cheapest ways through windows of a network, compiled or readable: the same, in as many steps.

    most: the most that any of them may take. What was priced for one window is remembered for the others.
    """
    memo = Memo(question, most)

    def readable(window: Window, limits: Limits) -> Way:
        return exact_way(memo, window, limits)

    if engine_name(engine, problem) == "reference":
        return readable
    part = _part(problem, i)
    search = Compiled(part).kept_search(
        part, question.whole, question.layer_floor, question.crossing_floor, question.room, question.may_keep,
        question.crosses, question.patterns,
        (most.states, MAX_SETS, most.steps, LOOK_STEPS, PRICE_STEPS), (SLACK, GROWTH, ROUNDS),
    )  # fmt: skip

    def compiled(window: Window, limits: Limits) -> Way:
        return Way(*search.run(*window, limits))

    return first_of(compiled, readable)


def keep_question(
    problem: Problem, i: int = 0, may_keep: bool = True, engine: EngineName | None = None
) -> KeepQuestion:
    """Return what the exact search asks of one network of a problem on given hardware."""
    part = _part(problem, i)
    (network,), (rules,) = part.networks, part.rules
    layers, crossings = floors(part)
    costs = SubgraphCosts(part)
    machine, metric = part.accelerator, part.objective.metric
    more_room_pays = machine.cores == 1 and machine.mapper.is_flat and part.chosen_by in (None, metric)
    question = KeepQuestion(
        network, part.accelerator.activation_capacity, tuple(map(rules.whole_bytes, range(len(network.tensors)))),
        _price(part, engine), costs.may_fit, layers, crossings, may_keep,
        more_room_pays=more_room_pays, least_held=costs.least_held, inside=inside_floors(part, least_of_layers(rules)),
    )  # fmt: skip
    return with_forced(question, is_whole=part.objective.metric == "ema")


def _price(problem: Problem, engine: EngineName | None) -> Callable[[KeptStep], float]:
    """Return what prices a step in the metric of the problem."""
    machine = problem.accelerator
    metric, (weight,) = METRICS[problem.objective.metric], problem.objective.weights
    ask = step_totals(problem, engine)

    def price(step: KeptStep) -> float:
        found = ask(step)
        return math.inf if found is None else weight * metric(found, machine)

    return price


def step_totals(problem: Problem, engine: EngineName | None = None) -> Callable[[KeptStep], Totals | None]:
    """Return what prices a step of the one network of a problem with either engine; None where it does not fit."""
    readable = kept_price(problem)
    if engine_name(engine, problem) != "fast":
        return readable
    compiled = Compiled(problem).kept_prices(problem)

    def fast(step: KeptStep) -> Totals | None:
        row = compiled.price(*step)
        return None if row is None else Totals(*row)

    return first_of(fast, readable)


def kept_price(problem: Problem) -> Callable[[KeptStep], Totals | None]:
    """Return what prices a step of the one network of a problem as the simulator does; None where it does not fit."""
    (rules,), machine = problem.rules, problem.accelerator

    @lru_cache(MEMO)
    def model(layers: Group, kept: Kept | None) -> SubgraphModel:
        return SubgraphModel(rules, layers, kept)

    def price(step: KeptStep) -> Totals | None:
        kept = None
        if step.on_chip:
            kept = Kept(*(frozenset(members(each)) for each in (step.on_chip, step.loaded, step.written)))
        reserved = Reserved(step.kept_bytes, step.elsewhere)
        found = model(step.layers, kept).price(machine.activation_capacity, machine.weight_capacity, reserved)
        return total([found], machine) if isinstance(found, Price) else None

    return price
