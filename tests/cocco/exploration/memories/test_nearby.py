"""Sizes around an answer: what is said of them holds against brute force; words, tables and bands."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import cocco
import workloads
from cocco.effort import budgets
from cocco.exploration.answers.ranges import LISTED, MARGINS, RANGE_KINDS, Candidate, Ranges
from cocco.exploration.memories import ranges as other_sizes
from cocco.problem.names import Keep
from simulator import Accelerator, KiB, evaluate
from tests.helpers.parts import first_of, over_seeds
from tests.helpers.small_spaces import cost_of, question_of, small_space, values_by_memory
from tests.helpers.table_chip import table_machine

SPACE = cocco.SharedBuffer(256 * KiB, 1280 * KiB, 256 * KiB)


def explored(problem, **more):
    objective = problem.objective
    question = question_of(problem) | {"alpha": objective.alpha, "metric": objective.metric, "samples": 60}
    question["technology"] = problem.accelerator.technology
    return cocco.explore(**question | more)


def check(seed: int, method: str, keep: str = "auto", **more) -> int:
    """Compare the ranges of a random space with brute force; return how many sizes are open."""
    problem = small_space(seed, has_tables=seed % 2 == 1)
    if problem is None or len(problem.candidates[0]) < 2:
        return 0
    result = explored(problem, method=method, keep=keep, **more)
    ranges, true = result.ranges, values_by_memory(problem, keep == "auto")
    assert ranges is not None and ranges.cost == result.cost
    memories = list(true)
    assert len(ranges.candidates) == len(memories)
    for memory, each in zip(memories, ranges.candidates):
        cost = cost_of(problem, memory, true[memory])
        assert each.bound <= cost * (1 + 1e-9), (seed, memory)
        assert each.cost is None or cost <= each.cost * (1 + 1e-9), (seed, memory)
        assert each.cost is None or each.bound <= each.cost * (1 + 1e-12)
        for margin in MARGINS:
            most = ranges.most(margin)
            assert each.kind(most) != "outside" or cost > most * (1 - 1e-9), (seed, memory)
            assert each.kind(most) != "within" or cost <= most * (1 + 1e-9), (seed, memory)
        assert each.area_mm2 == problem.accelerator_of(memory).area_mm2
    best = min(each.cost for each in ranges.candidates if each.cost is not None)
    assert best <= result.cost * (1 + 1e-9)
    return len(ranges.of_kind("open", MARGINS[-1]))


def test_what_is_proven_holds_against_brute_force():
    """Shared and separate, tables, batches, all metrics: nothing within is outside, and what was proven is settled."""
    assert sum(check(seed, "auto") for seed in range(16)) == 0


def test_bounds_hold_where_little_is_proven():
    for seed in range(20, 36):
        check(seed, "random")


def test_nothing_kept_is_settled_by_enumeration():
    assert sum(check(seed, "auto", "none") for seed in range(40, 52)) == 0


test_what_is_proven_holds_against_brute_force_on_more = over_seeds(lambda seed: check(seed, "auto"), 100, 400)


def test_a_budget_that_does_not_suffice_leaves_sizes_open(monkeypatch):
    """Nothing is claimed of what was not looked at."""
    network = workloads.load("vgg16")
    full = cocco.explore(network, space=SPACE, samples=500).ranges
    for budget in ("SIZES_TOTAL", "SIZES_REST"):
        monkeypatch.setattr(budgets, budget, 0)
    none = cocco.explore(network, space=SPACE, samples=500).ranges
    assert full is not None and none is not None
    assert not full.of_kind("open", 0.03) and none.of_kind("open", 0.03)
    for one, other in zip(full.candidates, none.candidates):
        assert one.cost is None or other.bound <= one.cost * (1 + 1e-12)
        assert other.cost is None or other.cost >= one.bound * (1 - 1e-12)


def test_terms_are_those_of_the_plan_and_make_its_cost():
    result = cocco.explore(workloads.load("vgg16"), space=SPACE, samples=500, **table_machine())
    ranges = result.ranges
    assert ranges is not None and result.alpha is not None
    here = next(each for each in ranges.candidates if each.size_bytes == result.accelerator.buffer_bytes)
    assert here.terms is not None and here.terms.leakage > 0 and here.leakage_mw > 0
    assert sum(here.terms) == pytest.approx(result.evaluation.energy_pj)
    for each in ranges.candidates:
        if each.terms is not None:
            assert each.size_bytes + result.alpha * sum(each.terms) == pytest.approx(each.cost, rel=1e-9)


def test_ranges_of_one_by_hand():
    """100 is the best, 101 within 1 %, 103.5 outside 3 %, one between unknown."""
    found = Ranges(100.0, (
        Candidate((("shared_buffer_bytes", 1024),), 103.5, 1.0, 0.0, 110.0),
        Candidate((("shared_buffer_bytes", 2048),), 99.0, 2.0, 0.0, 101.0),
        Candidate((("shared_buffer_bytes", 3072),), 100.0, 3.0, 0.0, 100.0),
        Candidate((("shared_buffer_bytes", 4096),), 101.5, 4.0, 0.0, None),
        Candidate((("shared_buffer_bytes", 5120),), 101.5, 5.0, 0.0, 102.0),
    ))  # fmt: skip
    assert [each.kind(found.most(0.01)) for each in found.candidates] == [
        "outside", "within", "within", "outside", "outside",
    ]  # fmt: skip
    assert found.bands(0.03) == (
        (1024, 1024, "outside"), (2048, 3072, "within"), (4096, 4096, "open"), (5120, 5120, "within"),
    )  # fmt: skip
    content = found.to_json()
    assert content["margins"][1] == {
        "percent": 3.0, "within": 3, "open": 1, "outside": 1,
        "bands": [
            {"low": 2048, "high": 3072, "kind": "within"}, {"low": 4096, "high": 4096, "kind": "open"},
            {"low": 5120, "high": 5120, "kind": "within"},
        ],
    }  # fmt: skip
    assert len(content["sizes"]) == 5 and content["sizes"][3]["cost"] is None
    assert "1 % 2, 3 % 3" in repr(found) and list(found.to_frame()["area_mm2"]) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_many_sizes_are_listed_as_far_as_they_matter():
    one = Candidate((("global_buffer_bytes", 8), ("weight_buffer_bytes", 8)), 200.0, 1.0, 0.0)
    near = replace(one, bound=100.0, cost=100.0)
    assert len(Ranges(100.0, (near, *[one] * (LISTED - 1))).to_json()["sizes"]) == LISTED
    content = Ranges(100.0, (near, *[one] * LISTED)).to_json()
    assert len(content["sizes"]) == 1 and [content["margins"][0][kind] for kind in RANGE_KINDS] == [1, 0, LISTED]
    assert "bands" not in content["margins"][0]
    with pytest.raises(ValueError, match="two buffers"):
        Ranges(100.0, (near,)).bands(0.01)


def test_ranges_can_be_left_out_and_ctrl_c_leaves_the_answer(monkeypatch):
    network = workloads.load("vgg16")
    assert cocco.explore(network, space=SPACE, samples=300, ranges=False).ranges is None
    assert cocco.partition(network, cocco.explore(network, space=SPACE, samples=300).accelerator).ranges is None

    def press(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(other_sizes, "ranges_of", press)
    with pytest.raises(cocco.Interrupted) as stop:
        cocco.explore(network, space=SPACE, samples=300)
    assert stop.value.result.status == "optimal" and stop.value.result.ranges is None


def test_sizes_where_nothing_is_found_have_a_bound_that_is_finite():
    for each in cocco.explore(workloads.load("vgg16"), space=SPACE, samples=300, method="ga").ranges.candidates:
        assert math.isfinite(each.bound) and (each.cost is None or math.isfinite(each.cost))


@pytest.mark.parametrize("keep", first_of(["auto", "none"], 1))
def test_each_size_of_one_buffer_is_priced_as_the_front_prices_it(keep: Keep):
    """Far sizes, too: the least that is known in at most so much memory is the true front."""
    network = workloads.load("vgg16")
    ranges = cocco.explore(network, samples=500, keep=keep).ranges
    assert ranges is not None and len(ranges.candidates) == 47
    assert all(each.cost is not None and each.bound >= each.cost * (1 - 1e-9) for each in ranges.candidates)
    front = cocco.pareto(network, samples=500, keep=keep)
    assert keep == "none" or front.status == "optimal"
    for size, energy in zip(front.front["shared_buffer_bytes"], front.front["energy_pj"]):
        least = min(each.value for each in ranges.candidates if each.value is not None and each.size_bytes <= size)
        assert least <= energy * (1 + 1e-9) and (front.status != "optimal" or least >= energy * (1 - 1e-9))


def test_a_size_that_is_not_solved_takes_the_plan_of_a_smaller_one(monkeypatch):
    """Priced there, and not said to be the least; the simulator prices it so, too."""
    network, space = workloads.load("vgg16"), cocco.SharedBuffer(896 * KiB, 3072 * KiB, 128 * KiB)
    solved = cocco.explore(network, space=space, samples=500).ranges
    assert solved is not None and all(each.plans is not None for each in solved.candidates)
    monkeypatch.setattr(budgets, "SIZES_REST", 0)
    ranges = cocco.explore(network, space=space, samples=500).ranges
    assert ranges is not None
    carried = [each for each in ranges.candidates if each.cost is not None and each.bound < each.cost * (1 - 1e-9)]
    assert any(each.plans for each in carried)
    for each in [each for each in carried if each.plans is not None]:
        chip = Accelerator(shared_buffer=each.size_bytes)
        assert evaluate(network, each.plans[0], chip).energy_pj == each.value
    for one, other in zip(solved.candidates, ranges.candidates):
        assert one.cost is not None and other.bound <= one.cost * (1 + 1e-12)
        assert other.cost is None or other.cost >= one.cost * (1 - 1e-12)
