"""The best split of a subgraph: cuts of its order at which the parts together cost least.

The layers stand in the network's order and are cut where the parts together cost least, by dynamic programming over
the cuts (our choice). Parts of such an order never wait for each other, and a single layer always runs, so there is a
split whenever there are two layers. Parts that are not connected are no subgraphs.
"""

from __future__ import annotations

from typing import NamedTuple

from cocco.problem.problem import Problem
from cocco.search.pricing.compiled import part_prices
from cocco.search.pricing.genomes import Group
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.cost import METRICS, Totals
from simulator.partition.partition import connected_parts

MAX_PARTS = 4000  #: our choice: parts of one subgraph that are priced, seconds; beyond, the parts are of fewer layers


class Part(NamedTuple):
    """Layers that would run together, what they add to the totals, and the weights that must be there before."""

    layers: Group
    totals: Totals
    kept_bytes: int  #: of one core, with prefetch="resident"; else, and where they are streamed, 0


class _Best(NamedTuple):
    """The cheapest way to run the layers from a cut to the end."""

    cost: float
    number: int
    parts: tuple[Part, ...]


class Splitter:
    """Prices parts of subgraphs of a problem on given hardware, by the compiled engine where there is one."""

    def __init__(self, problem: Problem) -> None:
        self.network, (self.rules,) = problem.networks[0], problem.rules
        self.machine = problem.accelerator
        self.costs = SubgraphCosts(problem)
        self.metric = METRICS[problem.objective.metric]
        self.is_resident = self.machine.prefetch == "resident"
        self._price = part_prices(problem)

    def part(self, group: Group, reserved: int) -> Part | None:
        """Return the layers as a part beside so many bytes of the next weights, None where they do not fit."""
        room = self.machine.activation_capacity - (reserved if self.machine.is_shared else 0)
        found = self._price(group, room, self.machine.weight_capacity - reserved)
        if found is None:
            return None
        kept = found.weight_bytes if self.is_resident and not found.is_streamed else 0
        return Part(group, found.totals, kept)

    def split(self, group: Group, reserved: int, most: int | None) -> tuple[Part, ...] | None:
        """Return the cheapest parts, two at least; of equal ones the fewest. None: a single layer, or none keeps to it.

        reserved: what the next subgraph's weights take. most: what the weights of the first part may take.
        """
        count = len(group)
        if count == 1:
            return None
        longest = max(1, min(count - 1, MAX_PARTS // count))
        best: list[dict[int, _Best]] = [{} for _ in range(count)] + [{reserved: _Best(0.0, 0, ())}]
        for start in reversed(range(count)):
            for stop in range(start + 1, min(start + longest, count) + 1):
                layers = group[start:stop]
                if len(layers) > 1 and not self.costs.may_fit(layers):
                    break
                if len(layers) == 1 or len(connected_parts(self.network, layers)) == 1:
                    for beside, rest in best[stop].items():
                        self._prepend(best[start], layers, beside, rest)
        ends = [way for kept, way in best[0].items() if most is None or kept <= most]
        return min(ends, key=lambda way: way[:2]).parts if ends else None

    def _prepend(self, ways: dict[int, _Best], layers: Group, beside: int, rest: _Best) -> None:
        part = self.part(layers, beside)
        if part is None:
            return
        way = _Best(rest.cost + self.metric(part.totals, self.machine), rest.number + 1, (part, *rest.parts))
        if part.kept_bytes not in ways or way[:2] < ways[part.kept_bytes][:2]:
            ways[part.kept_bytes] = way
