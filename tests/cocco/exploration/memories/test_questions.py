"""Every question with kept tensors against brute force over memories, partitions, orders and intervals."""

from __future__ import annotations

import pytest

import cocco
from cocco.problem.criteria import CRITERIA
from tests.helpers.parts import in_parts
from tests.helpers.small_spaces import cost_of, question_of, small_space, values_by_memory

SAMPLES = 60


def check_explore(seed: int) -> None:
    problem = small_space(seed, word=8)
    if problem is None:
        return
    objective, asked = problem.objective, question_of(problem)
    least = min(cost_of(problem, *each) for each in values_by_memory(problem).items())
    asked |= {"metric": objective.metric, "alpha": objective.alpha, "samples": SAMPLES}
    for method in ("auto", "exact", "ga"):
        plain, kept = (cocco.explore(**asked, method=method, keep=keep) for keep in ("none", "auto"))
        assert kept.cost <= plain.cost * (1 + 1e-12), seed
        assert kept.lower_bound is not None and kept.lower_bound <= least * (1 + 1e-9), seed
        assert kept.cost >= least * (1 - 1e-9), seed
        assert kept.status != "optimal" or kept.cost == pytest.approx(least, rel=1e-9), seed
        # a plan that was changed for its addresses costs more than the bound
        assert method == "ga" or kept.status == "optimal" or kept.moved, seed
        assert kept.moved or kept.points["best_cost"].iloc[-1] >= kept.cost * (1 - 1e-9), seed


def check_pareto(seed: int) -> None:
    problem = small_space(seed, word=8)
    if problem is None:
        return
    metric, asked = problem.objective.metric, question_of(problem)
    best: dict[int, float] = {}
    for memory, value in sorted(values_by_memory(problem).items()):
        size = problem.accelerator_of(memory).buffer_bytes
        best[size] = min(value, best.get(size, value))
    front, least = [], float("inf")
    for size, value in sorted(best.items()):
        if value < least * (1 - 1e-9):
            front.append((size, value))
            least = value
    for method in ("exact", "nsga2"):
        found = cocco.pareto(**asked, objectives=("capacity", metric), method=method, samples=SAMPLES, keep="auto")
        assert found.status == "optimal"
        assert len(found.found) == len(front), seed
        for point, expected in zip(found.found, front):
            assert point.values == pytest.approx(expected, rel=1e-9), seed
        for point in found.found:  # the table of samples has them all
            column = CRITERIA[metric].column
            assert (
                (found.points["capacity_bytes"] == point.values[0]) & (found.points[column] == point.values[1])
            ).any()


def check_minimize(seed: int) -> None:
    problem = small_space(seed, word=8)
    if problem is None:
        return
    metric, asked = problem.objective.metric, question_of(problem)
    values = {memory: value for memory, value in values_by_memory(problem).items()}
    sizes = {memory: problem.accelerator_of(memory).buffer_bytes for memory in values}
    limit = sorted(values.values())[len(values) // 2] * (1 + 1e-9)
    least = min(sizes[memory] for memory, value in values.items() if value <= limit)
    found = cocco.minimize(criterion="capacity", limits={metric: limit}, **asked, samples=SAMPLES, keep="auto")
    assert (found.status, found.value, found.lower_bound) == ("optimal", least, least), seed
    most = sorted(sizes.values())[len(sizes) // 2]
    cheapest = min(value for memory, value in values.items() if sizes[memory] <= most)
    found = cocco.minimize(criterion=metric, limits={"capacity": most}, **asked, samples=SAMPLES, keep="auto")
    assert found.status == "optimal" and found.value == pytest.approx(cheapest, rel=1e-9), seed
    below = {metric: min(values.values()) * (1 - 1e-6)}
    assert (
        cocco.minimize(criterion="capacity", limits=below, **asked, samples=SAMPLES, keep="auto").status == "infeasible"
    )
    both = {"capacity": most, "latency-sum" if metric != "latency-sum" else "ema": 1e12}
    found = cocco.minimize(criterion=metric, limits=both, **asked, samples=SAMPLES, keep="auto")
    assert found.status == "optimal" and found.value == pytest.approx(cheapest, rel=1e-9), seed


@pytest.mark.parametrize("check", [check_explore, check_pareto, check_minimize])
def test_the_answer_is_that_of_brute_force(check):
    check(201)


@pytest.mark.slow
@pytest.mark.parametrize("check", [check_explore, check_pareto, check_minimize])
@pytest.mark.parametrize("seeds", [range(200, 206), *in_parts(300, 800, 25)])
def test_the_answer_is_that_of_brute_force_on_more(check, seeds):
    for seed in seeds:
        check(seed)
