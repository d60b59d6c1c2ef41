"""A whole partition with the price of every subgraph: where `evaluate` and all other views of a plan start."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from simulator.accelerator import Accelerator
from simulator.model.equivalence import Alike
from simulator.model.fixed_scheme import model_in
from simulator.model.kept import NOTHING, Reserved, kept_of
from simulator.model.price import Price, Shortage
from simulator.model.pricing import SubgraphModel
from simulator.model.rules import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.order import check_connected
from simulator.partition.partition import Partition
from simulator.partition.schemes import CoreScheme
from simulator.partition.steps import Step, steps_of
from workloads.errors import check_type
from workloads.network.network import Network, check_network


@dataclass(frozen=True)
class PricedPartition:
    """The subgraphs of a partition in execution order, each with its price or its shortage."""

    network: Network
    partition: Partition
    accelerator: Accelerator
    rules: PricingRules
    models: tuple[SubgraphModel, ...]
    prices: tuple[Price | Shortage, ...]
    steps: tuple[Step, ...] = ()  #: where the tensors of each subgraph lie; empty where none is kept

    @property
    def fits(self) -> bool:
        """Whether every subgraph can run."""
        return all(isinstance(price, Price) for price in self.prices)


def price_partition(
    network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule = "exact"
) -> PricedPartition:
    """Return the price of every subgraph of a partition in execution order, taking into account what is kept on chip.

    Raises TypeError or ValueError with a one-line message for an argument of a wrong type, a partition of another
    network, or an unknown tile rule.
    """
    check_partition(network, partition)
    check_type("accelerator", accelerator, Accelerator, "simulator.Accelerator(shared_buffer=2**20)")
    check_connected(network, partition.subgraphs, accelerator.connection)
    rules = PricingRules(Geometry(network, accelerator.technology), accelerator, tile_rule, partition.metric)
    models, steps = models_of(rules, partition)
    prices = _prices(models, partition, accelerator, [reserved_in(rules, step) for step in steps])
    return PricedPartition(network, partition, accelerator, rules, models, tuple(prices), steps)


def _prices(
    models: Sequence[SubgraphModel], partition: Partition, accelerator: Accelerator, reserved: Sequence[Reserved]
) -> list[Price | Shortage]:
    """Return the price of each subgraph; equivalent ones are priced once."""
    activations, weights = accelerator.activation_capacity, accelerator.weight_capacity
    alike, known = Alike(models[0].rules), dict[Hashable, Price | Shortage]()
    prices = []
    for i, (model, beside) in enumerate(zip(models, reserved or [NOTHING] * len(models))):
        scheme = partition.schemes[i] if partition.schemes else ""
        beside = beside._replace(spare=partition.spare[i]) if partition.spare else beside
        key = alike.key(model.subgraph.layers, model.kept), scheme, beside
        if key not in known:
            known[key] = model.price(activations, weights, beside)
        prices.append(known[key])
    return prices


def models_of(rules: PricingRules, partition: Partition) -> tuple[tuple[SubgraphModel, ...], tuple[Step, ...]]:
    """Return the subgraphs of a partition, and where the tensors of each lie; the latter is empty if none is kept."""
    cheapest: CoreScheme = ""
    schemes = partition.schemes or (cheapest,) * len(partition)
    if not partition.keep:
        pairs = zip(partition.subgraphs, schemes)
        return tuple(model_in(rules, layers, scheme) for layers, scheme in pairs), ()
    steps = steps_of(rules.geometry.network, partition)
    models = (model_in(rules, *each) for each in zip(partition.subgraphs, schemes, map(kept_of, steps)))
    return tuple(models), steps


def reserved_in(rules: PricingRules, step: Step) -> Reserved:
    """Return the room in the activation buffer of all tensors that are kept during a step."""
    return rules.reserved(step.layers, step.kept, step.touched, step.last)


def check_partition(network: Network, partition: Partition) -> None:
    """Raise TypeError or ValueError unless these are a network and a partition of it."""
    check_network(network)
    check_type("partition", partition, Partition, "simulator.Partition.layerwise(network)")
    if partition.network_name != network.name or sum(map(len, partition.subgraphs)) != len(network.layers):
        raise ValueError(f"the partition is of network {partition.network_name!r}, not of {network.name!r}")
