"""The same search in both engines."""

from __future__ import annotations

import numpy as np

from cocco.effort.settings import Settings
from cocco.problem.problem import Problem
from cocco.search.genetic.engine import FastEngine, ReferenceEngine
from cocco.search.genetic.population import Population


def assert_same_search(problem: Problem, settings: Settings, samples: int, threads: int = 1, initial=()) -> None:
    """Both engines make the same genomes at the same costs, generation by generation."""
    slow, fast = ReferenceEngine(problem, settings), FastEngine(problem, settings, threads)
    parents, done, generation = Population.empty(0, problem.size), 0, 0
    while done < samples:
        elite = parents.rows(0, settings.elite)
        count = settings.population - len(elite.cost)
        expected = slow.breed(7, generation, parents, initial, count)
        found = fast.breed(7, generation, parents, initial, count)
        for field in Population._fields:
            assert np.array_equal(getattr(found, field), getattr(expected, field)), (generation, field)
        parents = elite.joined(found).by_cost()
        done, generation = done + count, generation + 1
