"""The least energy within bounds, against all plans of small networks: partitions, orders, kept intervals, tiles."""

from __future__ import annotations

import pytest

from cocco.effort.effort import Effort
from cocco.effort.settings import Settings
from cocco.exploration.question.question import Question, question_of
from cocco.exploration.ties.constrained import least_of_all, least_within, plans_of
from cocco.problem.problem import on_hardware, over_space
from cocco.problem.space import SharedBuffer
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation
from tests.helpers.every_kept_plan import all_evaluations
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import chain, dag

NETWORKS = {
    "diamond": dag([[], [0], [0], [1, 2]], "diamond", kernel=3),
    "skip": dag([[], [0], [0, 1], [2]], "skip", size=9, kernel=3),
    "chain": chain(4),
}
COLUMNS = {"ema": "ema_bytes", "energy": "energy_pj", "latency-sum": "latency_cycles"}


def every(name: str, size: int, keep: str) -> list[Evaluation]:
    return all_evaluations(NETWORKS[name], Accelerator(shared_buffer=size), keep)


def asked(name: str, size: int, metric: str, keep: str) -> Question:
    problem = on_hardware(NETWORKS[name], Accelerator(shared_buffer=size), metric=metric, keep=keep)
    return question_of(problem, Effort(samples=200), Settings())


@pytest.mark.parametrize("keep", ["none", "auto"])
@pytest.mark.parametrize("slack", first_of([0.02, 0.0, 0.2], 1))
@pytest.mark.parametrize("metric", ["ema", "latency-sum"])
@pytest.mark.parametrize("size", first_of([2048, 3072], 1))
@pytest.mark.parametrize("name", NETWORKS)
def test_no_plan_within_the_bound_has_less_than_what_is_said(name, size, metric, slack, keep):
    """What is found keeps the bound, and no plan beats it in both; the lower bound holds for all that keep it."""
    question, plans = asked(name, size, metric, keep), every(name, size, keep)
    least = min(getattr(each, COLUMNS[metric]) for each in plans)
    start = next(each for each in plans if getattr(each, COLUMNS[metric]) == least)
    most = {metric: least * (1 + slack)}
    found = least_within(question, (), "energy", most, plans_of(question.problem, start.accelerator, [start.plan]))
    value, energy = found.best.of(metric), found.best.of("energy")
    assert value <= most[metric] * (1 + 1e-9)
    within = [each.energy_pj for each in plans if getattr(each, COLUMNS[metric]) <= most[metric]]
    assert found.bound <= min(within) * (1 + 1e-9) <= energy * (1 + 2e-9)
    beating = [each for each in plans if getattr(each, COLUMNS[metric]) <= value and each.energy_pj < energy]
    assert all(each.energy_pj >= energy * (1 - 1e-9) for each in beating)
    if not slack:
        assert found.bound == pytest.approx(energy, rel=1e-6)


def test_a_bound_that_no_plan_keeps_is_no_plan():
    question, plans = asked("diamond", 2048, "latency-sum", "auto"), every("diamond", 2048, "auto")
    most = {"latency-sum": 0.99 * min(each.latency_cycles for each in plans)}
    assert least_within(question, (), "energy", most, None).best is None


def test_other_memories_are_looked_at_where_they_may_have_less():
    """With 20 % more cycles than the least of a memory, a smaller one takes less energy: its bytes cost less."""
    space, network = SharedBuffer(2048, 4096, 1024), NETWORKS["skip"]
    problem = over_space(network, space, metric="latency-sum", keep="auto")
    question, plans = question_of(problem, Effort(samples=200), Settings()), {}
    for (at,), size in zip(problem.memories, (2048, 3072, 4096)):
        plans[at,] = every("skip", size, "auto")
    largest = min(plans[2,], key=lambda each: each.latency_cycles)
    bounds = {memory: {"latency-sum": 1.2 * largest.latency_cycles} for memory in plans}
    known = plans_of(problem, largest.accelerator, [largest.plan])
    found = least_of_all(question, "energy", bounds, known)
    within = [
        each.energy_pj
        for memory in plans
        for each in plans[memory]
        if each.latency_cycles <= bounds[memory]["latency-sum"]
    ]
    assert found.best.of("energy") == pytest.approx(min(within), rel=1e-9)
    assert found.bound <= min(within) * (1 + 1e-9)


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_both_engines_find_the_same(engine):
    """The metric of the objective and those added to it are the same floats in both."""
    found = []
    for each in dict.fromkeys(["fast", engine]):
        problem = on_hardware(NETWORKS["skip"], Accelerator(shared_buffer=3072), metric="latency-sum", keep="auto")
        question = question_of(problem, Effort(samples=50, engine=each), Settings())
        start = min(every("skip", 3072, "auto"), key=lambda plan: plan.latency_cycles)
        known = plans_of(problem, start.accelerator, [start.plan])
        best, bound, _ = least_within(question, (), "energy", {"latency-sum": 1.05 * start.latency_cycles}, known)
        found.append((best.plans, best.evaluations, bound))
    assert all(each == found[0] for each in found)
