"""Islands: when a new population starts, and from which genomes.

A population that no longer improves has settled on one partition for each part of the network, and another population
may have found better ones. So the search runs several populations one after another from random genomes, then one from
the best of all of them, where crossover combines the good parts; then it begins again (our choice).
"""

from __future__ import annotations

import sys

from cocco.effort.settings import Settings
from cocco.search.genetic.population import Population

LEAST = 10  #: generations' worth of samples that an island has at least; our choice: below, there is nothing to cross


class Islands:
    """Decides when a population has had its time, and keeps its best."""

    def __init__(self, settings: Settings, samples: int) -> None:
        self.settings = settings
        self.most = max(LEAST * settings.population, round(settings.island * samples))  # samples of one island
        self.begun = 0  # samples before the current population
        self.kept: list[Population] = []
        self.is_reunion = False

    def left(self, samples: int) -> int:
        """Return how many more samples the current population gets, up to one generation more."""
        if self.settings.islands == 1 or self.is_reunion:
            return sys.maxsize
        return max(0, self.begun + self.most - samples)

    def next(self, population: Population, stale: int, samples: int) -> Population | None:
        """Return the parents to continue with, empty for a random start; None: continue with the population.

        population: sorted by cost; stale: its generations without improvement; samples: all that were priced so far.
        """
        patience = self.settings.patience
        is_over = self.settings.islands > 1 and not self.is_reunion and samples - self.begun >= self.most
        if not is_over and not (patience and stale > patience):
            return None
        self.begun = samples
        if self.is_reunion:
            self.kept = []
        self.kept.append(population.rows(0, max(1, self.settings.elite // self.settings.islands)))
        self.is_reunion = len(self.kept) == self.settings.islands > 1
        if not self.is_reunion:
            return population.rows(0, 0)
        parents = self.kept[0]
        for best in self.kept[1:]:
            parents = parents.joined(best)
        return parents.by_cost()
