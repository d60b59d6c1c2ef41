"""The best split of a subgraph: cuts of its order at which the parts together cost least.

The layers are in the network's order and are cut where the parts together cost least, by dynamic programming over the
cuts (our choice). Parts of such an order never wait for each other, and a single layer always runs, so there is a split
whenever there are two layers. Parts that are not connected are not subgraphs.
"""

from __future__ import annotations

from typing import NamedTuple

from cocco.candidates.genome import connected_parts
from cocco.problem.problem import Problem
from cocco.search.pricing.compiled import part_prices
from cocco.search.pricing.genomes import Group
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.cost import METRICS, Totals

MAX_PARTS = 4000  #: our choice: parts of one subgraph that are priced, seconds; beyond, the parts are of fewer layers


class SplitPart(NamedTuple):
    """Layers that would run together, and what they add to the totals."""

    layers: Group
    totals: Totals


class _Best(NamedTuple):
    """The cheapest way to run the layers from a cut to the end."""

    cost: float
    number: int
    parts: tuple[SplitPart, ...]


class Splitter:
    """Prices parts of subgraphs of a problem on given hardware, by the compiled engine where there is one."""

    def __init__(self, problem: Problem) -> None:
        self.problem, (self.rules,) = problem, problem.rules
        self.machine = problem.accelerator
        self.costs = SubgraphCosts(problem)
        self.metric = METRICS[problem.objective.metric]
        self._price = part_prices(problem)

    def part(self, group: Group) -> SplitPart | None:
        """Return the layers as a part, or None if they do not fit."""
        totals = self._price(group)
        return None if totals is None else SplitPart(group, totals)

    def split(self, group: Group) -> tuple[SplitPart, ...] | None:
        """Return the cheapest parts, at least two; in a tie the fewest. None for a single layer."""
        count = len(group)
        if count == 1:
            return None
        longest = max(1, min(count - 1, MAX_PARTS // count))
        best: list[_Best | None] = [None] * count + [_Best(0.0, 0, ())]
        for start in reversed(range(count)):
            for stop in range(start + 1, min(start + longest, count) + 1):
                layers, rest = group[start:stop], best[stop]
                if len(layers) > 1 and not self.costs.may_fit(layers):
                    break
                if rest is None or (len(layers) > 1 and len(connected_parts(self.problem, layers)) > 1):
                    continue
                way, known = self._with(layers, rest), best[start]
                if way is not None and (known is None or way[:2] < known[:2]):
                    best[start] = way
        return None if best[0] is None else best[0].parts

    def _with(self, layers: Group, rest: _Best) -> _Best | None:
        part = self.part(layers)
        if part is None:
            return None
        return _Best(rest.cost + self.metric(part.totals, self.machine), rest.number + 1, (part, *rest.parts))
