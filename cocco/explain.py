"""Why a partition does not fit or is dear: its bytes by tensor, the best split of a subgraph, the capacity it wants.

The split: the subgraph's layers in the network's order, cut where the parts together cost least, by dynamic
programming over the cuts (our choice). Parts of such an order never wait for each other, and a single layer always
runs, so there is a split whenever there are two layers; parts that are not connected are no subgraphs and left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from cocco.baselines.costs import SubgraphCosts
from cocco.search.problem import Problem, on_hardware
from simulator.accelerator import Accelerator
from simulator.breakdown import Breakdown, breakdown, reserved_bytes
from simulator.cost import METRICS, price_subgraphs, total
from simulator.evaluate import Evaluation, evaluate
from simulator.partition import Partition, connected_parts
from simulator.pricing import Price, SubgraphModel
from simulator.tiling import TileRule
from workloads.network import Network

MAX_PARTS = 4000  #: our choice: parts of one subgraph that are priced, seconds; beyond, the parts are of fewer layers
DEAREST = 5  #: our choice: feasible subgraphs that are explained


@dataclass(frozen=True)
class Split:
    """The best way to cut a subgraph into parts that run; ema_bytes is theirs together."""

    parts: tuple[tuple[str, ...], ...]
    ema_bytes: int
    energy_pj: float
    latency_cycles: float


@dataclass(frozen=True)
class Explained:
    """One subgraph: where its bytes are, what it costs (None where it does not fit), and its best split."""

    position: int  #: in execution order
    bytes: Breakdown
    ema_bytes: int | None
    split: Split | None  #: None for a single layer


@dataclass(frozen=True)
class Explanation:
    """The subgraphs that do not fit and those that are dear, in execution order.

    mended: the partition with every subgraph that does not fit replaced by its split, and what it costs; None where
    all fit.
    """

    evaluation: Evaluation
    subgraphs: tuple[Explained, ...]
    mended: Partition | None
    mended_evaluation: Evaluation | None

    def to_json(self) -> dict[str, Any]:
        """Return what `cocco evaluate --explain --json` adds (docs/partitions.md)."""
        rows = []
        for each in self.subgraphs:
            content = asdict(each.bytes)
            content["tensors"] = [tensor._asdict() for tensor in each.bytes.tensors]
            content["weights"] = [weights._asdict() for weights in each.bytes.weights]
            split = None if each.split is None else asdict(each.split)
            rows.append({"position": each.position, **content, "ema_bytes": each.ema_bytes, "split": split})
        mended = None
        if self.mended is not None and self.mended_evaluation is not None:
            mended = {"partition": self.mended.names, "totals": self.mended_evaluation.totals()}
        return {"explained": rows, "mended": mended}


def explain(
    network: Network,
    partition: Partition,
    accelerator: Accelerator,
    *,
    metric: str = "ema",
    tile_rule: TileRule = "exact",
    dearest: int = DEAREST,
) -> Explanation:
    """Return what takes the bytes of each subgraph that does not fit, and of the `dearest` that do, by the metric.

    metric: "ema", "energy" or "latency", by which subgraphs are dear and splits are best. With the splits of all that
    do not fit the partition runs: they are found from the last to the first, each beside the next weights where those
    are resident, and the one before is split too where it would have no room for them. The split of a subgraph that
    fits says what it would cost in its place.
    """
    evaluation = evaluate(network, partition, accelerator, tile_rule)
    bytes_of = breakdown(network, partition, accelerator, tile_rule)
    splitter = _Splitter(on_hardware(network, accelerator, metric=metric, tile_rule=tile_rule))
    models = [splitter.model(group) for group in partition.subgraphs]
    prices = price_subgraphs(models, accelerator)
    worth = [splitter.cost(price) if isinstance(price, Price) else 0.0 for price in prices]
    fitting = [i for i, price in enumerate(prices) if isinstance(price, Price)]
    chosen = set(sorted(fitting, key=lambda i: (-worth[i], i))[:dearest]) | set(range(len(prices))) - set(fitting)
    found: dict[int, Explained] = {}
    groups = list(partition.subgraphs)
    following: Price | None = None  # of what runs next in the partition that is mended
    for i in reversed(range(len(prices))):
        price, before = prices[i], splitter.slack(models[i - 1], prices[i - 1]) if i else None
        reserved = reserved_bytes(following, accelerator)
        mended_price, cut = splitter.price(groups[i], reserved), None
        if mended_price is None or not isinstance(price, Price):
            cut = splitter.split(groups[i], reserved, before) or splitter.split(groups[i], reserved, None)
        if mended_price is None:
            assert cut is not None, "single layers always run"
            groups[i : i + 1] = [part.layers for part in cut]
            mended_price = cut[0].price
        following = mended_price
        if i in chosen:
            if isinstance(price, Price):
                beside = reserved_bytes(prices[i + 1] if i + 1 < len(prices) else None, accelerator)
                cut = splitter.split(partition.subgraphs[i], beside, before)
            ema = price.ema_bytes if isinstance(price, Price) else None
            found[i] = Explained(i, bytes_of[i], ema, splitter.described(cut) if cut else None)
    explained = tuple(found[i] for i in sorted(found))
    if evaluation.fits:
        return Explanation(evaluation, explained, None, None)
    mended = Partition.from_ids(network, groups)
    return Explanation(evaluation, explained, mended, evaluate(network, mended, accelerator, tile_rule))


class _Part(NamedTuple):
    """Layers that would run together, and their price."""

    layers: tuple[int, ...]
    price: Price


class _Best(NamedTuple):
    """The cheapest way to run the layers from a cut to the end; its first part keeps so many bytes resident."""

    cost: float
    number: int
    parts: tuple[_Part, ...]


class _Splitter:
    """Prices parts of subgraphs on one accelerator; models are kept, because splits try the same parts again."""

    def __init__(self, problem: Problem) -> None:
        self.problem, (self.rules,) = problem, problem.rules
        self.machine = problem.accelerator
        self.costs = SubgraphCosts(problem)
        self.metric = METRICS[problem.objective.metric]
        self.models: dict[tuple[int, ...], SubgraphModel] = {}

    def model(self, group: tuple[int, ...]) -> SubgraphModel:
        if group not in self.models:
            self.models[group] = SubgraphModel(self.rules, group)
        return self.models[group]

    def cost(self, price: Price) -> float:
        return self.metric(total([price], self.machine), self.machine)

    def price(self, group: tuple[int, ...], reserved: int) -> Price | None:
        """Return the price beside so many bytes of the next weights, None where the group does not fit."""
        room = self.machine.activation_capacity - (reserved if self.machine.is_shared else 0)
        found = self.model(group).price(room, self.machine.weight_capacity - reserved)
        return found if isinstance(found, Price) else None

    def slack(self, model: SubgraphModel, price: object) -> int | None:
        """Return how many bytes a subgraph can leave to the next weights; None where it will yield anyway."""
        if self.machine.prefetch == "free" or model.is_single or not isinstance(price, Price):
            return None
        if self.machine.is_shared:
            return self.machine.activation_capacity - model.weight_need - model.least_activation
        return self.machine.weight_capacity - model.weight_need

    def split(self, group: tuple[int, ...], reserved: int, most: int | None) -> tuple[_Part, ...] | None:
        """Return the cheapest parts, two at least; of equal ones the fewest. None: the one before leaves no room.

        reserved: what the next subgraph's weights take. most: what the weights of the first part may take.
        """
        count = len(group)
        if count == 1:
            return None
        longest = max(1, min(count, MAX_PARTS // count))
        best: list[dict[int, _Best]] = [{} for _ in range(count)] + [{reserved: _Best(0.0, 0, ())}]
        for start in reversed(range(count)):
            for stop in range(start + 1, min(start + longest, count) + 1):
                part = group[start:stop]
                if stop - start == count or (len(part) > 1 and not self.costs.may_fit(part)):
                    break
                if len(part) > 1 and len(connected_parts(self.problem.networks[0], part)) > 1:
                    continue
                for beside, rest in best[stop].items():
                    self._prepend(best[start], part, beside, rest)
        ends = [way for kept, way in best[0].items() if most is None or kept <= most]
        return min(ends, key=lambda way: way[:2]).parts if ends else None

    def _prepend(self, ways: dict[int, _Best], part: tuple[int, ...], beside: int, rest: _Best) -> None:
        price = self.price(part, beside)
        if price is None:
            return
        way = _Best(rest.cost + self.cost(price), rest.number + 1, (_Part(part, price), *rest.parts))
        kept = reserved_bytes(price, self.machine)
        if kept not in ways or way[:2] < ways[kept][:2]:
            ways[kept] = way

    def described(self, parts: Sequence[_Part]) -> Split:
        network, sums = self.problem.networks[0], total([part.price for part in parts], self.machine)
        return Split(
            tuple(network.names(part.layers) for part in parts),
            sums.ema_bytes, METRICS["energy"](sums, self.machine), METRICS["latency"](sums, self.machine),
        )  # fmt: skip
