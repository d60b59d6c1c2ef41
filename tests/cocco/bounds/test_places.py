"""Proofs where results take the place of operands that end: against all plans, with both engines, and all bounds."""

from __future__ import annotations

import pytest

import workloads
from cocco.bounds.cheapest import cheapest_plans
from cocco.bounds.patterns import tables
from cocco.problem.problem import on_hardware
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator
from tests.helpers.kept_proofs import check_kept
from tests.helpers.parts import few_seeds, over_seeds
from tests.helpers.place_networks import hands_over, place_problem

ENGINES = ("reference", "fast") if has_kernel() else ("reference",)


@pytest.fixture(autouse=True)
def small_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of any size."""
    monkeypatch.setattr(tables, "LEAST_LAYERS", 1)
    monkeypatch.setattr(tables, "MOST_FREE", 0)


def check(seed: int, most: int) -> tuple[int, bool]:
    problem = place_problem(seed, most, ("ema", "energy", None)[seed % 3])
    return check_kept(problem, ENGINES, seed), hands_over(problem)


@few_seeds(12, 30)
def test_no_false_optimum_where_results_take_the_place_of_operands(seeds):
    """Partitions, orders and intervals of networks of three and four layers; floors of all states, certificates."""
    plans, used = zip(*[check(seed, 3 + seed % 2) for seed in seeds])
    assert sum(plans) > 100 * len(seeds) // 3 and sum(used) > len(seeds) // 30


test_no_false_optimum_in_hundreds = over_seeds(lambda seed: check(seed, 4), 30, 630)


@pytest.mark.parametrize(("name", "size", "least"), [("gpt", 2 << 20, 85_721_088), ("deeplabv3", 1 << 20, 71_461_312)])
def test_targets_of_networks(name: str, size: int, least: int):
    """Without hand-over 94,371,840 and 76,999,104."""
    problem = on_hardware(workloads.load(name), Accelerator(shared_buffer=size), metric="ema")
    found = cheapest_plans(problem, engine=ENGINES[-1])
    assert found.is_proven and found.cost == least
