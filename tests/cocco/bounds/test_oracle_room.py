"""The oracle's room: no set of layers is ruled out in the least memory in which it runs; forks hold more."""

from __future__ import annotations

import math
import random
from itertools import combinations

import pytest

pytest.importorskip("ortools")
pytest.importorskip("scipy")

from cocco.bounds.certificate import certify
from cocco.bounds.cheapest import cheapest_plans
from cocco.bounds.floors.forced import Hulls
from cocco.bounds.parts.crossings import crossings, tensors_of
from cocco.bounds.prices.oracle import Oracle
from cocco.bounds.prices.partition_bound import PartitionBound
from cocco.bounds.prices.tolls import makers, plain_tolls
from cocco.problem.problem import Problem, on_hardware
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from tests.helpers.random_problems import is_joined, random_net
from workloads.network.builder import Builder
from workloads.network.network import Network

MOST = 2**18  #: bytes of the largest memory that is looked at
DEAR = 2**30


def memory(network: Network, size: int, **more: int) -> Problem:
    return on_hardware(network, Accelerator(shared_buffer=size, **more), metric="ema", keep="none")


def least_memory(network: Network, group: tuple[int, ...], **more: int) -> int | None:
    """Return the least shared buffer in which a set of layers runs, held or in groups; None if none is small enough."""
    low, high = 0, MOST
    if SubgraphCosts(memory(network, high, **more)).costs(group) == math.inf:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        fits = SubgraphCosts(memory(network, middle, **more)).costs(group) < math.inf
        low, high = (low, middle) if fits else (middle, high)
    return high


def allows(problem: Problem, group: tuple[int, ...], has_leads: bool) -> bool:
    """Return whether the oracle finds the set where its layers are dear, and all others cost as much."""
    costs = SubgraphCosts(problem)
    tensors = tensors_of(problem)
    pairs, inside = makers(tensors), set(group)
    oracle = Oracle(problem, costs, Hulls(problem, costs), tensors, pairs, range(problem.size), has_leads=has_leads)
    prices = [DEAR if v in inside else -DEAR for v in range(problem.size)]
    found = oracle.worst(prices, plain_tolls(tensors, pairs), 10.0)
    return found.least <= crossings(tensors, group) - DEAR * len(group)


def check(seed: int) -> int:
    """Return how many sets of layers were looked at, each in the least memory in which it runs."""
    rng, network = random.Random(seed), random_net(seed)
    count, more = len(network.layers), {"cores": 2} if seed % 8 == 7 else {}
    hulls = Hulls(memory(network, MOST, **more), SubgraphCosts(memory(network, MOST, **more)))
    groups = [
        group
        for size in range(2, min(count, 8) + 1)
        for group in combinations(range(count), size)
        if hulls.between(group).bit_count() == size
    ]
    looked_at = 0
    for group in rng.sample(groups, min(len(groups), 6)):
        least = least_memory(network, group, **more)
        if least is None or group in SubgraphCosts(memory(network, least, **more)).nests:
            continue
        problem = memory(network, least, **more)
        if SubgraphCosts(problem).may_hold(group) and is_joined(problem, group):
            for has_leads in (False, True):
                assert allows(problem, group, has_leads), (seed, group, least)
            looked_at += 1
    return looked_at


def test_no_set_is_ruled_out_in_the_least_memory_in_which_it_runs():
    assert sum(check(seed) for seed in range(60)) > 60


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_no_set_is_ruled_out_on_thousands(part: int):
    assert sum(check(seed) for seed in range(1_000 + 500 * part, 1_500 + 500 * part)) > 500


def fork() -> Network:
    """A branch of three 3x3 convolutions beside one of 1x1."""
    b = Builder("fork")
    x = first = b.conv("first", b.input("image", 64, 64, 8), 8)
    for i in range(3):
        x = b.conv(f"deep{i}", x, 8, kernel=3, padding=1)
    b.add("join", [b.conv("beside", first, 8), x])
    return b.build()


def test_the_short_branch_of_a_fork_holds_what_the_long_one_runs_ahead():
    """Three rows wait where a window of 3x3 needs two: one of 64 pixels of 8 bytes more."""
    network, group = fork(), tuple(range(6))
    least = least_memory(network, group)
    assert least is not None

    def least_allowed(has_leads: bool) -> int:
        return next(size for size in range(100, least + 100, 100) if allows(memory(network, size), group, has_leads))

    assert least_allowed(True) - least_allowed(False) >= 400


def test_a_bound_rises_where_sets_are_forgotten_that_do_not_run(monkeypatch: pytest.MonkeyPatch):
    """A little less than all six layers take: at least one tensor crosses, which only leads prove."""
    network = fork()
    least = least_memory(network, tuple(range(6)))
    assert least is not None
    problem = memory(network, least - 100)
    optimum = cheapest_plans(problem, 20_000, 3_000_000, may_keep=False)
    assert optimum.is_proven
    bound = certify(problem, list(range(6)), 2.0).lower_bound
    monkeypatch.setattr(PartitionBound, "_look_closer", lambda _: False)
    assert certify(problem, list(range(6)), 2.0).lower_bound < bound <= optimum.cost
