"""Windows of a plan: against every plan of small random networks, never worse, cut off where that is proven."""

from __future__ import annotations

import math
import random
from itertools import islice

import pytest

from cocco.candidates.stream import Stream
from cocco.search.exact.exact import exact_way
from cocco.search.exact.moves import Memo
from cocco.search.exact.neighbourhood import STALE, Neighbourhood
from cocco.search.exact.orders import several_orders
from cocco.search.exact.route import Pricing, Route, route_of
from cocco.search.exact.window import FOUND, Limits, all_of
from simulator import Partition
from tests.helpers.every_kept_plan import all_orders, all_spans, cheapest, cost_of_plan
from tests.helpers.exact_plan import exact_plan
from tests.helpers.kept_questions import random_question
from tests.helpers.parts import few_seeds


def some_plans(seed: int, question, count: int) -> list[Route]:
    """Return a few plans that fit, of all there are."""
    found, rng, orders = [], random.Random(seed), list(all_orders(question.network, question.connected))
    for order in rng.sample(orders, min(8, len(orders))):
        spans = list(islice(all_spans(question.network, order), 300)) if question.may_keep else [[]]
        for each in rng.sample(spans, min(12, len(spans))):
            if cost_of_plan(question, order, each) < math.inf:
                found.append(route_of(order, each))
    rng.shuffle(found)
    return found[:count]


def plan_cost(question, route: Route) -> float:
    """Return what a plan costs by the readable way; raises where it is none."""
    Partition.from_ids(question.network, route.subgraphs, keep=route.spans)
    return cost_of_plan(question, route.subgraphs, route.spans)


def test_a_route_costs_what_its_plan_costs():
    count = 0
    for seed in range(60):
        question = random_question(seed, 4)
        for route in some_plans(seed, question, 5):
            assert Pricing(question).priced(route).cost == plan_cost(question, route), seed
            count += 1
    assert count > 100


@few_seeds(20, 150)
def test_windows_keep_plans_whole_and_never_make_them_cost_more(seeds):
    """Any window of any plan: what is put together is a plan, costs what was said, and no more than before."""
    better = shorter = 0
    for seed in seeds:
        question = random_question(seed, 5)
        pricing, memo, least = Pricing(question), Memo(question), cheapest(question)[0] if seed < 20 else -math.inf
        for route in some_plans(seed, question, 4):
            plan = pricing.priced(route)
            for first in range(len(route.groups)):
                for last in range(first + 1, len(route.groups) + 1):
                    way = exact_way(memo, plan.window(first, last), Limits())
                    assert way.why == FOUND and way.cost <= plan.cost_of(first, last), seed
                    new = pricing.priced(route.with_way(first, last, way))
                    assert new.cost == plan_cost(question, new.route)
                    assert least <= new.cost <= plan.cost - plan.cost_of(first, last) + way.cost
                    better += new.cost < plan.cost
                    shorter += last - first < len(route.groups)
    assert better > 4 * len(seeds) and shorter > 6 * len(seeds)


def test_the_window_of_all_layers_has_the_optimum():
    for seed in range(60):
        question = random_question(seed, 4)
        way = exact_way(Memo(question), all_of(question.network), Limits())
        assert way.cost == cheapest(question)[0]


def test_nothing_costs_less_than_the_optimum():
    """Cut off at the optimum nothing is left, and that is proven; just above it the optimum is found."""
    fewer = 0
    for seed in range(100):
        question = random_question(seed, 5)
        found = exact_plan(question)
        if found.subgraphs is None:
            continue
        none = exact_plan(question, below=found.cost)
        assert (none.status, none.subgraphs, none.cost) == ("none_below", None, math.inf)
        assert none.states <= found.states
        above = exact_plan(question, below=found.cost + 0.5)
        assert (above.subgraphs, above.spans, above.cost) == (found.subgraphs, found.spans, found.cost)
        fewer += above.states < found.states
    assert fewer > 50


def test_a_question_without_an_answer_is_infeasible_with_and_without_a_cut():
    question = random_question(3, 4)._replace(price=lambda step: math.inf)
    assert exact_plan(question).status == exact_plan(question, below=1e9).status == "infeasible"
    assert exact_plan(question, below=0.0).status == "none_below"


def test_of_subgraphs_as_large_as_allowed_the_cheapest_way_is_found():
    for seed in range(30):
        question = random_question(seed, 5)
        limited = exact_way(Memo(question), all_of(question.network), Limits(units=2))
        small = question._replace(may_fit=lambda group, question=question: len(group) <= 2 and question.may_fit(group))
        assert limited.cost >= exact_plan(question).cost
        if limited.why == FOUND:
            assert max(map(len, limited.groups)) <= 2
            assert limited.cost >= exact_plan(small).cost


@pytest.mark.parametrize("seed", range(8))
def test_walks_never_get_worse_and_repeat(seed):
    question = random_question(seed + 40, 6)
    pricing = Pricing(question)
    start = pricing.priced(route_of([(v,) for v in range(len(question.network.layers))], ()))
    best = exact_plan(question).cost

    def walk(number: int) -> Neighbourhood:
        memo = Memo(question)
        walk = Neighbourhood(
            pricing, lambda window, limits: exact_way(memo, window, limits), Stream(number, 0, 0), start
        )
        last = walk.plan.cost
        for steps in range(10_000, 60_001, 10_000):
            walk.go(steps)
            assert walk.plan.cost <= last
            last = walk.plan.cost
        return walk

    first, again = walk(seed), walk(seed)
    assert (first.plan, first.steps) == (again.plan, again.steps)
    assert first.plan.cost >= best
    if first.plan.cost < math.inf:
        assert plan_cost(question, first.plan.route) == first.plan.cost


@pytest.mark.parametrize("seed", range(4))
def test_a_walk_ends_once_long_no_window_gave_a_cheaper_plan(seed):
    """However many steps it may take; here it starts at the optimum, so all of its windows are in vain."""
    question, windows = random_question(seed + 40, 6), []
    best, memo, pricing = exact_plan(question), Memo(question), Pricing(question)

    def search(window, limits):
        windows.append(window)
        return exact_way(memo, window, limits)

    walk = Neighbourhood(pricing, search, Stream(seed, 0, 0), pricing.priced(route_of(best.subgraphs, best.spans)))
    walk.go(10**12)
    assert walk.plan.cost == pytest.approx(best.cost)
    assert STALE <= len(windows) <= STALE * len(question.network.layers)


def test_orders_are_orders():
    """Each of the three is one in which the subgraphs can run."""
    for seed in range(40):
        question = random_question(seed, 6)
        groups = next(all_orders(question.network, question.connected))
        for order in several_orders(question.network, groups, question.whole):
            assert sorted(order) == sorted(groups)
            done = set(range(len(question.network.layers), len(question.network.tensors)))
            for group in order:
                done.update(group)
                assert all(p in done for v in group for p in question.network.producers[v])
