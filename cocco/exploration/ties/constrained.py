"""The least of one metric among plans that keep bounds of others, in one memory.

What is bounded gets a price (Everett, 1963, "Generalized Lagrange multiplier method"): the search minimizes the metric
plus price times what is bounded. No other plan beats the optimum in both, and its cost minus price times bound is a
lower bound for all plans that keep it. The price is that at which the best plan within the bound and the one beyond it
cost the same; it is right once no plan costs less. Tiles and loop orders are chosen by one metric for a whole plan, so
the exact search tries those of all metrics, the question's and the minimized one first. Where it gives up, windows of
the plan are searched again, or the order of its layers, with the price and the tiles of these two; that proves nothing
(our choices).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cocco.candidates.genome import groups_of
from cocco.candidates.rounding import SAME, SUMMED
from cocco.effort.budgets import IMPROVING_STEPS, PROOF_STEPS
from cocco.effort.levels import LEVELS
from cocco.effort.planned import Memory
from cocco.effort.work_units import once
from cocco.exploration.memories.front import of_value
from cocco.exploration.memories.solved import Memories, Solved, StepBudget, given_in
from cocco.exploration.question.question import Question
from cocco.exploration.searching.improve import improve_plans
from cocco.exploration.searching.polish import polish
from cocco.problem.criteria import CRITERIA
from cocco.problem.names import Metric
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from simulator.metrics import METRIC_NAMES
from simulator.partition.partition import Partition

SOLVED = 8  #: prices tried with the exact search in one memory, and with one metric that chooses tiles; our choice
SHARE = 2  #: of the steps of a proof one in so many is left to all this; our choice
EACH = 8  #: of those in one memory one in so many; our choice: what needs more is seldom decided by all of them
LOOKED = 16  #: memories that are looked at; our choice
WALKED = 4  #: prices tried without it; our choice

Bounds = Mapping[Metric, float]  #: the most of each metric, of Formula 1
Others = Callable[[], "Plans | None"]


class Plans(NamedTuple):
    """A plan of each network as the simulator prices it."""

    plans: tuple[Partition, ...]
    machine: Accelerator
    evaluations: tuple[Evaluation, ...]
    weights: tuple[float, ...]

    def of(self, metric: Metric) -> float:
        """Return Formula 1 in a metric."""
        total = 0.0
        for weight, each in zip(self.weights, self.evaluations):
            total += weight * getattr(each, CRITERIA[metric].column)
        return total

    def beats(self, other: Plans, target: Metric) -> bool:
        """Return whether it has less of a metric; of near ties less EMA, then a smaller memory."""
        mine, its = self.of(target), other.of(target)
        if abs(mine - its) > SAME * its:
            return mine < its
        rest, others = (each.of("ema") for each in (self, other))
        return (rest, self.machine.buffer_bytes) < (others, other.machine.buffer_bytes)

    def keeps(self, bounds: Bounds) -> bool:
        """Return whether all bounds are kept, within rounding."""
        return all(each.fits for each in self.evaluations) and all(
            self.of(metric) <= most * (1 + SAME) for metric, most in bounds.items()
        )


class Constrained(NamedTuple):
    """The best plans that keep the bounds (None: none is known), and a value that no such plan undercuts."""

    best: Plans | None
    bound: float
    weighed: Problem  #: the target plus what is bounded at its last price, for plans that have to be changed


def plans_of(problem: Problem, machine: Accelerator, plans: Sequence[Partition]) -> Plans:
    """Return plans with what the simulator says of them."""
    return Plans(tuple(plans), machine, problem.evaluations(plans, machine), problem.objective.weights)


def least_within(
    question: Question, memory: Memory, target: Metric, bounds: Bounds, known: Plans | None, below: float = math.inf,
    most: StepBudget | None = None, others: Others = lambda: None,
) -> Constrained:  # fmt: skip
    """Return the plans in one memory with the least of a metric that keep these bounds.

    known: plans there that keep them, if any are. below: only plans with less are sought. most: steps. others: returns
    plans there with less, if any are known; asked where the exact search gives up.
    """
    most = most or budget(question)
    below = min(below, bounds.get(target, math.inf) * (1 + SAME))
    limits = {metric: most for metric, most in bounds.items() if metric != target}
    best, weighed = known, question.problem
    searches: list[_Search] = []
    for chosen_by in dict.fromkeys((question.problem.metric, target, *METRIC_NAMES)):
        search = _Search(question, memory, target, limits, chosen_by, below, most)
        found = search.run(best)
        weighed = weighed if found is best else search.weighed()
        best = found
        searches.append(search)
    other = None
    for search in searches[:2]:  # walking is dear, and with tiles of a third metric it found nothing more
        if search.is_open and best is not None and best.of(target) > search.bound:
            other = other or others()
            if other is not None and other.keeps(bounds):
                best = search.better(other, best) or best
            found = search.walk(best, other)
            weighed = weighed if found is best else search.weighed()
            best = found
    return Constrained(best, min([each.bound for each in searches]), weighed)


def least_of_all(
    question: Question, target: Metric, bounds: Mapping[Memory, Bounds], known: Plans, steps: StepBudget | None = None,
    others: Others = lambda: None,
) -> Constrained:  # fmt: skip
    """Return the plans with the least of a metric in any of these memories that keep the bounds of their memory.

    known: plans that keep them, in one of the memories, which is looked at first. steps: of the exact search. others:
    as in `least_within`, in that memory.
    """
    problem, best, least, weighed = question.problem, known, math.inf, question.problem
    steps = steps or budget(question)
    table, first = Memories(of_value(problem, target), question.engine), problem.memory_of(known.machine)
    for number, memory in enumerate(sorted(bounds, key=lambda each: (each != first, table.bound(each), each))):
        most = best.of(target)
        if table.bound(memory) >= most * (1 - SAME):
            continue
        if number >= LOOKED:
            least = min(least, table.bound(memory))
            continue
        machine = problem.accelerator_of(memory)
        here = plans_of(problem, machine, best.plans)
        start = here if here.keeps(bounds[memory]) else None
        below = math.inf if start else most
        also = (others,) if memory == first else ()
        found = least_within(question, memory, target, bounds[memory], start, below, steps, *also)
        least = min(least, max(found.bound, table.bound(memory)))
        if found.best is not None and found.best.beats(best, target):
            best, weighed = found.best, found.weighed
    return Constrained(best, min(least, best.of(target)), weighed)


def budget(question: Question, failures: int | None = None) -> StepBudget:
    """Return the steps of the exact search; failures: memories in a row that may give up, and nothing else is tried."""
    per_memory, in_total, _ = PROOF_STEPS[question.problem.keep]
    return StepBudget(question.budget(per_memory) // EACH, question.budget(in_total) // SHARE, failures)


class _Search:
    """The search with tiles that one metric chooses."""

    def __init__(
        self, question: Question, memory: Memory, target: Metric, bounds: Bounds, chosen_by: Metric, below: float,
        most: StepBudget,
    ) -> None:  # fmt: skip
        problem = question.problem
        self.question, self.memory, self.target, self.bounds, self.below = question, memory, target, bounds, below
        self.problem = replace(problem, chosen_by=chosen_by)
        self.machine, self.weights = problem.accelerator_of(memory), problem.objective.weights
        self.prices = dict.fromkeys(bounds, 0.0)
        self.bound = 0.0  # of the target
        self.most = most
        self.is_open = False
        self.beyond: Plans | None = None

    def run(self, known: Plans | None) -> Plans | None:
        """Return the best plans of the exact search; known ones are priced again, with these tiles."""
        best, beyond = known if known is None else self.better(self._again(known), known), None
        for _ in range(SOLVED):
            most = min(self._cost(best), self._most())
            found = self._solve(most)
            if found.best is None:
                self._raise(most if found.is_decided else found.bound)
                if found.is_decided:
                    return best
                break
            cheapest = self._priced(found.best.plans)
            self._raise(found.best.value)
            if cheapest.keeps(self.bounds):
                best = self.better(cheapest, best)
                if not any(self.prices.values()):
                    return best
            elif best is None and beyond is not None:
                return None
            else:
                beyond = cheapest
            if beyond is None or not self._price(best, beyond):
                break
        self.is_open, self.beyond = self.most.failures is None, beyond
        return best

    def _again(self, known: Plans) -> Plans:
        pairs = zip(self.problem.networks, known.plans)
        metric = self.problem.metric
        return self._priced(
            [
                Partition.from_ids(network, plan.subgraphs, metric, [each.span for each in plan.keep])
                for network, plan in pairs
            ]
        )

    def _solve(self, below: float) -> Solved:
        if not self.most.left:
            return Solved(None, False, 0)
        found = Memories(self.weighed(), self.question.engine).solve(self.memory, self.most.left, below)
        self.most.count(found)
        return found

    def weighed(self) -> Problem:
        """Return the problem of the target plus what is bounded at its price."""
        also = tuple((metric, price) for metric, price in self.prices.items() if price)
        objective = replace(self.problem.objective, metric=self.target, alpha=None, also=also)
        return replace(self.problem, objective=objective)

    def _priced(self, plans: Sequence[Partition]) -> Plans:
        return plans_of(self.problem, self.machine, plans)

    def _cost(self, plans: Plans | None) -> float:
        """Return the target of plans plus what is bounded at its price; a little less: only better ones are sought."""
        if plans is None:
            return math.inf
        cost = plans.of(self.target)
        for metric, price in self.prices.items():
            cost += price * plans.of(metric)
        return cost * (1 - SUMMED)

    def _most(self) -> float:
        """Return what plans cost at most at these prices if they keep the bounds and have as little as is asked for."""
        return self.below + self._at_bounds()

    def _raise(self, cost: float) -> None:
        """Raise the lower bound by what all plans cost at least at these prices."""
        self.bound = max(self.bound, cost - self._at_bounds())

    def _at_bounds(self) -> float:
        return sum([price * self.bounds[metric] for metric, price in self.prices.items()])

    def _price(self, best: Plans | None, beyond: Plans) -> bool:
        """Set the price at which plans beyond the most exceeded bound cost as much as the best; False if it stays.

        Without a best one the bound comes first, and what is least decides among equal ones.
        """
        worst = max(self.bounds, key=lambda metric: beyond.of(metric) / self.bounds[metric])
        if best is None:
            self.prices[worst] = beyond.of(self.target) / (SAME * self.bounds[worst])
            return True
        gain, step = best.of(self.target) - beyond.of(self.target), beyond.of(worst) - best.of(worst)
        for metric, price in self.prices.items():
            gain += price * (best.of(metric) - beyond.of(metric)) if metric != worst else 0.0
        if step <= 0 or gain <= 0:
            return False
        is_new = abs(gain / step - self.prices[worst]) > SAME * self.prices[worst]
        self.prices[worst] = gain / step
        return is_new

    def better(self, new: Plans, old: Plans | None) -> Plans | None:
        """Return new plans if they keep the bounds and have less of the target than the old ones, or these."""
        is_within = new.keeps(self.bounds) and new.of(self.target) < self.below
        return new if is_within and (old is None or new.beats(old, self.target)) else old

    def walk(self, best: Plans, other: Plans | None) -> Plans:
        """Return plans improved by windows, or other orders, from both sides of the bounds, at the price between them.

        other: plans that break a bound; without any, those to which the best ones are improved without prices.
        """
        beyond = self.beyond or (other and self._again(other))
        if beyond is None or beyond.keeps(self.bounds):
            self.prices = dict.fromkeys(self.bounds, 0.0)
            beyond = self._improved(best)
        if beyond.keeps(self.bounds):
            return self.better(beyond, best) or best
        self._price(best, beyond)
        for _ in range(WALKED):
            for each in (self._improved(best), self._improved(beyond)):
                best = self.better(each, best) or best
                if not each.keeps(self.bounds) and self._cost(each) < self._cost(beyond):
                    beyond = each
            if not self._price(best, beyond):
                break
        return best

    def _improved(self, plans: Plans) -> Plans:
        """Return plans that cost no more with what is bounded at its price."""
        given, question = given_in(self.weighed(), self.memory), self.question
        share = max(question.samples // WALKED, min(question.samples, LEVELS["quick"].samples))
        if self.problem.keep == "none":
            found = once(polish, given, given.labels(plans.plans), (), share, question.seed, question.engine)
            return self._priced(given.partitions(groups_of(found.labels)))
        better = once(improve_plans, given, plans.plans, IMPROVING_STEPS * share, question.seed, question.engine)
        return self._priced(better.partitions) if better.cost < math.inf else plans
