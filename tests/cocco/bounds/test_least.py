"""The lower bound: by hand, and below the optimum of all partitions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocco.bounds.floors.least import gap, lower_bound
from cocco.problem.problem import on_hardware, over_space
from simulator.accelerator import Accelerator
from tests.helpers.every_plan import optimum
from tests.helpers.search_graphs import SPACE, chain, fixed, networks


def test_bound_of_a_chain_by_hand():
    """Three 3x3 convolutions of 8 x 8 channels on 8x8 maps: weights 3 * 576, input 512, output 512.

    Energy at 1 MiB, 1.0 pJ/B: 100 * 2752 + (1024 + 2 * 3 * 512) + 2 * 1728 + 0.31 * 3 * 36864. Cycles of a layer:
    64 positions * 9 taps / 16 = 36; 3 * 36 = 108 are fewer than 2752 / 16 = 172.
    """
    assert lower_bound(fixed(chain(3))) == 2752
    assert lower_bound(fixed(chain(3), 2**20, "energy")) == pytest.approx(275200 + 4096 + 3456 + 34283.52, rel=1e-12)
    assert lower_bound(fixed(chain(3), metric="latency-sum")) == 172


def test_bound_of_formula_2_takes_the_smallest_memory():
    problem = over_space(chain(3), SPACE, alpha=0.5, metric="ema")
    assert lower_bound(problem) == 1024 + 0.5 * 2752


@settings(max_examples=25)
@given(
    networks(5),
    st.sampled_from([{"shared_buffer": 700}, {"global_buffer": 900, "weight_buffer": 300}, {"shared_buffer": 9000}]),
    st.sampled_from([(1, 1), (2, 3)]),
    st.sampled_from(["ema", "energy", "latency-sum"]),
)
def test_bound_is_below_the_optimum(network, buffers, cores_and_batch, metric):
    cores, batch = cores_and_batch
    problem = on_hardware(network, Accelerator(**buffers, cores=cores, batch=batch), metric=metric)
    assert 0 < lower_bound(problem) <= optimum(problem, ())


@settings(max_examples=5)
@given(networks(4), st.sampled_from(["ema", "energy", "latency-sum"]))
def test_bound_of_formula_2_is_below_the_optimum(network, metric):
    problem = over_space(network, SPACE, alpha=0.01, metric=metric)
    assert lower_bound(problem) <= min(optimum(problem, (i,)) for i in range(len(SPACE.candidates)))


def test_gap_is_the_share_left_open():
    assert gap(200.0, 150.0) == 0.25
    assert gap(200.0, 200.0) == gap(0.0, 0.0) == 0.0
