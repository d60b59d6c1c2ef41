"""Co-exploration with kept tensors: no false optimum, no bound above one, for any budget, against brute force."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import workloads
from cocco.bounds.cheapest import _patterns, keep_question
from cocco.bounds.staircase import Staircase
from cocco.effort import budgets
from cocco.effort.planned import confirmed, priced
from cocco.exploration.memories import proof as proofs
from cocco.exploration.memories import solved
from cocco.exploration.memories.proof import prove
from cocco.exploration.memories.solved import Solved
from cocco.problem.names import Keep
from cocco.problem.problem import on_hardware, over_space
from cocco.problem.space import SharedBuffer
from simulator import Accelerator, Partition
from tests.helpers.parts import few_seeds, over_seeds
from tests.helpers.random_tables import with_logic
from tests.helpers.search_graphs import SPACE, chain
from tests.helpers.small_spaces import cost_of, small_space, values_by_memory

BUDGETS = (64, 1_000, 8_000, 64_000, 10**8)


def check(
    seed: int, engine: str = "fast", has_tables: bool = False, keep: Keep = "auto", has_logic: bool = False
) -> int:
    """Compare a random space with brute force; return how many proofs were left open."""
    problem = small_space(seed, has_tables=has_tables)
    if problem is None:
        return 0
    problem = replace(with_logic(problem, seed) if has_logic else problem, keep=keep)
    values = values_by_memory(problem, keep == "auto")
    costs = {memory: cost_of(problem, memory, value) for memory, value in values.items()}
    true, bound, is_left_open = min(costs.values()), Staircase(problem).bound, 0
    for memory, cost in costs.items():
        assert bound[memory] <= cost * (1 + 1e-12), (seed, memory)
    smallest = (0,) * len(problem.candidates)
    known = priced(problem, smallest, tuple(Partition.layerwise(each) for each in problem.networks))
    for budget in BUDGETS:
        for start in (None, known):
            proof = prove(problem, start, engine, budget, 4 * budget)
            assert proof.lower_bound <= true * (1 + 1e-9), seed
            if proof.best is None:
                assert not proof.is_optimal
                is_left_open += 1
                continue
            best = confirmed(problem, proof.best)
            assert best.cost >= true * (1 - 1e-9) and best.cost <= (start or best).cost * (1 + 1e-9)
            assert not proof.is_optimal or best.cost == pytest.approx(true, rel=1e-9), seed
            is_left_open += not proof.is_optimal
            for each in proof.solved:
                assert each.value == pytest.approx(values[each.memory], rel=1e-9), seed
    assert proof.is_optimal, "the last budget does for all"
    return is_left_open


@few_seeds(4, 10)
def test_a_proof_is_one_on_random_spaces(seeds):
    """Shared and separate, one or two networks, cores, batches, all metrics; half of the budgets do not suffice."""
    assert sum(check(seed) for seed in seeds) > len(seeds)


@few_seeds(4, range(400, 410))
def test_a_proof_is_one_with_tables(seeds):
    """Writes that take less than reads, large buffers that take less than small ones, leakage, DRAM's background."""
    assert sum(check(seed, has_tables=True) for seed in seeds) > len(seeds)


@few_seeds(5, range(600, 612))
def test_a_proof_is_one_where_logic_takes_energy(seeds):
    """MACs that leak and take energy while they are idle; channels that cores share, fractions of a byte in a cycle."""
    found = [check(seed, has_tables=seed % 2 == 1, has_logic=True) for seed in seeds]
    assert sum(found) > 5 * len(seeds) // 6


@few_seeds(6, range(500, 520))
def test_a_proof_is_one_with_nothing_kept(seeds):
    assert sum(check(seed, keep="none") for seed in seeds) > len(seeds) // 2


def test_a_memory_whose_bound_equals_the_best_cost_is_not_solved():
    problem = over_space(chain(3), SPACE, alpha=3.0, metric="ema")
    first = prove(problem, None, "reference", 10**6, 10**6)
    again = prove(problem, first.best, "reference", 10**6, 10**6)
    assert again.is_optimal and again.best == first.best and again.steps < first.steps


@few_seeds(4, range(60, 70))
@pytest.mark.parametrize("has_tables", [False, True])
def test_both_engines_prove_the_same(seeds, has_tables):
    for seed in seeds:
        problem = small_space(seed, has_tables=has_tables)
        if problem is not None:
            assert prove(problem, None, "fast") == prove(problem, None, "reference")


test_a_proof_is_one_on_more_random_spaces = over_seeds(
    lambda seed: check(seed, has_tables=seed % 2 == 1, keep="none" if seed % 3 == 0 else "auto"), 100, 1_500
)


@few_seeds(6, range(200, 215))
def test_a_proof_is_one_with_the_budgets_of_long_networks(seeds, monkeypatch):
    """As if each of these few layers were a thousand: larger budgets sooner, and the next one after a failure."""
    monkeypatch.setattr(budgets, "LAYERS", 1)
    monkeypatch.setattr(proofs, "LAYERS", 1)
    monkeypatch.setattr(proofs, "IN_A_ROW", 1)
    for seed in seeds:
        check(seed)


@pytest.mark.slow
def test_a_chain_of_2400_layers_is_proven():
    """With the budgets of short networks it was not in two minutes."""
    b = workloads.Builder("stack")
    x = b.input("x", 28, 28, 128)
    for i in range(600):
        y = b.conv(f"b{i}_a", x, 32)
        y = b.conv(f"b{i}_b", y, 32, kernel=3, padding=1)
        x = b.add(f"b{i}_add", [b.conv(f"b{i}_c", y, 128), x])
    problem = over_space(b.build(), keep="auto")
    proof = prove(problem, None, "fast")
    assert proof.is_optimal and proof.best is not None
    assert proof.best.cost == pytest.approx(7_823_038.03, abs=0.01)  # without nests 8,078,215.58


def test_resnet50_is_proven_over_the_space_of_the_paper():
    """At 704 KB, with chains of layers and results in places of operands; the prototype proved 8,906,181 at 960 KB."""
    problem = over_space(workloads.load("resnet50"), keep="auto")
    proof = prove(problem, None, "fast")
    assert proof.is_optimal and proof.best is not None
    best = confirmed(problem, proof.best)
    assert problem.accelerator_of(best.memory).shared_buffer == 704 * 1024
    assert best.cost == pytest.approx(8_644_942.10, abs=0.01)
    assert len(proof.solved) < 10, "most memories are ruled out"


def test_a_network_too_wide_is_given_up_soon():
    """RandWire-A: after a few memories, not after all 47."""
    problem = over_space(workloads.load("randwire_a"), keep="auto")
    proof = prove(problem, None, "fast", 64_000, 10**8)
    assert proof.best is None and not proof.is_optimal and 0 < proof.lower_bound < math.inf
    assert proof.steps < 10 * 64_000


def test_ctrl_c_leaves_what_was_solved(monkeypatch):
    problem, calls = over_space(workloads.load("vgg16"), keep="auto"), []
    solve = solved.solve

    def press(*question):
        if len(calls) == 2:
            raise KeyboardInterrupt
        calls.append(question)
        return solve(*question)

    monkeypatch.setattr(solved, "solve", press)
    proof = prove(problem, None, "fast")
    assert proof.is_stopped and proof.best is not None and not proof.is_optimal and proof.lower_bound < proof.best.cost


@pytest.mark.parametrize("sizes", [1, 6])
def test_what_no_budget_helps_is_tried_once(monkeypatch: pytest.MonkeyPatch, sizes: int):
    """More sets of layers than may be looked at are no fewer with more steps; one memory has no small tries."""
    tried: list[tuple[tuple[int, ...], int]] = []

    def wide(problem: object, memory: tuple[int, ...], engine: object, budget: int, *_: object) -> Solved:
        tried.append((memory, budget))
        return Solved(None, False, 1, 0.0, is_wide=True)

    monkeypatch.setattr("cocco.exploration.memories.solved.solve", wide)
    space = SharedBuffer(64 * 1024, sizes * 64 * 1024, 64 * 1024)
    proof = prove(over_space(workloads.load("vgg16"), space, keep="auto"), None, "fast", 6_400, 10**9)
    assert proof.best is None and not proof.is_optimal
    assert len({memory for memory, _ in tried}) == len(tried) <= sizes
    assert sizes > 1 or tried == [((0,), 6_400)]


def test_patterns_are_built_once(monkeypatch: pytest.MonkeyPatch):
    """A memory that is tried with three budgets asks for patterns again only if they did not fit into the last one."""
    asked: list[int] = []

    def patterns_of(question: object, is_whole: bool, most: int, twin: object) -> tuple[tuple[()], int]:
        asked.append(most)
        return (), most if most < 1_000 else most // 4

    monkeypatch.setattr("cocco.bounds.cheapest.patterns_of", patterns_of)
    problem = on_hardware(workloads.load("vgg16"), Accelerator(shared_buffer=2**20), metric="ema", keep="auto")
    question = keep_question(problem)
    found = [_patterns(problem, 0, question, most, None) for most in (500, 500, 2_000, 1_200, 8_000, 800)]
    assert asked == [500, 2_000, 800] and [steps for _, steps in found] == [500, 500, 500, 500, 500, 800]
