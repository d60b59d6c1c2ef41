"""Searches over plans whose subgraphs may run in groups of channels: nothing that is proved is undercut."""

from __future__ import annotations

import random
from functools import lru_cache

import pytest

import cocco
import workloads
from cocco.bounds.cheapest import cheapest_plans, keep_question
from cocco.problem.problem import on_hardware
from simulator import Accelerator, KiB
from simulator.execution import verify
from tests.helpers.every_kept_plan import cheapest
from tests.helpers.parts import few_seeds
from tests.helpers.random_apart import random_apart_network


@few_seeds(30, 90)
def test_no_plan_is_cheaper_on_random_problems(seeds):
    plans = 0
    for seed in seeds:
        rng, network = random.Random(seed), random_apart_network(seed, 3)
        if len(network.layers) > 4:
            continue
        buffers = {"shared_buffer": rng.choice((256, 512, 1024, 4096))}
        chip = Accelerator(**buffers, batch=rng.choice((1, 2)), groups_apart=True)
        problem = on_hardware([network], chip, metric=rng.choice(("ema", "energy", "latency-sum")), keep="auto")
        question = keep_question(problem)
        least, count = cheapest(question._replace(price=lru_cache(None)(question.price)))
        found = cheapest_plans(problem)
        assert found.cost == pytest.approx(least, rel=1e-12), seed
        plans += count
    assert plans > 5 * len(seeds)


def test_a_search_finds_attention_of_one_head_after_the_other():
    """Scores, softmax and context together, where all heads at once do not fit."""
    network, costs = workloads.load("gpt2", length=64, layers=1), []
    for apart in (False, True):
        chip = Accelerator(shared_buffer=48 * KiB, groups_apart=apart)
        best = cocco.partition(network, chip, metric="ema", method="greedy", keep="none")
        costs.append(best.evaluation.ema_bytes)
        assert verify(network, best.plan, chip).verified
    assert costs[1] < costs[0]
