"""Proofs where subgraphs of several layers run as one loop nest: against all plans, of artificial nests and all kinds.

A nest runs where it cannot be held and may move less than its layers one by one. No optimum is false, no bound above
one, and each assumption put back that all subgraphs of several layers are held is noticed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from cocco.bounds import certify
from cocco.bounds.cheapest import cheapest_plans
from cocco.bounds.floors import buffers, by_layer, forced
from cocco.bounds.floors.forced import largest_hulls
from cocco.bounds.floors.least import lower_bound, totals_of
from cocco.bounds.patterns import alone, tables
from cocco.bounds.prices import kept_bound, partition_bound
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.kernel.choice import has_kernel
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.pricing import Price
from tests.helpers import artificial_nests
from tests.helpers.brute_force import CLOSE, Brute
from tests.helpers.kept_proofs import SHORT, check_kept
from tests.helpers.nest_networks import masked_problem, nest_problem
from tests.helpers.parts import few_seeds, in_parts, over_seeds


@pytest.fixture(autouse=True)
def small_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Patterns of any size."""
    monkeypatch.setattr(tables, "LEAST_LAYERS", 1)
    monkeypatch.setattr(tables, "MOST_FREE", 0)


def check_plain(problem: Problem, asked: tuple[EngineName, ...], certified: bool) -> int:
    """Compare with all partitions; return how many nests are cheaper than their layers by themselves."""
    brute = Brute(problem)
    for engine in asked:
        found = cheapest_plans(problem, may_keep=False, engine=engine)
        assert found.cost == pytest.approx(brute.least, rel=CLOSE), engine
    if brute.least < math.inf:
        (least,) = totals_of(problem, largest_hulls(problem), problem.accelerator)
        for each in brute.totals:
            assert all(a <= b for a, b in zip(least, each)), (least, each)
        assert lower_bound(problem) <= brute.least * (1 + CLOSE)
        if certified:
            assert certify(problem, range(problem.size), SHORT).lower_bound <= brute.least * (1 + CLOSE)
    nests = brute.problem.rules[0].nests
    return sum(isinstance(price, Price) and group in nests for group, price in brute.prices.items())


def check_artificial(seed: int, keep: str) -> int:
    if keep == "none":
        return check_plain(nest_problem(seed, 6), ("reference",), seed % 3 == 0)
    return check_kept(nest_problem(seed, 4, "auto"), ("reference",), seed)


@few_seeds(16, 50)
@pytest.mark.parametrize("keep", ["none", "auto"])
def test_no_false_optimum_with_artificial_nests(seeds, keep: str, monkeypatch: pytest.MonkeyPatch):
    artificial_nests.install(monkeypatch)
    counts = [check_artificial(seed, keep) for seed in seeds]
    assert sum(counts) > len(seeds)


@pytest.mark.slow
@pytest.mark.parametrize("keep", ["none", "auto"])
@pytest.mark.parametrize("seeds", in_parts(50, 1_050))
def test_no_false_optimum_with_thousands_of_artificial_nests(seeds, keep: str, monkeypatch: pytest.MonkeyPatch):
    artificial_nests.install(monkeypatch, salt=seeds[0])
    for seed in seeds:
        check_artificial(seed, keep)


def check_kinds(seed: int) -> tuple[int, int]:
    """Compare with all plans on a problem with nothing kept, and on a smaller one with kept tensors."""
    engines: tuple[EngineName, ...] = ("reference", "fast") if has_kernel() else ("reference",)
    return (
        check_plain(nest_problem(seed, 7), engines, seed % 3 == 0),
        check_kept(nest_problem(seed, 4, "auto"), engines, seed),
    )


@few_seeds(12, 30)
def test_no_false_optimum_with_nests_of_all_kinds(seeds):
    nests, plans = zip(*[check_kinds(seed) for seed in seeds])
    assert sum(nests) > 0 and sum(plans) > 50 * len(seeds) // 3


def test_no_false_optimum_with_masks_beside_kept_tensors():
    assert sum(check_kept(masked_problem(seed), ("reference",), seed) for seed in range(12)) > 100


test_no_false_optimum_with_nests_of_all_kinds_on_a_thousand = over_seeds(check_kinds, 30, 1_030)


Patch = Callable[[pytest.MonkeyPatch], object]


def _untouched(values, least, nests):
    return list(values)


def _deaf(patch: pytest.MonkeyPatch) -> None:
    """Certificates look at no nests."""
    init = partition_bound.PartitionBound.__init__
    patch.setattr(partition_bound.PartitionBound, "__init__", lambda self, *a, nests=None, **k: init(self, *a, **k))
    patch.setattr(partition_bound, "lowered", _untouched)
    patch.setattr(kept_bound, "lowered", _untouched)


def _unlimited(patch: pytest.MonkeyPatch) -> None:
    """A nest takes so much that no floor need be lowered for it."""
    look = by_layer._Looks.at

    def at(self, group):
        found = look(self, group)
        return found._replace(floor=math.inf) if group & (group - 1) else found

    patch.setattr(by_layer._Looks, "at", at)


def _only_alone(patch: pytest.MonkeyPatch) -> None:
    """Layers that are never held with others read what they cannot hold alone."""
    crosses = by_layer._crosses
    patch.setattr(by_layer, "_crosses", lambda question, fuses, alone, nests: crosses(question, fuses, alone, {}))


FAULTS: dict[str, Patch] = {
    "what is not held does not run": lambda patch: patch.setattr(SubgraphCosts, "_may_fit", SubgraphCosts._may_hold),
    "each result is written and read": lambda patch: patch.setattr(by_layer, "least_of_nests", lambda problem: {}),
    "buffers see every result": lambda patch: patch.setattr(buffers, "lowered", _untouched),
    "what is never held moves as alone": lambda patch: patch.setattr(forced, "lowered", _untouched),
    "what is never held costs as alone": _unlimited,
    "what is never held crosses": _only_alone,
    "a pattern holds its steps": lambda patch: patch.setattr(
        alone.Alone, "_streams", lambda self, group, shown: alone.HELD if group & (group - 1) else alone.EXACT
    ),
    "certificates hold all steps": _deaf,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_assumption_that_all_is_held_is_noticed(fault: str, monkeypatch: pytest.MonkeyPatch):
    artificial_nests.install(monkeypatch)
    FAULTS[fault](monkeypatch)
    with pytest.raises(AssertionError):
        for seed in (91, *range(100)):  # in 91 layers that are never held with others cross
            for keep in ("none", "auto"):
                check_artificial(seed, keep)
