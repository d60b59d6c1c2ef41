"""evaluate(): the price of a partition on an accelerator. The entry point for users of the simulator."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from simulator.accelerator import Accelerator
from simulator.metrics import DEFAULT_METRIC, Metric
from simulator.model.compulsory import Reread, compulsory_bytes, rereads
from simulator.model.cost import (
    EnergyBreakdown,
    added,
    bandwidths,
    energy_breakdown,
    latency_cycles,
    total,
)
from simulator.model.price import Price, Shortage
from simulator.model.priced import PricedPartition, price_partition
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.subgraph_cost import Infeasible, KeptTensor, SubgraphCost, costs_text, subgraph_cost
from simulator.timing import Simulation, simulate
from simulator.timing.serving import Serving, serving_of
from simulator.units import ENERGY
from workloads.display import html
from workloads.errors import check_type
from workloads.network.layers.types import Experts
from workloads.network.network import Network, check_network

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Evaluation:
    """What a partition costs. If it is "infeasible", `infeasible` says why, sums are infinite, and shares nan.

    Units are in the names; totals are for the whole batch.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, MiB, Partition, evaluate
    >>> vgg = workloads.load("vgg16")
    >>> found = evaluate(vgg, Partition.layerwise(vgg), Accelerator(shared_buffer=2 * MiB))
    >>> found
    Evaluation(vgg16, 21 subgraphs, 168,667,816 B EMA, 22.090 mJ, 23,336,062 cycles)
    >>> print(found.summary())
    vgg16 in 21 subgraphs, exact tile rule
      EMA      168,667,816 B: weights 138,344,128 B, inputs 15,236,608 B, outputs 15,087,080 B
      energy   22.090 mJ
      latency  23,336,062 cycles; 15,344,448 of computing
    >>> found.to_frame()[["layers", "ema_bytes"]].head(2)
        layers  ema_bytes
    0  conv1_1    3363520
    1  conv1_2    6459392
    """

    network: str
    accelerator: Accelerator
    tile_rule: TileRule
    status: Literal["feasible", "infeasible"]
    subgraphs: tuple[SubgraphCost, ...]  #: that can run, in execution order
    infeasible: tuple[Infeasible, ...]  #: that cannot
    ema_bytes: float  #: external memory access, the sum of the next three
    ema_weight_bytes: float
    ema_input_bytes: float
    ema_output_bytes: float
    energy_pj: float
    energy_breakdown: EnergyBreakdown | None  #: pJ by where it is spent; None where it cannot run
    compute_cycles: float
    latency_cycles: float  #: the sum over subgraphs of the longest of computing, DRAM (Cocco, Sec. 5.1.2), crossbar
    bandwidth_mean_bytes_per_cycle: float  #: needed so that computing never waits, over the subgraphs (GB/s at 1 GHz)
    bandwidth_peak_bytes_per_cycle: float  #: the largest need of a subgraph
    compulsory_bytes: int  #: weights once, model inputs and outputs once for each sample
    metric: Metric = DEFAULT_METRIC  #: by which tiles, loop orders and samples at once are chosen
    rereads: tuple[Reread, ...] = ()  #: what layers move again and again because it does not fit
    keep: tuple[KeptTensor, ...] = ()  #: what stays on chip from one subgraph to a later one
    source: tuple[Network, Partition] | None = field(default=None, repr=False, compare=False)  #: what was evaluated

    def __repr__(self) -> str:
        costs = costs_text(self) if self.fits else f"infeasible: {len(self.infeasible)} of them cannot run"
        return f"Evaluation({self.network}, {len(self.subgraphs) + len(self.infeasible)} subgraphs, {costs})"

    def _repr_html_(self) -> str:
        return html(self.summary(), self.to_frame())

    @property
    def fits(self) -> bool:
        """Whether every subgraph can run."""
        return self.status == "feasible"

    @property
    def plan(self) -> Partition:
        """What was evaluated; on several cores with how they share each subgraph (`Partition.schemes`)."""
        assert self.source is not None, "evaluate() made it"
        if not self.fits or self.accelerator.cores == 1:
            return self.source[1]
        return self.source[1].shared(cost.scheme for cost in self.subgraphs)

    @property
    def crossbar_bytes(self) -> float:
        """Bytes that pass from core to core; infinite where the partition cannot run."""
        return sum(cost.crossbar_bytes for cost in self.subgraphs) if self.fits else math.inf

    @cached_property
    def simulation(self) -> Simulation:
        """When each row operation loads, computes and stores; computed on demand (not by a search)."""
        assert self.source is not None, "evaluate() made it"
        return simulate(*self.source, self.accelerator, self.tile_rule)

    @cached_property
    def kept_saved_bytes(self) -> int | None:
        """EMA that the kept tensors save compared with the same subgraphs without them; None if these cannot run.

        Computed on demand.
        """
        if not self.fits or not self.keep:
            return 0 if self.fits else None
        assert self.source is not None, "evaluate() made it"
        network, partition = self.source
        plain = Partition.from_ids(network, partition.subgraphs, partition.metric, schemes=partition.schemes)
        prices = price_partition(network, plain, self.accelerator, self.tile_rule).prices
        found = [price.ema_bytes for price in prices if isinstance(price, Price)]
        return None if len(found) < len(prices) else sum(found) - int(self.ema_bytes)

    @property
    def latency_executed_cycles(self) -> float:
        """Latency of the simulation: one DRAM channel in order, working ahead only into free room; infinite if none."""
        return self.simulation.cycles if self.fits else math.inf

    @property
    def utilization(self) -> float:
        """MACs done over those that the PE arrays of all cores can do in compute_cycles; nan where it cannot run."""
        return self._utilization(self.compute_cycles)

    @property
    def utilization_executed(self) -> float:
        """The same of latency_executed_cycles."""
        return self._utilization(self.latency_executed_cycles)

    @cached_property
    def serving(self) -> Serving | None:
        """What a step of a language model means to its users; None for any other network, or if it cannot run."""
        if not self.fits or self.source is None:
            return None
        return serving_of(
            self.source[0], self.accelerator, self.latency_executed_cycles, self.compute_cycles, self.ema_bytes,
            self.compulsory_bytes, self.energy_pj,
        )  # fmt: skip

    def _utilization(self, cycles: float) -> float:
        assert self.source is not None, "evaluate() made it"
        return self.accelerator.utilization(self.source[0].macs, cycles) if self.fits else math.nan

    def summary(self) -> str:
        """Return the totals as a few lines of text, or why the partition cannot run."""
        if not self.fits:
            return "\n".join([f"{self.network} cannot run", *(f"  {each}" for each in self.infeasible)])
        moved = (self.ema_weight_bytes, self.ema_input_bytes, self.ema_output_bytes)
        weights, inputs, outputs = (f"{size:,} B" for size in moved)
        saved = "" if self.kept_saved_bytes is None else f", which saves {self.kept_saved_bytes:,} B"
        kept = [f"  kept     {', '.join(each.interval.tensor for each in self.keep)}{saved}"] if self.keep else []
        return "\n".join([
            f"{self.network} in {len(self.subgraphs)} subgraphs, {self.tile_rule} tile rule",
            f"  EMA      {self.ema_bytes:,} B: weights {weights}, inputs {inputs}, outputs {outputs}",
            *kept,
            *(f"  experts  {each.said(tokens)}" for each, tokens in self._mixtures()),
            f"  energy   {ENERGY.text(self.energy_pj)}",
            f"  latency  {self.latency_cycles:,.0f} cycles; {self.compute_cycles:,} of computing",
        ])  # fmt: skip

    def totals(self) -> dict[str, float]:
        """Return the sums over the partition by name, with the number of subgraphs first."""
        names = [name for name in _TOTALS if name != "subgraphs"]
        return {"subgraphs": len(self.subgraphs), **{name: getattr(self, name) for name in names}}

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per subgraph in execution order, with layers joined by spaces and the tile as two columns.

        Those that cannot run come last: what they cost is infinite, as are its sums over the rows.
        """
        import pandas

        rows: list[dict[str, Any]] = []
        for cost in self.subgraphs:
            row = cost.to_json() | {"layers": " ".join(cost.layers)}
            row["tile_rows"], row["tile_columns"] = row.pop("tile")
            row["order"] = "held" if cost.loops is None else cost.loops.order
            del row["loops"]
            row |= {f"energy_{name}_pj": value for name, value in row.pop("energy_breakdown").items()}
            rows.append(row)
        summed = dict.fromkeys(("ema_bytes", "energy_pj", "compute_cycles", "latency_cycles"), math.inf)
        rows += [{"layers": " ".join(each.layers)} | summed for each in self.infeasible]
        return pandas.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the plain data that `cocco evaluate --json` prints, with "keep" if tensors stay on chip."""
        if not self.fits:
            return {"status": "infeasible", "infeasible": [each.to_json() for each in self.infeasible]}
        kept: dict[str, Any] = {}
        totals: dict[str, float | None] = {**self.totals(), "compulsory_bytes": self.compulsory_bytes}
        if self.accelerator.cores > 1:
            totals["crossbar_bytes"] = self.crossbar_bytes
        if self.keep:
            kept = {"keep": [each.to_json() for each in self.keep]}
            totals["kept_saved_bytes"] = self.kept_saved_bytes
        return {
            "network": self.network,
            "accelerator": self.accelerator.to_json(),
            "tile_rule": self.tile_rule,
            "metric": self.metric,
            "totals": totals,
            "subgraphs": [cost.to_json() for cost in self.subgraphs],
            **kept,
            **({"experts": experts} if (experts := self._experts()) else {}),
            **({"serving": self.serving.to_json()} if self.serving is not None else {}),
            **({"memory": self.accelerator.memory_json()} if self.accelerator.has_tables else {}),
            **({"chip": self.accelerator.chip_json()} if self.accelerator.technology.logic else {}),
        }

    def _mixtures(self) -> tuple[tuple[Experts, int], ...]:
        """Return the mixtures of experts in the network, and how many tokens of the batch share each."""
        return () if self.source is None else self.source[0].experts_of(self.accelerator.batch)

    def _experts(self) -> list[dict[str, Any]]:
        """Return how many experts are in use; empty for a network without experts."""
        return [
            asdict(each) | {"tokens": tokens, "used": each.in_use(tokens), "given": each.used is not None}
            for each, tokens in self._mixtures()
        ]


_TOTALS = (
    "subgraphs",
    "ema_bytes",
    "ema_weight_bytes",
    "ema_input_bytes",
    "ema_output_bytes",
    "energy_pj",
    "compute_cycles",
    "latency_cycles",
    "latency_executed_cycles",
    "utilization",
    "utilization_executed",
    "bandwidth_mean_bytes_per_cycle",
    "bandwidth_peak_bytes_per_cycle",
)


def evaluate(
    network: Network, partition: Partition, accelerator: Accelerator, tile_rule: TileRule = "exact"
) -> Evaluation:
    """Return what the partition costs on the accelerator (docs/model.md).

    A subgraph that does not fit is an answer, not an error.

    Parameters
    ----------
    network : Network
        What is computed, such as `workloads.load("resnet50")`.
    partition : Partition
        Which layers run together; a partition of this network.
    accelerator : Accelerator
        The hardware: capacities in bytes of one core, cores, batch, technology.
    tile_rule : {"exact", "paper"}
        "exact" sizes the regions so that the schedule really runs; "paper" reproduces Cocco, Sec. 3.1.

    Returns
    -------
    Evaluation
        Totals in bytes, pJ and cycles for the whole batch, and the same for each subgraph.

    Raises
    ------
    TypeError
        An argument has a wrong type; the message shows a correct one.
    ValueError
        The partition is of another network, or the tile rule is unknown.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Accelerator, KiB, MiB, Partition, evaluate
    >>> vgg = workloads.load("vgg16")
    >>> chip = Accelerator(global_buffer=1 * MiB, weight_buffer=1152 * KiB)
    >>> alone = evaluate(vgg, Partition.layerwise(vgg), chip)
    >>> fused = evaluate(vgg, Partition.from_groups(vgg, [["conv1_1..pool1"]]), chip)
    >>> alone.ema_bytes - fused.ema_bytes  # two tensors of 224x224x64 are neither stored nor loaded
    12845056
    """
    return summarize(price_partition(network, partition, accelerator, tile_rule))


def summarize(priced: PricedPartition) -> Evaluation:
    """Return the Evaluation of priced subgraphs in execution order."""
    network, accelerator, tile_rule = priced.network, priced.accelerator, priced.rules.tile_rule
    names, source = priced.partition.names, (network, priced.partition)
    least = compulsory_bytes(priced.rules.geometry, accelerator.batch)
    keeps = bool(priced.partition.keep)
    kept = tuple(KeptTensor(each, priced.rules.whole_bytes(each.tensor_id)) for each in priced.partition.keep)
    failed = tuple(
        Infeasible(group, *price, step if keeps else None)
        for step, (group, price) in enumerate(zip(names, priced.prices))
        if isinstance(price, Shortage)
    )
    spares = priced.partition.spare or (0,) * len(names)
    subgraphs = tuple(
        subgraph_cost(group, model, price, accelerator, keeps, spare)
        for group, model, price, spare in zip(names, priced.models, priced.prices, spares)
        if isinstance(price, Price)
    )
    if failed:
        return Evaluation(
            network.name, accelerator, tile_rule, "infeasible", subgraphs, failed,
            math.inf, math.inf, math.inf, math.inf, math.inf, None, math.inf, math.inf, math.inf, math.inf,
            compulsory_bytes=least, metric=priced.partition.metric, keep=kept, source=source,
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
        bandwidth_mean_bytes_per_cycle=added(needs) / len(needs),
        bandwidth_peak_bytes_per_cycle=max(needs),
        compulsory_bytes=least,
        metric=priced.partition.metric,
        rereads=tuple(rereads(names, priced.models, priced.prices)),
        keep=kept,
        source=source,
    )  # fmt: skip


def check_evaluation(network: Network, evaluation: Evaluation) -> None:
    """Raise TypeError or ValueError unless these are a network and an evaluation of it."""
    check_network(network)
    check_type("evaluation", evaluation, Evaluation, "simulator.evaluate(network, partition, accelerator)")
    if evaluation.network != network.name:
        raise ValueError(f"the evaluation is of network {evaluation.network!r}, not of {network.name!r}")
