"""The methods: each answers a question with a plan, its addresses and a bound (COSMA; docs/scheduling.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from cocco.scheduling.plan import Plan, cost_of
from cocco.scheduling.programs.away import must_move
from cocco.scheduling.programs.joint import Joint, given_order, tight
from cocco.scheduling.programs.paper import solve_paper
from cocco.scheduling.programs.windows import divide, slide
from cocco.scheduling.question import Found, ScheduleQuestion
from cocco.scheduling.searches.beam import beam
from cocco.scheduling.searches.fixed import STATES, fixed_order
from cocco.scheduling.searches.linear import linear

POLISH_STATES = 500  #: of our own search for a given order between two passes of windows; our choice


def _start(question: ScheduleQuestion) -> Plan:
    """Return the cheapest plan known without a solver; `question.best` has what is proved of all orders."""
    graph, capacity, best, budgets = question.graph, question.capacity, question.best, question.budgets
    orders = {"default order": tuple(range(len(graph))), "order of the least peak": budgets.peak_order}
    for stage, order in orders.items():
        best.offer(fixed_order(graph, order, capacity, POLISH_STATES).plan, stage)
        assert best.plan is not None
        if not cost_of(graph, best.plan):
            return best.plan
    best.prove(must_move(graph, capacity, budgets.peak if budgets.peak_is_proved else 0), "bound")
    if not best.is_proved:
        found = beam(graph, capacity, question.limits.width)
        best.offer(found.plan, "beam")
        if found.is_optimal:
            best.prove(found.cost, "beam")
    assert best.plan is not None
    return best.plan


def with_addresses(question: ScheduleQuestion, plan: Plan) -> Joint:
    """Return a plan of a free order with its addresses; the bound of its order is none of the others."""
    joint = given_order(question.graph, plan.order, question.capacity, question.alignment, question.limits)
    return _bounded(question, joint)


def _bounded(question: ScheduleQuestion, joint: Joint, bound: int = 0) -> Joint:
    """Return an answer with the best bound of any order."""
    bound = max(bound, question.best.bound)
    if joint.plan is None:
        return joint._replace(bound=bound)
    cost = cost_of(question.graph, joint.plan)
    return joint._replace(bound=min(bound, cost), status="optimal" if cost <= bound else "feasible")


def _tight(question: ScheduleQuestion) -> Found:
    plan = _start(question)
    if question.best.is_proved:
        joint = with_addresses(question, plan)
        if joint.status == "optimal":
            return Found(joint)
    found = tight(question.graph, question.capacity, question.alignment, question.limits, plan)
    return Found(_bounded(question, found, found.bound))


def _beam(question: ScheduleQuestion) -> Found:
    return Found(with_addresses(question, _start(question)))


def _windows(question: ScheduleQuestion) -> Found:
    graph, capacity, limits, best = question.graph, question.capacity, question.limits, question.best
    plan = _start(question)
    if best.is_proved:
        return Found(with_addresses(question, plan))

    def polish(plan: Plan) -> Plan:
        found = fixed_order(graph, plan.order, capacity, POLISH_STATES).plan
        best.offer(plan, "windows")
        best.offer(found, "windows")
        return found

    found = slide(graph, plan, capacity, limits.solver, polish, limits.deadline)
    return Found(with_addresses(question, found.plan), found.windows, found.proved)


def _divide(question: ScheduleQuestion) -> Found:
    graph, capacity, limits = question.graph, question.capacity, question.limits
    order = question.budgets.peak_order if question.order is None else question.order
    start = fixed_order(graph, order, capacity, STATES).plan
    found = divide(graph, start, capacity, limits.solver, limits.deadline)
    return Found(with_addresses(question, found.plan), found.windows, found.proved)


def _gap(question: ScheduleQuestion) -> Found:
    assert question.order is not None
    return Found(given_order(question.graph, question.order, question.capacity, question.alignment, question.limits))


def _paper(question: ScheduleQuestion) -> Found:
    limits = question.limits
    found = solve_paper(
        question.graph, question.capacity, limits.solver, question.alignment, limits.deadline, question.order
    )
    if found.plan is None:
        return Found(Joint("gave_up", None, {}, "none", found.bound))
    status: Literal["optimal", "feasible"] = "optimal" if found.solved.status == "optimal" else "feasible"
    return Found(Joint(status, found.plan, found.addresses, "model", found.bound))


def _baseline(replacement: Literal["belady", "greedy"]) -> Callable[[ScheduleQuestion], Found]:
    def run(question: ScheduleQuestion) -> Found:
        assert question.order is not None
        found = linear(question.graph, question.order, question.capacity, replacement, question.alignment)
        if found is None:
            return Found(Joint("gave_up", None, {}, "none", 0))
        status: Literal["optimal", "feasible"] = "feasible" if cost_of(question.graph, found.plan) else "optimal"
        return Found(Joint(status, found.plan, found.addresses, "none", 0))

    return run


RUN: dict[str, Callable[[ScheduleQuestion], Found]] = {
    "tight": _tight, "gap": _gap, "windows": _windows, "divide": _divide, "paper": _paper, "beam": _beam,
    "belady": _baseline("belady"), "greedy": _baseline("greedy"),
}  # fmt: skip
