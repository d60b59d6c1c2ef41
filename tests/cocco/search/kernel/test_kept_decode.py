"""Both engines make and price the same genomes where tensors may stay on chip, to the byte."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import workloads
from cocco.effort.settings import Settings
from cocco.problem.problem import over_space
from cocco.search.baselines.annealing import annealing
from cocco.search.genetic.engine import FastEngine, ReferenceEngine, make_engine
from cocco.search.genetic.genetic import genetic
from cocco.search.kernel.choice import has_kernel
from tests.helpers.every_kind import every_kind
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_twin
from tests.helpers.random_tables import with_tables
from tests.helpers.twin_search import assert_same_search

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


@pytest.mark.parametrize("seed", first_of([3, 6, 7, 2, *range(2), 4, 5, *range(8, 20)], 4))
def test_engines_agree_on_random_problems(seed):
    """Shared and separate buffers, fixed hardware, cores, batch, metrics, tile rules, several networks."""
    problem = replace(random_twin(seed), keep="auto")
    initial = [list(range(problem.size))] if seed % 5 == 0 else ()
    assert_same_search(problem, Settings(population=24, elite=3), 130, 1 + seed % 3, initial)


@pytest.mark.parametrize("seed", first_of([2, 3, 5, 0, 1, 4, *range(6, 60)], 3))
def test_engines_agree_with_tables(seed):
    """Reads and writes that cost apart, leakage and DRAM's background, in what is kept and in what it costs."""
    problem = with_tables(replace(random_twin(seed), keep="auto"), seed)
    if seed % 3:
        problem = replace(problem, objective=replace(problem.objective, metric="energy"))
    assert_same_search(problem, Settings(population=24, elite=3), 130, 1 + seed % 3)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 400))
def test_engines_agree_on_many_random_problems(seed):
    assert_same_search(replace(random_twin(seed), keep="auto"), Settings(population=30, elite=3), 300, 1 + seed % 3)


@pytest.mark.parametrize(
    ("metric", "batch"),
    first_of([("energy", 2), ("latency-sum", 1), *product(["ema", "energy", "latency-sum"], [1, 2])], 2),
)
def test_engines_agree_on_layers_of_every_kind(metric, batch):
    """Products, norms, groups, broadcast and rearranged maps beside kept tensors, in loop orders and in tiles."""
    problem = over_space(every_kind(), metric=metric, batch=batch, keep="auto")
    sizes = {"shared_buffer": tuple(range(2048, 40000, 1024))}
    assert_same_search(replace(problem, buffers=sizes), Settings(population=30, elite=3), 80, 2)


@pytest.mark.parametrize("name", first_of(["googlenet", "gpt"], 1))
def test_engines_agree_on_networks_of_the_paper(name):
    problem = over_space(workloads.load(name), alpha=0.002, keep="auto")
    assert_same_search(problem, Settings(population=12, elite=2), 24, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", workloads.PAPER_NETWORKS)
def test_engines_agree_on_all_networks(name):
    problem = over_space(workloads.load(name), alpha=0.002, keep="auto")
    assert_same_search(problem, Settings(population=30, elite=4), 80, 2)


def test_a_whole_search_is_the_same_for_any_engine_and_threads():
    problem = replace(random_twin(2), keep="auto")
    settings = Settings(population=20, elite=2, patience=3)
    traces = [genetic(problem, 500, 3, settings, engine=make_engine("reference", problem, settings))]
    traces += [genetic(problem, 500, 3, settings, engine=make_engine("fast", problem, settings, n)) for n in (1, 2, 3)]
    for trace in traces[1:]:
        assert trace.best == traces[0].best
        assert trace.seen().points.equals(traces[0].seen().points) and trace.seen().history.equals(
            traces[0].seen().history
        )


@pytest.mark.parametrize("seed", range(8))
def test_annealing_is_the_same_for_any_engine(seed):
    problem = replace(random_twin(seed), keep="auto")
    slow, fast = (annealing(problem, 120, 5, Settings(), engine=name) for name in ("reference", "fast"))
    assert slow.best == fast.best and slow.seen().points.equals(fast.seen().points)


def test_prices_of_given_genomes_agree():
    """What fronts ask for: genomes priced in another metric than the one that they were bred by."""
    problem = over_space(workloads.load("googlenet"), alpha=0.002, keep="auto")
    bred = FastEngine(problem, Settings()).breed(
        3, 0, FastEngine(problem, Settings()).price(np.zeros((0, problem.size), np.int64), np.zeros((0, 2), np.int64)),
        (), 20,
    )  # fmt: skip
    other = replace(problem, objective=replace(problem.objective, metric="ema"), chosen_by="energy")
    slow, fast = (kind(other, Settings()).price(bred.labels, bred.capacities) for kind in (ReferenceEngine, FastEngine))
    assert np.array_equal(slow.value, fast.value) and np.array_equal(slow.labels, bred.labels)
