"""What an allocation claims where the search was cut short: no proof that is not one, and no node beyond the limit."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
from cocco.allocation import explain, problem
from cocco.allocation.answer import Outcome
from cocco.allocation.exact import solvers
from cocco.allocation.exact.complete import complete
from cocco.allocation.heuristics.least import least_height
from simulator.allocation.buffers import Buffer
from tests.helpers.random_buffers import EIGHT, fits_somehow, named, random_buffers, small_buffers

METHODS = [
    "auto", "search", pytest.param("ilp", marks=pytest.mark.filterwarnings("ignore")), pytest.param("cp"),
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=60, deadline=None)
@given(buffers=small_buffers(), capacity=st.integers(4, 14), minimize=st.booleans(), nodes=st.integers(1, 30))
def test_no_claim_is_false_whatever_the_limit(method, buffers, capacity, minimize, nodes):
    """Nothing fits where "infeasible" or proved_infeasible_bytes says so, and nothing is lower than "optimal"."""
    pytest.importorskip({"ilp": "scipy", "cp": "ortools"}.get(method, "cocco"))
    found = cocco.allocate(buffers, capacity, method, minimize, nodes=nodes)
    if found.status == "infeasible":
        assert not fits_somehow(buffers, capacity)
    if found.status == "optimal":
        assert not fits_somehow(buffers, found.height_bytes - 1)
    if found.proved_infeasible_bytes:
        assert not fits_somehow(buffers, found.proved_infeasible_bytes)
    if found.conflict_is_irreducible:
        members = [each for each in buffers if each.id in found.conflict]
        for left_out in members:
            assert fits_somehow([each for each in members if each is not left_out], capacity)


@pytest.mark.parametrize("minimize", [False, True])
def test_the_limit_is_for_all_parts_of_time_together(minimize):
    """The same 60 buffers twice, one after the other: 70 nodes may be enough for one of them, and no more are taken."""
    first = random_buffers(8, 60, plain=True)
    last = max(each.upper for each in first)
    again = [replace(each, id=f"{each.id}b", lower=each.lower + last, upper=each.upper + last) for each in first]
    bound = problem.make_problem(first).bound
    found = cocco.allocate([*first, *again], bound * 6 // 5, "search", minimize, nodes=70)
    assert (found.status, found.nodes) == ("gave_up", 70)


def test_an_explanation_takes_no_more_nodes_than_it_is_given(monkeypatch):
    """And a buffer that no search could spare within them is not called needed."""
    spent = []

    def counted(*asked):
        found = real(*asked)
        spent.append(found.nodes)
        return found

    real = explain.complete
    monkeypatch.setattr(explain, "complete", counted)
    buffers = [*named(EIGHT), Buffer("z", 9, 20, 4)]
    assert explain.irreducible(buffers, 4, 10_000, "reference")[1]
    assert sum(spent) > 20
    spent.clear()
    conflict, is_sure = explain.irreducible(buffers, 4, 20, "reference")
    assert sum(spent) <= 20 and not is_sure and len(conflict) > 7


def test_what_a_round_leaves_open_is_not_refuted():
    """A method that always gives up proves nothing, at whatever capacity, and takes all nodes but no more."""
    asked = []

    def gives_up(at, limit):
        asked.append(limit)
        return Outcome("gave_up", None, limit)

    found = least_height(problem.make_problem(named(EIGHT)), 9, None, 500, gives_up)
    assert (found.status, found.refuted, found.nodes) == ("gave_up", 3, 500) and sum(asked) == 500


def test_only_what_was_refuted_at_the_capacity_itself_is_infeasible():
    """Eight buffers of contention 4 need 5: refuted at 4, and left open at 5."""
    made = problem.make_problem(named(EIGHT))

    def only_the_bound(at, limit):
        return Outcome("infeasible", None, limit, at) if at == 4 else Outcome("gave_up", None, limit)

    assert least_height(made, 5, None, 500, only_the_bound)[:4] == ("gave_up", None, 500, 4)
    assert least_height(made, 4, None, 500, only_the_bound).status == "infeasible"


@pytest.mark.parametrize(("method", "package"), [("cp", "ortools"), ("ilp", "scipy")])
def test_a_solver_that_gives_up_refutes_nothing(method, package, monkeypatch):
    """60 buffers at their bound: one node of HiGHS, and next to no time of CP-SAT, leave it open."""
    pytest.importorskip(package)
    monkeypatch.setattr(solvers, "NODES_PER_UNIT", 1e12)
    made = problem.make_problem(random_buffers(8, 60, plain=True))
    found = getattr(solvers, method)(made, made.bound, False, 1)
    assert (found.status, found.refuted, found.address) == ("gave_up", -1, None)


def test_a_part_of_time_that_is_left_open_refutes_nothing():
    """The search of the second part ends without an answer: neither is the whole infeasible."""
    hard = random_buffers(8, 60, plain=True)
    bound = problem.make_problem(hard).bound
    found = complete(problem.make_problem([*hard, Buffer("later", 1000, 1001, 1)]), bound, 5, "reference")
    assert (found.status, found.address, found.refuted < bound) == ("gave_up", None, True)


def test_a_list_too_large_for_the_search_is_left_to_the_portfolio(monkeypatch):
    """Eight buffers of contention 4 that greedy stacks higher: minimized without a node where 7 are large already."""
    entry_point = import_module("cocco.allocation.allocate")
    monkeypatch.setattr(entry_point, "MOST_MINIMIZED", 7)
    monkeypatch.setattr(entry_point, "complete", lambda *_, **__: pytest.fail("the search was asked"))
    found = cocco.allocate(named(EIGHT), 20, minimize=True)
    assert (found.status, found.nodes) == ("feasible", 0) and found.height_bytes > found.lower_bound_bytes


def test_ctrl_c_raises_with_the_lowest_allocation_so_far(monkeypatch):
    """The greedy portfolio has an answer above the bound of EIGHT before the search is interrupted."""
    kept = cocco.allocate(named(EIGHT), 100, "greedy", minimize=True)

    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("cocco.allocation.allocate.complete", stop)
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.allocate(named(EIGHT), 100, minimize=True)
    assert (stopped.value.result.status, stopped.value.result.height_bytes) == ("stopped", kept.height_bytes)
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.allocate(named(EIGHT), 100, "search")
    assert stopped.value.result.allocation is None
