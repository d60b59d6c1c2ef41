"""evaluate(): the price of a partition on an accelerator. The entry for people who import the simulator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from simulator.accelerator import Accelerator
from simulator.model.cost import (
    EnergyBreakdown,
    bandwidths,
    energy_breakdown,
    latency_cycles,
    latency_prefetch_cycles,
    price_subgraphs,
    total,
)
from simulator.model.pricing import Price, PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph import Geometry
from simulator.model.tiling import TILE_RULES, TileRule
from simulator.partition.partition import Partition
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
            row = asdict(cost) | {"layers": " ".join(cost.layers)}
            row["tile_rows"], row["tile_columns"] = cost.tile
            row |= {f"energy_{name}_pj": value for name, value in cost.energy_breakdown._asdict().items()}
            del row["tile"], row["energy_breakdown"]
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
            "subgraphs": [
                asdict(cost) | {"energy_breakdown": cost.energy_breakdown._asdict()} for cost in self.subgraphs
            ],
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
    if tile_rule not in TILE_RULES:
        raise ValueError(f"tile_rule must be one of {', '.join(TILE_RULES)}, got {tile_rule!r}")
    if partition.network_name != network.name or sum(map(len, partition.subgraphs)) != len(network.layers):
        raise ValueError(f"the partition is of network {partition.network_name!r}, not of {network.name!r}")
    rules = PricingRules(Geometry(network, accelerator.technology), accelerator, tile_rule)
    models = [SubgraphModel(rules, group) for group in partition.subgraphs]
    return summarise(network, partition, accelerator, tile_rule, price_subgraphs(models, accelerator))


def summarise(
    network: Network,
    partition: Partition,
    accelerator: Accelerator,
    tile_rule: TileRule,
    answers: Sequence[Price | Shortage],
) -> Evaluation:
    """Return the Evaluation of subgraphs that are priced, in execution order."""
    failed = tuple(
        Infeasible(names, *answer) for names, answer in zip(partition.names, answers) if isinstance(answer, Shortage)
    )
    prices = [answer for answer in answers if isinstance(answer, Price)]
    subgraphs = tuple(
        _subgraph_cost(names, answer, accelerator)
        for names, answer in zip(partition.names, answers)
        if isinstance(answer, Price)
    )
    if failed:
        return Evaluation(
            network.name, accelerator, tile_rule, "infeasible", subgraphs, failed,
            math.inf, math.inf, math.inf, math.inf, math.inf, None, math.inf, math.inf, math.inf, math.inf, math.inf,
        )  # fmt: skip
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
        bandwidth_mean_bytes_per_cycle=sum(needs) / len(needs),
        bandwidth_peak_bytes_per_cycle=max(needs),
    )  # fmt: skip


def _subgraph_cost(names: tuple[str, ...], price: Price, accelerator: Accelerator) -> SubgraphCost:
    totals = total([price], accelerator)
    breakdown = energy_breakdown(totals, accelerator)
    return SubgraphCost(
        names, price.tile, price.activation_bytes, price.weight_bytes,
        price.ema_weight_bytes, price.ema_input_bytes, price.ema_output_bytes, price.ema_bytes,
        price.compute_cycles, latency_cycles(totals, accelerator), breakdown.total, breakdown,
    )  # fmt: skip
