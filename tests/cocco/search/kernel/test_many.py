"""Both engines agree where there are as many tensors as words have bits; run by tests/sanitize.sh, too."""

from __future__ import annotations

import os
import random
from functools import partial

import pytest

from cocco.allocation.exact import complete
from cocco.allocation.problem import make_problem
from cocco.bounds.cheapest import cheapest_plans, compiled_prices, keep_question
from cocco.bounds.patterns.tables import patterns_of
from cocco.effort.budgets import PRICE_STEPS
from cocco.effort.settings import Settings
from cocco.exploration.memories.solved import solve
from cocco.problem.problem import Problem, on_hardware
from cocco.search.kernel.choice import has_kernel
from cocco.search.kernel.compiled import twin_of
from simulator import Accelerator
from simulator.allocation.buffers import Buffer
from tests.helpers.many_alike import COUNTS, many, random_many
from tests.helpers.twin_search import assert_same_search

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
SEEDS = range(4, 4 + int(os.environ.get("MANY_NETWORKS", "8")))


def problem_of(seed: int, keep: str = "auto") -> Problem:
    """Return a problem of one of the networks, in memory that holds some of its tensors, or most."""
    rng, network = random.Random(seed), random_many(seed)
    most = sum(tensor.size_bytes for tensor in network.tensors)
    size = network.weight_bytes + most * rng.choice((1, 3, 8)) // 4
    common = {"cores": rng.choice((1, 1, 2)), "max_regions": rng.choice((64, None, None))}
    machine = Accelerator(shared_buffer=size, **common)
    if rng.random() < 0.3:
        machine = Accelerator(global_buffer=size, weight_buffer=network.weight_bytes // 2 + 64, **common)
    return on_hardware(network, machine, metric=rng.choice(("ema", "energy", "latency-sum")), keep=keep)


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_agree_on_plans_with_kept_tensors(seed):
    budget = random.Random(seed).choice(((60, 5_000), (10**6, 1_500)))
    problem = problem_of(seed)
    assert cheapest_plans(problem, *budget, engine="fast") == cheapest_plans(problem, *budget, engine="reference")


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_agree_on_genomes(seed):
    problem = problem_of(seed, random.Random(seed).choice(("auto", "none")))
    assert_same_search(problem, Settings(population=6, elite=2), 12)


@pytest.mark.parametrize("seed", SEEDS)
def test_engines_agree_on_plans_without(seed):
    problem = problem_of(seed, "none")
    assert solve(problem, (), "fast", 3_000) == solve(problem, (), "reference", 3_000)


@pytest.mark.parametrize("count", [4, 9, 45, 64])
def test_engines_agree_on_patterns(count):
    """A layer alone may have any of its inputs kept, loaded, or both: 3 ** 45 ways and more, each a step."""
    network = many(count, 3, readers=2, outputs=2, shapes=7)
    problem = on_hardware(network, Accelerator(shared_buffer=100 * count, max_regions=None), metric="ema")
    question = keep_question(problem)
    compiled = partial(twin_of(problem).pattern_left, compiled_prices(problem), PRICE_STEPS)
    for most in (1_000, 8_000):
        assert patterns_of(question, True, most, compiled) == patterns_of(question, True, most)


@pytest.mark.parametrize("count", COUNTS)
def test_engines_agree_on_addresses_of_many_buffers(count):
    """Half of them are live at a time; sizes that are alike, and some that are not."""
    buffers = [Buffer(f"b{i}", i, i + 1 + count // 2, 8 + 8 * (i % 5 == 0)) for i in range(count)]
    parts = make_problem(buffers)
    for capacity in (parts.bound - 1, parts.bound, parts.bound + 3):
        ended, fast = complete.run_once(parts, capacity, "TAW", 60, "fast")
        same, slow = complete.run_once(parts, capacity, "TAW", 60, "reference")
        assert (ended, fast.nodes, fast.address) == (same, slow.nodes, slow.address)
