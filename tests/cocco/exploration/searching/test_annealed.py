"""Annealing from the best genome: never worse, counted, in other memories too, and the same with both engines."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain as chain_of
from itertools import groupby, repeat

import pytest

import cocco
from cocco.candidates.genome import Genome, groups_of, random_labels
from cocco.candidates.stream import Stream
from cocco.effort.effort import Effort
from cocco.effort.settings import Settings
from cocco.exploration import methods
from cocco.exploration.question.question import question_of
from cocco.exploration.searching import annealed as annealed_module
from cocco.exploration.searching import one_search
from cocco.exploration.searching.annealed import LEAST_ANNEALED, OTHERS, STEPS_PER_SAMPLE, annealed
from cocco.problem.problem import over_space
from cocco.search.baselines import annealing as annealing_module
from cocco.search.genetic.operators.repair import repair
from cocco.search.genetic.population import Population
from cocco.search.kernel.choice import has_kernel, has_twin
from cocco.search.pricing.genomes import Pricer
from simulator.mapping.mappers import Enumerate
from tests.helpers.least_memory import is_refused
from tests.helpers.parts import first_of
from tests.helpers.random_problems import random_net, random_twin
from tests.helpers.search_graphs import SPACE, chain, fixed, spaced

needs_kernel = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")


def start(problem, seed):
    """Return a random partition in the middle of the candidates."""
    labels = repair(problem, random_labels(problem, Stream(seed, 0, 0)))
    return labels, tuple(len(sizes) // 2 for sizes in problem.candidates)


@needs_kernel
@pytest.mark.parametrize("seed", first_of([seed for seed in range(40) if not is_refused(random_twin(seed))][:10], 5))
@pytest.mark.parametrize("keep", ["none", "auto"])
def test_both_engines_anneal_alike(seed, keep):
    """Several networks with weights, metrics, rules, cores and batches, in one buffer or two."""
    problem = replace(random_twin(seed), keep=keep)
    labels, memory = start(problem, seed)
    fast, slow = (annealed(problem, labels, memory, LEAST_ANNEALED, seed, name) for name in ("fast", "reference"))
    assert fast == slow


@pytest.mark.parametrize("seed", first_of(range(12), 4))
def test_what_is_found_is_valid_priced_and_no_worse_than_the_start(seed):
    problem = spaced(random_net(seed))
    labels, memory = start(problem, seed)
    pricer = Pricer(problem)
    before = pricer.evaluate(Genome(labels, memory), Stream(seed, annealed_module.WALKS - 1, 0))
    found = annealed(problem, labels, memory, 200, seed, "reference").found
    assert min(cost for *_, cost in found) <= before.cost
    for _, names, sizes, value, cost in found:
        problem.partitions(groups_of(names))
        sample = pricer.evaluate(Genome(names, sizes), Stream(0, 0, 0))
        assert (sample.genome.labels, sample.value, sample.cost) == (names, value, cost)


@pytest.mark.parametrize("samples", [LEAST_ANNEALED, 333])
def test_it_takes_the_samples_that_it_is_given_and_no_more(samples):
    """Each walk ends at a whole block; the last one takes what the others leave."""
    for problem in (spaced(chain(5)), fixed(chain(5))):
        used = annealed(problem, list(range(5)), start(problem, 0)[1], samples, 0, "reference").samples
        assert samples - 100 // STEPS_PER_SAMPLE <= used <= samples


def test_walks_go_to_the_sizes_around_and_back_to_the_best():
    """From the middle of nine sizes: there, one, two and four sizes away, then once more in the best of these."""
    problem = spaced(chain(6))
    (count,) = map(len, problem.candidates)
    found = annealed(problem, [0] * 6, (count // 2,), 300, 0, "reference").found
    there = [count // 2 + step for step in OTHERS if 0 <= count // 2 + step < count]
    visited = [memory for memory, _ in groupby(memory for _, _, memory, *_ in found)]
    assert visited[: 1 + len(there)] == [(count // 2,), *((size,) for size in there)]
    best = min(found[:-1], key=lambda each: each[4])
    assert visited[-1] == best[2] and found[-1][4] <= best[4]


def test_the_best_of_a_walk_is_told_as_it_falls(monkeypatch):
    """Blocks of partitions at 30, 20, 40 bytes, then 25, all below the start: 30 and 20 in the first walk, then 25."""
    costs = chain_of([30.0, 20.0, 40.0], repeat(25.0))

    def steps_of(problem, *_):
        def steps(block, founders, shares, walk):
            done = Population.empty(len(shares), problem.size)
            done.cost[:] = next(costs)
            return done, walk._replace(least=min(walk.least, float(done.cost.min())))

        return steps

    monkeypatch.setattr(annealing_module, "steps_of", steps_of)
    found = annealed(fixed(chain(4)), [0] * 4, (), 200, 0, "reference").found
    assert [value for *_, value, _ in found if value <= 30] == [30.0, 20.0, 25.0]
    numbers = [number for number, *_ in found]
    assert numbers == sorted(set(numbers)) and numbers[:3] == [1, 11, 21]


def test_ctrl_c_keeps_what_was_found(monkeypatch):
    steps_of, calls = annealing_module.steps_of, []

    def stopping(*question):
        steps = steps_of(*question)

        def interrupted(*asked):
            calls.append(asked)
            if len(calls) == 3:
                raise KeyboardInterrupt
            return steps(*asked)

        return interrupted

    monkeypatch.setattr(annealing_module, "steps_of", stopping)
    found = annealed(fixed(chain(6)), list(range(6)), (), 300, 0, "reference")
    assert found.is_stopped and 1 <= len(found.found) <= 3 and found.samples == 1 + 2 * 100 // STEPS_PER_SAMPLE


def test_a_search_counts_it_and_keeps_its_samples():
    """Each time that the best of a walk falls it is a sample, numbered by the samples until then."""
    problem = spaced(chain(12))
    found = methods.genetic_algorithm(question_of(problem, Effort(samples=1000), Settings(polish=0.0)))
    assert 980 <= found.samples <= 1000
    points = found.trace.seen().points
    walked = points[points["sample"] > 500]
    assert len(walked) >= 3 and walked["sample"].is_monotonic_increasing and walked["sample"].max() <= found.samples
    assert found.trace.best.cost == points["cost"].min()


def test_where_only_python_prices_nothing_is_annealed(monkeypatch):
    """Ten steps of a sample would take the readable engine ten times as long as the sample."""
    monkeypatch.setattr(one_search, "annealed", None)
    mapper = Enumerate(tiled=True)
    assert not has_twin(over_space([chain(4)], SPACE, mapper=mapper)) and has_twin(over_space([chain(4)], SPACE))
    found = cocco.explore(chain(4), space=SPACE, mapper=mapper, method="ga", keep="none", samples=210)
    assert found.samples <= 210
