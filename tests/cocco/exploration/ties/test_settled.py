"""No answer is beaten: of plans that are as good, or within a slack, the least energy, against all plans."""

from __future__ import annotations

import pytest

import cocco
import workloads
from simulator.accelerator import Accelerator
from tests.helpers.every_kept_plan import all_evaluations
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import dag

DIAMOND = dag([[], [0], [0], [1, 2]], "diamond", kernel=3)
SKIP = dag([[], [0], [0, 1], [2]], "skip", size=9, kernel=3)
COLUMNS = {"ema": "ema_bytes", "energy": "energy_pj", "latency-sum": "latency_cycles"}
SIZES = (2048, 3072, 4096)
SPACE = cocco.SharedBuffer(2048, 4096, 1024)


@pytest.mark.parametrize("slack", first_of([0.05, 0.0], 1))
@pytest.mark.parametrize("metric", ["ema", "latency-sum"])
@pytest.mark.parametrize("size", first_of(SIZES, 2))
@pytest.mark.parametrize("network", [DIAMOND, SKIP], ids=lambda each: each.name)
def test_no_plan_is_as_good_with_less_energy(network, size, metric, slack):
    chip = Accelerator(shared_buffer=size)
    found = cocco.partition(network, chip, metric=metric, slack=slack, samples=200)
    plans, column = all_evaluations(network, chip), COLUMNS[metric]
    least = min(getattr(each, column) for each in plans)
    assert found.second.first == pytest.approx(least, rel=1e-12)
    assert least <= found.cost <= least * (1 + slack) * (1 + 1e-9)
    assert found.cost == getattr(found.evaluation, column)
    beating = [each.energy_pj for each in plans if getattr(each, column) <= found.cost]
    assert found.evaluation.energy_pj <= min(beating) * (1 + 1e-9)
    within = min(each.energy_pj for each in plans if getattr(each, column) <= least * (1 + slack))
    assert found.second.lower_bound <= within * (1 + 1e-9)
    assert found.second.status == "optimal" or slack
    assert found.status == ("optimal" if found.cost <= least * (1 + 1e-9) else "feasible")


def test_a_slack_of_the_cost_finds_the_least_energy_in_any_memory():
    """Formula 2 with energy: 10 % more of it buys a memory, and plans, with less energy."""
    alpha = 2e-4
    found = cocco.explore(SKIP, space=SPACE, alpha=alpha, slack=0.1, samples=200)
    plans = [each for size in SIZES for each in all_evaluations(SKIP, Accelerator(shared_buffer=size))]
    costs = [each.accelerator.buffer_bytes + alpha * each.energy_pj for each in plans]
    within = [each.energy_pj for each, cost in zip(plans, costs) if cost <= 1.1 * min(costs)]
    assert found.second.first == pytest.approx(min(costs), rel=1e-12)
    assert found.evaluation.energy_pj == pytest.approx(min(within), rel=1e-9)
    assert found.second.status == "optimal" and found.cost <= 1.1 * min(costs) * (1 + 1e-9)
    assert found.to_json()["second"]["gained"] == pytest.approx(found.second.gained)


@pytest.mark.parametrize("times", first_of([1.02, 1.0, 1.3], 1))
@pytest.mark.parametrize("what", ["capacity", "ema"])
def test_under_limits_the_rest_is_least_among_the_optima(what, times):
    """The criterion is proved; no plan with the same value that keeps the limit takes less energy."""
    every = {size: all_evaluations(DIAMOND, Accelerator(shared_buffer=size)) for size in SIZES}
    most = times * min(each.latency_cycles for plans in every.values() for each in plans)
    found = cocco.minimize(DIAMOND, what, {"latency-sum": most}, space=SPACE, samples=400)
    kept = [(size, each) for size, plans in every.items() for each in plans if each.latency_cycles <= most]
    values = [size if what == "capacity" else each.ema_bytes for size, each in kept]
    equal = [each.energy_pj for value, (_, each) in zip(values, kept) if value <= found.value]
    (answer,) = found.best.evaluations
    assert (found.status, found.value) == ("optimal", min(values))
    assert answer.energy_pj <= min(equal) * (1 + 1e-9) or found.second.status == "feasible"
    assert answer.latency_cycles <= most and found.second.lower_bound <= min(equal) * (1 + 1e-9)


@pytest.mark.parametrize("limited", first_of(["energy", "latency-sum"], 1))
@pytest.mark.parametrize("keep", ["none", "auto"])
def test_under_limits_no_answer_for_one_metric_is_better(limited, keep, monkeypatch):
    """Where no proof of the limits gets anywhere, what `partition` answers still counts."""
    for room in ("memories.limits", "ties.constrained"):
        monkeypatch.setattr(f"cocco.exploration.{room}.PROOF_STEPS", dict.fromkeys(("auto", "none"), (1, 1, None)))
    size = 3072
    answers = [
        cocco.partition(SKIP, Accelerator(shared_buffer=size), metric=metric, keep=keep, samples=200)
        for metric in ("ema", limited)
    ]
    assert {each.status for each in answers} == {"optimal"}
    best, least = (each.evaluation for each in answers)
    for most in (getattr(best, COLUMNS[limited]), getattr(least, COLUMNS[limited])):
        space = cocco.SharedBuffer(size, size, 1024)
        found = cocco.minimize(SKIP, "ema", {limited: most}, space=space, keep=keep, samples=2)
        for each in (best, least):
            assert getattr(each, COLUMNS[limited]) > most or found.value <= each.ema_bytes


@pytest.mark.parametrize("metric", ["ema", "latency-sum"])
def test_with_a_slack_the_answer_for_energy_counts(metric, monkeypatch):
    """Where prices find nothing, the plan of the least energy is taken if it is within the slack."""
    monkeypatch.setattr("cocco.exploration.ties.constrained.PROOF_STEPS", {"auto": (1, 1, None)})
    monkeypatch.setattr("cocco.exploration.ties.constrained._Search.walk", lambda self, best, beyond: best)
    chip = Accelerator(shared_buffer=3072)
    thrifty = cocco.partition(SKIP, chip, metric="energy", samples=200).evaluation
    found = cocco.partition(SKIP, chip, metric=metric, slack=1.0, samples=200)
    assert getattr(thrifty, COLUMNS[metric]) <= 2 * found.second.first
    assert found.evaluation.energy_pj == thrifty.energy_pj < found.second.before


def test_of_several_limits_the_least_worst_factor_is_the_nearest():
    """Both limits are half of what is possible: no plan has a worst factor below that of the answer."""
    every = [each for size in SIZES for each in all_evaluations(DIAMOND, Accelerator(shared_buffer=size))]
    limits = {name: 0.5 * min(getattr(each, COLUMNS[name]) for each in every) for name in ("latency-sum", "energy")}
    found = cocco.minimize(DIAMOND, "capacity", limits, space=SPACE, samples=400)
    factors = [max(getattr(each, COLUMNS[name]) / most for name, most in limits.items()) for each in every]
    assert found.status == "infeasible" and found.least_excess <= min(factors) <= found.excess * (1 + 1e-12)
    assert found.excess == pytest.approx(min(factors), rel=1e-9) or not found.is_nearest


def test_fronts_of_ema_have_the_least_energy_of_each_point():
    front = cocco.pareto(DIAMOND, space=SPACE, objectives=("capacity", "ema"), samples=200)
    for point in front.found:
        plans = all_evaluations(DIAMOND, Accelerator(shared_buffer=point.accelerator.shared_buffer))
        least = min(each.energy_pj for each in plans if each.ema_bytes <= point.evaluations[0].ema_bytes)
        assert point.evaluations[0].energy_pj <= least * (1 + 1e-9)


@pytest.mark.parametrize("slack", [-0.1, 1.5, float("nan"), "0.5%", True])
def test_a_slack_that_is_no_share_is_named(slack):
    with pytest.raises(ValueError, match="slack must be a share from 0 to 1"):
        cocco.partition(DIAMOND, Accelerator(shared_buffer=4096), slack=slack)


def test_no_layer_counts_by_what_it_loads_while_another_computes():
    """Floors of energy plus latency add up, or 5.172 mJ are "proved": s4b1_a loads for longer than it computes."""
    network, chip = workloads.load("resnet50"), Accelerator(shared_buffer=1024 * 1024)
    found = cocco.partition(network, chip, metric="latency-sum", effort="quick")
    assert found.cost == 4_489_758.5 and found.evaluation.energy_pj < 4.03e9
