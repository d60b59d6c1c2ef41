"""Evaluation: prices equal the simulator's, what does not fit is split, and memos change nothing."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocco.candidates.genome import Genome, groups_of, random_capacities, random_labels
from cocco.candidates.stream import Stream
from cocco.problem.problem import on_hardware, over_space
from cocco.search.genetic.operators.repair import repair
from cocco.search.pricing.genomes import LeanModel, Pricer
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.model.pricing import SubgraphModel
from simulator.partition.partition import Partition
from tests.helpers.parts import first_of
from tests.helpers.search_graphs import chain, fixed, networks, spaced

MACHINES = [
    {"shared_buffer": 3000},
    {"shared_buffer": 40000, "cores": 2, "batch": 3},
    {"shared_buffer": 5000, "max_regions": 4},
    {"global_buffer": 3000, "weight_buffer": 700},
    {"global_buffer": 6000, "weight_buffer": 1500},
    {"shared_buffer": 680},
]


def judge(problem, sample):
    """Return Formula 1 of the sample as the simulator prices it; everything must fit."""
    machine = problem.accelerator_of(sample.genome.capacities)
    plans = problem.partitions(groups_of(sample.genome.labels))
    evaluations = [evaluate(network, plan, machine) for network, plan in zip(problem.networks, plans)]
    assert all(evaluation.fits for evaluation in evaluations)
    return problem.objective.judged(evaluations)


@pytest.mark.parametrize("examples", first_of([40, 100], 1))
@pytest.mark.parametrize("machine", MACHINES, ids=str)
def test_a_sample_fits_and_costs_what_the_simulator_says(machine, examples):
    @settings(max_examples=examples)
    @given(networks(9), st.integers(0, 1000), st.sampled_from(["ema", "energy", "latency-sum"]))
    def check(network, number, metric):
        problem = on_hardware(network, Accelerator(**machine), metric=metric)
        stream = Stream(number, 0, 0)
        genome = Genome(repair(problem, random_labels(problem, stream)), ())
        sample = Pricer(problem).evaluate(genome, stream)
        assert sample.value == judge(problem, sample)
        assert sample.cost == sample.value
        assert repair(problem, sample.genome.labels) == sample.genome.labels

    check()


def test_where_a_layer_has_no_loop_order_no_sample_has_a_finite_cost():
    """3 x 3 convolutions of 8 channels need 656 bytes; a byte less is infinite, as the simulator says."""
    for size, fits in ((655, False), (656, True)):
        problem = fixed(chain(3), size)
        sample = Pricer(problem).evaluate(Genome([0, 1, 2], ()), Stream(0, 0, 0))
        assert (sample.cost < math.inf) == fits
        assert evaluate(chain(3), Partition.layerwise(chain(3)), problem.accelerator).fits == fits


@given(networks(6, "first"), networks(6, "second"), st.integers(0, 1000))
def test_networks_are_priced_one_after_the_other(first, second, number):
    problem = over_space([first, second], weights=[2.0, 0.5], alpha=0.01)
    stream = Stream(number, 0, 0)
    genome = Genome(repair(problem, random_labels(problem, stream)), random_capacities(problem, stream))
    sample = Pricer(problem).evaluate(genome, stream)
    assert sample.value == judge(problem, sample)
    buffer = problem.accelerator_of(genome.capacities).shared_buffer
    assert sample.cost == buffer + 0.01 * sample.value


def test_what_fits_is_not_split():
    problem = fixed(chain(5))
    genome = Genome([0, 0, 0, 3, 3], ())
    assert Pricer(problem).evaluate(genome, Stream(0, 0, 0)).genome == genome


def test_what_does_not_fit_is_split_until_it_does():
    """A 3x3 convolution of 8 x 8 channels has 576 bytes of weights: three exceed the 1500 bytes of weight buffer."""
    problem = on_hardware(chain(9), Accelerator(global_buffer=65536, weight_buffer=1500))
    sample = Pricer(problem).evaluate(Genome([0] * 9, ()), Stream(0, 0, 0))
    assert max(map(len, groups_of(sample.genome.labels))) <= 2


def test_a_split_depends_on_the_stream_only():
    problem = fixed(chain(9), 1500)
    genome = Genome([0] * 9, ())
    samples = [Pricer(problem).evaluate(genome, Stream(0, 0, child)) for child in (1, 1, 2)]
    assert samples[0] == samples[1]
    assert genome.labels == [0] * 9


@given(network=networks(9), capacity=st.integers(300, 9000))
def test_a_lean_model_prices_like_the_simulators(network, capacity):
    problem = fixed(network)
    everything = range(problem.size)
    lean, full = LeanModel(problem.rules[0], everything), SubgraphModel(problem.rules[0], everything)
    for size in (capacity, 2 * capacity, capacity):
        assert lean.price(size, 0) == full.price(size, 0)


def test_a_memo_of_one_entry_gives_the_same_samples():
    problem = spaced(chain(9))
    small, large = Pricer(problem, 1, 1), Pricer(problem)
    for child in range(40):
        genome = Genome([0] * 4 + [4] * 5, (child % 9,))
        assert small.evaluate(genome, Stream(0, 0, child)) == large.evaluate(genome, Stream(0, 0, child))
    assert small.price.cache_info().currsize == small.model.cache_info().currsize == 1
