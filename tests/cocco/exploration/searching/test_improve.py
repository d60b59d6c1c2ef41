"""First plans and better ones: priced as `evaluate` does, alike in both engines, never worse, stopped by Ctrl-C."""

from __future__ import annotations

import math

import pytest

import workloads
from cocco.bounds.cheapest import cheapest_plans
from cocco.exploration.searching import improve
from cocco.exploration.searching.improve import first_plans, improve_plans
from cocco.problem.problem import on_hardware
from cocco.search.exact import neighbourhood
from cocco.search.kernel.choice import has_kernel
from simulator import Accelerator, Partition, evaluate
from tests.helpers.parts import few_seeds
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain
from workloads.network.layers.layer import Tensor
from workloads.network.network import Network


def judged(problem, partitions) -> float:
    """Return what plans cost by `evaluate`; inf where one does not fit."""
    pairs = zip(problem.networks, partitions, strict=True)
    found = [evaluate(network, plan, problem.accelerator, problem.tile_rule) for network, plan in pairs]
    return problem.cost(found) if all(each.fits for each in found) else math.inf


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@few_seeds(14, 40)
def test_engines_walk_alike(seeds):
    """Also each plan costs what `evaluate` says, and none less than the proven optimum."""
    proven = 0
    for seed in seeds:
        problem = random_problem(seed, 7)
        first = first_plans(problem, engine="fast", steps=20_000)
        assert first == first_plans(problem, engine="reference", steps=20_000)
        found = improve_plans(problem, first, 30_000, seed, "fast")
        assert found == improve_plans(problem, first, 30_000, seed, "reference"), seed
        if found.cost < math.inf:
            assert found.cost == pytest.approx(judged(problem, found.partitions), rel=1e-12)
            assert found.cost <= judged(problem, first) * (1 + 1e-12)
            best = cheapest_plans(problem)
            assert best.cost <= found.cost * (1 + 1e-12)
            proven += best.cost >= found.cost * (1 - 1e-12)
    assert proven > 2 * len(seeds) // 3 - 6


def test_an_input_that_nobody_reads_is_no_part_of_what_every_plan_moves():
    """All of this network fits on chip: the plan of the least traffic moves what is used, not the 64 x 64 input."""
    read = chain(2)
    network = Network("idle", (*read.inputs, Tensor("idle", 64, 64, 8)), read.layers)
    problem = on_hardware(network, Accelerator(shared_buffer=2**20), metric="ema")
    least = cheapest_plans(problem).cost
    assert least == read.weight_bytes + 2 * 8 * 8 * 8
    assert improve._Network(problem, 0, 0, None).least == least
    assert improve_plans(problem, [Partition.layerwise(network)], 20_000).cost == least


def test_several_networks_are_improved_from_the_labels_of_a_partition():
    networks = [workloads.load("vgg16"), workloads.load("resnet50")]
    problem = on_hardware(networks, Accelerator(shared_buffer=896 * 1024), metric="energy", weights=(1.0, 2.0))
    labels = problem.labels([Partition.layerwise(network) for network in networks])
    first = first_plans(problem, labels, steps=200_000)
    found = improve_plans(problem, first, 400_000)
    assert found.cost == pytest.approx(judged(problem, found.partitions), rel=1e-12)
    assert found.cost <= judged(problem, first) * (1 + 1e-12)
    assert found == improve_plans(problem, first, 400_000)
    assert cheapest_plans(problem).cost <= found.cost <= 1.05 * cheapest_plans(problem).cost


def test_ctrl_c_returns_the_best_so_far(monkeypatch):
    problem = on_hardware(workloads.load("resnet50"), Accelerator(shared_buffer=2**19), metric="ema")
    plain = [Partition.layerwise(problem.networks[0])]
    better, count = neighbourhood.Neighbourhood.better, [0]

    def stopped(walk, *window):
        count[0] += 1
        if count[0] > 20:
            raise KeyboardInterrupt
        return better(walk, *window)

    monkeypatch.setattr(neighbourhood.Neighbourhood, "better", stopped)
    found = improve_plans(problem, plain, 10_000_000)
    assert found.is_stopped and found.cost < judged(problem, plain)
    assert judged(problem, found.partitions) == found.cost
