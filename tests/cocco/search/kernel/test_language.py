"""What language models have costs in the compiled engine what it costs in the readable one, to the byte."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from cocco.bounds.kept import cheapest_plans, kept_price
from cocco.problem.settings import Settings
from cocco.search.keeping.question import KeptStep
from cocco.search.kernel.choice import engine_name, has_kernel
from cocco.search.kernel.compiled import Compiled
from simulator.model.cost import total
from simulator.model.pricing import Price, SubgraphModel
from simulator.partition.partition import connected_parts
from simulator.partition.steps import steps_of
from tests.helpers.every_kept_plan import as_set
from tests.helpers.random_kept import random_kept_plan
from tests.helpers.random_language import KINDS, random_language_problem
from tests.helpers.twin_search import assert_same_search

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")

FEW, MANY = range(12), pytest.param(range(12, 300), marks=pytest.mark.slow)


def in_memory(problem, rng):
    """Return a problem on given hardware in buffers of other sizes, too little to ample."""
    names = ["shared_buffer"] if problem.accelerator.is_shared else ["global_buffer", "weight_buffer"]
    sizes = {name: int(2 ** rng.uniform(4, 16)) for name in names}
    return replace(problem, accelerator=replace(problem.accelerator, **sizes))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_searches_are_the_same(seeds, kind):
    """Spaces and given hardware: genomes and costs of every generation."""
    for seed in seeds:
        problem = random_language_problem(seed, kind)
        assert engine_name(None, problem) == "fast"
        assert_same_search(problem, Settings(population=16, elite=3), 40)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_steps_beside_kept_tensors_are_the_same(seeds, kind):
    """Of random plans in random order, in three memories each."""
    kept = fits = 0
    for seed in seeds:
        rng = random.Random(seed)
        like = random_language_problem(seed, kind, is_given=True)
        plan = random_kept_plan(like.networks[0], seed)
        for _ in range(3):
            problem = in_memory(like, rng)
            readable, twin = kept_price(problem), Compiled(problem).kept_prices(problem)
            for group, step in zip(plan.subgraphs, steps_of(problem.networks[0], plan)):
                asked = KeptStep(
                    group, *map(as_set, (step.touched, step.loaded, step.written)),
                    sum(map(problem.rules[0].whole_bytes, step.kept)), len(step.kept) - len(step.touched),
                )  # fmt: skip
                expected = readable(asked)
                assert twin.price(*asked) == (None if expected is None else tuple(expected)), (seed, asked)
                kept, fits = kept + (asked.kept_bytes > 0), fits + (asked.kept_bytes > 0 and expected is not None)
    assert kept > 6 * len(seeds) and kept > fits > 0.3 * kept


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_parts_are_the_same(seeds, kind):
    """Connected parts of networks, in five memories each, without kept tensors."""
    found = 0
    for seed in seeds:
        rng = random.Random(seed)
        problem = random_language_problem(seed, kind, is_given=True)
        (network,), (rules,) = problem.networks, problem.rules
        twin, first = Compiled(problem), rng.randrange(problem.size)
        for part in connected_parts(network, range(first, rng.randint(first, problem.size - 1) + 1)):
            for _ in range(5):
                sizes = int(2 ** rng.uniform(6, 18)), int(2 ** rng.uniform(3, 15))
                price = SubgraphModel(rules, part).price(*sizes)
                expected = total([price], problem.accelerator) if isinstance(price, Price) else None
                assert twin.price(part, *sizes) == expected, (seed, part, sizes)
                found += expected is not None
    assert found > len(seeds)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_proofs_are_the_same(seeds, kind):
    """Cost, plan, states, steps, and why there is none; with little and with ample budgets, kept or not."""
    plans = 0
    for seed in seeds:
        problem = random_language_problem(seed, kind, is_given=True)
        budget = (40, 3_000) if seed % 3 == 0 else (3_000, 20_000)
        readable = cheapest_plans(problem, *budget, seed % 5 > 0, "reference")
        assert cheapest_plans(problem, *budget, seed % 5 > 0, "fast") == readable, seed
        plans += readable.is_proven
    assert plans > len(seeds) // 4
