"""Why a partition does not fit or is expensive: its bytes by tensor, and the best split of each subgraph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from cocco.effort.shown import Shown
from cocco.plans.kept_tensors import KeptReasons, kept_reasons
from cocco.plans.splits import SplitPart, Splitter
from cocco.problem.names import Metric
from cocco.problem.problem import on_hardware
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation, evaluate, summarize
from simulator.model.cost import METRICS, Totals, total
from simulator.model.priced import price_partition
from simulator.model.pricing import Price, Shortage
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.views.breakdown import Breakdown, breakdown_of
from workloads.network.network import Network

DEAREST = 5  #: our choice: feasible subgraphs that are explained


@dataclass(frozen=True)
class Split:
    """The best way to cut a subgraph into parts that run; ema_bytes is their total."""

    parts: tuple[tuple[str, ...], ...]
    ema_bytes: int
    energy_pj: float
    latency_cycles: float


@dataclass(frozen=True)
class Explained:
    """One subgraph: where its bytes are, what it costs (None if it does not fit), and its best split."""

    position: int  #: in execution order
    bytes: Breakdown
    ema_bytes: int | None
    split: Split | None  #: None for a single layer, and where a layer does not run even by itself


@dataclass(frozen=True, repr=False)
class Explanation(Shown):
    """The subgraphs that do not fit and the most expensive ones, in execution order.

    repaired: the partition with every subgraph that does not fit replaced by its split, and what it costs; None if all
    fit, or if a layer does not run even by itself.
    """

    evaluation: Evaluation
    subgraphs: tuple[Explained, ...]
    repaired: Partition | None
    repaired_evaluation: Evaluation | None
    kept: KeptReasons | None = None  #: of a plan that keeps tensors on chip, or where it was requested

    def facts(self) -> dict[str, object]:
        """Return the status of the partition, which subgraphs are explained, and what repairs it."""
        facts: dict[str, object] = {
            "network": self.evaluation.network,
            "status": self.evaluation.status,
            "infeasible": len(self.evaluation.infeasible),
            "explained": ", ".join(str(each.position) for each in self.subgraphs),
        }
        if self.repaired is not None and self.repaired_evaluation is not None:
            facts |= {
                "repaired_subgraphs": len(self.repaired),
                "repaired_ema_bytes": self.repaired_evaluation.ema_bytes,
            }
        return facts

    def to_json(self) -> dict[str, Any]:
        """Return what `cocco evaluate --explain --json` adds (docs/partitions.md)."""
        rows = []
        for each in self.subgraphs:
            content = asdict(each.bytes)
            if self.evaluation.accelerator.cores == 1:
                del content["scheme"]
            content["tensors"] = [tensor._asdict() for tensor in each.bytes.tensors]
            content["weights"] = [weights._asdict() for weights in each.bytes.weights]
            split = None if each.split is None else asdict(each.split)
            rows.append({"position": each.position, **content, "ema_bytes": each.ema_bytes, "split": split})
        repaired = None
        if self.repaired is not None and self.repaired_evaluation is not None:
            repaired = {"partition": self.repaired.names, "totals": self.repaired_evaluation.to_json()["totals"]}
        return {"explained": rows, "repaired": repaired} | (self.kept.to_json() if self.kept else {})


def explain(
    network: Network,
    partition: Partition,
    accelerator: Accelerator,
    *,
    metric: Metric | None = None,
    tile_rule: TileRule = "exact",
    dearest: int = DEAREST,
    kept: bool | None = None,
) -> Explanation:
    """Return what takes the bytes of each subgraph that does not fit, and of the most expensive that do.

    With all subgraphs that do not fit replaced by their splits, the partition runs. For a subgraph that fits, the split
    says what it would cost instead. A partition that keeps tensors on chip is not split, because its intervals refer to
    its steps.

    Parameters
    ----------
    network, partition, accelerator, tile_rule
        As in `simulator.evaluate`.
    metric
        "ema" (off-chip bytes), "energy" (pJ) or "latency-sum" (cycles): what "expensive" and "best split" refer to; by
        default that of the partition.
    dearest
        How many of the subgraphs that fit are explained.
    kept
        Whether to report what each kept tensor saves, the room of every step, and what the next tensors would have
        needed; by default only if the partition keeps any.

    Raises
    ------
    ValueError
        For an unknown metric, or a partition of another network.

    Examples
    --------
    >>> import cocco, simulator, workloads
    >>> network, chip = workloads.load("vgg16"), simulator.Accelerator(shared_buffer=2**18)
    >>> plan = simulator.Partition.from_groups(network, [["conv4_1", "conv4_2", "conv4_3"]])
    >>> found = cocco.explain(network, plan, chip)
    >>> found.repaired == simulator.Partition.layerwise(network)
    True
    """
    metric = metric or partition.metric
    partition = replace(partition, metric=metric)
    priced = price_partition(network, partition, accelerator, tile_rule)
    evaluation, bytes_of, prices = summarize(priced), breakdown_of(priced), priced.prices
    splitter = Splitter(on_hardware(network, accelerator, metric=metric, tile_rule=tile_rule))
    chosen = _chosen(prices, accelerator, metric, dearest)
    found: dict[int, Explained] = {}
    groups, can_run = list(partition.subgraphs), True
    for i in reversed(range(len(prices))):
        price = prices[i]
        is_priced = isinstance(price, Price)
        is_cut = not partition.keep and (i in chosen or not is_priced)  # intervals refer to the existing steps
        cut = splitter.split(groups[i]) if is_cut else None
        if cut is None and not is_priced:
            can_run = False  # a layer has no loop order here
        elif cut is not None and not is_priced:
            groups[i : i + 1] = [part.layers for part in cut]
        if i in chosen:
            ema = price.ema_bytes if isinstance(price, Price) else None
            found[i] = Explained(i, bytes_of[i], ema, _described(network, accelerator, cut) if cut else None)
    explained = tuple(found[i] for i in sorted(found))
    asks = bool(partition.keep) if kept is None else kept
    reasons = kept_reasons(priced) if asks else None
    if evaluation.fits or not can_run:
        return Explanation(evaluation, explained, None, None, reasons)
    repaired = Partition.from_ids(network, groups, metric)
    return Explanation(evaluation, explained, repaired, evaluate(network, repaired, accelerator, tile_rule), reasons)


def _chosen(prices: Sequence[Price | Shortage], accelerator: Accelerator, metric: Metric, dearest: int) -> set[int]:
    """Return the subgraphs that do not fit, and the most expensive of the others."""
    fitting = [i for i, price in enumerate(prices) if isinstance(price, Price)]
    worth = {
        i: METRICS[metric](total([price], accelerator), accelerator)
        for i, price in enumerate(prices)
        if isinstance(price, Price)
    }
    return set(sorted(fitting, key=lambda i: (-worth[i], i))[:dearest]) | set(range(len(prices))) - set(fitting)


def _described(network: Network, accelerator: Accelerator, parts: Sequence[SplitPart]) -> Split:
    sums = Totals(*map(sum, zip(*(part.totals for part in parts))))
    return Split(
        tuple(network.names(part.layers) for part in parts),
        sums.ema_bytes, METRICS["energy"](sums, accelerator), METRICS["latency-sum"](sums, accelerator),
    )  # fmt: skip
