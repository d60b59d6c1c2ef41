"""Genomes that keep tensors on chip: the plans are those that were priced, and cost no more than without."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import workloads
from cocco.candidates.genome import Genome, random_capacities, random_labels
from cocco.candidates.judge import judged_plans
from cocco.candidates.stream import Stream
from cocco.problem.problem import Problem, on_hardware, over_space
from cocco.search.genetic.operators.repair import repair
from cocco.search.keeping.genome import decoded
from cocco.search.pricing.genomes import Pricer
from simulator.accelerator import Accelerator
from tests.helpers.random_problems import random_twin
from tests.helpers.search_graphs import chain, fixed

KIB = 1024


def check(problem: Problem, genomes: int) -> tuple[int, int]:
    """Judge random genomes to the last bit; return how many keep something, and how many run."""
    pricer, plain = Pricer(problem), Pricer(replace(problem, keep="none"))
    kept = fits = 0
    for child in range(genomes):
        stream = Stream(7, 0, child)
        genome = Genome(repair(problem, random_labels(problem, stream)), random_capacities(problem, stream))
        sample = pricer.evaluate(genome, stream)
        without = plain.evaluate(sample.genome, stream)
        assert without.genome == sample.genome
        assert sample.cost <= without.cost
        if sample.cost == math.inf:
            continue
        plans = decoded(problem, sample.genome)
        judged_plans(problem, plans, sample.genome.capacities, [sample.cost])
        keeps = any(plan.keep for plan in plans)
        assert keeps == (sample.value < without.value)
        kept, fits = kept + keeps, fits + 1
    return kept, fits


@pytest.mark.parametrize("seeds", [range(30), pytest.param(range(30, 200), marks=pytest.mark.slow)])
def test_random_genomes_of_random_problems_are_what_the_simulator_says(seeds):
    """Shared and separate buffers, spaces, cores, batch, metrics, tile rules, several networks."""
    found = [check(replace(random_twin(seed), keep="auto"), 3) for seed in seeds]
    kept, fits = (sum(each) for each in zip(*found))
    assert fits > 1.2 * len(seeds) and kept > 0.7 * len(seeds)


@pytest.mark.parametrize("name", ["vgg16", "googlenet", "gpt"])
def test_random_genomes_of_networks_are_what_the_simulator_says(name):
    kept, fits = check(over_space(workloads.load(name), alpha=0.002, keep="auto"), 2)
    assert kept == fits == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", workloads.PAPER_NETWORKS)
@pytest.mark.parametrize("metric", ["ema", "energy", "latency-sum"])
def test_many_genomes_of_networks_are_what_the_simulator_says(name, metric):
    kept, fits = check(over_space(workloads.load(name), alpha=0.002, metric=metric, keep="auto"), 12)
    assert fits == 12 and kept > 0


def test_a_chain_layer_by_layer_loads_and_writes_once():
    """Three 3x3 convolutions of 8 x 8 x 8: 576 bytes of weights each, maps of 512; two stay, in and out cross."""
    problem = replace(fixed(chain(3), 4096), keep="auto")
    sample = Pricer(problem).evaluate(Genome([0, 1, 2], ()), Stream(0, 0, 0))
    assert sample.value == 3 * 576 + 2 * 512
    (plan,) = decoded(problem, sample.genome)
    assert [each.span for each in plan.keep] == [(0, 0, 1), (1, 1, 2)]


def test_what_stays_has_room():
    """Two whole maps beside 576 bytes of weights need 1600; in less the middle layer has room for one of them."""
    kept = []
    for size in (1600, 1599, 700):
        problem = replace(fixed(chain(3), size), keep="auto")
        kept.append(len(decoded(problem, Genome([0, 1, 2], ()))[0].keep))
    assert kept == [2, 1, 0]


def test_none_gives_the_plain_partition():
    problem = fixed(chain(3), 4096)
    assert decoded(problem, Genome([0, 0, 2], ())) == problem.partitions([[0, 1], [2]])


def test_intervals_follow_the_metric_that_chooses_tiles():
    """A genome has one plan, whatever else of it is asked for."""
    network = workloads.load("googlenet")
    problem = on_hardware(network, Accelerator(shared_buffer=384 * KIB), metric="energy", keep="auto")
    other = replace(problem, objective=replace(problem.objective, metric="ema"), chosen_by="energy")
    genome = Pricer(problem).evaluate(Genome(list(range(problem.size)), ()), Stream(0, 0, 0)).genome
    assert decoded(problem, genome) == decoded(other, genome)
    sample = Pricer(other).evaluate(genome, Stream(0, 0, 0))
    judged_plans(other, decoded(problem, genome), (), [sample.cost])
