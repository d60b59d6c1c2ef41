"""When a population starts anew, and from whom."""

from __future__ import annotations

import numpy as np

from cocco.effort.settings import Settings
from cocco.search.genetic.islands import LEAST, Islands
from cocco.search.genetic.population import Population

SETTINGS = Settings(population=4, elite=2, islands=2, island=0.25, patience=3)
SAMPLES = 16 * LEAST  # an island has 4 * LEAST of them


def population(*costs: float) -> Population:
    """Return genomes of one layer."""
    count = len(costs)
    return Population(np.zeros((count, 1), np.int64), np.zeros((count, 2), np.int64), np.zeros(count), np.array(costs))


def test_the_bests_of_the_islands_meet():
    """Each of two islands ends after a quarter of the samples and leaves its best (elite / islands = 1); they meet."""
    islands = Islands(SETTINGS, SAMPLES)
    assert islands.next(population(5, 6), 0, 4 * LEAST - 1) is None
    first = islands.next(population(5, 6), 0, 4 * LEAST)
    assert first is not None and len(first.cost) == 0
    assert islands.next(population(3, 9), 0, 8 * LEAST - 1) is None
    met = islands.next(population(3, 9), 0, 8 * LEAST)
    assert met is not None and met.cost.tolist() == [3, 5]
    assert islands.next(population(2, 3), 0, 14 * LEAST) is None  # they go on until they no longer improve


def test_what_met_is_one_of_the_next_to_meet():
    islands = Islands(SETTINGS, SAMPLES)
    islands.next(population(5), 4, 1)
    islands.next(population(3), 4, 2)
    alone = islands.next(population(2), 4, 3)
    assert alone is not None and len(alone.cost) == 0
    met = islands.next(population(7), 4, 4)
    assert met is not None and met.cost.tolist() == [2, 7]


def test_a_population_without_islands_starts_anew_where_it_no_longer_improves():
    islands = Islands(Settings(population=4, elite=2, islands=1, patience=3), SAMPLES)
    assert islands.next(population(5), 3, SAMPLES) is None
    for _ in range(3):
        renewed = islands.next(population(5), 4, SAMPLES)
        assert renewed is not None and len(renewed.cost) == 0


def test_without_patience_and_islands_nothing_starts_anew():
    assert Islands(Settings.paper(), SAMPLES).next(population(5), 10**6, SAMPLES) is None
