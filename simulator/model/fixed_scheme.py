"""Subgraphs whose scheme the plan states: priced in that scheme, not in the cheapest (model.md, section 7)."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.model.kept import Kept
from simulator.model.price import Shortage
from simulator.model.pricing import SubgraphModel
from simulator.model.rules import PricingRules
from simulator.model.schemes.looped import LoopWay
from simulator.partition.schemes import CoreScheme


def model_in(rules: PricingRules, layers: Iterable[int], scheme: CoreScheme, kept: Kept | None = None) -> SubgraphModel:
    """Return the subgraph, in this scheme if one is given and there are several cores."""
    if not scheme or rules.cores == 1:
        return SubgraphModel(rules, layers, kept)
    return GivenScheme(rules, layers, kept, scheme)


class GivenScheme(SubgraphModel):
    """A subgraph that several cores share in one given way, whatever the other ways cost.

    rules: of at least two cores. scheme: "channels", "rotated", "held" or "alone"; else as SubgraphModel.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB
    >>> from simulator.model.subgraph.subgraph import Geometry
    >>> chip = Accelerator(shared_buffer=2 * MiB, cores=2)
    >>> rules = PricingRules(Geometry(workloads.load("vgg16")), chip, "exact")
    >>> SubgraphModel(rules, [4]).price(2 * MiB, 0).scheme
    'rotated'
    >>> held = GivenScheme(rules, [4], None, "held").price(2 * MiB, 0)
    >>> held.scheme, held.crossbar_bytes
    ('held', 176128)
    """

    def __init__(self, rules: PricingRules, layers: Iterable[int], kept: Kept | None, scheme: CoreScheme) -> None:
        super().__init__(rules, layers, kept)
        self.scheme = scheme
        found = tuple(way for way in self.ways if way.scheme == scheme)
        self.in_loops_only = self.in_loops_only or not found
        if found:
            self.ways = found
            self.weight_need = found[0].weight_need
            self._tilings.clear()
            self._needs.clear()
        if self.in_loops_only and not self.loop_ways:
            self._rule_broken = self._rule_broken or Shortage(self._reason())

    @property
    def loop_ways(self) -> tuple[LoopWay, ...]:
        """The ways of this scheme to run a single layer in a loop order."""
        return tuple(way for way in super().loop_ways if way.scheme == self.scheme)

    def _reason(self) -> str:
        cores = self.rules.cores
        if self.subgraph.on_chip:
            return f"scheme {self.scheme!r} beside tensors kept on chip, whose channels are dealt to {cores} cores"
        if not self.subgraph.weight_bytes and any(way.scheme == "held" for way in self.ways):
            return f"scheme {self.scheme!r}: there are no weights to rotate, so it is 'held'"
        return f"scheme {self.scheme!r}: {cores} cores have no columns or samples to share here"
