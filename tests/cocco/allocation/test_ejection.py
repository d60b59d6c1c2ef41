"""Repair by ejection, and what `auto` asks after the search: by hand, against the judge and the compiled twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
import workloads
from benchmarks.kept_instances import kept_instance
from cocco.allocation import problem
from cocco.allocation.answer import Outcome
from cocco.allocation.heuristics import ejection, rescue
from simulator.allocation.buffers import Allocation, Buffer
from simulator.allocation.judge import check_allocation, lower_bound
from tests.helpers.parts import first_of
from tests.helpers.random_buffers import EIGHT, named, random_buffers, small_buffers

needs_kernel = pytest.mark.skipif(not problem.has_kernel(), reason="the compiled search is not built")
ENGINES = ["reference", pytest.param("fast", marks=needs_kernel)]


@pytest.mark.parametrize("seed", range(5))
def test_a_buffer_in_the_middle_moves_aside(seed):
    """a takes the bytes 1 and 2 of 4: b ejects it wherever it goes, to 0 or 2, and a takes the other half."""
    made = problem.make_problem(named([(0, 1, 2), (0, 1, 2), (5, 6, 1)]))  # the third lives apart: the granule is 1
    start = np.array([1, -1, 0])
    solved, moves, looks, address = ejection.repair(made, 4, start, True, seed, 100)
    assert (solved, moves, looks) == (True, 2, 4)  # a look for the move, one for the neighbour
    assert sorted(address[:2]) == [0, 2] and address[2] == 0


def test_fixed_buffers_stay_and_can_leave_no_place():
    """The byte 1 is taken: 2 bytes fit from 2 on in 4 bytes, and nowhere in 3."""
    made = problem.make_problem([Buffer("fixed", 0, 1, 1, offset=1), Buffer("two", 0, 1, 2)])
    start = np.array([1, -1])
    assert ejection.repair(made, 4, start, True, 0, 100) == (True, 1, 2, [1, 2])
    assert ejection.repair(made, 3, start, True, 0, 100) == (False, 1, 2, [1, -1])


@pytest.mark.parametrize("engine", ENGINES)
def test_eight_buffers_of_contention_four_are_placed_in_five_bytes_and_never_in_four(engine):
    made = problem.make_problem(named(EIGHT))
    found, looks = ejection.eject(made, 5, 20_000, engine)
    addresses = {each.id: at for each, at in zip(made.buffers, found.address.tolist())}
    assert check_allocation(made.buffers, Allocation(addresses), 5) == [] and looks <= 20_000
    refused, looks = ejection.eject(made, 4, 20_000, engine)
    assert (refused.status, refused.address, refused.refuted) == ("gave_up", None, -1)
    assert 20_000 <= looks <= 20_000 + len(EIGHT)  # the last move began before the limit


@needs_kernel
@pytest.mark.parametrize("takes_last", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_both_engines_make_the_same_moves(seed, takes_last):
    """Alignment, gaps and fixed offsets on odd seeds; capacities that fit and that do not."""
    from cocco.allocation.compiled import _search

    made = problem.make_problem(random_buffers(seed, 12 + 5 * seed, plain=seed % 2 == 0))
    start = np.where(made.fixed >= 0, made.fixed, -1)
    for capacity in (made.bound, made.bound * 6 // 5):
        capacity = max(capacity, int((made.fixed + made.size).max()))
        slow = ejection.repair(made, capacity, start, takes_last, seed, 4_000)
        assert _search.repair(made, capacity, start, takes_last, seed, 4_000) == slow
        assert slow[1] > 0


@settings(max_examples=100, deadline=None)
@given(buffers=small_buffers(), capacity=st.integers(4, 14), limit=st.integers(1, 400))
def test_what_is_placed_is_right_and_what_is_left_out_collides_with_nothing(buffers, capacity, limit):
    made = problem.make_problem(buffers)
    at = capacity // made.granule
    refused = cocco.allocate(buffers, capacity, "search", nodes=1)
    if refused.status == "infeasible":  # too crowded, or fixed buffers collide
        return
    start = np.where(made.fixed >= 0, made.fixed, -1)
    solved, _, _, address = ejection.repair(made, at, start, True, 0, limit)
    placed = [(each, low) for each, low in zip(buffers, address) if low >= 0]
    addresses = {each.id: low * made.granule for each, low in placed}
    assert check_allocation([each for each, _ in placed], Allocation(addresses), capacity) == []
    assert solved == (len(placed) == len(buffers))


@needs_kernel
@pytest.mark.parametrize(("name", "seed"), first_of([("resnet152", 20), ("resnet152", 56)], 1))
def test_ejection_places_kept_tensors_that_the_search_gives_up(name, seed, monkeypatch):
    """Tensors of ResNet152 kept over many of 104 steps; one step at least fills the memory to the last byte."""
    monkeypatch.setattr(rescue, "has_solver", lambda: False)
    made = kept_instance(workloads.load(name), seed)
    assert lower_bound(made.buffers) == made.peak
    assert cocco.allocate(made.buffers, made.peak, "search").status == "gave_up"
    found = cocco.allocate(made.buffers, made.peak)
    assert found.status == "optimal" and "ejection" in found.solved_by and found.nodes > 200_000
    assert check_allocation(made.buffers, found.allocation, made.peak) == []
    least = cocco.allocate(made.buffers, 2 * made.peak, minimize=True)
    assert (least.status, least.height_bytes) == ("optimal", made.peak)


def test_the_looks_of_the_rescue_are_for_all_parts_of_time_together(monkeypatch):
    """EIGHT does not fit in 4: the looks are spent on the first part; the solver gets its nodes for each."""
    asked = []

    def solver(part, capacity, minimize, nodes):
        asked.append(nodes)
        return Outcome("gave_up", None, 7)

    monkeypatch.setattr(rescue, "has_solver", lambda: True)
    monkeypatch.setattr(rescue, "cp", solver)
    monkeypatch.setattr(rescue, "fullest_first", lambda *_: Outcome("gave_up"))
    made, left = problem.make_problem(named(EIGHT)), rescue.Rescue(400, "reference")
    first, second = left.solve(made, 4), left.solve(made, 4)
    assert (first.status, second.status) == ("gave_up", "gave_up")
    assert first.nodes > 1_000 and second.nodes == 7 and asked == [2, 2]


def test_the_last_of_the_chain_can_prove_that_there_is_none():
    pytest.importorskip("ortools")
    found = rescue.Rescue(400, "reference").solve(problem.make_problem(named(EIGHT)), 4)
    assert (found.status, found.refuted) == ("infeasible", 4)


def test_without_the_solver_the_chain_ends_with_the_ejection(monkeypatch):
    monkeypatch.setattr(rescue, "has_solver", lambda: False)
    monkeypatch.setattr(rescue, "cp", lambda *_: pytest.fail("the solver was asked"))
    found = rescue.Rescue(400, "reference").solve(problem.make_problem(named(EIGHT)), 4)
    assert (found.status, found.refuted) == ("gave_up", -1)


def test_the_chain_lowers_a_height_and_keeps_what_was_refuted():
    """Eight buffers above each other take 14 bytes, five are enough, and four are known to be too few."""
    made = problem.make_problem(named(EIGHT))
    stacked = Outcome("feasible", np.cumsum(made.size) - made.size, 3, 4, "stack")
    found = rescue.lower_height(made, 20, stacked, 1_000, "reference")
    assert (found.status, found.refuted, int((found.address + made.size).max())) == ("feasible", 4, 5)
    assert found.nodes > 3
