"""What a mapping claims where its search was cut short, and that no method goes beyond what it was given."""

from __future__ import annotations

import pytest

pytest.importorskip("ortools")
pytest.importorskip("scipy")

from cocco.mapping import map_layer, mapper
from cocco.mapping.cosa import solving
from cocco.mapping.cosa.program import Program, Solver, solve
from cocco.mapping.cosa.solving import SolverLimits, map_cosa
from cocco.mapping.rules import Rules
from cocco.mapping.sampling import random_search
from cocco.mapping.sampling.random_search import hill_climb
from simulator.mapping import SIMBA, Architecture, LayerShape
from simulator.mapping.architecture import Level

SHAPE = LayerShape(3, 3, 14, 14, 64, 64)
SPLITS = [
    [23, 41, 37, 59, 53, 17, 61, 29, 47, 31, 43, 19, 67, 71, 73, 79],
    [83, 13, 97, 11, 89, 7, 101, 5, 103, 3, 107, 2, 109, 113, 127, 131],
    [17, 91, 33, 77, 49, 65, 81, 25, 57, 39, 95, 21, 69, 45, 87, 51],
]  #: three times a choice of half of the total: found by trying only


def halves(rows: int) -> Program:
    """Return the question whether one choice of 16 things has half of the total by each row of weights."""
    program = Program()
    things = [program.whole(1) for _ in SPLITS[0]]
    for weights in SPLITS[:rows]:
        program.same(dict(zip(things, map(float, weights))), sum(weights) // 2)
    program.objective = {things[0]: 1.0}
    return program


@pytest.mark.parametrize("solver", ["cp", "highs"])
def test_solver_whose_limit_is_spent_gives_up_and_refutes_nothing(solver: Solver):
    """What takes hundreds of nodes is open after one, and decided in the end."""
    assert solve(halves(3), solver, 1e-5).status == "gave_up"
    assert solve(halves(3), solver, 20.0).status in ("optimal", "infeasible")
    assert solve(halves(1), solver, 20.0).status == "optimal"


def test_mapping_that_is_not_closed_says_how_far_it_is_off():
    """The first layer of ResNet50, whose optimum is 222.1045: a hundredth of a second leaves the bound below it."""
    shape = LayerShape(7, 7, 112, 112, 3, 64, stride=(2, 2))
    found = map_layer(shape, solver="cp", limit=0.01)
    assert found.objective is not None and found.bound is not None and found.status == "feasible"
    assert found.bound < 222.1045 < found.objective
    closed = map_layer(shape, solver="cp")
    assert (closed.status, closed.objective) == ("optimal", pytest.approx(222.1045, abs=1e-3))
    assert closed.bound == pytest.approx(closed.objective, abs=1e-3)


def test_bound_is_that_of_the_solver_and_never_above_the_objective(monkeypatch: pytest.MonkeyPatch):
    real = solving.solve
    for moved, status in ((-5.0, "feasible"), (5.0, "optimal")):
        monkeypatch.setattr(
            solving, "solve", lambda *a, m=moved, s=status: (f := real(*a))._replace(bound=f.bound + m, status=s)
        )
        found = map_cosa(SHAPE, SIMBA, Rules(), SolverLimits())
        assert found.status == status and found.objective is not None and found.bound is not None
        assert found.bound == pytest.approx(found.objective + min(0.0, moved), abs=1e-3)


def test_search_stops_at_the_first_mapping_that_reaches_its_target():
    first = random_search.random_search(SHAPE, SIMBA, valid=1, seed=1)
    assert first.cost is not None and first.valid == 1
    again = random_search.random_search(SHAPE, SIMBA, valid=100, seed=1, target_cycles=first.cost.cycles)
    assert (again.valid, again.evaluations) == (1, first.evaluations)


def test_hill_climbing_tries_as_often_as_it_may(monkeypatch: pytest.MonkeyPatch):
    tried = []

    def counted(*asked):
        tried.append(asked)
        return real(*asked)

    real = random_search._move
    monkeypatch.setattr(random_search, "_move", counted)
    hill_climb(SHAPE, SIMBA, 7, seed=0)
    assert len(tried) == 7


def test_no_random_mapping_that_fits_is_no_answer():
    """One word of each would fit, half a word of each does not."""
    tight = Architecture((Level("all", 2, 1, {"W": 0.3, "I": 0.3, "O": 0.3}, 1), SIMBA.levels[-1]), 1)
    for search in (random_search.random_search, hill_climb):
        found = search(LayerShape(1, 1, 2, 2, 2, 2), tight, 5, 0, max_draws=300)
        assert (found.status, found.mapping, found.valid) == ("gave_up", None, 0)


def test_groups_share_the_lanes_and_nothing_is_read_less_than_once():
    whole = mapper._work(LayerShape(3, 3, 8, 8, 4, 16, groups=4), (8, 8), Rules(stride_rule="once"), 20.0)
    one = mapper._work(LayerShape(3, 3, 8, 8, 4, 4), (8, 8), Rules(stride_rule="once"), 20.0)
    assert -(-3 * 3 * 8 * 8 * 4 * 16 // 1024) <= whole.cycles <= 4 * one.cycles
    assert [mapper._at_least_once(words, 5) for words in (3, 5, 8)] == [(1, 1), (1, 1), (8, 5)]
