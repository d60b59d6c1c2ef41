"""Chooses the tensors to keep on chip between the subgraphs of a given partition so that it costs least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cocco.bounds.cheapest import keep_question
from cocco.effort.shown import Shown
from cocco.plans.kept_tensors import KeptReason, reasons_of
from cocco.problem.criteria import CRITERIA
from cocco.problem.problem import on_hardware
from cocco.search.keeping.priced import WIDTH, priced_intervals
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation, evaluate
from simulator.model.priced import price_partition
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from workloads.network.network import Network


@dataclass(frozen=True, repr=False)
class KeptChoice(Shown):
    """A partition with the intervals that were chosen for it, and what they save.

    Examples
    --------
    >>> import cocco, simulator, workloads
    >>> network, chip = workloads.load("vgg16"), simulator.Accelerator(shared_buffer=2**21)
    >>> found = cocco.keep_on_chip(network, simulator.Partition.layerwise(network), chip)
    >>> found.exact, len(found.partition.keep)
    (True, 17)
    """

    given: Evaluation  #: of the partition as it was given
    partition: Partition  #: the same subgraphs, in execution order, with the intervals chosen
    evaluation: Evaluation
    exact: bool  #: whether no intervals of these subgraphs in this order cost less

    @property
    def saved(self) -> float | None:
        """What the choice saves compared with the partition as given, in its metric; None if either cannot run."""
        if not self.given.fits or not self.evaluation.fits:
            return None
        return _value(self.given) - _value(self.evaluation)

    def reasons(self) -> tuple[KeptReason, ...]:
        """Return what each interval saves."""
        assert self.evaluation.source is not None, "evaluate() made it"
        network, _ = self.evaluation.source
        found = self.evaluation
        return reasons_of(price_partition(network, self.partition, found.accelerator, found.tile_rule))

    def facts(self) -> dict[str, object]:
        """Return how many tensors are kept, what the partition then costs, and how good that is known to be."""
        return {
            "network": self.evaluation.network,
            "status": self.evaluation.status,
            "kept": len(self.partition.keep),
            "ema_bytes": self.evaluation.ema_bytes,
            "energy_pj": self.evaluation.energy_pj,
            "saved": self.saved,
            "exact": self.exact,
        }

    def to_json(self) -> dict[str, Any]:
        """Return what `cocco evaluate --keep auto --json` adds (docs/partitions.md)."""
        given = self.given.to_json().get("totals")
        return {"choice": {"metric": self.partition.metric, "exact": self.exact, "given": given}}


def keep_on_chip(
    network: Network,
    partition: Partition,
    accelerator: Accelerator,
    *,
    order: Sequence[Sequence[int]] | None = None,
    tile_rule: TileRule = "exact",
    width: int | None = WIDTH,
) -> KeptChoice:
    """Return a partition with the kept intervals that make its subgraphs, in a given order, cheapest.

    It minimizes the partition's metric, with every step priced in the room that kept tensors leave, and never costs
    more than the partition as given. Subgraphs and order stay; `cocco.partition(keep="auto")` searches these as well.

    Parameters
    ----------
    network, partition, accelerator, tile_rule
        As in `simulator.evaluate`. The intervals that the partition already has are one of the choices.
    order
        Layer ids of the subgraphs in the order in which they are to run; by default that of the partition.
    width
        The most states that the dynamic program carries from step to step; None for all, which makes the answer exact.

    Returns
    -------
    KeptChoice
        The partition with its intervals, its price, and whether no other intervals cost less.

    Raises
    ------
    ValueError
        If the partition is of another network, or the order is not topological.

    Examples
    --------
    >>> import cocco, simulator, workloads
    >>> network, chip = workloads.load("vgg16"), simulator.Accelerator(shared_buffer=2**20)
    >>> plan = simulator.Partition.from_groups(network, [["conv1_1..pool1"], ["conv2_1..pool2"]])
    >>> found = cocco.keep_on_chip(network, plan, chip)
    >>> [each.tensor for each in found.partition.keep][:2], f"{found.saved / 1e9:.3f} mJ"
    (['conv3_1', 'pool3'], '0.494 mJ')
    """
    given = evaluate(network, partition, accelerator, tile_rule)
    metric = partition.metric
    steps = [tuple(sorted(group)) for group in order or partition.subgraphs]
    problem = on_hardware(network, accelerator, metric=metric, tile_rule=tile_rule, keep="auto")
    found = priced_intervals(keep_question(problem), steps, width)
    if found is None:
        return KeptChoice(given, partition, given, False)
    plan = partition
    if found.spans:
        plan = Partition.from_ids(network, steps, metric, found.spans)
    elif partition.keep:
        plan = Partition.from_ids(network, steps, metric)
    priced = evaluate(network, plan, accelerator, tile_rule)
    if given.fits and _value(given) <= _value(priced):
        return KeptChoice(given, partition, given, found.exact)
    return KeptChoice(given, plan, priced, found.exact)


def _value(evaluation: Evaluation) -> float:
    value: float = getattr(evaluation, CRITERIA[evaluation.metric].column)
    return value
