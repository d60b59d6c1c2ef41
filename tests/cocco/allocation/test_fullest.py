"""The fullest steps first: its verdicts against every address tried, its windows, and a list as training makes them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
from benchmarks.allocation_lists import turning
from cocco.allocation.heuristics.fullest import WINDOW_BUFFERS, fullest_first, grow
from cocco.allocation.problem import has_kernel, make_problem
from simulator.allocation.buffers import Buffer
from simulator.allocation.judge import lower_bound
from tests.helpers.random_buffers import EIGHT, fits_somehow, named, random_buffers, small_buffers

ENGINES = ["reference", pytest.param("fast", marks=pytest.mark.skipif(not has_kernel(), reason="not built"))]


@settings(max_examples=150, deadline=None)
@given(buffers=small_buffers(), more=st.integers(0, 3))
def test_its_verdicts_are_those_of_trying_every_address(buffers, more):
    buffers = [replace(each, alignment=1, offset=None, gaps=()) for each in buffers]
    parts = make_problem(buffers)
    capacity = parts.bound + more
    found = fullest_first(parts, capacity, 10_000, "reference")
    fits = fits_somehow(buffers, capacity * parts.granule)
    assert found.status in (("feasible", "gave_up") if fits else ("infeasible", "gave_up"))
    if found.address is not None:
        fixed = [replace(b, offset=int(at) * parts.granule) for b, at in zip(buffers, found.address)]
        assert cocco.allocate(fixed, capacity * parts.granule).status == "optimal" or more


def test_a_window_that_does_not_fit_is_a_proof():
    """The eight buffers of contention 4 need 5 bytes, whatever lives beside them for good."""
    parts = make_problem([*named(EIGHT), Buffer("weights", 0, 9, 7), Buffer("later", 6, 9, 2)])
    refused = fullest_first(parts, 11, 1_000, "reference")
    assert (refused.status, refused.refuted, refused.address) == ("infeasible", 11, None)
    assert fullest_first(parts, 12, 1_000, "reference").status == "feasible"


@pytest.mark.parametrize("change", [{"alignment": 2}, {"offset": 1}, {"gaps": ((1, 2),)}])
def test_it_gives_up_where_buffers_cannot_be_pushed_down(change):
    buffers = [replace(each, lower=0, upper=3) for each in named(EIGHT)]
    parts = make_problem([replace(buffers[0], **change), *buffers[1:]])
    assert fullest_first(parts, parts.bound + 9, 1_000, "reference").status == "gave_up"


@pytest.mark.parametrize("seed", range(4))
def test_a_window_is_as_wide_as_it_may_be(seed):
    parts = make_problem(random_buffers(seed, 40, plain=True))
    for width in (0, 3, 10, 100):
        window = grow(parts, width)
        live = [i for i in range(40) if parts.first[i] < window.end and parts.last[i] > window.start]
        whole = [i for i in live if parts.first[i] <= window.start and parts.last[i] >= window.end]
        assert sorted([*window.spanning, *window.others]) == live
        assert whole == window.spanning.tolist()
        assert parts.contention[window.start : window.end].max() == parts.bound
        assert len(window.others) <= width
        counts = []
        for a, z in ((window.start - 1, window.end), (window.start, window.end + 1)):
            if a >= 0 and z <= parts.sections:
                ends = [parts.last[i] > a and (parts.first[i] > a or parts.last[i] < z) for i in range(40)]
                counts.append(sum(end and parts.first[i] < z for i, end in enumerate(ends)))
        assert not counts or max(counts) > width


@pytest.mark.parametrize("engine", ENGINES)
def test_training_fills_the_memory_to_the_last_byte(engine):
    """Where no greedy rule reaches the lower bound."""
    buffers = turning(60, 5)
    least = lower_bound(buffers)
    assert cocco.allocate(buffers, least, "greedy").status == "gave_up"
    parts = make_problem(buffers)
    found = fullest_first(parts, parts.bound, 20_000, engine)
    assert found.status == "feasible"
    tops, blocks = found.address + parts.size, [grow(parts, width).spanning for width in WINDOW_BUFFERS]
    assert any(tops[block].max() == parts.size[block].sum() for block in blocks)  # it lies at the bottom


@pytest.mark.skipif(not has_kernel(), reason="the compiled search is not built")
def test_a_long_list_at_its_lower_bound_takes_few_nodes():
    """2,220 buffers: the search would open thousands of nodes for each of its runs."""
    buffers = turning(700, 1)
    for minimize in (False, True):
        found = cocco.allocate(buffers, lower_bound(buffers), minimize=minimize)
        assert (found.status, found.fragmentation) == ("optimal", 0)
        assert found.solved_by.startswith("fullest first")
        assert found.nodes < 1_000
