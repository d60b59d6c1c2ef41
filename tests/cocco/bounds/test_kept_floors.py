"""Floors with kept tensors: by every step of layers that run alone; never above the optimum without them."""

from __future__ import annotations

import math
from dataclasses import replace

import workloads
from cocco.bounds.cheapest import keep_question
from cocco.bounds.floors.by_layer import floors
from cocco.candidates.sets import members
from cocco.problem.problem import on_hardware
from cocco.search.exact.route import Pricing, route_of
from simulator import Accelerator
from tests.helpers.every_kept_plan import cheapest
from tests.helpers.exact_plan import exact_plan
from tests.helpers.parts import few_seeds
from tests.helpers.random_problems import random_problem
from tests.helpers.random_tables import with_tables


def lower(question) -> float:
    """Return the bound of a question before anything has run."""
    bound = 0.0
    for each in question.layer_floor:
        bound += each
    for u in members(question.crosses):
        bound += 2 * question.crossing_floor[u]
    for u in range(len(question.network.layers), len(question.network.tensors)):
        if question.network.consumers[u]:
            bound += question.crossing_floor[u]
    return bound


@few_seeds(150, 400)
def test_no_bound_is_above_the_optimum_and_the_optimum_stays(seeds):
    """Random problems of all kinds, with the floors before; some bounds are higher, some reach the optimum."""
    higher = reached = 0
    for seed in seeds:
        problem = random_problem(seed, 6)
        question = keep_question(problem)
        layers, crossings = floors(problem)
        plain = question._replace(layer_floor=layers, crossing_floor=crossings, crosses=0)
        found, before = exact_plan(question), exact_plan(plain)
        assert math.isclose(found.cost, before.cost, rel_tol=1e-12), seed
        if before.cost < math.inf:
            assert lower(question) <= before.cost * (1 + 1e-12), seed
            assert lower(question) >= lower(plain)
            higher += lower(question) > lower(plain) * (1 + 1e-9)
            reached += lower(question) >= before.cost * (1 - 1e-9) > lower(plain)
    assert higher > len(seeds) / 10 and reached > len(seeds) / 40


@few_seeds(80, 200)
def test_no_bound_is_above_the_optimum_with_tables(seeds):
    """Energy by random tables, against all plans of tiny networks: with floors, and with those by layers alone."""
    tried = 0
    for seed in seeds:
        problem = with_tables(random_problem(seed, 4), seed)
        problem = replace(problem, objective=replace(problem.objective, metric="energy"))
        question = keep_question(problem)
        if len(question.network.layers) > 4:
            continue
        layers, crossings = floors(problem)
        plain = question._replace(layer_floor=layers, crossing_floor=crossings, crosses=0)
        cost = cheapest(question)[0]
        assert math.isclose(exact_plan(question).cost, cost, rel_tol=1e-12), seed
        if cost < math.inf:
            assert max(lower(question), lower(plain)) <= cost * (1 + 1e-12), seed
            tried += 1
    assert tried > len(seeds) / 5


def test_the_optimum_is_that_of_all_plans():
    count = 0
    for seed in range(150):
        question = keep_question(random_problem(seed, 4))
        if len(question.network.layers) <= 4 and (question.crosses or count % 2):
            assert math.isclose(exact_plan(question).cost, cheapest(question)[0], rel_tol=1e-12), seed
        count += 1
        if question.crosses:
            plan = exact_plan(question)
            if plan.subgraphs is not None:
                priced = Pricing(question).priced(route_of(plan.subgraphs, plan.spans))
                assert math.isclose(priced.cost, plan.cost, rel_tol=1e-12)


def test_what_wide_layers_of_the_transformer_make_crosses():
    """1 MB of weights and 1 MB of results do not fit into 896 KB, so those layers run alone and nothing stays."""
    network = workloads.load("transformer")
    question = keep_question(on_hardware(network, Accelerator(shared_buffer=896 * 1024), metric="ema"))
    names = {network.layers[u].name for u in members(question.crosses)}
    assert names == {f"{part}{i}_ffn1" for part in ("enc", "dec") for i in range(1, 7)}
