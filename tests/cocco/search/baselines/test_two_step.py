"""Two-step search: which memories are tried, with how many samples, and which one is kept."""

from __future__ import annotations

import pytest

from cocco.candidates.genome import Genome
from cocco.candidates.stream import Stream
from cocco.effort.settings import Settings
from cocco.problem.problem import in_memory, over_space
from cocco.problem.space import Range, SeparateBuffers
from cocco.search.baselines.annealing import annealing
from cocco.search.baselines.two_step import Partitioned, coarse_grid, grid_search, random_search
from cocco.search.pricing.genomes import Pricer
from tests.helpers.search_graphs import chain, diamond, fixed, spaced

SEPARATE = SeparateBuffers(Range(1024, 3072, 1024), Range(1024, 2048, 1024))


def layerwise(problem, samples, seed):
    """A second step that does not search."""
    labels = list(range(problem.size))
    return labels, Pricer(problem).evaluate(Genome(labels, ()), Stream(0, 0, 0)).value


def recording(calls):
    def search(problem, samples, seed):
        calls.append((problem.accelerator.shared_buffer, samples, seed))
        return layerwise(problem, samples, seed)

    return search


def test_samples_are_given_out_until_they_are_spent():
    """12,000 samples: two memories with 5,000 (Sec. 5.1.3) and one with the rest, each with a seed of its own."""
    for method in (random_search, grid_search):
        calls = []
        found = method(spaced(chain(3)), 12_000, 1, recording(calls))
        assert [samples for _, samples, _ in calls] == [5000, 5000, 2000]
        assert len({seed for _, _, seed in calls}) == 3
        assert (found.samples, len(found.candidates), found.is_stopped) == (12_000, 3, False)


def test_the_grid_is_coarse_and_goes_from_large_to_small():
    """Three of the nine candidates of 1 to 9 KB: both ends and the middle."""
    calls = []
    grid_search(spaced(chain(3)), 15_000, 0, recording(calls))
    assert [capacity // 1024 for capacity, _, _ in calls] == [9, 5, 1]


def test_a_grid_of_two_buffers():
    """Four of 3 x 2 memories: the ends of each buffer, by bytes together; and never more than there are."""
    problem = over_space(chain(3), SEPARATE)
    assert coarse_grid(problem, 4) == [(2, 1), (2, 0), (0, 1), (0, 0)]
    assert len(coarse_grid(problem, 100)) == 6
    assert coarse_grid(problem, 1) == [(2, 1)]


def test_a_small_space_is_searched_once_more():
    calls = []
    grid_search(spaced(chain(2)), 10, 0, recording(calls), per_candidate=1)
    assert [capacity // 1024 for capacity, _, _ in calls] == [9, 8, 7, 6, 5, 4, 3, 2, 1, 9]


def test_random_memories_depend_on_the_seed_only():
    first, second, other = (random_search(spaced(chain(3)), 20, seed, layerwise, 1) for seed in (1, 1, 2))
    assert first == second
    assert [each.capacities for each in first.candidates] != [each.capacities for each in other.candidates]


def test_the_best_is_that_of_formula_2():
    """BUF_SIZE + alpha * Formula 1 of the memory that was searched; a second step of given hardware sees no alpha."""
    problem = spaced(chain(3), diamond())
    found = grid_search(problem, 9, 0, layerwise, 1)
    assert found.best.cost == min(each.cost for each in found.candidates)
    best = Pricer(problem).evaluate(Genome(found.best.labels, found.best.capacities), Stream(0, 0, 0))
    assert (best.value, best.cost) == (found.best.value, found.best.cost)
    inner = in_memory(problem, (3,))
    assert (inner.accelerator.shared_buffer, inner.buffers, inner.objective.alpha) == (4096, {}, None)


def test_a_real_second_step():
    def search(problem, samples, seed):
        trace = annealing(problem, samples, seed, Settings())
        return Partitioned(trace.best.genome.labels, trace.best.value, trace.is_stopped)

    found = random_search(spaced(chain(4)), 90, 3, search, per_candidate=30)
    assert found.samples == 90
    assert found == random_search(spaced(chain(4)), 90, 3, search, per_candidate=30)


def test_a_user_who_stops_keeps_what_is_complete():
    """Interrupted in the third memory, or told by the second step; with nothing complete there is no answer."""
    for how in ("raises", "tells"):
        calls = []

        def search(problem, samples, seed, how=how, calls=calls):
            calls.append(1)
            if len(calls) == 3 and how == "raises":
                raise KeyboardInterrupt
            return Partitioned(*layerwise(problem, samples, seed), is_stopped=len(calls) == 3)

        found = random_search(spaced(chain(3)), 100, 0, search, per_candidate=10)
        assert found.is_stopped
        assert len(found.candidates) == (2 if how == "raises" else 3)

    def never(problem, samples, seed):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        random_search(spaced(chain(3)), 100, 0, never)


def test_what_cannot_be_searched_is_an_error():
    with pytest.raises(ValueError, match="hardware is given"):
        grid_search(fixed(chain(2)), 10, 0, layerwise)
    with pytest.raises(ValueError, match="at least 1"):
        random_search(spaced(chain(2)), 0, 0, layerwise)
