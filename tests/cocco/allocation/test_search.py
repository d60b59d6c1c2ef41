"""The complete search: against every address tried, against its compiled twin, and on the hard instances."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import cocco
from cocco.allocation import problem
from cocco.allocation.exact import canonical, complete
from cocco.allocation.heuristics import greedy
from simulator.allocation.buffers import Buffer
from simulator.allocation.files import read_buffers
from tests.helpers.random_buffers import (
    EIGHT,
    SHARED,
    TEN,
    fits_somehow,
    least_height_somehow,
    named,
    random_buffers,
    small_buffers,
)

ENGINES = ["reference", pytest.param("fast", marks=pytest.mark.skipif(not problem.has_kernel(), reason="not built"))]


def search(buffers, capacity, engine="reference", **more):
    return cocco.allocate(buffers, capacity, method="search", engine=engine, **more)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=150, deadline=None)
@given(buffers=small_buffers(), capacity=st.integers(1, 12))
def test_the_verdict_is_that_of_trying_every_address(engine, buffers, capacity):
    found = search(buffers, capacity, engine)
    assert (found.status in ("optimal", "feasible")) == fits_somehow(buffers, capacity)
    assert found.status in ("optimal", "feasible", "infeasible")


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=60, deadline=None)
@given(buffers=small_buffers(most=5))
def test_the_least_height_is_that_of_trying_every_address(engine, buffers):
    least = least_height_somehow(buffers)
    found = search(buffers, 100, engine, minimize=True)
    assert found.height_bytes == least
    assert found.status == ("infeasible" if least is None else "optimal")
    if least is not None:
        assert found.proved_infeasible_bytes == least - found.granule_bytes


@pytest.mark.skipif(not problem.has_kernel(), reason="the compiled search is not built")
@pytest.mark.parametrize("rank", canonical.RANKS)
@pytest.mark.parametrize("seed", range(12))
def test_both_engines_open_the_same_nodes(seed, rank):
    """Loose and tight capacities, stopped at every kind of end; alignment, gaps and fixed offsets on odd seeds."""
    buffers = random_buffers(seed, 12 + 3 * seed, plain=seed % 2 == 0)
    parts = problem.make_problem(buffers)
    for capacity in (parts.bound - 1, parts.bound, parts.bound + 2, parts.bound * 3 // 2):
        for limit in (1, 40, 700):
            ended, fast = complete.run_once(parts, capacity, rank, limit, "fast")
            same, slow = complete.run_once(parts, capacity, rank, limit, "reference")
            assert (ended, fast.nodes, fast.address) == (same, slow.nodes, slow.address)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("seed", range(6))
def test_a_run_that_stopped_goes_on_as_if_it_had_not(engine, seed):
    """Stopped after every node, and after more and more, on parts that split and on gaps and fixed offsets."""
    parts = problem.make_problem(random_buffers(seed, 14 + 2 * seed, plain=seed % 2 == 0))
    for capacity in (parts.bound, parts.bound + 2):
        at_once = complete.run_once(parts, capacity, "TAW", 300, engine)
        for stops in (range(1, 301), (1, 3, 9, 27, 81, 243, 300)):
            run = complete.new_run(parts, capacity, "TAW", engine)
            ended = next((each for each in map(run.run, stops) if each != canonical.LIMIT), canonical.LIMIT)
            assert (ended, run.nodes, run.address) == (at_once[0], at_once[1].nodes, at_once[1].address)


@pytest.mark.skipif(not problem.has_kernel(), reason="the compiled search is not built")
@pytest.mark.parametrize("seed", range(10))
def test_rows_are_filled_alike_by_both_engines(seed, monkeypatch):
    parts = problem.make_problem(random_buffers(seed, 10 + 6 * seed, plain=seed % 2 == 0))
    for order in greedy.ORDERS:
        fast = greedy.greedy(parts, order, "low").tolist()
        with monkeypatch.context() as patched:
            patched.setattr(greedy, "has_kernel", lambda: False)
            assert greedy.greedy(parts, order, "low").tolist() == fast


@pytest.mark.skipif(not problem.has_kernel(), reason="the compiled search is not built")
def test_both_engines_give_the_same_answer():
    buffers = random_buffers(5, 60)
    capacity = problem.make_problem(buffers).bound * 5 // 4
    assert search(buffers, capacity, "fast", nodes=3000) == search(buffers, capacity, "reference", nodes=3000)


@given(buffers=small_buffers(), data=st.data())
@settings(max_examples=60, deadline=None)
def test_what_must_not_matter_does_not_matter(buffers, data):
    """Order of the rows, direction of time, the unit of size; a fixed answer is accepted; more room still fits."""
    found = search(buffers, 20, minimize=True)
    assume(found.height_bytes is not None)
    least = found.height_bytes
    shuffled = data.draw(st.permutations(buffers))
    assert search(shuffled, 20, minimize=True).height_bytes == least
    mirrored = [
        replace(b, lower=99 - b.upper, upper=99 - b.lower, gaps=tuple((99 - z, 99 - a) for a, z in reversed(b.gaps)))
        for b in buffers
    ]  # fmt: skip
    assert search(mirrored, 20, minimize=True).height_bytes == least
    doubled = [
        replace(b, size=2 * b.size, alignment=2 * b.alignment, offset=b.offset and 2 * b.offset) for b in buffers
    ]  # fmt: skip
    assert search(doubled, 40, minimize=True).height_bytes == 2 * least
    fixed = [replace(b, offset=found.allocation.addresses[b.id]) for b in buffers]
    assert search(fixed, least).allocation == found.allocation
    assert search(buffers, least + 3).status in ("optimal", "feasible")


def test_eight_buffers_of_contention_four_need_five_bytes():
    """p1 takes an end of [0, 4), p5 the other, p3 the byte beside: in step 3 the free bytes 0 and 2 lie apart."""
    buffers = named(EIGHT)
    refused = search(buffers, 4)
    assert (refused.status, refused.lower_bound_bytes, refused.proved_infeasible_bytes) == ("infeasible", 4, 4)
    found = search(buffers, 9, minimize=True)
    assert (found.status, found.height_bytes, found.proved_infeasible_bytes) == ("optimal", 5, 4)


def test_ten_buffers_in_the_manner_of_figure_1_take_six_bytes():
    found = search(named(TEN), 6)
    assert (found.status, found.height_bytes) == ("optimal", 6)
    assert found.allocation.addresses["b4"] in (0, 4)  # b6 fills four of the six bytes beside it


@pytest.mark.parametrize(("alignments", "least"), [((1, 1), 8), ((1, 4), 8), ((4, 4), 9)])
def test_alignment_can_cost_a_byte(alignments, least):
    """Sizes 3 and 5: the 5 at 0 and the 3 at 5, but if both are aligned to 4, the 3 at 0 and the 5 at 4."""
    buffers = [Buffer("three", 0, 1, 3, alignments[0]), Buffer("five", 0, 1, 5, alignments[1])]
    found = search(buffers, 20, minimize=True)
    assert (found.status, found.height_bytes, found.lower_bound_bytes) == ("optimal", least, 8)


def test_the_granule_divides_every_address():
    assert problem.find_granule([Buffer("a", 0, 1, 12), Buffer("b", 0, 1, 18, offset=24)]) == 6
    assert problem.find_granule([Buffer("a", 0, 1, 12, alignment=8), Buffer("b", 0, 1, 20)]) == 4
    assert problem.find_granule([Buffer("a", 0, 1, 12, alignment=2), Buffer("b", 0, 1, 20)]) == 4
    assert problem.find_granule([Buffer("a", 0, 1, 10, alignment=6), Buffer("b", 0, 1, 10, alignment=4)]) == 2


def test_sections_are_largest_sets_of_live_buffers():
    """{0,1,2} {0,2,3,4} {4,5} {4,6} {7,8,9}: at 4, b1 ends and two start; nothing crosses step 7."""
    found = problem.make_problem(named(TEN))
    live = [{i for i in range(10) if found.first[i] <= s < found.last[i]} for s in range(found.sections)]
    assert live == [{0, 1, 2}, {0, 2, 3, 4}, {4, 5}, {4, 6}, {7, 8, 9}]
    assert found.contention.tolist() == [6, 6, 3, 6, 6]
    assert problem.time_parts(found) == [[0, 1, 2, 3, 4, 5, 6], [7, 8, 9]]
    near = [set(found.neighbours[a:b].tolist()) for a, b in zip(found.starts, found.starts[1:])]
    assert near[4] == {0, 2, 3, 5, 6} and near[6] == {4}


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_are_those_that_share_a_live_step(seed, monkeypatch):
    buffers = random_buffers(seed, 25, plain=seed % 2 == 0)
    steps = [{s for a, b in problem.live_intervals(each) for s in range(a, b)} for each in buffers]
    expected = [{j for j in range(25) if j != i and steps[i] & steps[j]} for i in range(25)]
    for built in (True, False):
        if not built:
            monkeypatch.setattr(problem, "has_kernel", lambda: False)
        found = problem.make_problem(buffers)
        rows = [found.neighbours[a:b].tolist() for a, b in zip(found.starts, found.starts[1:])]
        assert [set(row) for row in rows] == expected
        assert all(len(row) == len(set(row)) for row in rows)
        assert all(row == sorted(row, key=lambda j: (found.first[j], j)) for row in rows)


def test_a_search_that_runs_out_of_nodes_says_so():
    buffers = random_buffers(8, 60, plain=True)
    bound = problem.make_problem(buffers).bound
    found = search(buffers, bound, nodes=5)
    assert (found.status, found.nodes, found.allocation, found.conflict) == ("gave_up", 5, None, None)


needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the published instances are not here")
needs_kernel = pytest.mark.skipif(not problem.has_kernel(), reason="the compiled search is not built")


@needs_shared
@needs_kernel
@pytest.mark.parametrize("name", "ABCDEFGHIJK")
def test_the_hard_instances_fit_as_published_and_with_room(name):
    buffers = read_buffers(SHARED / "minimalloc" / f"{name}.1048576.csv")
    for capacity in (1048576, 1048576 * 11 // 10, 1048576 * 5 // 4):
        found = cocco.allocate(buffers, capacity)
        assert found.status in ("optimal", "feasible") and found.nodes <= 200_000
    if name not in "CDJ":  # contention fills the published capacity
        refused = cocco.allocate(buffers, 1048576 - 1024)
        assert (refused.status, refused.proved_infeasible_bytes) == ("infeasible", 1048576 - 1024)


@needs_shared
@pytest.mark.parametrize(("name", "nodes"), [("G", 8_000), ("J", 8_000), ("K", 8_000)])
def test_pure_python_still_solves_some_of_them(name, nodes):
    buffers = read_buffers(SHARED / "minimalloc" / f"{name}.1048576.csv")
    assert cocco.allocate(buffers, 1048576, nodes=nodes, engine="reference").status in ("optimal", "feasible")
