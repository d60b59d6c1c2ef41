"""Limits on the latency that is executed, or the least of it, over many memories.

It is no sum over subgraphs, so plans are simulated, memory by memory (fastest.py). What no plan undercuts there (its
computing, its traffic, its late weights) rules memories out. The least size of a memory is found by halving: what runs
in time in one, runs in time in all larger ones. For other criteria the memory is tried that is best without the limit,
then larger ones, up to the largest (our choice). Only what meets a bound is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING

from cocco.bounds.floors.least_kept import Floors
from cocco.candidates.rounding import SAME
from cocco.effort.effort import Effort
from cocco.effort.planned import Memory
from cocco.effort.settings import Settings
from cocco.effort.status import Status
from cocco.exploration.answers.front import FrontPoint, with_points
from cocco.exploration.answers.lacking import layer_by_layer
from cocco.exploration.answers.limited import Limited
from cocco.exploration.answers.result import Result
from cocco.exploration.explore import answered
from cocco.exploration.fastest import ORDERS, Simulated, placed_plan, simulated
from cocco.exploration.memories.limits import Judge, by_capacity
from cocco.exploration.question.question import Question, question_of
from cocco.latency.bounds import bounds_of
from cocco.latency.draft import Draft, draft_of
from cocco.latency.places import placed_run
from cocco.problem.criteria import CRITERIA, EXECUTED, MEMORY
from cocco.problem.names import Metric
from cocco.problem.problem import Problem, on_hardware
from simulator.evaluation import Evaluation, evaluate
from simulator.model.priced import price_partition

if TYPE_CHECKING:
    import pandas

TRIED = 4  #: memories that are tried where any may have the least of the criterion; our choice

Floor = tuple[tuple[float, ...], Memory]  #: criteria that no plan in a memory undercuts


def least_executed(question: Question, judge: Judge, effort: Effort, without: Callable[[], Limited]) -> Limited:
    """Return the memory and the plans that have the least of the criterion, and keep the limits as they are executed.

    without: returns the answer without a limit on the latency.
    """
    floors = _floors(question, judge) if question.may_run else []
    within = [each for each in floors if judge.excess(each[0]) <= 1]
    target = judge.plane.names[judge.target]
    is_largest = target == EXECUTED and judge.limits.keys() <= set(MEMORY)  # no other memory runs anything faster
    rounds = 1 if is_largest else len(within).bit_length() + 1 if target in MEMORY else TRIED
    tried = _Tried(question, judge, replace(effort, samples=max(1, effort.samples // rounds), progress=None))
    lower = min((values[judge.target] for values, _ in within), default=math.inf)
    is_stopped = False
    try:
        if target in MEMORY:
            _halve(tried, sorted(within, key=lambda each: (each[0][judge.target], each[1])))
        elif within:
            plain = None if target == EXECUTED else without()
            lower = max(lower, -math.inf if plain is None or plain.lower_bound is None else plain.lower_bound)
            _try(tried, [memory for _, memory in within], plain, is_largest)
        if not tried.points and floors:
            tried.met(floors[0][1])
    except KeyboardInterrupt:
        is_stopped = True
    best = min(tried.points, key=lambda each: judge.key(each.values), default=None)
    excess = math.inf if best is None else judge.excess(best.values)
    status: Status = "gave_up" if within else "infeasible"
    if best is not None and excess <= 1:
        value = best.values[judge.target]
        lower = min(value, lower)
        status = "optimal" if value <= lower * (1 + SAME) else "feasible"
    return Limited(
        minimize=target, limits=judge.limits, networks=tuple(each.name for each in question.problem.networks),
        weights=question.problem.objective.weights, seed=question.seed, samples=tried.samples,
        status="stopped" if is_stopped else status, objectives=judge.plane.names, best=best if excess <= 1 else None,
        nearest=best, lower_bound=None if math.isinf(lower) else lower, excess=None if best is None else excess,
        least_excess=min((judge.excess(values) for values, _ in floors), default=0.0), engine=question.engine,
        points=with_points(_no_samples(judge), judge.plane.names, tried.points),
        lacking=() if best else layer_by_layer(question.problem), floors=by_capacity(judge, floors),
    )  # fmt: skip


def _floors(question: Question, judge: Judge) -> list[Floor]:
    """Return lower bounds of the criteria in each memory, the most promising memory first."""
    problem, plane, floors = question.problem, judge.plane, Floors(question.problem)
    found = list[Floor]()
    for memory in problem.memories:
        machine, totals = plane.machine(memory), floors.totals(memory)
        cycles = 0.0
        for weight, rules, each in zip(problem.objective.weights, problem.rules, totals):
            slots = bounds_of(rules, machine, each.ema_bytes)[0].slots
            cycles += weight * slots / machine.dram_bytes_per_cycle
        found.append((plane.least(machine, totals, cycles), memory))
    return sorted(found, key=lambda each: (judge.key(each[0]), each[1]))


def _halve(tried: _Tried, within: Sequence[Floor]) -> None:
    """Try memories until the least is known in which a plan keeps the limits: first the largest, then halves.

    A larger memory runs all that a smaller one does, but may not show it; so more are tried where it does not.
    """
    low, last = 0, len(within) - 1
    steps = [last * (TRIED - i) // TRIED for i in range(TRIED)] if within else []
    high = next((each for each in steps if tried.met(within[each][1])), 0)
    while low < high:
        middle = (low + high) // 2
        if tried.met(within[middle][1]):
            high = middle
        else:
            low = middle + 1


def _try(tried: _Tried, within: Sequence[Memory], plain: Limited | None, is_largest: bool) -> None:
    """Try the memory of the answer without the limit, and larger ones; with places, its plans may keep it.

    Without such an answer the smallest is the first; is_largest: only the largest is tried.
    """
    problem, judge = tried.question.problem, tried.judge
    capacity = {memory: problem.accelerator_of(memory).buffer_bytes for memory in within}
    order = sorted(within, key=lambda memory: (capacity[memory], memory))
    first = len(order) - 1 if is_largest else 0
    if plain is not None and plain.nearest is not None:
        point = plain.nearest
        memory = problem.memory_of(point.accelerator)
        tried.samples += plain.samples
        tried.points.append(_with_places(point, judge, problem))
        if judge.excess(tried.points[-1].values) <= 1:
            return
        first = order.index(memory) if memory in order else 0
        if plain.status == "stopped":
            raise KeyboardInterrupt
    for i in range(TRIED):
        tried.met(order[first + (len(order) - 1 - first) * (TRIED - 1 - i) // (TRIED - 1)])


def _with_places(point: FrontPoint, judge: Judge, problem: Problem) -> FrontPoint:
    """Return plans with no more ahead than has an address; one that finds none stays, and `placed` is False."""
    evaluations, is_placed = list[Evaluation](), True
    for network, plan in zip(problem.networks, point.plans):
        found = placed_run(price_partition(network, plan, point.accelerator, problem.tile_rule))
        is_placed &= found is not None
        plan = plan if found is None else found.run.priced.partition
        evaluations.append(evaluate(network, plan, point.accelerator, problem.tile_rule))
    plans, placed = tuple(each.plan for each in evaluations), is_placed if point.placed is not None else None
    values = judge.plane.judged(evaluations)
    return replace(point, values=values, plans=plans, evaluations=tuple(evaluations), placed=placed)


@dataclass
class _Tried:
    """Memories that were tried: in each the best plans that were found, at most once."""

    question: Question
    judge: Judge
    effort: Effort
    samples: int = 0
    points: list[FrontPoint] = field(default_factory=list)
    drafts: dict[str, list[Draft]] = field(default_factory=dict)  #: to start from, per network
    known: dict[Memory, bool] = field(default_factory=dict)

    def met(self, memory: Memory) -> bool:
        """Return whether plans keep the limits in a memory, as far as is found."""
        if memory not in self.known:
            self.known[memory] = self._is_met(memory)
        return self.known[memory]

    def _is_met(self, memory: Memory) -> bool:
        problem, evaluations, is_stopped, is_placed = self.question.problem, list[Evaluation](), False, True
        for i, network in enumerate(problem.networks):
            found = self._simulated(memory, i)
            if isinstance(found, Result):
                return False
            is_stopped |= found.is_stopped
            drafts = self.drafts.setdefault(network.name, [])
            evaluation, has_places = self._best(memory, i, found)
            is_placed &= has_places
            drafts.append(draft_of(network, evaluation.plan))
            evaluations.append(evaluation)
            self.samples += max(1, found.search.priced)
        values = self.judge.plane.judged(evaluations)
        plans = tuple(each.plan for each in evaluations)
        keeps = any(each.keep for each in evaluations)
        moved, placed = ((), is_placed) if keeps else (None, None)
        machine = problem.accelerator_of(memory)
        self.points.append(FrontPoint(values, machine, plans, tuple(evaluations), moved, placed))
        if is_stopped:
            raise KeyboardInterrupt
        return self.judge.excess(values) <= 1

    def _simulated(self, memory: Memory, i: int) -> Simulated | Result:
        problem, network = self.question.problem, self.question.problem.networks[i]
        machine = problem.accelerator_of(memory)

        def solved(metric: Metric, effort: Effort) -> Result:
            given = on_hardware(network, machine, metric=metric, tile_rule=problem.tile_rule, keep=problem.keep)
            return answered(question_of(given, effort, Settings()), "auto", effort, 0.0, certifies=False)[0]

        return simulated(
            network, machine, problem.tile_rule, problem.keep, self.effort, solved, self._enough(memory),
            ORDERS.get(self.judge.plane.names[self.judge.target]), self.drafts.get(network.name, []),
        )  # fmt: skip

    def _enough(self, memory: Memory) -> int:
        """Return the slots with which the limit is kept; of several networks none is known."""
        problem, most = self.question.problem, self.judge.limits.get(EXECUTED)
        if most is None or len(problem.networks) > 1:
            return 0
        port = problem.accelerator_of(memory).dram_bytes_per_cycle
        return math.floor(most / problem.objective.weights[0] * port)

    def _best(self, memory: Memory, i: int, found: Simulated) -> tuple[Evaluation, bool]:
        """Return the best plan that was simulated whose run has addresses; without any, the best, and False."""
        problem, search, enough = self.question.problem, found.search, self._enough(memory)
        first = ORDERS.get(self.judge.plane.names[self.judge.target], attrgetter("energy_pj"))
        in_time = sorted((each for each in search.found if each.slots <= enough), key=lambda each: (first(each), each))
        rest = sorted(each for each in search.found if each.slots > enough)
        order = [*in_time, *rest]
        placed = placed_plan(problem.networks[i], search.timed, order, problem.tile_rule, enough)
        plan = order[0].draft.partition(problem.networks[i]) if placed is None else placed.plan
        return evaluate(
            problem.networks[i], plan, problem.accelerator_of(memory), problem.tile_rule
        ), placed is not None


def _no_samples(judge: Judge) -> pandas.DataFrame:
    import pandas

    buffers = [f"{name}_bytes" for name in judge.plane.problem.buffers]
    criteria = [CRITERIA[name].column for name in judge.plane.names]
    return pandas.DataFrame(columns=["sample", "generation", *buffers, "subgraphs", *criteria])
