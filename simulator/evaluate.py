"""evaluate(): the price of a partition on an accelerator. The entry for people who import the simulator."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from simulator.accelerator import Accelerator
from simulator.model.cost import (
    EnergyBreakdown,
    added,
    bandwidths,
    energy_breakdown,
    latency_cycles,
    latency_prefetch_cycles,
    total,
)
from simulator.model.priced import PricedPartition, price_partition
from simulator.model.pricing import Price, Shortage, SubgraphModel
from simulator.model.regions import Region
from simulator.model.tiling import TileRule
from simulator.partition.partition import Partition, check_network
from workloads.errors import check_type
from workloads.network.network import Network

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class SubgraphCost:
    """One subgraph of a priced partition; activation_bytes and weight_bytes are needs of one core."""

    layers: tuple[str, ...]
    tile: tuple[int, int]  #: output rows x columns; the largest that fits
    activation_bytes: int
    weight_bytes: int
    ema_weight_bytes: int
    ema_input_bytes: int
    ema_output_bytes: int
    ema_bytes: int
    compute_cycles: int
    latency_cycles: float
    energy_pj: float
    energy_breakdown: EnergyBreakdown
    regions: Mapping[str, Region] = field(default_factory=dict, compare=False)  #: MAIN and SIDE by tensor

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco evaluate --json` prints of a subgraph."""
        content = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "regions"}
        return content | {"energy_breakdown": self.energy_breakdown._asdict()}


@dataclass(frozen=True)
class Infeasible:
    """A subgraph that cannot run: which layers, why, and bytes of one core (None where bytes are not the reason)."""

    layers: tuple[str, ...]
    reason: str
    needed_bytes: int | None
    available_bytes: int | None

    def __str__(self) -> str:
        shown = ", ".join(self.layers[:4]) + (f", ... ({len(self.layers)} layers)" if len(self.layers) > 4 else "")
        sizes = "" if self.needed_bytes is None else f": needs {self.needed_bytes} bytes, has {self.available_bytes}"
        return f"subgraph [{shown}]: {self.reason}{sizes}"


@dataclass(frozen=True)
class Evaluation:
    """What a partition costs. Where status is "infeasible", `infeasible` says why, and every total is infinite.

    Units are in the names. latency_cycles: per subgraph the longer of computing and DRAM (Cocco, Sec. 5.1.2);
    latency_prefetch_cycles: with the weights of the next subgraph loaded during the current one. Bandwidths are
    the mean and the largest need over the subgraphs, bytes per cycle (= GB/s at 1 GHz).
    """

    network: str
    accelerator: Accelerator
    tile_rule: TileRule
    status: Literal["feasible", "infeasible"]
    subgraphs: tuple[SubgraphCost, ...]
    infeasible: tuple[Infeasible, ...]
    ema_bytes: float
    ema_weight_bytes: float
    ema_input_bytes: float
    ema_output_bytes: float
    energy_pj: float
    energy_breakdown: EnergyBreakdown | None
    compute_cycles: float
    latency_cycles: float
    latency_prefetch_cycles: float
    bandwidth_mean_bytes_per_cycle: float
    bandwidth_peak_bytes_per_cycle: float

    @property
    def fits(self) -> bool:
        """Whether every subgraph can run."""
        return self.status == "feasible"

    def totals(self) -> dict[str, float]:
        """Return the sums over the partition by name, with the number of subgraphs first."""
        names = [name for name in _TOTALS if name != "subgraphs"]
        return {"subgraphs": len(self.subgraphs), **{name: getattr(self, name) for name in names}}

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per subgraph in execution order; the layers joined by spaces, the tile as two columns."""
        import pandas

        rows = []
        for cost in self.subgraphs:
            row = cost.to_json() | {"layers": " ".join(cost.layers)}
            row["tile_rows"], row["tile_columns"] = row.pop("tile")
            row |= {f"energy_{name}_pj": value for name, value in row.pop("energy_breakdown").items()}
            rows.append(row)
        return pandas.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco evaluate --json` prints."""
        if not self.fits:
            return {"status": "infeasible", "infeasible": [asdict(each) for each in self.infeasible]}
        return {
            "network": self.network,
            "accelerator": self.accelerator.to_json(),
            "tile_rule": self.tile_rule,
            "totals": self.totals(),
            "subgraphs": [cost.to_json() for cost in self.subgraphs],
        }


_TOTALS = (
    "subgraphs",
    "ema_bytes",
    "ema_weight_bytes",
    "ema_input_bytes",
    "ema_output_bytes",
    "energy_pj",
    "compute_cycles",
    "latency_cycles",
    "latency_prefetch_cycles",
    "bandwidth_mean_bytes_per_cycle",
    "bandwidth_peak_bytes_per_cycle",
)


def evaluate(
    network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule = "exact"
) -> Evaluation:
    """Return what the partition costs on the accelerator; an infeasible subgraph is an answer, not an error.

    tile_rule: "exact" sizes the regions so that the schedule really runs; "paper" reproduces Cocco, Sec. 3.1.
    Raises ValueError for a partition of another network or an unknown tile rule.
    """
    return summarize(price_partition(network, partition, accelerator, tile_rule))


def summarize(priced: PricedPartition) -> Evaluation:
    """Return the Evaluation of subgraphs that are priced, in execution order."""
    network, accelerator, tile_rule = priced.network, priced.accelerator, priced.rules.tile_rule
    names = priced.partition.names
    failed = tuple(
        Infeasible(group, *price) for group, price in zip(names, priced.prices) if isinstance(price, Shortage)
    )
    subgraphs = tuple(
        _subgraph_cost(group, model, price, accelerator)
        for group, model, price in zip(names, priced.models, priced.prices)
        if isinstance(price, Price)
    )
    if failed:
        return Evaluation(
            network.name, accelerator, tile_rule, "infeasible", subgraphs, failed,
            math.inf, math.inf, math.inf, math.inf, math.inf, None, math.inf, math.inf, math.inf, math.inf, math.inf,
        )  # fmt: skip
    prices = [price for price in priced.prices if isinstance(price, Price)]
    totals, needs = total(prices, accelerator), bandwidths(prices)
    breakdown = energy_breakdown(totals, accelerator)
    return Evaluation(
        network.name, accelerator, tile_rule, "feasible", subgraphs, (),
        ema_bytes=totals.ema_bytes,
        ema_weight_bytes=sum(price.ema_weight_bytes for price in prices),
        ema_input_bytes=sum(price.ema_input_bytes for price in prices),
        ema_output_bytes=sum(price.ema_output_bytes for price in prices),
        energy_pj=breakdown.total,
        energy_breakdown=breakdown,
        compute_cycles=sum(price.compute_cycles for price in prices),
        latency_cycles=latency_cycles(totals, accelerator),
        latency_prefetch_cycles=latency_prefetch_cycles(prices, accelerator),
        bandwidth_mean_bytes_per_cycle=added(needs) / len(needs),
        bandwidth_peak_bytes_per_cycle=max(needs),
    )  # fmt: skip


def check_evaluation(network: Network, evaluation: Evaluation) -> None:
    """Raise TypeError or ValueError unless these are a network and an evaluation of it."""
    check_network(network)
    check_type("evaluation", evaluation, Evaluation, "simulator.evaluate(network, partition, accelerator)")
    if evaluation.network != network.name:
        raise ValueError(f"the evaluation is of network {evaluation.network!r}, not of {network.name!r}")


def _subgraph_cost(
    names: tuple[str, ...], model: SubgraphModel, price: Price, accelerator: Accelerator
) -> SubgraphCost:
    totals = total([price], accelerator)
    breakdown = energy_breakdown(totals, accelerator)
    tensors = model.rules.geometry.network.tensors
    return SubgraphCost(
        names, price.tile, price.activation_bytes, price.weight_bytes,
        price.ema_weight_bytes, price.ema_input_bytes, price.ema_output_bytes, price.ema_bytes,
        price.compute_cycles, latency_cycles(totals, accelerator), breakdown.total, breakdown,
        {tensors[u].name: region for u, region in model.residency(price).regions.items()},
    )  # fmt: skip
