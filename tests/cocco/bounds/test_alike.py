"""Tensors that stand for one another: the least cost is that of tensors told apart, and plans cost what they say."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

import workloads
from cocco.bounds.cheapest import cheapest_plans, keep_question
from cocco.bounds.patterns.interchangeable import kinds_of
from cocco.problem.problem import Problem, on_hardware
from cocco.search.exact.interchangeable import Alike
from cocco.search.exact.window import Place
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.technology import KiB
from tests.helpers.exact_plan import exact_plan
from tests.helpers.many_alike import many
from tests.helpers.parts import few_seeds, over_seeds
from tests.helpers.search_graphs import dag
from workloads import Builder


def dense(stream: random.Random, layers: int) -> list[list[int]]:
    """Return producers: most layers read all of the last few."""
    producers: list[list[int]] = [[]]
    for v in range(1, layers):
        reach = stream.choice((1, 2, 3, v, v))
        producers.append([u for u in range(max(0, v - reach), v) if stream.random() < 0.85] or [v - 1])
    return producers


def dense_problem(seed: int, most_layers: int) -> Problem:
    """Return a dense block on some hardware."""
    stream = random.Random(seed)
    network = dag(dense(stream, stream.randint(3, most_layers)), kernel=stream.choice((1, 3)))
    size = stream.choice((900, 1400, 2000, 3000, 4500))
    common = {"cores": stream.choice((1, 1, 1, 2)), "batch": stream.choice((1, 2)), "max_regions": 64}
    machine = Accelerator(shared_buffer=size, **common)
    if stream.random() < 0.4:
        machine = Accelerator(global_buffer=size, weight_buffer=stream.choice((400, 2000)), **common)
    return on_hardware(network, machine, metric=stream.choice(("ema", "energy", "latency-sum")))


def check(problem: Problem, seed: int) -> int:
    """Compare both engines, tensors told apart and not, and the plan's price; return the states that were saved."""
    question = keep_question(problem)
    merged, apart = exact_plan(question), exact_plan(question._replace(alike=()))
    assert merged.status == apart.status, seed
    assert merged.cost == pytest.approx(apart.cost, rel=1e-12), seed
    found = [cheapest_plans(problem, engine=engine) for engine in ("fast", "reference")]
    assert found[0] == found[1], seed
    if found[0].partitions is not None:
        (plan,), (network,) = found[0].partitions, problem.networks
        priced = evaluate(network, plan, problem.accelerator, problem.tile_rule)
        assert priced.fits and problem.objective.judged([priced]) == pytest.approx(found[0].cost, rel=1e-12), seed
    return apart.states - merged.states


@few_seeds(20, 50)
def test_the_least_cost_is_that_of_tensors_told_apart(seeds):
    saved = [check(dense_problem(seed, 6), seed) for seed in seeds]
    assert sum(each > 0 for each in saved) > len(seeds) // 10


test_the_least_cost_of_more_problems_is_that_of_tensors_told_apart = over_seeds(
    lambda seed: check(dense_problem(seed, 8), seed), 50, 1_500
)


def test_a_state_stands_for_those_that_keep_as_many():
    """0, 1 and 2 are read by 3 and 4: the unwritten one comes first, then the written one."""
    alike = Alike((0, 0, 0, -1, -1), (0b11000, 0b11000, 0b11000, 0b10000, 0), 5)
    assert alike.groups(0b00111) == ((0, 1, 2),) and alike.groups(0b00011) == ((0, 1),)
    assert alike.first(Place(0b00111, 0b100, 0b010)) == Place(0b00111, 0b001, 0b010)
    assert alike.before(0b00111) == {1: 0, 2: 1}


def test_a_way_is_told_in_the_tensors_that_it_began_with():
    """2 is kept, and stands as 0 from then on; then 0 stays, which is 2, and 1, which is 0: the first of the others."""
    alike = Alike((0, 0, 0, -1, -1), (0b11000, 0b11000, 0b11000, 0b10000, 0), 5)
    assert alike.untangled([Place(0b00111, 0b100, 0), Place(0b01111, 0b001, 0b010)]) == [[2], [0, 2]]


@pytest.mark.parametrize(("change", "kinds"), [({}, (0, 0, -1, -1)), ({"op": "add"}, (-1, -1, -1, -1))])
def test_only_convolutions_read_alike(change: dict[str, str], kinds: Sequence[int]):
    network = dag([[], [], [0, 1]])
    last = replace(network.layers[2], **change)
    if change:
        last = replace(last, in_channels=8, kernel=(1, 1))
    assert kinds_of(replace(network, layers=(*network.layers[:2], last))) == kinds


@pytest.mark.parametrize("count", [22, 40, 63, 64, 65, 66, 130, 200])
def test_alike_inputs_are_counted_not_chosen(count):
    """All stay for three readers: all weights, inputs and outputs cross once, 44 k + 96 bytes. 2 k states and some."""
    problem = on_hardware(
        many(count), Accelerator(shared_buffer=400 * count, max_regions=None, connected="paper"), metric="ema"
    )
    found = [cheapest_plans(problem, engine=engine) for engine in ("fast", "reference")]
    assert found[0] == found[1] and found[0].is_proven
    assert found[0].cost == 3 * 4 * count + 32 * count + 3 * 32
    assert found[0].plans[0].states <= 2 * count + 7 and found[0].plans[0].steps <= 5 * count + 252


@pytest.mark.parametrize("count", [34, 64, 70])
def test_inputs_that_differ_are_chosen_while_the_budget_lasts(count):
    """2 ** k choices of what is dropped after the first reader, each a step: nobody says that all were seen."""
    network = many(count, shapes=count)
    problem = on_hardware(
        network, Accelerator(shared_buffer=2_000 * count, max_regions=None, connected="paper"), metric="ema"
    )
    found = [cheapest_plans(problem, 500, 3_000, engine=engine) for engine in ("fast", "reference")]
    assert found[0] == found[1] and found[0].plans[0].status == "gave_up"
    found = [cheapest_plans(problem, 10**6, 2_000, engine=engine) for engine in ("fast", "reference")]
    assert found[0] == found[1] and found[0].plans[0].reason == "more than 2000 steps"


def test_densenet_is_proved():
    """24 tensors of a block may be kept or not: some 2 ** 24 states after one step if told apart, else 25."""
    problem = on_hardware(workloads.load("densenet121"), Accelerator(shared_buffer=512 * KiB), metric="energy")
    found = cheapest_plans(problem, max_steps=32_000_000)
    assert found.is_proven and found.plans[0].states < 40_000


@pytest.mark.parametrize("groups, alike", [(1, True), (2, False)])
def test_operands_that_groups_of_channels_tell_apart_do_not_stand_for_one_another(groups: int, alike: bool):
    """Of two groups, one sees the channels of x only and the other those of y."""
    b = Builder("operands")
    b.conv("reader", [b.input("x", 4, 4, 8), b.input("y", 4, 4, 8)], 16, groups=groups)
    network = b.build()
    x, y = (kinds_of(network)[network.tensors.index(tensor)] for tensor in network.inputs)
    assert (x == y >= 0) == alike and (alike or x == y == -1)
