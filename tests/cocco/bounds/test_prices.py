"""The parts of the set-partition bound by hand: prices that known sets allow, and a limit that is kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("ortools")
pytest.importorskip("scipy")

from cocco.bounds import certificate
from cocco.bounds.certificate import certify
from cocco.bounds.floors.forced import Hulls
from cocco.bounds.parts.crossings import crossings, tensors_of
from cocco.bounds.parts.paths import Paths
from cocco.bounds.parts.scopes import scopes_of
from cocco.bounds.prices import oracle as oracles
from cocco.bounds.prices import partition_bound
from cocco.bounds.prices.duals import Columns
from cocco.bounds.prices.oracle import Oracle
from cocco.bounds.prices.partition_bound import PartitionBound, _lowered, plain_bound
from cocco.bounds.prices.tolls import makers, plain_tolls
from cocco.bounds.staircase import Staircase, Step, forced_step
from cocco.effort.budgets import LAYER_EFFORT, SHARES
from cocco.effort.planned import Memory
from cocco.problem.problem import Problem, on_hardware, over_space
from cocco.problem.space import SharedBuffer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from tests.helpers.random_problems import is_joined, random_problem
from tests.helpers.search_graphs import chain

groups = st.lists(st.tuples(st.sets(st.integers(0, 4), min_size=1), st.integers(1, 50)), max_size=6)


def columns_of(rows: list[tuple[set[int], int]], count: int = 5) -> Columns:
    found = Columns(range(count))
    for group, cost in [*(({v}, 60) for v in range(count)), *rows]:
        found.add(tuple(sorted(group)), cost)
    return found


def pair() -> Columns:
    """Two layers: 5 bytes cross for each alone, 6 for both together."""
    found = Columns((0, 1))
    assert [found.add(group, cost) for group, cost in (((0,), 5), ((1,), 5), ((0, 1), 6))] == [True] * 3
    assert not found.add((0, 1), 6) and found.count == 3
    return found


def test_prices_of_two_layers_by_hand():
    """Together at most 6; nearest to nothing at a level of 6 is 3 and 3; 6 and 6 are repaired to half of that."""
    assert pair().most() == pytest.approx(6)
    assert pair().nearest(np.zeros(2), 6.0) == pytest.approx([3, 3])
    assert pair().nearest(np.array([4.0, 0.0]), 6.0) == pytest.approx([5, 1])
    assert pair().nearest(np.array([1.0, 2.0]), 7.0).tolist() == [1, 2]  # no such prices
    assert pair().repaired(np.array([6.0, 6.0])) == pytest.approx([3, 3])
    assert pair().repaired(np.array([8.0, -2.0])) == pytest.approx([5, -2])


@given(groups, st.lists(st.integers(-30, 90), min_size=5, max_size=5))
def test_no_known_set_is_worth_more_than_its_crossings_at_repaired_prices(
    rows: list[tuple[set[int], int]], prices: list[int]
):
    before = np.array(prices, dtype=float)
    lower = columns_of(rows).repaired(before)
    first: dict[tuple[int, ...], int] = {}
    for group, cost in rows:
        first.setdefault(tuple(sorted(group)), cost)
    assert (lower <= before).all() and (lower[before > 0] >= 0).all()
    for group, cost in first.items():
        if len(group) > 1:
            assert lower[list(group)].sum() <= cost + 1e-9


@given(groups, st.floats(0.1, 1.0))
def test_nearest_prices_keep_to_the_sets_and_reach_the_level(rows: list[tuple[set[int], int]], share: float):
    found = columns_of(rows)
    level = share * found.most()
    prices = found.nearest(np.zeros(5), level)
    assert prices.sum() == pytest.approx(level, rel=1e-6)
    matrix, costs = np.array(found._rows), np.array(found._costs)
    assert (matrix @ prices <= costs + 1e-6 * costs.max()).all()


def bound_of(problem: Problem) -> PartitionBound:
    costs = SubgraphCosts(problem)
    return plain_bound(
        problem, costs, Hulls(problem, costs), tensors_of(problem), range(problem.size), [(0,)]
    )  # fmt: skip


def test_proof_lowers_prices_until_no_set_is_worth_more(monkeypatch: pytest.MonkeyPatch):
    """Five layers, of which two fit together: 1024 bytes cross for a pair, which prices of 700 make worth 1400.

    So it is 376 short, as is the last pair, for which 512 bytes come in: the output goes out in any plan. Each layer
    may be the first of one such pair; or each pair that is met is lowered to what crosses.
    """
    problem = on_hardware(chain(5), Accelerator(global_buffer=65536, weight_buffer=1152, plans="paper"))
    dear, fair = np.array([700.0, 700, 700, 700, 188]), np.array([512.0, 512, 512, 512, 0])
    prices, is_new = bound_of(problem)._prove(dear, 10.0)
    assert is_new and dear.sum() - 5 * 376 < prices.sum() <= fair.sum()
    assert (prices[1:] + prices[:-1] <= [1024, 1024, 1024, 512]).all()
    assert bound_of(problem)._prove(fair, 10.0)[0].sum() == fair.sum()
    monkeypatch.setattr(partition_bound, "REPAIRS", 0)
    assert bound_of(problem)._prove(dear, 10.0)[0].sum() == dear.sum() - 5 * 376


def test_what_is_short_is_taken_off_first_layers_or_off_all_that_is_worth_something():
    """Sets of four layers, the first of which is one of two, are worth 30 more than they pay, or 70."""
    prices = np.array([20.0, 10.0, 50.0, -5.0, 9.0])
    assert _lowered(prices, [0, 1], [0, 1, 2, 3], -30).tolist() == [-10.0, -20.0, 50.0, -5.0, 9.0]
    assert _lowered(prices, [0, 1], [0, 1, 2, 3], -70).tolist() == [0.0, 0.0, 0.0, -5.0, 9.0]


@pytest.mark.parametrize("seed", range(12))
def test_every_subgraph_lies_in_the_scope_of_its_first_layer(seed: int):
    """All convex sets that may fit, with blocks of one layer and of two."""
    problem = random_problem(seed, most_layers=8)
    costs = SubgraphCosts(problem)
    hulls, layers = Hulls(problem, costs), range(problem.size)
    for most in (1, 2, 8):
        scopes = scopes_of(layers, hulls, Paths(problem, costs, hulls, layers), most)
        assert sorted(v for scope in scopes for v in scope.firsts) == list(layers)
        for size in range(1, min(5, problem.size) + 1):
            for group in combinations(layers, size):
                if hulls.between(group).bit_count() == size and costs.may_hold(group) and is_joined(problem, group):
                    mine = [scope for scope in scopes if set(scope.layers).issuperset(group)]
                    assert any(not set(group).isdisjoint(scope.firsts) for scope in mine)


def test_single_layer_that_no_subgraph_may_hold_counts_in_the_proof():
    """The oracle knows no layer whose weights exceed the buffer, but it runs alone: 512 in and 512 out for 1500.

    The output of the last one goes out in any plan.
    """
    problem = on_hardware(chain(3), Accelerator(global_buffer=65536, weight_buffer=400))
    assert bound_of(problem)._prove(np.full(3, 1500.0), 10.0)[0].sum() == 3 * 1024 - 512


def test_without_effort_nobody_is_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Oracle, "worst", lambda *_: pytest.fail("the solver was asked"))
    problem = on_hardware(chain(5), Accelerator(global_buffer=65536, weight_buffer=1152))
    found = certify(problem, range(5), 0.0)
    assert (found.steps <= 1, found.deterministic_time) == (True, 0.0)


def test_components_share_the_effort_by_their_layers(monkeypatch: pytest.MonkeyPatch):
    """Chains of 4 and 8: a third for the first of 12 layers, what is left for the other, never more than all of it."""
    given_, real = [], PartitionBound.run

    def run(self, limit):
        given_.append((len(self.layers), limit))
        return real(self, limit)._replace(deterministic_time=0.75)

    monkeypatch.setattr(PartitionBound, "run", run)
    machine = Accelerator(global_buffer=65536, weight_buffer=1152)
    found = certify(on_hardware([chain(4), replace(chain(8), name="long")], machine), range(12), 3.0)
    assert given_ == [(4, pytest.approx(1.0)), (8, pytest.approx(2.25))]
    assert found.deterministic_time == 1.5


def test_sums_beyond_whole_floats_are_left_to_what_is_forced(monkeypatch: pytest.MonkeyPatch):
    problem = on_hardware(chain(3), Accelerator(global_buffer=65536, weight_buffer=1152))
    assert certify(problem, range(3), 1.0).method == "partition"
    monkeypatch.setattr(certificate, "MOST_BYTES", 100)
    assert certify(problem, range(3), 1.0)[1:] == ("forced", 0, 0, 0.0)


def test_oracle_stops_within_its_limit():
    """Prices that make every set interesting, on 60 layers: a tenth of a second is kept, and the bound stays below."""
    problem = on_hardware(chain(60), Accelerator(global_buffer=65536, weight_buffer=20 * 576))
    costs = SubgraphCosts(problem)
    tensors = tensors_of(problem)
    pairs, prices = makers(tensors), [300 + 37 * v % 11 for v in range(60)]
    oracle, tolls = (
        Oracle(problem, costs, Hulls(problem, costs), tensors, pairs, range(60)),
        plain_tolls(tensors, pairs),
    )
    short = oracle.worst(prices, tolls, 1e-3)
    assert short.deterministic_time <= 0.02
    assert short.least <= oracle.worst(prices, tolls, 20.0).least + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_bound_of_a_component_is_a_multiple_of_what_crosses_and_below_every_partition(seed: int):
    """Rounded up to the common divisor of the tensors, but not beyond: layers one by one are a partition too."""
    problem = random_problem(seed)
    tensors = tensors_of(problem)
    found = bound_of(problem)
    answer = found.run(2.0)
    assert answer.crossings % found.unit == 0
    assert answer.crossings <= sum(crossings(tensors, (v,)) for v in range(problem.size))


def test_certificate_over_memories_is_that_of_the_largest():
    """Three layers run as one subgraph in 8 KB (1728 + 1024 bytes) and not in 2 KB; alpha is 100."""
    space = SharedBuffer(low=2048, high=8192, step=6144)
    problem = over_space(chain(3), space, alpha=100.0, metric="ema")
    costs = SubgraphCosts(on_hardware(chain(3), Accelerator(shared_buffer=8192), metric="ema"))
    assert costs.costs((0, 1, 2)) == 1728 + 1024
    bound = certify(problem, range(3), 2.0).lower_bound
    assert 2048 + 100 * 1728 < bound <= 8192 + 100 * (1728 + 1024)
    smallest = on_hardware(chain(3), Accelerator(shared_buffer=2048), metric="ema")
    assert 2048 + 100 * certify(smallest, range(3), 2.0).lower_bound > 8192 + 100 * (1728 + 1024)


@pytest.mark.parametrize(("proven", "bytes_"), [(2559, 2560), (2560, 2560), (2561, 3072)])
def test_bound_is_the_next_multiple_of_what_crosses_and_no_more(
    proven: int, bytes_: int, monkeypatch: pytest.MonkeyPatch
):
    """Every tensor has 512 bytes, and so has what crosses: 2560 bytes that are proved stay 2560."""
    monkeypatch.setattr(PartitionBound, "_prove", lambda *_: (np.array([proven - 4.0, 1, 1, 1, 1]), False))
    bound = bound_of(on_hardware(chain(5), Accelerator(global_buffer=65536, weight_buffer=1152)))
    assert (bound.unit, bound.run(5.0).crossings) == (512, bytes_)


def test_models_and_projections_count_beside_the_time_of_the_solver(monkeypatch: pytest.MonkeyPatch):
    """Each question counts with its model, the first one also with building it, and the dearer they are the fewer."""
    problem = on_hardware(chain(12), Accelerator(global_buffer=65536, weight_buffer=1152))
    counts, real = list[int](), oracles.solved

    def solved(*args: Any) -> tuple[float, float]:
        counts.append(oracles.size_of(args[0]))
        return real(*args)

    monkeypatch.setattr(oracles, "solved", solved)
    costs, tensors = SubgraphCosts(problem), tensors_of(problem)
    pairs = makers(tensors)
    oracle = Oracle(problem, costs, Hulls(problem, costs), tensors, pairs, range(12))
    monkeypatch.setattr(oracles, "HANDED", 1.0)
    spent = [oracle.worst([600] * 12, plain_tolls(tensors, pairs), 5.0).deterministic_time for _ in range(2)]
    own = [each - counts[0] for each in spent]
    assert 0 <= own[1] < 1 and own[0] - own[1] == pytest.approx(oracles.BUILT * counts[0])
    counts.clear()
    bound = certify(problem, range(12), 1.0)
    assert len(counts) == 1 and bound.deterministic_time > counts[0]

    columns = columns_of([({0, 1}, 70)])
    columns.nearest(np.zeros(5), 0.5 * columns.most())
    assert 0 < columns.time < 1e-6


@pytest.mark.parametrize("effort", [0.06, 0.2, 60.0])
def test_a_certificate_of_many_gets_its_share_but_at_least_what_its_layers_need(effort: float):
    """Ten layers need 0.12; no certificate ever gets more than is left."""
    problem, asked = over_space(chain(10), SharedBuffer(1024, 4096, 1024)), list[float]()
    stairs = Staircase(problem)

    def certify_one(memory: Memory, _: Sequence[float], limit: float) -> Step:
        asked.append(limit)
        return forced_step(problem, memory)

    stairs.climb(math.inf, lambda: effort, certify_one, 1)
    assert asked == [min(effort, max(effort / SHARES, 10 * LAYER_EFFORT))]
