"""Partitions of one network side by side: what each costs on given hardware, and the subgraphs in which they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cocco.effort.shown import Shown
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation, evaluate
from simulator.model.cost import added
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from simulator.views.least_capacity import LeastCapacity, least_capacity
from workloads.network.network import Network

if TYPE_CHECKING:
    import pandas

__all__ = ["Compared", "Comparison", "Difference", "Side", "compare"]


@dataclass(frozen=True, repr=False)
class Compared(Shown):
    """One partition: its price, and the least memory on which it runs."""

    name: str
    partition: Partition
    evaluation: Evaluation
    least: LeastCapacity

    def facts(self) -> dict[str, object]:
        """Return what it costs, and the least memory for it."""
        totals = self.evaluation.totals()
        return {
            "name": self.name,
            "status": self.evaluation.status,
            "subgraphs": len(self.partition),
            **{name: totals[name] for name in ("ema_bytes", "energy_pj", "latency_cycles")},
            "held_bytes": self.held_bytes,
            "least_shared_buffer": self.least.shared_buffer,
        }

    @property
    def held_bytes(self) -> int | None:
        """The most that a subgraph holds in one core here: activations, kept tensors, weights; None: cannot run."""
        if not self.evaluation.fits:
            return None
        return max(
            cost.activation_bytes + (cost.kept_bytes or 0) + cost.weight_bytes for cost in self.evaluation.subgraphs
        )  # fmt: skip


@dataclass(frozen=True)
class Side:
    """How one partition groups the layers of a difference; None if one of its subgraphs cannot run."""

    subgraphs: tuple[tuple[str, ...], ...]
    ema_bytes: int | None
    energy_pj: float | None
    latency_cycles: float | None


@dataclass(frozen=True)
class Difference:
    """A smallest set of layers that the partitions group differently, with a side for each partition."""

    layers: tuple[str, ...]
    sides: tuple[Side, ...]


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """The partitions in the order given, and where they differ, in the network's order."""

    network: str
    partitions: tuple[Compared, ...]
    differences: tuple[Difference, ...]

    def facts(self) -> dict[str, object]:
        """Return the network, the names of the partitions, and in how many places they differ."""
        names = ", ".join(each.name for each in self.partitions)
        return {"network": self.network, "partitions": names, "differences": len(self.differences)}

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per partition: its totals, the most bytes held, and the least shared buffer for it."""
        import pandas

        return pandas.DataFrame([each.facts() for each in self.partitions])

    def to_json(self) -> dict[str, Any]:
        """Return what `cocco compare --json` prints (docs/partitions.md)."""
        first = self.partitions[0].evaluation
        return {
            "network": self.network,
            "accelerator": first.accelerator.to_json(),
            "tile_rule": first.tile_rule,
            "partitions": [_row(each) for each in self.partitions],
            "differences": [
                {
                    "layers": list(each.layers),
                    "sides": [
                        {
                            "name": compared.name, "subgraphs": [list(group) for group in side.subgraphs],
                            "ema_bytes": side.ema_bytes, "energy_pj": side.energy_pj,
                            "latency_cycles": side.latency_cycles,
                        }
                        for compared, side in zip(self.partitions, each.sides)
                    ],
                }
                for each in self.differences
            ],
        }  # fmt: skip


def compare(
    network: Network,
    partitions: Mapping[str, Partition],
    accelerator: Accelerator,
    *,
    tile_rule: TileRule = "exact",
) -> Comparison:
    """Return the partitions side by side on one accelerator; one that cannot run is an answer, not an error.

    Parameters
    ----------
    network
        What they are partitions of.
    partitions
        By the name under which they are shown.
    accelerator
        The hardware on which they are priced.
    tile_rule
        As in `simulator.evaluate`.

    Raises
    ------
    ValueError
        If there are no partitions, or one is of another network.

    Examples
    --------
    >>> import cocco, simulator, workloads
    >>> network, chip = workloads.load("vgg16"), simulator.Accelerator(shared_buffer=2**20)
    >>> plans = {"by hand": simulator.Partition.from_groups(network, [["fc7", "fc8"]])}
    >>> plans["layerwise"] = simulator.Partition.layerwise(network)
    >>> found = cocco.compare(network, plans, chip)
    >>> [difference.layers for difference in found.differences]
    [('fc7', 'fc8')]
    """
    if not partitions:
        raise ValueError("compare needs at least one partition, got none")
    compared = tuple(
        Compared(
            name, plan, evaluate(network, plan, accelerator, tile_rule),
            least_capacity(network, plan, machine=accelerator.machine, tile_rule=tile_rule),
        )
        for name, plan in partitions.items()
    )  # fmt: skip
    return Comparison(network.name, compared, _differences(network, compared))


def _differences(network: Network, compared: tuple[Compared, ...]) -> tuple[Difference, ...]:
    """Join what any partition joins; if that is one and the same subgraph in all, there is no difference."""
    label = list(range(len(network.layers)))

    def root(v: int) -> int:
        while label[v] != v:
            label[v] = label[label[v]]
            v = label[v]
        return v

    for each in compared:
        for group in each.partition.subgraphs:
            for v in group:
                first, second = sorted((root(group[0]), root(v)))
                label[second] = first
    joined: dict[int, list[int]] = {}
    for v in range(len(network.layers)):
        joined.setdefault(root(v), []).append(v)
    found = []
    for layers in joined.values():
        sides = [
            [group for group in each.partition.subgraphs if root(group[0]) == root(layers[0])] for each in compared
        ]
        if any(len(side) > 1 for side in sides):
            shown = tuple(_side(network, side, each) for side, each in zip(sides, compared))
            found.append(Difference(network.names(layers), shown))
    return tuple(found)


def _side(network: Network, groups: list[tuple[int, ...]], compared: Compared) -> Side:
    names = tuple(network.names(group) for group in groups)
    costs = {cost.layers: cost for cost in compared.evaluation.subgraphs}
    if any(group not in costs for group in names):
        return Side(names, None, None, None)
    mine = [costs[group] for group in names]
    return Side(
        names,
        sum(cost.ema_bytes for cost in mine),
        added(cost.energy_pj for cost in mine),
        added(cost.latency_cycles for cost in mine),
    )


def _row(compared: Compared) -> dict[str, Any]:
    evaluation = compared.evaluation
    return {
        "name": compared.name,
        "status": evaluation.status,
        "subgraphs": len(compared.partition),
        "totals": evaluation.to_json()["totals"] if evaluation.fits else None,
        "held_bytes": compared.held_bytes,
        "least": compared.least.to_json(),
        "infeasible": [each.to_json() for each in evaluation.infeasible],
        **({"keep": [each.to_json() for each in evaluation.keep]} if evaluation.keep else {}),
    }
