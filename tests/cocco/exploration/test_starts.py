"""Searches from a plan by hand: never worse than it, with its kept tensors where they are allowed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cocco
import workloads
from cocco.exploration.starts import METHOD, _Models, _priced, no_worse
from cocco.problem.problem import over_space
from simulator import Accelerator, KiB, Partition, evaluate
from tests.helpers.random_graphs import random_network
from tests.helpers.random_kept import random_kept_plan

VGG = workloads.load("vgg16")
BEST = Partition.from_groups(VGG, [["conv1_1..pool1"], ["conv2_1..pool2"]], "ema")
SPACE = cocco.SharedBuffer(256 * KiB, 1024 * KiB, 256 * KiB)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.sampled_from(["ema", "energy", "latency-sum"]), st.integers(1, 2), st.integers(1, 2))
def test_no_memory_costs_less_than_it_is_said_to(seed, metric, cores, batch):
    """What decides that a memory is not looked at; with kept tensors and without."""
    network = random_network(seed, most_layers=7, whole=True)
    plan = replace(random_kept_plan(network, seed), metric=metric)
    sizes = cocco.SharedBuffer(2048, 65536, 2048)
    problem = over_space(network, sizes, metric=metric, alpha=0.5, cores=cores, batch=batch)
    part = _Models(problem.rules[0], plan)
    for capacities in ((0,), (3,), (31,)):
        chip = problem.accelerator_of(capacities)
        least = problem.objective.cost(problem.objective.value([part.least()], chip), chip)
        cost = _priced(problem, [part], capacities, (plan,)).cost
        assert least <= cost
        priced = evaluate(network, plan, chip)
        if priced.fits:
            assert cost == pytest.approx(problem.cost([priced]), rel=1e-12)


@pytest.mark.parametrize("method", ["ga", "greedy", "sa"])
def test_on_hardware_the_answer_costs_no_more_than_the_start(method):
    chip = Accelerator(shared_buffer=1024 * KiB)
    start = cocco.partition(VGG, chip, metric="ema", method="exact").plan
    found = cocco.partition(VGG, chip, metric="ema", method=method, samples=2, initial=[start])
    assert found.cost <= evaluate(VGG, start, chip).ema_bytes
    assert found.plan == start


def test_in_a_space_the_answer_costs_no_more_than_the_start_in_any_memory():
    found = cocco.explore(VGG, space=SPACE, samples=1, method="ga", initial=[BEST], alpha=0.002)
    for size in SPACE.buffers["shared_buffer"]:
        chip = Accelerator(shared_buffer=size)
        assert found.cost <= size + 0.002 * evaluate(VGG, replace(BEST, metric="energy"), chip).energy_pj


def test_kept_tensors_of_the_start_count_where_they_are_allowed(monkeypatch):
    """Greedy fuses and nothing is improved, so the optimum, given as a start, is the best that is known, unproven."""
    monkeypatch.setattr("cocco.exploration.answer.improve", lambda *_: False)
    chip = Accelerator(shared_buffer=2048 * KiB)
    start = cocco.partition(VGG, chip, method="exact").plan
    assert start.keep
    plain = cocco.partition(VGG, chip, method="greedy", initial=[start], keep="none")
    assert not plain.plan.keep
    found = cocco.partition(VGG, chip, method="greedy", initial=[start])
    assert found.cost <= evaluate(VGG, start, chip).energy_pj
    assert found.plan.keep and found.method == METHOD and found.lower_bound <= found.cost
    assert found.status == "feasible" and found.evaluation == evaluate(VGG, found.plan, chip)


def test_a_proof_is_left_alone():
    chip = Accelerator(shared_buffer=1024 * KiB)
    found = cocco.partition(VGG, chip, method="exact")
    assert no_worse(None, found, [BEST]) is found
    assert no_worse(None, replace(found, status="feasible"), ()).status == "feasible"
