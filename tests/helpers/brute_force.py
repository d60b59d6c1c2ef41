"""All partitions of a small problem at the simulator's prices."""

from __future__ import annotations

import math

from cocco.search.pricing.genomes import Pricer
from simulator.model.cost import METRICS, total
from simulator.model.price import Price
from tests.helpers.small_problems import all_partitions

CLOSE = 1e-12  #: floats that are added in another order


class Brute:
    """All partitions of a problem on given hardware."""

    def __init__(self, problem):
        self.problem, self.pricer = problem, Pricer(problem)
        machine = self.machine = problem.accelerator
        self.prices = {}
        self.totals = [each for each in map(self._totals, all_partitions(problem)) if each is not None]
        self.least = min((METRICS[problem.objective.metric](each, machine) for each in self.totals), default=math.inf)

    def _totals(self, groups):
        prices = [self.price(tuple(group)) for group in groups]
        return total(prices, self.machine) if all(isinstance(each, Price) for each in prices) else None

    def price(self, group):
        if group not in self.prices:
            model = self.pricer.model(group)
            self.prices[group] = model.price(self.machine.activation_capacity, self.machine.weight_capacity)
        return self.prices[group]
