"""Partition, order and intervals together: by hand, and against every plan of small random networks."""

from __future__ import annotations

import math

import pytest

from cocco.effort.budgets import LOOK_STEPS, PRICE_STEPS
from cocco.search.exact.question import KeepQuestion, KeptStep
from simulator import Partition
from tests.helpers.every_kept_plan import cheapest, cost_of_plan
from tests.helpers.exact_plan import exact_plan
from tests.helpers.kept_questions import random_question
from tests.helpers.parts import few_seeds, over_seeds
from tests.helpers.search_graphs import chain, diamond


def moved(network, room, weights=1, most_together=1, **more) -> KeepQuestion:
    """Each layer has so many bytes of weights, each tensor 10 bytes; a subgraph holds 2 bytes for each tensor."""

    def price(step: KeptStep) -> float:
        tensors = {*step.layers, *(p for v in step.layers for p in network.producers[v])}
        held = 2 * len([u for u in tensors if not step.on_chip >> u & 1])
        if len(step.layers) > most_together or step.kept_bytes + held > room:
            return math.inf
        crossings = step.loaded.bit_count() + step.written.bit_count()
        return float(weights * len(step.layers) + 10 * crossings)

    count, tensors = len(network.layers), len(network.tensors)
    return KeepQuestion(
        network, room, (10,) * tensors, price, lambda group: len(group) <= most_together,
        more.pop("layer_floor", (0.0,) * count), (0.0,) * tensors, **more,
    )  # fmt: skip


def test_a_chain_keeps_each_tensor_until_it_is_read():
    """Input, output and four layers: 10 + 10 + 4 bytes. A step holds what it reads and makes: 20 bytes, once 12."""
    found = exact_plan(moved(chain(4), 20))
    assert (found.cost, found.status) == (24.0, "optimal")
    assert (found.subgraphs, found.spans) == ([(0,), (1,), (2,), (3,)], ((0, 0, 1), (1, 1, 2), (2, 2, 3)))


def test_without_room_for_two_every_other_tensor_is_kept():
    """12 bytes: one whole tensor beside a region. n0 or n1 stays, n2 stays: two of three spare 20 bytes each."""
    found = exact_plan(moved(chain(4), 12))
    assert found.cost == 20 + 4 + 20 and len(found.spans) == 2


def test_nothing_is_kept_where_that_is_forbidden():
    found = exact_plan(moved(chain(4), 100, may_keep=False))
    assert (found.cost, found.spans) == (4 + 8 * 10, ())


def test_a_layer_that_can_only_run_alone_runs_at_once():
    """Nothing may be kept: one order of a diamond is tried, a state and a step for each layer."""
    found = exact_plan(moved(diamond(), 100, may_keep=False))
    assert (found.subgraphs, found.states, found.steps) == (
        [(0,), (1,), (2,), (3,)],
        5,
        4 * (1 + LOOK_STEPS + PRICE_STEPS),
    )
    assert exact_plan(moved(diamond(), 6)).states > 5


def test_of_equally_cheap_plans_the_answer_has_the_fewest_subgraphs():
    """Crossings cost nothing, and three of four layers fit: of (0 1 2)(3), (0 1)(2 3), (0)(1 2 3), and more parts."""
    equal = moved(chain(4), 100, most_together=3, may_keep=False)._replace(price=lambda step: float(len(step.layers)))
    found = exact_plan(equal)
    assert (found.cost, found.subgraphs) == (4.0, [(0,), (1, 2, 3)])


def test_the_order_of_branches_is_found():
    """n0 to n1 and n2, both to n3: with 30 bytes all stays; with 22 two of n0, n1, n2 stay at a time."""
    assert exact_plan(moved(diamond(), 30)).cost == 4 + 20
    found = exact_plan(moved(diamond(), 22))
    assert found.cost == cheapest(moved(diamond(), 22))[0]
    assert found.cost > 24


def test_a_tensor_that_is_read_again_may_be_dropped_and_loaded():
    """Room for two whole tensors: n0 is written and kept for n1, dropped, read from DRAM by n2 or kept again."""
    found = exact_plan(moved(diamond(), 22))
    assert found.subgraphs is not None
    Partition.from_ids(diamond(), found.subgraphs, keep=found.spans)  # raises where an interval is none
    assert cost_of_plan(moved(diamond(), 22), found.subgraphs, found.spans) == found.cost


def test_no_plan_where_a_layer_never_fits():
    found = exact_plan(moved(chain(3), 3))
    assert (found.status, found.subgraphs, found.cost) == ("infeasible", None, math.inf)


@pytest.mark.parametrize(("budget", "reason"), [((3, 10_000), "3 states"), ((100, 40), "40 steps")])
def test_gives_up_where_a_budget_is_spent(budget, reason):
    found = exact_plan(moved(chain(5), 20), *budget)
    assert (found.status, found.subgraphs) == ("gave_up", None)
    assert reason in found.reason and found.states <= budget[0]


def check(seed: int, most_layers: int) -> tuple[int, int]:
    """Compare with every plan; return how many there are, and how many intervals the cheapest has."""
    question = random_question(seed, most_layers)
    found = exact_plan(question)
    least, plans = cheapest(question)
    assert found.cost == least, seed
    if found.subgraphs is None:
        assert found.status == "infeasible"
        return plans, 0
    partition = Partition.from_ids(question.network, found.subgraphs, keep=found.spans)
    assert cost_of_plan(question, found.subgraphs, found.spans) == least, seed
    assert tuple(sorted(each.span for each in partition.keep)) == found.spans
    return plans, len(found.spans)


@few_seeds(100, 300)
def test_no_plan_is_cheaper_on_random_networks(seeds):
    """Up to 4 layers, a few of 5, whatever the prices."""
    results = [check(seed, 4 + (seed % 8 == 0)) for seed in seeds]
    assert sum(spans for _, spans in results) > len(seeds) // 3
    assert sum(plans for plans, _ in results) > 70 * len(seeds) - 1_000


test_no_plan_is_cheaper_on_larger_random_networks = over_seeds(
    lambda seed: check(seed, 5 if seed < 1300 else 6), 300, 1500
)


def test_floors_change_the_work_and_not_the_answer():
    fewer = 0
    for seed in range(60):
        question = random_question(seed, 6)
        without = question._replace(
            layer_floor=(0.0,) * len(question.layer_floor), crossing_floor=(0.0,) * len(question.crossing_floor)
        )
        with_floors, plain = exact_plan(question), exact_plan(without)
        assert with_floors.cost == plain.cost
        fewer += with_floors.states < plain.states
    assert fewer > 10
