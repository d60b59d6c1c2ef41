"""Rows that a cache gets are written whoever reads them, and may stay, too: against every plan of small networks."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import cocco
import workloads
from cocco.bounds.cheapest import keep_question
from cocco.problem.problem import on_hardware
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution import verify
from tests.helpers.every_kept_plan import cheapest, cost_of_plan
from tests.helpers.exact_plan import exact_plan
from tests.helpers.kept_questions import random_question
from tests.helpers.parts import few_seeds
from tests.helpers.random_graphs import random_network


def appended(network, seed):
    """Return the network with some of its layers appended to a cache."""
    rng = random.Random(seed)
    layers = tuple(replace(layer, appended=rng.random() < 0.5) for layer in network.layers)
    return replace(network, layers=layers)


def test_no_plan_is_cheaper_whatever_the_prices():
    spans = 0
    for seed in range(150):
        question = random_question(seed, 4)
        question = question._replace(network=appended(question.network, seed))
        found = exact_plan(question)
        assert found.cost == cheapest(question)[0], seed
        if found.subgraphs is not None:
            Partition.from_ids(question.network, found.subgraphs, keep=found.spans)
            assert cost_of_plan(question, found.subgraphs, found.spans) == found.cost
            spans += len(found.spans)
    assert spans > 50


@few_seeds(15, 40)
@pytest.mark.parametrize("metric", ["ema", "energy", "latency-sum"])
def test_floors_and_prices_of_the_model_miss_no_cheaper_plan(seeds, metric):
    for seed in seeds:
        network = appended(random_network(seed, 3, whole=seed % 2 == 1), seed)
        size = random.Random(seed).choice((128, 512, 2048))
        problem = on_hardware([network], Accelerator(shared_buffer=size), metric=metric)
        question = keep_question(problem, engine="reference")
        found, least = exact_plan(question), cheapest(question)[0]
        assert found.cost == pytest.approx(least, rel=1e-12), seed


def test_a_search_finds_the_decode_step_that_moves_everything_once():
    network = workloads.load("gpt2", phase="decode", past=200, layers=1)
    chip = Accelerator(shared_buffer=256 * KiB)
    best = cocco.partition(network, chip, metric="ema", method="greedy", samples=200)
    rows = 2 * 200 * 768
    least = network.weight_bytes + rows + 2 * 768 + 2 * 768
    assert best.evaluation.ema_bytes == least == evaluate(network, best.plan, chip).ema_bytes
    assert verify(network, best.plan, chip).verified
