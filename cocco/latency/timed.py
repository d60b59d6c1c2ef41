"""Drafts as they are executed: every step is priced once for the room that it has, every plan simulated."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from cocco.latency.draft import Draft, Group
from simulator.accelerator import Accelerator
from simulator.metrics import Metric
from simulator.model.equivalence import Alike
from simulator.model.kept import Kept, Reserved, kept_of
from simulator.model.price import Price, Shortage
from simulator.model.priced import PricedPartition, reserved_in
from simulator.model.pricing import SubgraphModel
from simulator.model.rules import PricingRules
from simulator.partition.steps import steps_of
from simulator.timing.simulation import simulate_priced


class Timed:
    """Prices and simulates plans of one network on one accelerator; rules: by the metric that chooses tiles."""

    def __init__(self, rules: Mapping[Metric, PricingRules], accelerator: Accelerator) -> None:
        self.rules, self.accelerator = rules, accelerator
        self.network = next(iter(rules.values())).geometry.network
        self._alike = {metric: Alike(each) for metric, each in rules.items()}
        self._models: dict[Hashable, SubgraphModel] = {}
        self._prices: dict[Hashable, Price | Shortage] = {}

    def priced(self, draft: Draft) -> PricedPartition:
        """Return a plan with its prices; raises PartitionError where it is not valid."""
        plan, rules = draft.partition(self.network), self.rules[draft.metric]
        steps = steps_of(self.network, plan)
        models = tuple(self._model(rules, group, kept_of(step)) for group, step in zip(plan.subgraphs, steps))
        left = plan.spare or (0,) * len(plan)
        beside = [reserved_in(rules, step)._replace(spare=each) for step, each in zip(steps, left)]
        prices = tuple(self._price(*each) for each in zip(models, beside))
        return PricedPartition(
            self.network, plan, self.accelerator, rules, models, prices, steps if plan.keep else ()
        )  # fmt: skip

    def price_of(self, priced: PricedPartition, step: int, spare: int) -> Price | Shortage:
        """Return the price of a step that leaves so many bytes free."""
        beside = reserved_in(priced.rules, priced.steps[step]) if priced.steps else Reserved()
        return self._price(priced.models[step], beside._replace(spare=spare))

    def free_bytes(self, price: Price) -> int:
        """Return the bytes of one core, of the buffer of weights or the shared one, that a step does not use."""
        chip = self.accelerator
        if not chip.is_shared:
            return chip.weight_capacity - price.weight_bytes
        return chip.activation_capacity - price.kept_bytes - price.activation_bytes - price.weight_bytes

    def slots(self, priced: PricedPartition) -> int:
        """Return how long a plan takes that fits, as it is simulated."""
        return simulate_priced(priced).end

    def _model(self, rules: PricingRules, group: Group, kept: Kept | None) -> SubgraphModel:
        key = rules.metric, group, kept
        if key not in self._models:
            self._models[key] = SubgraphModel(rules, group, kept)
        return self._models[key]

    def _price(self, model: SubgraphModel, beside: Reserved) -> Price | Shortage:
        metric, chip = model.rules.metric, self.accelerator
        key = metric, self._alike[metric].key(model.subgraph.layers, model.kept), beside
        if key not in self._prices:
            self._prices[key] = model.price(chip.activation_capacity, chip.weight_capacity, beside)
        return self._prices[key]
