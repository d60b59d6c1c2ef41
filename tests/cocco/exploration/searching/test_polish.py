"""Founders and polish: never worse than what they start from, counted, and the same with both engines."""

from __future__ import annotations

import random

import pytest

import workloads
from cocco.candidates.genome import Genome, groups_of, random_labels
from cocco.candidates.stream import Stream
from cocco.exploration.searching.founders import founders
from cocco.exploration.searching.polish import polish
from cocco.problem.problem import Problem, in_memory
from cocco.search.baselines.greedy import greedy
from cocco.search.genetic.operators.repair import repair
from cocco.search.kernel.choice import engine_name, has_kernel
from cocco.search.pricing.compiled import subgraph_costs
from cocco.search.pricing.genomes import Pricer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.accelerator import Accelerator
from tests.helpers.least_memory import is_refused
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_net, random_twin
from tests.helpers.search_graphs import chain, fixed, spaced

SEEDS = [seed for seed in range(60) if not is_refused(random_twin(seed))]
needs_kernel = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


def start(problem: Problem, seed: int) -> tuple[list[int], tuple[int, ...]]:
    """Return a random partition that fits a random memory."""
    rng, stream = random.Random(seed), Stream(seed, 0, 0)
    memory = tuple(rng.randrange(len(sizes)) for sizes in problem.candidates)
    labels = repair(problem, random_labels(problem, stream))
    sample = Pricer(in_memory(problem, memory)).evaluate(Genome(labels, ()), stream)
    return sample.genome.labels, memory


@needs_kernel
@pytest.mark.parametrize("seed", first_of(SEEDS, 3))
def test_both_engines_polish_alike(seed):
    """Several networks with weights, metrics, rules, cores and batches; prices and layers priced as well."""
    from cocco.search.baselines.dynamic import improve
    from cocco.search.kernel._kernel import Kernel, Orders

    problem = random_twin(seed)
    labels, memory = start(problem, seed)
    given = in_memory(problem, memory)
    costs, orders = SubgraphCosts(given, memo=None), Orders(Kernel(given), 2**17)
    for call in range(3):
        before = costs.layers_priced
        changed, value = improve(given, costs, labels, Stream(seed, 5, call), 3)
        assert orders.improve(labels, seed, 5, call, 3) == (changed, value, costs.layers_priced - before)
        labels = changed
    assert polish(problem, labels, memory, 50, seed, "fast") == polish(problem, labels, memory, 50, seed, "reference")


@needs_kernel
def test_a_compiled_memo_that_forgets_counts_anew():
    """With room for no price each call prices the partition again: 6 layers of a chain at the least."""
    from cocco.search.kernel._kernel import Kernel, Orders

    kernel = Kernel(fixed(chain(6)))
    forgetful, keeping = Orders(kernel, 0), Orders(kernel, 2**17)
    counts = [(forgetful.improve([0] * 6, 1, 1, 1, 2)[2], keeping.improve([0] * 6, 1, 1, 1, 2)[2]) for _ in range(3)]
    assert counts[0][0] == counts[0][1] == counts[1][0] == counts[2][0] >= 6
    assert counts[1][1] == counts[2][1] == 0


@pytest.mark.parametrize("seed", first_of(range(20), 3))
def test_polish_is_never_worse_and_valid(seed):
    problem = fixed(random_net(seed), 300 + 500 * seed)
    labels, _ = start(problem, seed)
    polished = polish(problem, labels, (), 40, seed, "reference")
    before, after = (Pricer(problem).evaluate(Genome(each, ()), Stream(0, 0, 0)) for each in (labels, polished.labels))
    assert after.cost <= before.cost and after.genome.labels == polished.labels
    problem.partitions(groups_of(polished.labels))


def test_polish_ends_with_its_samples():
    """One round of GoogleNet from single layers takes more than 100 samples, so a budget of 150 has few."""
    problem = fixed(workloads.load("googlenet"), 2**20)
    engine = engine_name(None, problem)
    used = [polish(problem, list(range(problem.size)), (), samples, 0, engine).samples for samples in (1, 150)]
    assert 0 < used[0] <= used[1] <= max(used[0], 150)


def test_ctrl_c_keeps_what_is_polished_so_far(monkeypatch):
    calls = []

    def interrupted(given, costs, labels, stream, rounds):
        calls.append(labels)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return [0] * 6, 5.0

    monkeypatch.setattr("cocco.exploration.searching.polish.improve", interrupted)
    polished = polish(fixed(chain(6)), list(range(6)), (), 100, 0, "reference")
    assert polished.is_stopped and polished.labels == [0] * 6


def test_the_first_island_starts_from_greedy_and_dp_the_others_from_greedies_with_noise():
    problem = fixed(workloads.load("googlenet"), 2**20)
    engine = engine_name(None, problem)
    found = founders(problem, engine, 4, 2000, 0)
    assert [len(each) for each in found.islands] == [2, 1, 1, 1]
    assert found.islands[0][0] == greedy(problem, subgraph_costs(problem, engine))[0]
    assert len({tuple(labels) for each in found.islands for labels in each}) >= 4
    assert 0 < found.samples < 500
    assert founders(problem, engine, 4, 2000, 0) == found != founders(problem, engine, 4, 2000, 1)


def test_few_samples_have_no_founders():
    """A greedy of these 30 layers prices some 100: with 2 samples there is none, with 29 the first has its half."""
    problem = spaced(chain(30))
    assert founders(problem, "reference", 4, 2, 0) == ([], 1, False)
    few = founders(problem, "reference", 4, 29, 0)
    assert len(few.islands) == 1 and few.samples <= 29 // 2
    assert len(founders(problem, "reference", 4, 3000, 0).islands) == 4


def test_each_island_starts_from_another_memory_where_it_is_chosen():
    """Candidates 1 to 9 KB; three islands start at positions 2, 4 and 6, so 3, 5 and 7 KB."""
    problem = spaced(chain(8))
    expected = []
    for position in (2, 4, 6):
        given = in_memory(problem, (position,))
        assert given.accelerator == Accelerator(shared_buffer=1024 * (position + 1))
        expected.append([greedy(given, SubgraphCosts(given))[0]])
    assert founders(problem, "reference", 3, 1000, 0).islands == expected
