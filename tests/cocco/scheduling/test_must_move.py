"""The bound of every order: below the brute force on small graphs, by hand where it is known, told as it comes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

import workloads
from cocco.effort.status import Interrupted
from cocco.scheduling.graph import graph_of
from cocco.scheduling.programs import away
from cocco.scheduling.schedule import schedule
from cocco.scheduling.searches.beam import beam
from cocco.scheduling.searches.peak import least_peak
from simulator.schedule.operators import operators_of
from simulator.schedule.schedule import Operator
from tests.helpers.command_line import cocco as run_cocco
from tests.helpers.parts import first_of
from tests.helpers.schedule_graphs import random_operators, skip_chain


def check(found: tuple[Operator, ...], has_copy: bool, more: int) -> None:
    """Gates everywhere, so that small graphs have stretches."""
    graph = graph_of(found, has_copy)
    capacity = max(graph.need) + more
    best, peak = beam(graph, capacity), least_peak(graph)
    assert best.is_optimal and peak.is_proved
    for states in (1, 3, 1000):
        assert 0 <= away.must_move(graph, capacity, peak.bytes, states) <= best.cost
    assert (away.must_move(graph, capacity, peak.bytes) > 0) == (best.cost > 0)


@pytest.mark.parametrize(("has_copy", "more"), first_of([(False, 0), (True, 2), (False, 2), (True, 0)], 2))
@pytest.mark.parametrize(("count", "most"), [(3, 5), pytest.param(200, 9, marks=pytest.mark.slow)])
def test_no_schedule_moves_less_than_the_bound(
    count: int, most: int, more: int, has_copy: bool, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(away, "GATES_APART", 1)
    attack = given(random_operators(most=most))(lambda found: check(found, has_copy, more))
    settings(max_examples=count, deadline=None)(attack)()


def test_skip_chain_by_hand_and_a_tensor_that_serves_two_stretches():
    """At 9 a leaves while c runs, 4 bytes out and in. With two large steps behind one skip it still leaves once."""
    assert away.must_move(graph_of(skip_chain()), 9) == 8
    sizes = {"x": (2, ""), "a": (4, "x"), "b": (3, "a"), "c": (3, "b"), "e": (3, "c"), "d": (2, "ea")}
    two = graph_of([Operator(name, tuple(reads), size) for name, (size, reads) in sizes.items()])
    assert away.must_move(two, 9) == beam(two, 9).cost == 8


def test_bounds_and_better_plans_are_told_as_they_come_and_the_default_order_is_first():
    told: list[tuple[str, int, int]] = []
    found = schedule(workloads.load("gpt"), "minimum", progress=lambda *each: told.append(each))
    assert told[0][0] == "default order" and told[0][2] == 0
    moved, bounds = [each[1] for each in told], [each[2] for each in told]
    assert moved == sorted(moved, reverse=True) and bounds == sorted(bounds)
    assert (found.status, found.offchip_bytes, found.lower_bound_bytes) == ("optimal", 9_437_184, 9_437_184)
    assert bounds[-1] == 9_437_184, "proved without a solver"


def test_a_search_that_is_stopped_keeps_its_best_with_the_bound():
    def stop(stage: str, moved: int, bound: int) -> None:
        if bound:
            raise KeyboardInterrupt

    operators = operators_of(workloads.load("transformer_10_20"), batch=32)
    with pytest.raises(Interrupted) as stopped:
        schedule(operators, "minimum", progress=stop)
    found = stopped.value.result
    assert found.status == "stopped" and found.replay is not None and not found.replay.violations
    assert 3_932_160 < found.lower_bound_bytes == 4_259_840 < found.offchip_bytes


def test_command_line_says_what_is_known_on_the_way():
    done = run_cocco("schedule", "gpt", "--scratchpad", "minimum")
    assert done.returncode == 0
    assert done.stderr.splitlines()[0].startswith("cocco: default order: moves ")
    assert "any order at least 9,437,184" in done.stderr
