"""The exact search with kept tensors at the simulator's prices, network by network."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from cocco.bounds.floors.by_layer import added_up, floors, with_forced
from cocco.bounds.floors.inside import inside_floors
from cocco.bounds.patterns.interchangeable import kinds_of
from cocco.bounds.patterns.tables import patterns_of
from cocco.candidates.rounding import SUMMED
from cocco.candidates.sets import members
from cocco.effort.budgets import (
    FAR_OFF,
    FEW_STATES,
    FIRST_STATES,
    FIRST_STEPS,
    LONGER,
    LOOK_STEPS,
    MAX_SETS,
    MAX_STATES,
    MAX_STEPS,
    PATTERN_STEPS,
    PRICE_STEPS,
)
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem, part_of
from cocco.search.exact.exact import ExactPlan, exact_way, no_plan, plan_of
from cocco.search.exact.interchangeable import Alike
from cocco.search.exact.moves import Memo
from cocco.search.exact.plans_below import Near, graph_of, near_plans
from cocco.search.exact.question import KeepQuestion, KeptStep, Pattern, sets_of_consumers
from cocco.search.exact.window import GROWTH, ROUNDS, SLACK, Limits, Place, Way, Window, all_of
from cocco.search.kernel.choice import engine_name
from cocco.search.kernel.compiled import first_of, twin_of
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.cost import Totals, total
from simulator.model.kept import Kept, Reserved
from simulator.model.nests.places import Pair
from simulator.model.pricing import Price, PricingRules
from simulator.partition.partition import Partition

if TYPE_CHECKING:
    from cocco.search.kernel._kernel import KeptPrices, KeptSearch

Searcher = Callable[[Window, Limits], Way]

StepTotals = Callable[[KeptStep], Totals | None]

MEMO = 2**12  #: our choice: prices of steps kept for those that look alike; then all are forgotten


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
    relaxed: Problem | None = None,
) -> KeptOptimum:
    """Return the cheapest partition, order and kept intervals of each network on given hardware.

    The networks run one after another and nothing is kept between them, so each is searched by itself; budgets are for
    all together. engine: None for the default. below: only plans that together cost less than this (Formula 1) are
    sought; if there are none, the status of the last network searched is "none_below". relaxed: the same networks on
    hardware on which no step costs more when run in its cheapest way; its floors and patterns hold here as well, and
    are built once for all hardware that it is passed with.
    """
    plans: list[ExactPlan] = []
    partitions, cost = [], 0.0
    questions = [keep_question(problem, i, may_keep, engine) for i in range(len(problem.networks))]
    if relaxed is None or not all(question.more_room_pays for question in questions):
        relaxed = problem
    for i, (network, question) in enumerate(zip(problem.networks, questions)):
        states, steps = (sum(each) for each in zip(*((plan.states, plan.steps) for plan in plans))) if plans else (0, 0)
        left = _left_below(below, cost, questions[i + 1 :])
        limits = Limits(max_states - states, max(0, max_steps - steps), left)
        found = _cheapest(problem, i, question, limits, engine, relaxed)
        plans.append(found)
        if found.subgraphs is None:
            return KeptOptimum(None, math.inf, tuple(plans))
        cost += found.cost
        if cost >= below:  # by what the cut of several networks lets through
            plans[-1] = no_plan("none_below", found.states, found.steps)
            return KeptOptimum(None, math.inf, tuple(plans))
        partitions.append(Partition.from_ids(network, found.subgraphs, problem.metric, found.spans))
    return KeptOptimum(tuple(partitions), cost, tuple(plans))


def _cheapest(
    problem: Problem, i: int, question: KeepQuestion, limits: Limits, engine: EngineName | None, relaxed: Problem
) -> ExactPlan:
    """Return the cheapest plan of a network: first without patterns, which take longer to build than most searches.

    If the first search spent its steps in few states, patterns would add little: a longer search comes first. With
    relaxed hardware the search ends there if the limit is still far off: it may come again with a lower limit, or
    with patterns of its own.
    """
    first = limits
    if question.may_keep and limits.steps > FIRST_STEPS:
        first = limits._replace(states=min(limits.states, FIRST_STATES), steps=FIRST_STEPS)
    found = plan_of(searcher(problem, i, question, first, engine)(all_of(question.network), first), first)
    if found.status != "gave_up" or found.is_wide or first == limits:
        return found
    steps = counted = found.steps
    if found.states < FEW_STATES:
        is_far = limits.below > FAR_OFF * found.bound
        first = limits._replace(steps=max(0, min(limits.steps - steps, LONGER * FIRST_STEPS)))
        found = plan_of(searcher(problem, i, question, first, engine)(all_of(question.network), first), first)
        steps += found.steps
        counted += found.steps if is_far else 0
        is_open = relaxed is not problem and FAR_OFF * found.bound < limits.below < math.inf
        if found.status != "gave_up" or found.is_wide or is_open:
            return found._replace(steps=steps)
    most = min(PATTERN_STEPS, limits.steps // 2)
    if counted + most < limits.steps:
        general = question if relaxed is problem else general_question(relaxed, i, question.may_keep, engine)
        patterns, taken = _patterns(relaxed, i, general, most, engine)
        steps, counted = steps + taken, counted + taken
        if patterns:
            question = question._replace(
                layer_floor=general.layer_floor, crossing_floor=general.crossing_floor, crosses=general.crosses,
                patterns=patterns,
            )  # fmt: skip
    second = limits._replace(steps=max(0, limits.steps - counted))
    last = plan_of(searcher(problem, i, question, second, engine)(all_of(question.network), second), limits)
    return last._replace(
        steps=last.steps + steps, bound=max(last.bound, found.bound), reached=max(last.reached, found.reached)
    )


def _patterns(
    problem: Problem, i: int, question: KeepQuestion, most: int, engine: EngineName | None
) -> tuple[tuple[Pattern, ...], int]:
    """Return the patterns of a network and the steps they take, built once for all budgets that suffice for them.

    A pattern that is given up takes at least half of the budget. So if less was taken, the patterns are complete, and
    the same for any other budget that suffices.
    """
    key = patterns_of, i
    if key in problem.memo:
        patterns, steps, spent = problem.memo[key]
        if most == spent or 2 * steps < min(most, spent):
            return patterns, steps
    part, twin = part_of(problem, i), None
    if engine_name(engine, problem) != "reference":
        twin = partial(twin_of(part).pattern_left, compiled_prices(part), PRICE_STEPS)
    patterns, steps = patterns_of(question, problem.objective.metrics == ("ema",), most, twin)
    problem.memo[key] = patterns, steps, most
    return patterns, steps


def _left_below(below: float, cost: float, after: Sequence[KeepQuestion]) -> float:
    """Return the limit for the next network's cost; with several networks slightly more, so that rounding cuts none."""
    if not cost and not after:
        return below
    for question in after:
        for each in question.layer_floor:
            cost += each
    return (below - cost) + SUMMED * abs(below)


def searcher(problem: Problem, i: int, question: KeepQuestion, most: Limits, engine: EngineName | None) -> Searcher:
    """Return a function that finds cheapest ways through windows of a network, compiled or readable.

    Both engines find the same way in as many steps. most: the limits of any window. Prices are remembered from one
    window to the next.
    """
    memo = Memo(question, most)

    def readable(window: Window, limits: Limits) -> Way:
        return exact_way(memo, window, limits)

    if engine_name(engine, problem) == "reference":
        return readable
    search = _compiled(part_of(problem, i), question, most)

    def compiled(window: Window, limits: Limits) -> Way:
        return Way(*search.run(*window, limits))

    return first_of(compiled, readable)


def _compiled(part: Problem, question: KeepQuestion, most: Limits) -> KeptSearch:
    return twin_of(part).kept_search(
        compiled_prices(part), question.whole, question.layer_floor, question.crossing_floor, question.room,
        question.may_keep, question.crosses, question.patterns,
        (most.states, MAX_SETS, most.steps, LOOK_STEPS, PRICE_STEPS), (SLACK, GROWTH, ROUNDS),
        Alike(question.alike, sets_of_consumers(question.network), len(question.network.layers)),
    )  # fmt: skip


def near_graph(
    problem: Problem, below: float, steps: int, most: int, engine: EngineName | None = None
) -> tuple[Near | None, int]:
    """Return a graph of all plans of the one network that cost less than `below`, and the steps taken.

    None if there are none, if the graph would have more than `most` steps, or if a budget is spent.
    """
    question = keep_question(problem, 0, True, engine)
    limits = Limits(MAX_STATES // 8, steps, below)
    if engine_name(engine, problem) != "reference":
        try:
            return _compiled_graph(problem, question, limits, most)
        except OverflowError:
            pass
    return near_plans(Memo(question, limits), limits, most)


def _compiled_graph(problem: Problem, question: KeepQuestion, limits: Limits, most: int) -> tuple[Near | None, int]:
    search = _compiled(problem, question, limits)
    why, costs, noted, steps = search.near(*all_of(question.network), limits, most)
    if why:
        return None, steps
    places = tuple(Place(*search.state(i)) for i in range(len(costs)))
    groups = {group: search.group(group) for group in {each[2] for each in noted}}
    return graph_of(places, costs, [(a, b, groups[g], price) for a, b, g, price in noted], limits.below), steps


def keep_question(
    problem: Problem, i: int = 0, may_keep: bool = True, engine: EngineName | None = None
) -> KeepQuestion:
    """Return the input of the exact search for one network of a problem on given hardware, computed once."""
    key = keep_question, i, may_keep, engine
    if key not in problem.memo:
        problem.memo[key] = _keep_question(part_of(problem, i), may_keep, engine)
    found: KeepQuestion = problem.memo[key]
    return found


def general_question(
    relaxed: Problem, i: int = 0, may_keep: bool = True, engine: EngineName | None = None
) -> KeepQuestion:
    """Return the input of the exact search on hardware that stands for other hardware, as in `cheapest_plans`."""
    return keep_question(relaxed, i, may_keep, engine)._replace(is_general=True)


def _keep_question(part: Problem, may_keep: bool, engine: EngineName | None) -> KeepQuestion:
    (network,), (rules,) = part.networks, part.rules
    layers, crossings = floors(part)
    costs = SubgraphCosts(part)
    machine, metrics = part.accelerator, part.objective.metrics
    more_room_pays = machine.cores == 1 and machine.mapper.is_flat and metrics == (part.metric,)
    question = KeepQuestion(
        network, part.accelerator.activation_capacity, tuple(map(rules.whole_bytes, range(len(network.tensors)))),
        _price(part, engine), costs.may_fit, layers, crossings, may_keep,
        more_room_pays=more_room_pays, least_held=costs.least_held, inside=inside_floors(part, added_up(part)),
        alike=kinds_of(network), connected=machine.connection, may_hold=costs.may_hold,
        nests=tuple([sum([1 << v for v in nest]) for nest in costs.nests]), places=_places(rules),
    )  # fmt: skip
    return with_forced(question, metrics == ("ema",), part.models[0].alike.key)


def _places(rules: PricingRules) -> dict[int, tuple[Pair, ...]]:
    """Return which results may lie where an operand lay, by layers that run in loops."""
    groups = [*[(v,) for v in range(len(rules.geometry.network.layers))], *rules.nests]
    return {sum([1 << v for v in group]): pairs for group in groups if (pairs := rules.places(group))}


def _price(problem: Problem, engine: EngineName | None) -> Callable[[KeptStep], float]:
    """Return a function that prices a step in the metric of the problem."""
    machine, metric, (weight,) = problem.accelerator, problem.objective.of, problem.objective.weights
    totals = kept_price(problem)

    def readable(step: KeptStep) -> float:
        found = totals(step)
        return math.inf if found is None else weight * metric(found, machine)

    if engine_name(engine, problem) != "fast":
        return readable
    prices = compiled_prices(problem)

    def compiled(step: KeptStep) -> float:
        return prices.cost(*step)

    return first_of(compiled, readable)


def step_totals(problem: Problem, engine: EngineName | None = None) -> StepTotals:
    """Return a function that prices a step of the one network, with either engine: None if the step does not fit."""
    readable = kept_price(problem)
    if engine_name(engine, problem) != "fast":
        return readable
    compiled = compiled_prices(problem)

    def fast(step: KeptStep) -> Totals | None:
        row = compiled.price(*step)
        return None if row is None else Totals(*row)

    return _once(problem, first_of(fast, readable))


def compiled_prices(problem: Problem) -> KeptPrices:
    """Return the compiled twin's prices of steps of the one network; Python's where 64 bits do not hold them."""
    readable = kept_price(problem)
    return twin_of(problem).kept_prices(problem, lambda *step: readable(KeptStep(*step)))


def kept_price(problem: Problem) -> StepTotals:
    """Return a function that prices a step of the one network as the simulator does: None if the step does not fit."""
    (models,), machine = problem.models, problem.accelerator

    def price(step: KeptStep) -> Totals | None:
        reserved = Reserved(step.kept_bytes, step.elsewhere, step.handed)
        model = models.of(step.layers, _kept_of(step))
        found = model.price(machine.activation_capacity, machine.weight_capacity, reserved)
        return total([found], machine) if isinstance(found, Price) else None

    return _once(problem, price)


def _once(problem: Problem, price: StepTotals) -> StepTotals:
    """Return a function that prices equivalent steps only once."""
    (models,), known = problem.models, dict[Hashable, Totals | None]()

    def ask(step: KeptStep) -> Totals | None:
        key = models.alike.key(step.layers, _kept_of(step)), *step[4:]
        if key not in known:
            if len(known) == MEMO:
                known.clear()
            known[key] = price(step)
        return known[key]

    return ask


def _kept_of(step: KeptStep) -> Kept | None:
    if not step.on_chip:
        return None
    return Kept(*(frozenset(members(each)) for each in (step.on_chip, step.loaded, step.written)))
