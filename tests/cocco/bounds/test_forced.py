"""What must cross to DRAM: by hand, and below the cheapest of all partitions, met by some."""

from __future__ import annotations

import pytest

from cocco.bounds.cheapest import cheapest_plans
from cocco.bounds.floors.forced import least_traffic
from cocco.bounds.floors.least import lower_bound
from cocco.problem.problem import on_hardware, over_space
from cocco.problem.space import SharedBuffer
from simulator.accelerator import Accelerator
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain, dag


def test_layers_that_cannot_be_together_exchange_their_tensor():
    """Three 3x3 convolutions of 576 bytes of weights; 600 bytes hold one: maps 2 * 512, and 2 * 2 * 512 between.

    Any two may run as a nest, in which nothing crosses between them.
    """
    machine = Accelerator(global_buffer=65536, weight_buffer=600, plans="paper")
    assert least_traffic(on_hardware(chain(3), machine)) == [(3 * 576, 2 * 512 + 4 * 512)]
    assert least_traffic(on_hardware(chain(3), Accelerator(global_buffer=65536, weight_buffer=600))) == [(1728, 1024)]
    assert least_traffic(on_hardware(chain(3), Accelerator(global_buffer=65536, weight_buffer=1152))) == [(1728, 1024)]


def test_a_tensor_crosses_where_no_memory_holds_all_its_readers():
    """n0 feeds n1, n2, n3, each of 64 bytes of weights: 3 layers fit, so one is elsewhere, but any two may be together.

    The model input once, n0 written and read, three outputs: 6 * 512. With 64 bytes each layer reads it for itself.
    """
    network = dag([[], [0], [0], [0]])
    for weights, times in ((192, 6), (64, 8)):
        machine = Accelerator(global_buffer=65536, weight_buffer=weights)
        assert least_traffic(on_hardware(network, machine)) == [(4 * 64, times * 512)]


def test_readers_of_a_model_input_that_cannot_be_together_read_it_each():
    machine = Accelerator(global_buffer=65536, weight_buffer=64)
    assert least_traffic(on_hardware(dag([[], [], []]), machine)) == [(3 * 64, 6 * 512)]


def test_the_largest_memory_counts_where_it_is_chosen():
    space = SharedBuffer(low=1024, high=9216, step=1024)
    assert least_traffic(over_space(chain(3), space)) == [(1728, 1024)]


@pytest.mark.parametrize("seeds", [range(150), pytest.param(range(150, 1000), marks=pytest.mark.slow)])
def test_bound_is_below_the_optimum_of_random_problems_and_often_meets_it(seeds):
    """Shared and separate, cores, batches, whole operands, both tile rules, all metrics, streamed layers."""
    met = 0
    for seed in seeds:
        problem = random_problem(seed, most_layers=8)
        answer = cheapest_plans(problem, 20_000, 3_000_000, may_keep=False)
        if answer.is_proven:
            bound = lower_bound(problem)
            assert 0 < bound <= answer.cost * (1 + 1e-12), seed
            met += bound >= answer.cost * (1 - 1e-12)
    assert met > len(seeds) // 10
