"""Every method against the judge and against each other; the greedy rules, explanations."""

from __future__ import annotations

import importlib
import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
from cocco.allocation import explain, problem
from cocco.allocation.allocate import METHODS
from cocco.allocation.exact import solvers
from cocco.allocation.heuristics import greedy
from simulator.allocation.buffers import Allocation, Buffer
from simulator.allocation.files import read_buffers
from simulator.allocation.judge import check_allocation
from tests.helpers.random_buffers import EIGHT, SHARED, TEN, fits_somehow, named, random_buffers, small_buffers

EXACT = [("ilp", "scipy"), ("cp", "ortools")]
HEIGHTS = {  # sky, ff, bf, low of the ten buffers; ties by index
    "start": [13, 9, 9, 7], "size": [9, 8, 8, 8], "lifetime": [8, 8, 8, 7], "area": [8, 8, 8, 7],
    "contention": [8, 8, 8, 7], "size*lifetime^2": [8, 8, 8, 7], "overlaps": [8, 8, 8, 6],
    "long first": [9, 8, 8, 8],  # no life is long here, so the order is by size
}  # fmt: skip


@pytest.mark.parametrize("method", ["auto", "greedy", "search"])
@settings(max_examples=80, deadline=None)
@given(buffers=small_buffers(), capacity=st.integers(4, 14), minimize=st.booleans())
def test_every_answer_is_right_and_every_refusal_true(method, buffers, capacity, minimize):
    found = cocco.allocate(buffers, capacity, method, minimize, nodes=500)
    if found.allocation is not None:
        assert check_allocation(buffers, found.allocation, capacity) == []
        assert found.lower_bound_bytes <= found.height_bytes <= capacity
    elif found.status == "infeasible":
        assert not fits_somehow(buffers, capacity)
    else:
        assert found.status == "gave_up"


@pytest.mark.parametrize(("method", "package"), EXACT)
def test_the_exact_encodings_agree_with_the_search(method, package):
    """Alignment, fixed offsets and gaps included; feasible, infeasible and the least height."""
    pytest.importorskip(package)
    ends = set()
    for seed in range(12):
        buffers = random_buffers(seed, 9)
        least = cocco.allocate(buffers, 400, "search", minimize=True)
        same = cocco.allocate(buffers, 400, method, minimize=True)
        assert (same.status, same.height_bytes) == (least.status, least.height_bytes)
        if least.height_bytes is not None:
            for capacity in (least.height_bytes - 1, least.height_bytes):
                one, other = (cocco.allocate(buffers, capacity, each) for each in (method, "search"))
                assert one.status == other.status
                ends.add(one.status)
    assert ends == {"optimal", "feasible", "infeasible"} or ends == {"optimal", "infeasible"}


def test_the_paper_s_form_of_the_cp_model_agrees_with_rectangles():
    pytest.importorskip("ortools")
    found = problem.make_problem(named(EIGHT))
    for form in ("rectangles", "pairs"):
        assert solvers.cp(found, 4, False, 10_000, form).status == "infeasible"
        assert solvers.cp(found, 9, True, 10_000, form).refuted == 4


def test_a_missing_solver_is_named_with_its_extra(monkeypatch):
    def refuse(name, *rest):
        raise ImportError(name)

    monkeypatch.setattr(importlib, "import_module", refuse)
    with pytest.raises(ValueError, match=r"needs ortools, which is not installed: pip install 'cocco\[solvers\]'"):
        cocco.allocate(named(EIGHT), 5, "cp")


@pytest.mark.parametrize("order", greedy.ORDERS)
def test_greedy_heights_of_the_ten_buffers(order):
    found = problem.make_problem(named(TEN))
    heights = [int((greedy.greedy(found, order, rule) + found.size).max()) for rule in ("sky", "ff", "bf", "low")]
    assert heights == HEIGHTS[order]


@pytest.mark.parametrize("rule", greedy.PLACING)
@settings(max_examples=60, deadline=None)
@given(buffers=small_buffers(), order=st.sampled_from(sorted(greedy.ORDERS)))
def test_every_greedy_rule_places_every_buffer_rightly(rule, order, buffers):
    """Fixed buffers that collide are not for the rules."""
    if explain.fixed_conflict(buffers, 10**6):
        return
    found = problem.make_problem(buffers)
    at = (greedy.greedy(found, order, rule) * found.granule).tolist()
    assert check_allocation(buffers, Allocation(dict(zip([b.id for b in buffers], at))), 10**6) == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published instances are not here")
@pytest.mark.parametrize(("order", "rule", "ratio"), [("start", "low", 1.185), ("size", "ff", 1.338)])
def test_greedy_heights_of_the_hard_instances(order, rule, ratio):
    """The geometric mean of height over lower bound; the published capacity is 1 for eight of the eleven."""
    logs = []
    for name in "ABCDEFGHIJK":
        found = problem.make_problem(read_buffers(SHARED / "minimalloc" / f"{name}.1048576.csv"))
        logs.append(math.log((greedy.greedy(found, order, rule) + found.size).max() / found.bound))
    assert math.exp(float(np.mean(logs))) == pytest.approx(ratio, abs=5e-4)


@pytest.mark.parametrize("seed", range(4))
def test_peak_contention_is_the_largest_of_a_buffer_s_sections(seed):
    found = problem.make_problem(random_buffers(seed, 30))
    expected = [
        max(found.contention[s] for k in range(a, b) for s in range(found.piece_first[k], found.piece_last[k]))
        for a, b in zip(found.piece_starts, found.piece_starts[1:])
    ]
    assert greedy.peak_contention(found).tolist() == expected


@settings(max_examples=100, deadline=None)
@given(buffers=small_buffers(), capacity=st.integers(2, 9))
def test_an_explanation_does_not_fit_and_needs_each_of_its_buffers(buffers, capacity):
    found = cocco.allocate(buffers, capacity)
    if found.status != "infeasible":
        return
    members = [each for each in buffers if each.id in found.conflict]
    assert not fits_somehow(members, capacity) and found.conflict_is_irreducible
    for left_out in members:
        assert fits_somehow([each for each in members if each is not left_out], capacity)


def test_an_explanation_leaves_out_what_the_proof_does_not_need():
    """b4 only fills step 2, where b3 already lies apart from b1 and b5; z lives later."""
    found = cocco.allocate([*named(EIGHT), Buffer("z", 9, 20, 4)], 4)
    assert (found.conflict, found.conflict_is_irreducible) == (("b0", "b1", "b2", "b3", "b5", "b6", "b7"), True)


def test_a_fixed_buffer_can_make_a_crowd_needless():
    """6 bytes are live, 4 are there; but the 3 bytes do not fit beside byte 1 either, whatever the others do."""
    rows = [("a", 1, None), ("b", 1, None), ("three", 3, None), ("fixed", 1, 1)]
    buffers = [Buffer(name, 0, 1, size, 1, offset) for name, size, offset in rows]
    assert cocco.allocate(buffers, 4).conflict == ("three", "fixed")


def test_no_buffers_take_no_bytes_with_any_method():
    for method in METHODS:
        if method in ("ilp", "cp"):
            pytest.importorskip("scipy" if method == "ilp" else "ortools")
        found = cocco.allocate([], 0, method, minimize=True)
        assert (found.status, found.height_bytes, found.fragmentation) == ("optimal", 0, None)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"capacity": -1}, "capacity must be an integer from 0"),
        ({"capacity": 1.5}, "1.5"),
        ({"method": "magic"}, "method must be one of auto, greedy"),
        ({"nodes": 0}, "nodes must be an integer from 1"),
        ({"engine": "slow"}, "engine must be one of fast, reference"),
        ({"buffers": [("a", 0, 1, 2)]}, "simulator.allocation.Buffer only"),
        ({"buffers": [Buffer("a", 0, 1, 2)] * 2}, "'a' is repeated"),
        ({"buffers": [replace(Buffer("a", 0, 1, 1), id=str(i), size=2**53) for i in range(300)]}, "sum to at most"),
    ],
)
def test_malformed_arguments_are_refused_in_one_line(arguments, words):
    with pytest.raises(ValueError) as error:
        cocco.allocate(**({"buffers": named(TEN), "capacity": 6} | arguments))
    assert words in str(error.value) and "\n" not in str(error.value)


def test_importing_cocco_takes_no_solver_along():
    """The methods of the extra are imported when they run."""
    code = "import sys, cocco; print(*{'ortools', 'scipy'} & set(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert finished.stdout.strip() == ""
