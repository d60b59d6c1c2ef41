"""No search ends above greedy and dp, however few its samples are: where memories are few, in any of them."""

from __future__ import annotations

import pytest

import cocco
import workloads
from cocco.effort.settings import Settings
from cocco.exploration.question.question import Question
from cocco.exploration.searching import baselines
from cocco.exploration.searching.baselines import better_of_baselines, neighbours
from cocco.problem.problem import Problem, over_space
from cocco.problem.space import SharedBuffer
from cocco.search.genetic.genetic import genetic
from simulator import Accelerator, KiB
from tests.helpers.least_memory import least_shared
from tests.helpers.parts import few_seeds
from tests.helpers.random_problems import random_net

METHODS = ("greedy", "dp")


@few_seeds(6, 12)
def test_few_samples_are_no_worse_in_any_memory(seeds):
    """Three samples of up to 12 layers, and the memories that greedy and dp are asked in are all there are."""
    fewer = 0
    for seed in seeds:
        network = random_net(seed)
        least = least_shared(network)
        space = SharedBuffer(least, least + 3 * 2048, 2048)
        found = cocco.explore(network, space=space, alpha=0.01, method="ga", samples=3, seed=seed, keep="none")
        plain = cocco.explore(
            network, space=space, alpha=0.01, method="ga", samples=3, seed=seed, keep="none", settings=Settings.paper()
        )
        for size in range(least, least + 3 * 2048 + 1, 2048):
            chip = Accelerator(shared_buffer=size)
            for method in METHODS:
                other = cocco.partition(network, chip, method=method, metric="energy", keep="none")
                assert found.cost <= (size + 0.01 * other.cost) * (1 + 1e-12), (seed, size, method)
        assert found.samples <= 3
        fewer += found.cost < plain.cost
    assert fewer > len(seeds) // 4


@pytest.mark.parametrize("keep", ["none", "auto"])
def test_given_hardware_is_no_worse_below_one_sample_per_layer(keep):
    network, chip = workloads.load("resnet50"), Accelerator(shared_buffer=1024 * KiB)
    found = cocco.partition(network, chip, method="ga", samples=10, keep=keep)
    for method in METHODS:
        assert found.cost <= cocco.partition(network, chip, method=method, keep="none").cost
    assert found.samples <= 10


def question(problem: Problem, samples: int = 20) -> Question:
    return Question(problem, samples, 0, Settings(), "fast")


def test_a_better_memory_is_followed(monkeypatch):
    """One memory is asked beside that of the best genome, and near ones as long as greedy and dp cost less there."""
    problem = over_space(workloads.load("vgg16"), SharedBuffer(), alpha=0.002)
    monkeypatch.setattr(baselines, "LEAST_MEMORIES", 1)
    asked, grouped = [], baselines.grouped

    def told(*given):
        asked.append(given[1])
        return grouped(*given)

    monkeypatch.setattr(baselines, "grouped", told)
    start = genetic(problem, 2, 0, Settings()).best
    best = better_of_baselines(question(problem), start)
    assert best.cost < start.cost and len(asked) == len(set(asked)) <= 2 + baselines.NEARBY_MEMORIES
    assert any(each in asked for each in neighbours(problem, best.genome.capacities))


def test_a_search_with_kept_tensors_asks_for_no_partition_again(monkeypatch):
    """What keeps nothing depends on no kept tensors: the search before it knows the partitions of the same memories."""
    problem = over_space(workloads.load("vgg16"), SharedBuffer(), alpha=0.002, keep="auto")
    asked, grouped = [], baselines.grouped

    def told(*given):
        asked.append(given[1])
        return grouped(*given)

    monkeypatch.setattr(baselines, "grouped", told)
    start = genetic(problem.plain, 2, 0, Settings()).best
    before = better_of_baselines(question(problem.plain), start)
    count = len(asked)
    assert better_of_baselines(question(problem), start).cost <= before.cost
    assert count > baselines.LEAST_MEMORIES and len(asked) == len(set(asked))
    assert problem.plain is problem.plain.plain and problem.plain.keep == "none"


def test_ctrl_c_leaves_what_there_was(monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("cocco.exploration.searching.one_search.better_of_baselines", stop)
    network = workloads.load("vgg16")
    with pytest.raises(cocco.Interrupted) as stopped:
        cocco.explore(network, method="ga", samples=20, keep="none")
    assert stopped.value.result.status == "stopped" and stopped.value.result.cost > 0
