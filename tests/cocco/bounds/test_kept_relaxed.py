"""Patterns that stand for several memories: no state costs less to finish in any of them, no proof is false."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from cocco.bounds import cheapest
from cocco.bounds.cheapest import general_question, keep_question
from cocco.bounds.patterns import tables
from cocco.bounds.patterns.tables import patterns_of
from cocco.effort.planned import confirmed
from cocco.exploration.memories import solved
from cocco.exploration.memories.proof import prove
from cocco.problem.problem import Problem, in_memory, part_of
from tests.helpers.exact_plan import exact_plan
from tests.helpers.kept_states import every_state, floor_of
from tests.helpers.parts import few_seeds, in_parts
from tests.helpers.small_spaces import cost_of, small_space, values_by_memory


@pytest.fixture(autouse=True)
def always_relaxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """All memories of one buffer are alike, patterns may be of any size, and every search takes them."""
    monkeypatch.setattr(solved, "ALIKE", 1e9)
    monkeypatch.setattr(tables, "LEAST_LAYERS", 1)
    monkeypatch.setattr(tables, "SPARE_BITS", 0)
    monkeypatch.setattr(cheapest, "FIRST_STEPS", 1)
    monkeypatch.setattr(cheapest, "FAR_OFF", math.inf)


def one_buffer(seed: int, has_tables: bool) -> Problem | None:
    """Return a small space of shared buffers, half of them as global buffers beside a weight buffer that is given."""
    problem = small_space(seed, has_tables=has_tables)
    if problem is None or problem.accelerator.cores > 1:
        return None
    if len(problem.buffers) == 2:
        (name, sizes), (other, given) = problem.buffers.items()
        machine = replace(problem.accelerator, **{other: given[-1]})
        return replace(problem, buffers={name: sizes}, accelerator=machine)
    return problem


def check_states(seed: int, has_tables: bool) -> tuple[int, int]:
    """Look at every state in every memory; return how many there are, and of how many more than floors is known."""
    problem, states, more = one_buffer(seed, has_tables), 0, 0
    if problem is None:
        return 0, 0
    memories = [(at,) for at in range(len(problem.candidates[0]))]
    for memory in memories:
        given, relaxed = in_memory(problem, memory), solved._relaxed(problem, memory)
        assert relaxed is not None
        for i in range(len(problem.networks)):
            question, general = keep_question(given, i), general_question(relaxed, i)
            assert question.more_room_pays == general.more_room_pays
            if not question.more_room_pays:
                continue
            patterns, _ = patterns_of(general, part_of(given, i).objective.metric == "ema")
            bounded = question._replace(
                layer_floor=general.layer_floor, crossing_floor=general.crossing_floor, crosses=general.crosses,
                patterns=patterns,
            )  # fmt: skip
            for place, truth in every_state(question).items():
                floor = floor_of(bounded, patterns, place)
                assert floor <= truth * (1 + 1e-12), (seed, memory, place, floor, truth)
                states, more = states + 1, more + (floor > floor_of(bounded, (), place))
            found, plain = exact_plan(bounded), exact_plan(question)
            assert found.status == plain.status and found.cost == pytest.approx(plain.cost, rel=1e-12), seed
    return states, more


def check_proof(seed: int, has_tables: bool) -> bool:
    """Compare a proof with brute force; return whether there was one to compare."""
    problem = one_buffer(seed, has_tables)
    if problem is None:
        return False
    values = values_by_memory(problem)
    true = min(cost_of(problem, memory, value) for memory, value in values.items())
    for budget in (3_000, 10**7):
        proof = prove(problem, None, "fast", budget, 10 * budget)
        assert proof.lower_bound <= true * (1 + 1e-9), seed
        if proof.best is not None:
            best = confirmed(problem, proof.best)
            assert best.cost >= true * (1 - 1e-9)
            assert not proof.is_optimal or best.cost == pytest.approx(true, rel=1e-9), seed
    assert proof.is_optimal and proof.best is not None, seed
    return True


@few_seeds(8, 25)
@pytest.mark.parametrize("has_tables", [False, True])
def test_no_state_costs_less_in_any_memory(seeds, has_tables):
    found = [check_states(seed, has_tables) for seed in seeds]
    assert sum(states for states, _ in found) > 21 * len(seeds) - 25
    assert sum(more for _, more in found) > 5 * len(seeds) - 25


def test_a_smaller_tile_of_a_smaller_memory_may_cost_less_energy():
    """A matmul and a resize whose windows leave rows out, held: 2 x 2 tiles read less than the map whole."""
    states, more = check_states(1_080, has_tables=False)
    assert states > more > 0


def test_an_operand_of_two_layers_of_a_nest_comes_once_where_it_is_kept():
    """A convolution and the add of its result and its operand: kept, they run as a nest and move less in the buffer."""
    states, more = check_states(3_882, has_tables=True)
    assert states > more > 0


@pytest.mark.slow
@pytest.mark.parametrize("has_tables", [False, True])
@pytest.mark.parametrize("seeds", in_parts(1_000, 2_500))
def test_no_state_of_more_problems_costs_less_in_any_memory(seeds, has_tables):
    for seed in seeds:
        check_states(seed, has_tables)


@few_seeds(5, 12)
@pytest.mark.parametrize("has_tables", [False, True])
def test_a_proof_is_one_against_brute_force(seeds, has_tables):
    assert sum(check_proof(seed, has_tables) for seed in seeds) > 5 * len(seeds) // 12


@pytest.mark.slow
@pytest.mark.parametrize("has_tables", [False, True])
@pytest.mark.parametrize("seeds", in_parts(3_000, 4_000))
def test_a_proof_is_one_on_more_spaces(seeds, has_tables):
    for seed in seeds:
        check_proof(seed, has_tables)


def test_both_engines_prove_the_same():
    for seed in range(40, 50):
        problem = one_buffer(seed, seed % 2 == 1)
        if problem is not None:
            assert prove(problem, None, "fast") == prove(problem, None, "reference")


def test_groups_are_of_like_sizes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(solved, "ALIKE", 1.15)
    sizes = tuple(range(128, 3073, 64))
    groups = {solved._alike(sizes, size) for size in sizes}
    assert sorted(size for group in groups for size in group) == list(sizes)
    assert all(group[-1] <= 1.15 * group[0] for group in groups)
    assert len(groups) > 5
