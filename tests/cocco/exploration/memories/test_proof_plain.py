"""A proof says "optimal" only where every memory is enumerated or ruled out: for any budget, against brute force."""

from __future__ import annotations

import pytest

from cocco.bounds.least import lower_bound
from cocco.effort.planned import priced
from cocco.exploration.memories.proof import prove
from cocco.problem.engines import ENGINES
from cocco.problem.problem import over_space
from cocco.search.kernel.choice import has_kernel
from simulator import Partition
from tests.helpers.every_plan import optimum
from tests.helpers.search_graphs import BRANCHES, SPACE, TWO, chain

BUDGETS = [*range(0, 400, 20), *range(400, 4000, 200), 100_000]
ALPHA = 3.0  #: bytes of buffer per byte of traffic: a larger memory is worth it


def least(problem):
    return min(optimum(problem, (i,)) for i in range(len(problem.candidates[0])))


@pytest.mark.parametrize("engine", ENGINES if has_kernel() else ["reference"])
@pytest.mark.parametrize("network", [chain(4), BRANCHES], ids=lambda network: network.name)
@pytest.mark.parametrize("is_searched", [False, True])
def test_a_memory_left_open_leaves_the_proof_open(engine, network, is_searched):
    """A small budget leaves the best memory open, even where a search has given an answer."""
    problem = over_space(network, SPACE, alpha=ALPHA, metric="ema")
    true, best = least(problem), None
    if is_searched:
        best = priced(problem, (0,), tuple(Partition.layerwise(each) for each in problem.networks))
    open_with_an_answer = 0
    for budget in BUDGETS:
        proof = prove(problem, best, engine, budget, 10**6)
        assert lower_bound(problem) <= proof.lower_bound <= true
        if proof.is_optimal:
            assert proof.best is not None and proof.best.cost == proof.lower_bound == true
        elif proof.best is not None and proof.best.cost > true:
            open_with_an_answer += 1
    assert proof.is_optimal, "the last budget does for all"
    assert open_with_an_answer or not is_searched, "some budget gives an answer that is not the best"


def test_the_total_budget_is_that_of_all_memories_together():
    """With room for one memory after the other, but not for all, what is left stays open."""
    problem = over_space(BRANCHES, TWO, alpha=ALPHA, metric="ema")
    whole = prove(problem, None, "reference", 10**6, 10**6)
    assert whole.is_optimal and whole.best is not None
    some = prove(problem, None, "reference", 10**6, 2000)
    assert not some.is_optimal and some.lower_bound < whole.best.cost and some.samples < whole.samples


def test_a_memory_whose_bound_equals_the_best_cost_is_not_enumerated():
    problem = over_space(chain(3), SPACE, alpha=ALPHA, metric="ema")
    best = prove(problem, None, "reference", 10**6, 10**6).best
    assert best is not None
    again = prove(problem, best, "reference", 10**6, 10**6)
    assert again.best == best and again.is_optimal
    assert again.samples < prove(problem, None, "reference", 10**6, 10**6).samples
