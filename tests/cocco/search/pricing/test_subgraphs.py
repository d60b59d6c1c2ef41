"""The cost of one subgraph, and the condition that is necessary and monotone."""

from __future__ import annotations

import math
from itertools import combinations

import pytest

from cocco.candidates.genome import connected_parts
from cocco.problem.problem import Problem, on_hardware
from cocco.search.kernel.choice import has_kernel
from cocco.search.pricing.compiled import subgraph_costs
from cocco.search.pricing.genomes import LeanModel
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from simulator.evaluation import evaluate
from simulator.model.cost import Totals
from simulator.partition.partition import Partition
from simulator.technology import TILES
from tests.helpers.parts import first_of
from tests.helpers.random_language import random_language_problem
from tests.helpers.random_problems import random_problem
from tests.helpers.search_graphs import chain, diamond, fixed, spaced

GRAPHS = first_of([range(60), range(1_000)], 1)


def subsets(problem: Problem) -> list[tuple[int, ...]]:
    """Return all sets of two layers and more."""
    return [group for count in range(2, problem.size + 1) for group in combinations(range(problem.size), count)]


@pytest.mark.parametrize("seeds", GRAPHS)
def test_what_fits_may_fit_on_random_graphs(seeds):
    """Necessary: no set of layers that the simulator can run is refused; some that it cannot run are."""
    refused = fitting = 0
    for seed in seeds:
        problem = random_problem(seed, most_layers=6)
        costs = SubgraphCosts(problem)
        for group in subsets(problem):
            if len(connected_parts(problem, group)) > 1:
                continue
            refused += not costs.may_fit(group)
            if costs.costs(group) < math.inf:
                fitting += 1
                assert costs.may_fit(group), (seed, group)
    assert refused > 0.8 * len(seeds) and fitting > 0.8 * len(seeds)


@pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")
@pytest.mark.parametrize("seeds", [range(60), pytest.param(range(60, 2_000), marks=pytest.mark.slow)])
def test_engines_agree_on_what_may_fit(seeds):
    answers = {True: 0, False: 0}
    for seed in seeds:
        problem = random_problem(seed, most_layers=6)
        if seed % 3 == 0:
            problem = random_language_problem(seed, ("rows", "bits", "experts", "apart")[seed // 3 % 4], is_given=True)
        readable, compiled = SubgraphCosts(problem), subgraph_costs(problem, "fast")
        for group in subsets(problem)[:200]:
            answer = compiled.may_fit(group)
            assert answer == readable.may_fit(group), (seed, group)
            answers[answer] += 1
    assert min(answers.values()) > 5 * len(seeds)


def test_what_outgrows_64_bits_is_priced_by_the_readable_engine():
    def outgrown(group):
        raise OverflowError

    problem = fixed(diamond(), 4096)
    readable, other = SubgraphCosts(problem), SubgraphCosts(problem, twin=outgrown)
    assert [readable.costs((v,)) for v in range(4)] == [other.costs((v,)) for v in range(4)]
    assert other.layers_priced == 4


@pytest.mark.parametrize("seeds", GRAPHS)
def test_least_activation_is_a_bound_for_every_tile_on_random_graphs(seeds):
    """The same to the byte: the bound is at most what each tile holds, and on some subgraphs just that."""
    tight = 0
    for seed in seeds:
        problem = random_problem(seed, most_layers=6)
        costs = SubgraphCosts(problem)
        for group in subsets(problem):
            if len(connected_parts(problem, group)) > 1:
                continue
            model = LeanModel(problem.rules[0], group)
            tiles = [*((side, side) for side in TILES), *((rows, model.candidates.columns) for rows in (1, 2, 3, 7))]
            needs = [model._need(tile) for tile in tiles if model.tiling(tile) is not None]
            if needs:
                bound = costs.least_activation(group)
                assert bound <= min(needs), (seed, group)
                tight += bound == min(needs)
    assert tight > 0.8 * len(seeds)


@pytest.mark.parametrize("seeds", GRAPHS)
def test_what_may_fit_may_fit_without_a_layer_on_random_graphs(seeds):
    """Monotone, one layer at a time and so for all subsets; with whole-tensor edges too. The bound is, to the byte."""
    for seed in seeds:
        problem = random_problem(seed, most_layers=6)
        costs = SubgraphCosts(problem)
        for group in subsets(problem):
            bound = costs.least_activation(group)
            for v in group:
                fewer = tuple(u for u in group if u != v)
                assert costs.least_activation(fewer) <= bound, (seed, group, v)
                assert costs.may_fit(fewer) or not costs.may_fit(group), (seed, group, v)


def test_cost_is_the_weighted_metric_of_the_simulator():
    """A partition of one subgraph costs what the subgraph costs."""
    for metric, field in (("ema", "ema_bytes"), ("energy", "energy_pj"), ("latency-sum", "latency_cycles")):
        network, machine = diamond(), Accelerator(shared_buffer=65536)
        problem = on_hardware(network, machine, metric=metric, weights=[3.0])
        whole = Partition.from_ids(network, [range(4)])
        assert SubgraphCosts(problem).costs((0, 1, 2, 3)) == 3.0 * getattr(evaluate(network, whole, machine), field)


def test_a_subgraph_is_counted_once():
    """2 + 3 layers of 4 priced: 2 samples; asking again is free."""
    costs = SubgraphCosts(fixed(chain(4)))
    for group in ((0, 1), (1, 2, 3), (0, 1)):
        costs.costs(group)
    assert costs.layers_priced == 5
    assert costs.samples == 2


def test_memo_is_bounded():
    """With a memo of one, a subgraph is forgotten after the next."""
    costs = SubgraphCosts(fixed(chain(4)), memo=1)
    for group in ((0, 1), (1, 2), (0, 1)):
        costs.costs(group)
    assert costs.layers_priced == 6


def test_prices_may_come_from_another_engine():
    """An engine that knows the answers: 5 bytes for one layer, nothing else fits."""
    costs = SubgraphCosts(fixed(chain(2)), price=lambda group: Totals(5, 0, 0, 0, 0, 0) if len(group) == 1 else None)
    assert costs.costs((0,)) == 5.0
    assert costs.costs((0, 1)) == math.inf


def test_hardware_to_be_chosen_is_an_error():
    with pytest.raises(ValueError, match="shared_buffer is to be chosen"):
        SubgraphCosts(spaced(chain(2)))
