"""The line of two buffers: each pair on it has the least there is, by brute force or solved alone; none is missed."""

from __future__ import annotations

import math

import pytest

import cocco
import workloads
from cocco.effort import budgets
from cocco.problem.names import Keep
from simulator import Accelerator, KiB, evaluate
from tests.helpers.small_spaces import question_of, small_space, values_by_memory

GLOBAL, WEIGHT = cocco.Range(256 * KiB, 1024 * KiB, 256 * KiB), cocco.Range(144 * KiB, 576 * KiB, 144 * KiB)
SPACE = cocco.SeparateBuffers(GLOBAL, WEIGHT)


def front(values: dict[int, float]) -> dict[int, float]:
    """Return the least value by bytes, of those sizes where more bytes pay."""
    found, least = dict[int, float](), math.inf
    for size, value in sorted(values.items()):
        if value < least * (1 - 1e-9):
            found[size] = least = value
    return found


def least_by_bytes(pairs: list[tuple[int, float]]) -> dict[int, float]:
    found = dict[int, float]()
    for size, value in pairs:
        found[size] = min(value, found.get(size, math.inf))
    return found


def line_of(ranges: cocco.Ranges) -> dict[int, float]:
    priced = [(each.size_bytes, each.value) for each in ranges.candidates if each.value is not None]
    return front(least_by_bytes(priced))


def test_the_line_is_that_of_brute_force():
    """Of random networks on four pairs, whatever alpha is: the value at each size of the line is the least of all."""
    compared = 0
    for seed in range(24):
        problem = small_space(seed, has_tables=seed % 2 == 1)
        if problem is None or len(problem.candidates) != 2 or not problem.objective.alpha:
            continue
        objective = problem.objective
        question = question_of(problem) | {"alpha": objective.alpha, "metric": objective.metric, "samples": 60}
        question["technology"] = problem.accelerator.technology
        ranges = cocco.explore(**question).ranges
        true = values_by_memory(problem, True)
        sizes = [problem.accelerator_of(memory).buffer_bytes for memory in true]
        assert ranges is not None
        expected = front(least_by_bytes([pair for pair in zip(sizes, true.values()) if pair[1] < math.inf]))
        assert line_of(ranges) == pytest.approx(expected), seed
        compared += 1
    assert compared > 4


@pytest.mark.parametrize("keep", ["auto", pytest.param("none", marks=pytest.mark.slow)])
def test_each_pair_on_the_line_takes_what_an_exploration_of_it_alone_finds(keep: Keep):
    """And pairs without a price take at least what the line does: no pair of the sixteen is below it."""
    network = workloads.load("vgg16")
    ranges = cocco.explore(network, space=SPACE, alpha=0.002, keep=keep).ranges
    assert ranges is not None
    line, true = line_of(ranges), list[tuple[int, float]]()
    for each in ranges.candidates:
        (_, across), (_, up) = each.buffers
        space = cocco.SeparateBuffers(cocco.Range(across, across, 64), cocco.Range(up, up, 64))
        alone = cocco.explore(network, space=space, alpha=0.002, keep=keep, ranges=False)
        assert alone.status == "optimal"
        true.append((each.size_bytes, alone.evaluation.energy_pj))
    assert line == pytest.approx(front(least_by_bytes(true)))
    assert len(line) > 3


def test_a_budget_of_nothing_solves_no_pair_for_the_line(monkeypatch: pytest.MonkeyPatch):
    network = workloads.load("vgg16")
    full = cocco.explore(network, space=SPACE, alpha=0.002).ranges
    monkeypatch.setattr(budgets, "PAIRS_TOTAL", 0)
    none = cocco.explore(network, space=SPACE, alpha=0.002).ranges
    assert full is not None and none is not None
    assert len(line_of(none)) < len(line_of(full))
    for one, other in zip(none.candidates, full.candidates):
        assert one.bound <= other.bound * (1 + 1e-9) and (one.cost is None or other.cost is not None)


def test_plans_of_the_line_are_kept_and_take_what_is_said():
    """Each plan priced again in its pair gives the value of the line."""
    network = workloads.load("vgg16")
    ranges = cocco.explore(network, space=SPACE, alpha=0.002).ranges
    assert ranges is not None
    line = line_of(ranges)
    on_line = [each for each in ranges.candidates if each.value is not None and line.get(each.size_bytes) == each.value]
    assert len(on_line) == len(line)
    for each in on_line:
        assert each.plans is not None
        (_, across), (_, up) = each.buffers
        priced = evaluate(network, each.plans[0], Accelerator(global_buffer=across, weight_buffer=up))
        assert priced.energy_pj == pytest.approx(each.value, rel=1e-9)
