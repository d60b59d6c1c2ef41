"""Many generations in one call are those that are made one by one, to the byte."""

from __future__ import annotations

import pytest

import workloads
from cocco.effort.settings import Settings
from cocco.problem.problem import on_hardware, over_space
from cocco.search.genetic import engine as engines
from cocco.search.genetic.engine import FastEngine, ReferenceEngine
from cocco.search.genetic.genetic import genetic
from cocco.search.genetic.population import Population
from cocco.search.genetic.trace import Trace
from cocco.search.kernel.choice import has_kernel
from simulator.accelerator import Accelerator
from simulator.technology import Technology
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_twin
from workloads import Builder

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")

ALL = (
    Settings(population=24, elite=3),
    Settings(population=20, elite=10, patience=4, islands=3, retries=0),
    Settings(population=12, elite=0, patience=0, islands=1, crossover=0.9),
    Settings(population=9, elite=8, patience=2, islands=2, island=0.02),
)


class OneByOne(FastEngine):
    """Makes generations one by one."""

    def evolve(self, *_: object) -> None:
        return None


def assert_same(found: Trace, expected: Trace) -> None:
    assert found.seen().points.equals(expected.seen().points)
    assert found.seen().history.equals(expected.seen().history)
    assert found.best == expected.best and found.samples == expected.samples


@pytest.mark.parametrize("settings", ALL)
@pytest.mark.parametrize("seed", first_of([5, 2, 0, 1, 3, 4], 2))
def test_calls_of_many_generations_give_what_single_ones_give(seed, settings, monkeypatch):
    """Shared and separate buffers, fixed hardware, cores, several networks; calls of many sizes."""
    problem = random_twin(seed)
    expected = genetic(problem, 1000, 5, settings, engine=OneByOne(problem, settings))
    for layers in (1, 700, 2**17):
        monkeypatch.setattr(engines, "CALL", layers)
        assert_same(genetic(problem, 1000, 5, settings, engine=FastEngine(problem, settings)), expected)


@pytest.mark.parametrize("keep", ["none", "auto"])
def test_a_real_network(keep):
    problem, settings = over_space(workloads.load("googlenet"), alpha=0.002, keep=keep), Settings(patience=3)
    one_by_one, fast = (
        genetic(problem, 2500, 1, settings, engine=kind(problem, settings)) for kind in (OneByOne, FastEngine)
    )
    assert_same(fast, one_by_one)


@pytest.mark.parametrize("seed", range(4))
def test_engines_agree_on_statistics_too(seed):
    problem, settings = random_twin(seed), Settings(population=14, elite=4, patience=3, islands=2)
    slow, fast = (
        genetic(problem, 160, 2, settings, engine=kind(problem, settings)) for kind in (ReferenceEngine, FastEngine)
    )
    assert_same(fast, slow)


def test_a_call_ends_with_the_patience_of_its_population():
    """A chain of two layers has its best after a generation; what follows is stale."""
    problem, settings = random_twin(1), Settings(population=10, elite=5, patience=6)
    engine = FastEngine(problem, settings)
    first = engine.breed(0, 0, Population.empty(0, problem.size), (), 10).by_cost()
    found = engine.evolve(0, 1, first, 5000, 0, float(first.cost[0]))
    assert found is not None and found.stale == 7
    assert len(found.costs) < 5000 // 10 and (found.costs[-7:].min(axis=1) == found.costs[-1].min()).all()
    assert len(found.made.cost) == 5 * len(found.costs)


def test_threads_share_single_generations():
    problem = random_twin(2)
    two = FastEngine(problem, ALL[0], 2)
    assert two.evolve(0, 1, Population.empty(24, problem.size), 9, 0, 1.0) is None
    assert_same(
        genetic(problem, 300, 5, ALL[0], engine=two),
        genetic(problem, 300, 5, ALL[0], engine=FastEngine(problem, ALL[0])),
    )


def test_where_64_bits_are_too_few_there_are_none():
    """Two layers of 2^18 x 2^18 weights, 2^11 samples, 2^16 bytes per cycle: one takes 2^63 slots."""
    builder = Builder("wide")
    builder.fc("second", builder.fc("first", builder.input("x", 1, 1, 2**18), 2**18), 2**18)
    technology = Technology(dram_bytes_per_cycle=2**16, pe_rows=1, pe_columns=1, pe_inputs=1, pe_outputs=1)
    chip = Accelerator(shared_buffer=2**40, batch=2**11, technology=technology)
    problem, settings = on_hardware(builder.build(), chip, metric="latency-sum"), Settings(population=4, elite=2)
    fast = FastEngine(problem, settings)
    first = fast.breed(0, 0, Population.empty(0, 2), (), 4).by_cost()
    assert fast.evolve(0, 1, first, 9, 0, 0.0) is None
