"""Limits on the latency that is executed: kept as the simulator runs the plan, with bounds that hold of every plan."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

import cocco
import workloads
from cocco.effort.status import Interrupted
from cocco.exploration import executed
from cocco.latency.places import placed_run
from simulator import Accelerator, KiB
from simulator.evaluation import evaluate
from simulator.model.priced import price_partition
from tests.helpers.parts import first_of
from tests.helpers.random_graphs import random_network
from tests.helpers.search_graphs import chain

SIZES = tuple(range(256, 3 * KiB + 1, 256))
RANGE = cocco.SharedBuffer(SIZES[0], SIZES[-1], 256)


def fastest(network, size):
    """Return the least latency that `partition` finds in a memory, infinite where nothing runs."""
    found = cocco.partition(network, Accelerator(shared_buffer=size), metric="latency", samples=300)
    return found.cost if found.plans else math.inf


def placed_cycles(evaluation):
    """Return the cycles of a plan when all that lies ahead has an address."""
    priced = price_partition(*evaluation.source, evaluation.accelerator, evaluation.tile_rule)
    return placed_run(priced).run.end / evaluation.accelerator.dram_bytes_per_cycle


@pytest.mark.parametrize("seed", first_of(range(30), 3))
def test_no_smaller_memory_is_known_to_run_in_time(seed):
    network, draws = random_network(seed, channels=8), random.Random(seed)
    limit = (1 + draws.random() / 3) * fastest(network, SIZES[-1])
    smaller = {size: fastest(network, size) for size in draws.sample(SIZES, 3)}
    found = cocco.minimize(network, "capacity", {"latency": limit}, space=RANGE, samples=4000)
    assert found.best is not None and found.value is not None and found.lower_bound is not None
    assert found.lower_bound <= found.value <= min([SIZES[-1], *(size for size in smaller if smaller[size] <= limit)])
    again = evaluate(network, found.best.plans[0], found.best.accelerator)
    assert found.best.values[found.objectives.index("latency")] == again.latency_executed_cycles <= limit
    assert found.status == ("optimal" if found.value == found.lower_bound else "feasible")


@pytest.mark.parametrize("criterion", ["energy", "ema"])
@pytest.mark.parametrize("seed", first_of(range(100, 115), 2))
def test_the_least_within_a_latency_is_no_better_than_without_and_as_good_where_that_is_in_time(criterion, seed):
    network = random_network(seed, channels=8)
    free = cocco.minimize(network, criterion, {"capacity": SIZES[-1]}, space=RANGE, samples=1000)
    runs_in = placed_cycles(free.best.evaluations[0])
    loose = cocco.minimize(network, criterion, {"latency": runs_in}, space=RANGE, samples=1000)
    assert (loose.value, loose.status) == (free.value, free.status)
    tight = cocco.minimize(network, criterion, {"latency": 0.97 * runs_in}, space=RANGE, samples=1000)
    assert tight.lower_bound is None or tight.lower_bound >= free.lower_bound
    if tight.best is not None:
        assert tight.value >= free.value * (1 - 1e-9)
        assert tight.best.evaluations[0].latency_executed_cycles <= 0.97 * runs_in


@pytest.mark.parametrize("seed, size", [(8, 512), (30, 1024)])
def test_the_best_without_the_limit_is_judged_with_places_for_what_lies_ahead(seed, size):
    """By bytes alone more would lie ahead in these memories, and the plan would be in time."""
    network, space = random_network(seed, channels=8), cocco.SharedBuffer(size, size, size)
    free = cocco.minimize(network, "energy", {"capacity": size}, space=space, samples=1000)
    by_bytes, placed = free.best.evaluations[0].latency_executed_cycles, placed_cycles(free.best.evaluations[0])
    assert by_bytes < placed
    found = cocco.minimize(network, "energy", {"latency": (by_bytes + placed) / 2}, space=space, samples=1000)
    for each in filter(None, (found.best, found.nearest)):
        assert each.evaluations[0].latency_executed_cycles == placed_cycles(each.evaluations[0])
    assert found.best is None or found.value > free.value


def test_the_sum_of_the_paper_may_be_in_time_where_the_run_is_not():
    network, space = workloads.load("vgg16"), cocco.SharedBuffer(256 * KiB, 512 * KiB, 256 * KiB)
    by_sum = cocco.minimize(network, "capacity", {"latency-sum": 24e6}, space=space, samples=40)
    assert by_sum.best.evaluations[0].latency_executed_cycles > 24e6 >= by_sum.best.evaluations[0].latency_cycles
    found = cocco.minimize(network, "capacity", {"latency": 24e6}, space=space, samples=40)
    assert found.best.evaluations[0].latency_executed_cycles <= 24e6
    assert found.objectives == ("capacity", "energy", "latency")


def test_the_fastest_within_a_capacity_is_that_of_partition_in_the_largest_memory():
    network = random_network(4, channels=8)
    found = cocco.minimize(network, "latency", {"capacity": 2 * KiB}, space=RANGE, samples=1000)
    assert found.value == cocco.partition(network, Accelerator(shared_buffer=2048), metric="latency", samples=1000).cost
    assert found.best.accelerator.shared_buffer == 2048


def test_faster_than_computing_is_proved_impossible_with_the_nearest():
    network = chain(4)
    cycles = evaluate(
        network, cocco.partition(network, Accelerator(shared_buffer=8192)).plan, Accelerator(shared_buffer=8192)
    ).compute_cycles
    found = cocco.minimize(network, "energy", {"latency": cycles - 1}, space=RANGE, samples=200)
    assert (found.status, found.best, found.lower_bound) == ("infeasible", None, None)
    assert found.excess >= found.least_excess >= cycles / (cycles - 1)
    assert found.nearest.evaluations[0].latency_executed_cycles / (cycles - 1) == found.excess


def test_two_networks_keep_a_limit_on_the_sum_of_their_latencies():
    pair = [replace(random_network(seed, channels=8), name=f"random_{seed}") for seed in (4, 5)]
    apart = [fastest(network, SIZES[-1]) for network in pair]
    found = cocco.minimize(
        pair, "capacity", {"latency": 2 * apart[0] + apart[1]}, weights=[2, 1], space=RANGE, samples=1000
    )
    first, second = (each.latency_executed_cycles for each in found.best.evaluations)
    assert found.best.values[found.objectives.index("latency")] == 2 * first + second <= 2 * apart[0] + apart[1]


def test_an_interrupt_keeps_what_was_found(monkeypatch):
    network, tried = random_network(4, channels=8), []
    met = executed._Tried.met

    def interrupted(self, memory):
        tried.append(memory)
        if len(tried) > 1:
            raise KeyboardInterrupt
        return met(self, memory)

    monkeypatch.setattr(executed._Tried, "met", interrupted)
    limit = 2 * fastest(network, SIZES[-1])
    with pytest.raises(Interrupted) as stop:
        cocco.minimize(network, "capacity", {"latency": limit}, space=RANGE, samples=1000)
    assert stop.value.result.status == "stopped"
    assert stop.value.result.best.accelerator.shared_buffer == SIZES[-1]
