"""Lower bounds on hardware with tables: no partition in any candidate costs less, steps and cheap writes or not."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from cocco.bounds.floors.least import lower_bound
from cocco.exploration.memories.proof import prove
from cocco.problem.floor import floor_of, floor_of_all
from cocco.problem.objective import Objective
from cocco.problem.problem import Problem
from cocco.search.pricing.genomes import Pricer
from simulator import Accelerator, Technology
from tests.helpers.parts import each_seed
from tests.helpers.random_tables import random_technology, shared_technology
from tests.helpers.small_problems import all_partitions, small_problem


def chosen(seed: int) -> Problem:
    """Return a small problem whose memory is chosen among a few sizes of a random table."""
    rng = random.Random(seed)
    problem = small_problem(seed, 4)
    machine = problem.accelerator
    most = machine.buffer_bytes
    sizes = tuple(sorted({max(1, most // 2), most, 2 * most, 4 * most}))
    shared = rng.random() < 0.5
    technology = shared_technology(rng) if shared else random_technology(rng)
    common = {"cores": machine.cores, "batch": machine.batch, "technology": technology}
    if shared:
        first, buffers = Accelerator(shared_buffer=sizes[0], **common), {"shared_buffer": sizes}
    else:
        buffers = {"global_buffer": sizes, "weight_buffer": sizes[:2]}
        first = Accelerator(global_buffer=sizes[0], weight_buffer=sizes[0], **common)
    objective = Objective("energy", rng.choice((0.0, 0.002, 1.0)), (1.0,))
    return replace(problem, accelerator=first, buffers=buffers, objective=objective)


def least(problem: Problem) -> float:
    """Return the cost of the best partition in the best memory, all of them priced."""
    pricer, best = Pricer(problem), float("inf")
    for memory in product(*[range(len(sizes)) for sizes in problem.candidates]):
        machine = problem.accelerator_of(memory)
        weights = 0 if machine.is_shared else machine.weight_capacity
        for groups in all_partitions(problem):
            rows = [pricer.price(tuple(group), machine.activation_capacity, weights) for group in groups]
            if None not in rows:
                totals = type(rows[0])(*map(sum, zip(*rows)))
                best = min(best, problem.objective.cost(problem.objective.value([totals], machine), machine))
    return best


@each_seed(20, 40)
def test_no_partition_in_any_memory_undercuts_the_bound(seed):
    problem = chosen(seed)
    assert lower_bound(problem) <= least(problem) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(0, 40, 3))
def test_the_proof_over_all_memories_is_that_of_brute_force(seed):
    problem = chosen(seed)
    proof = prove(problem, None, "reference", 10**6, 10**7)
    found = least(problem)
    assert proof.lower_bound <= found * (1 + 1e-12)
    if proof.is_optimal and proof.best is not None:
        assert proof.best.cost == pytest.approx(found)


def test_without_tables_hardware_is_its_own_floor():
    chip = Accelerator(shared_buffer=4096)
    assert floor_of(chip) is chip


def test_the_floor_takes_the_cheaper_way_of_all_candidates():
    problem = replace(chosen(1), accelerator=chosen(1).accelerator)
    found = floor_of_all(problem)
    for memory in product(*[range(len(sizes)) for sizes in problem.candidates]):
        machine = problem.accelerator_of(memory)
        for mine, real in ((found.activation_sram, machine.activation_sram), (found.weight_sram, machine.weight_sram)):
            assert mine.energy_pj(100, 40) <= real.energy_pj(100, 40) and mine.leakage_mw <= real.leakage_mw
    assert Technology().has_tables is False
