"""Partition: which layers run together, in which order (Cocco, Sec. 4.1.1), and what stays on chip between. Files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING

from simulator.accelerator import Accelerator
from simulator.connected import connected_parts
from simulator.hardware_files import BUFFERS
from simulator.metrics import DEFAULT_METRIC, Metric, check_metric
from simulator.partition.errors import PartitionError
from simulator.partition.files import read_handwritten
from simulator.partition.intervals import KeptInterval, Span, Uses, named_intervals
from simulator.partition.keep import check_keep, read_keep
from simulator.partition.order import order_subgraphs
from simulator.partition.patterns import expand
from simulator.partition.schemes import CoreScheme, check_schemes, reordered
from simulator.partition.spare import check_ahead, check_spare
from workloads.display import html
from workloads.files import write_atomic
from workloads.network.network import Network, check_network

if TYPE_CHECKING:
    import pandas

__all__ = ["Partition", "PartitionError", "connected_parts", "order_subgraphs"]


@dataclass(frozen=True)
class Partition:
    """Subgraphs of layer ids in execution order; build it with from_groups, layerwise or load.

    A valid partition covers every layer once, each subgraph is connected (`simulator.partition.connected`), and the
    subgraphs can run one after the other. Execution order: of the subgraphs that are ready, the one whose first
    layer is earliest in the network's order. So two partitions are equal if and only if their sets of sets are.

    With kept intervals the order is the one in which the subgraphs were given, because intervals are over steps; then
    two partitions are equal if and only if order and intervals are.

    Examples
    --------
    >>> import workloads
    >>> from simulator import Partition
    >>> vgg = workloads.load("vgg16")
    >>> plan = Partition.from_groups(vgg, [["conv1_1..pool1"], ["conv2_*", "pool2"]])
    >>> plan
    Partition(vgg16, 21 layers in 17 subgraphs)
    >>> plan.names[1]
    ('conv2_1', 'conv2_2', 'pool2')
    >>> plan.to_frame().head(2)
                      layers  count
    0  conv1_1 conv1_2 pool1      3
    1  conv2_1 conv2_2 pool2      3
    >>> kept = Partition.from_groups(vgg, [["conv1_1..pool1"], ["conv2_*", "pool2"]], keep=["pool1"])
    >>> [(each.tensor, each.from_step, each.until_step) for each in kept.keep]
    [('pool1', 0, 1)]
    """

    network_name: str
    subgraphs: tuple[tuple[int, ...], ...]  #: layer ids, ascending in each
    names: tuple[tuple[str, ...], ...]  #: the same by name
    metric: Metric = DEFAULT_METRIC  #: by which tile, loop order and samples at once of each subgraph are chosen
    keep: tuple[KeptInterval, ...] = ()  #: by first step and tensor
    schemes: tuple[CoreScheme, ...] = ()  #: how several cores share each, "" the cheapest; nothing where none is said
    spare: tuple[int, ...] = ()  #: bytes that each leaves free for weights of later ones; nothing where none does
    ahead: tuple[int | None, ...] = ()  #: bytes for what comes ahead while each runs, at most; None: all that is free

    def __post_init__(self) -> None:
        check_metric(self.metric)

    def __hash__(self) -> int:
        said = *self.keep, *self.schemes, *self.spare, *self.ahead
        return hash((self.network_name, self.subgraphs, self.names, self.metric, *said))

    def __repr__(self) -> str:
        layers = sum(map(len, self.subgraphs))
        kept = f", {len(self.keep)} kept" if self.keep else ""
        return f"Partition({self.network_name}, {layers} layers in {len(self)} subgraphs{kept})"

    def _repr_html_(self) -> str:
        return html(self.summary(), self.to_frame())

    def summary(self) -> str:
        """Return a few lines of text: how many subgraphs there are, of how many layers, and what is kept on chip."""
        sizes = sorted(map(len, self.subgraphs))
        alone = f"{sizes.count(1)} layers run alone" if sizes[0] == 1 else "no layer runs alone"
        counts = f"{sum(sizes)} layers in {len(sizes)} subgraphs"
        kept = f"\n  kept on chip: {', '.join(map(_shown, self.keep))}" if self.keep else ""
        return f"{self.network_name}: {counts}\n  at most {sizes[-1]} layers together; {alone}{kept}"

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per subgraph in execution order: its layers joined by spaces, and how many they are.

        With kept intervals also `kept`: the tensors that lie on chip, whole, while it runs.
        """
        import pandas

        columns: dict[str, object] = {"layers": map(" ".join, self.names), "count": map(len, self.names)}
        if self.keep:
            columns["kept"] = [
                " ".join(each.tensor for each in self.keep if each.from_step <= step <= each.until_step)
                for step in range(len(self))
            ]
        return pandas.DataFrame(columns)

    @classmethod
    def from_ids(
        cls,
        network: Network,
        groups: Iterable[Iterable[int]],
        metric: Metric = DEFAULT_METRIC,
        keep: Iterable[Span] = (),
        schemes: Iterable[str | None] = (),
        spare: Iterable[int] = (),
        ahead: Iterable[int | None] = (),
    ) -> Partition:
        """Return the partition with these groups of layer ids; raises PartitionError where it is not valid.

        keep: (tensor id, first step, last step) of each kept interval; with any, the groups are in execution order.
        schemes, spare, ahead: of each group, as from_groups takes them.
        """
        check_network(network)
        spans = list(keep)
        given = [tuple(sorted(group)) for group in groups]
        ordered = order_subgraphs(network, given, written=len(given) if spans else 0)
        shared = reordered(check_schemes(schemes, given), given, ordered, "")
        left = reordered(check_spare(spare, given), given, ordered, 0)
        most = reordered(check_ahead(ahead, given), given, ordered, None)
        return _partition(network, ordered, metric, spans, shared, left, most)

    @classmethod
    def from_groups(
        cls,
        network: Network,
        groups: Iterable[Iterable[str]],
        metric: Metric = DEFAULT_METRIC,
        keep: Iterable[str | Mapping[str, str] | KeptInterval] = (),
        schemes: Iterable[str | None] = (),
        spare: Iterable[int] = (),
        ahead: Iterable[int | None] = (),
    ) -> Partition:
        """Return the partition with these groups of layer names; layers that are not named run alone.

        Parameters
        ----------
        network : Network
            Whose layers they are.
        groups : iterable of iterables of str
            Names, wildcards ("s1b1_*") and ranges ("conv1..pool1"): simulator.partition.patterns. Also sets of nodes
            of `network.to_networkx()`, such as its communities: model inputs among them belong to no subgraph.
        metric : {"energy", "ema", "latency-sum"}
            What is to be least where a subgraph may run in several ways: tile, loop order, samples at once.
        keep : iterable of str, mappings or KeptInterval, optional
            Tensors that stay on chip: a name, from its maker to its last reader, or {"tensor": name, "from": layer,
            "until": layer}, from and to the steps of these layers. With any, the groups run in the order in which
            they are given, and layers that are not named as soon as the usual order has them.
        schemes : iterable of str or None, optional
            How several cores share each group: "channels", "rotated", "held" or "alone" (docs/model.md, section 7).
            None, and layers that are not named: the cheapest. On one core there is nothing to share.
        spare : iterable of int, optional
            Bytes of one core's buffer of weights (shared or not) that each group leaves free while it runs, so that
            weights of later groups are loaded ahead: it takes a tile or loop order that fits into the rest. Layers
            that are not named leave 0.
        ahead : iterable of int or None, optional
            The most bytes of a core's buffer of activations (shared or not) that hold what has come for later
            operations, or is still being stored, while each group runs; None, and layers that are not named: all that
            is free.

        Raises
        ------
        TypeError
            The network is no Network, or groups or keep are no lists.
        PartitionError
            An unknown or repeated layer, a pattern without a layer, an empty or disconnected group, or groups that
            wait for each other; with keep, an order that is not topological, or an interval whose tensor is not made
            or read at its ends; schemes that are unknown, or not as many as groups; spare or ahead that are
            no sizes.
        """
        check_network(network)
        ids = named_groups(network, groups)
        shared, left, most = check_schemes(schemes, ids), check_spare(spare, ids), check_ahead(ahead, ids)
        entries = check_keep(keep)
        seen = {v for group in ids for v in group}
        alone = [[v] for v in range(len(network.layers)) if v not in seen]
        if not entries:
            return cls.from_ids(
                network, ids + alone, metric, schemes=shared + [""] * len(alone) if shared else (),
                spare=left + [0] * len(alone) if left else (), ahead=most + [None] * len(alone) if most else (),
            )  # fmt: skip
        given = [tuple(sorted(group)) for group in ids + alone]
        ordered = order_subgraphs(network, given, written=len(ids))
        spans = read_keep(Uses(network, ordered), entries)
        said = reordered(shared, given, ordered, ""), reordered(left, given, ordered, 0)
        return _partition(network, ordered, metric, spans, *said, reordered(most, given, ordered, None))

    @classmethod
    def layerwise(cls, network: Network, metric: Metric = DEFAULT_METRIC) -> Partition:
        """Return the partition in which every layer runs alone."""
        check_network(network)
        return cls.from_ids(network, [[i] for i in range(len(network.layers))], metric)

    @classmethod
    def load(cls, path: str | PathLike[str], network: Network) -> Partition:
        """Return the partition in a .json or .yaml file: {"network": name, "subgraphs": [[layer names], ...]}.

        "keep", "schemes", "spare" and "ahead" are what from_groups takes.

        Layers that are not named run alone; a file with "rest: greedy" is for cocco.load_partition, which has prices.
        """
        check_network(network)
        found = read_handwritten(path, network)
        if found.rest != "layerwise":
            raise PartitionError(
                f"{path}: 'rest: {found.rest}' needs hardware and a search; load it with cocco.load_partition"
            )
        try:
            return cls.from_groups(network, found.groups, found.metric, *found.of_groups)  # type: ignore[arg-type]  # checked
        except PartitionError as error:
            raise PartitionError(f"{path}: {error}") from None

    def shared(self, schemes: Iterable[str | None]) -> Partition:
        """Return the same plan with how several cores share each subgraph, in the order of execution."""
        found = tuple(check_schemes(schemes, self.subgraphs))
        return replace(self, schemes=found if any(found) else ())

    def save(self, path: str | PathLike[str], accelerator: Accelerator | None = None) -> None:
        """Write the partition as JSON (or YAML, which JSON is), atomically.

        Parameters
        ----------
        path : str or PathLike
            The file, .json or .yaml.
        accelerator : Accelerator, optional
            The hardware that the plan was made for, which the file then says. `load` does not look at it; `cocco
            evaluate` prices the plan on it where nothing else is said.
        """
        lines = ",\n".join("  " + json.dumps(list(group)) for group in self.names)
        metric = "" if self.metric == DEFAULT_METRIC else f'"metric": {json.dumps(self.metric)}, '
        kept = ",\n".join("  " + json.dumps(each.to_json()) for each in self.keep)
        keep = f', "keep": [\n{kept}\n]' if self.keep else ""
        shared = ",\n".join("  " + json.dumps(scheme or None) for scheme in self.schemes)
        schemes = f', "schemes": [\n{shared}\n]' if self.schemes else ""
        spare = f', "spare": {list(self.spare)}' if self.spare else ""
        ahead = f', "ahead": {json.dumps(self.ahead)}' if self.ahead else ""
        made = "" if accelerator is None else f', "accelerator": {json.dumps(_said(accelerator))}'
        groups = f'"subgraphs": [\n{lines}\n]'
        text = f'{{"network": {json.dumps(self.network_name)}, {metric}{groups}{keep}{schemes}{spare}{ahead}{made}}}\n'
        write_atomic(path, text)

    def __len__(self) -> int:
        return len(self.subgraphs)


def _partition(
    network: Network,
    ordered: tuple[tuple[int, ...], ...],
    metric: Metric,
    spans: Sequence[Span],
    schemes: tuple[CoreScheme, ...] = (),
    spare: tuple[int, ...] = (),
    ahead: tuple[int | None, ...] = (),
) -> Partition:
    """Return the partition of groups in execution order; raises PartitionError where an interval is none."""
    names = tuple(network.names(group) for group in ordered)
    keep = named_intervals(Uses(network, ordered), spans)
    return Partition(network.name, ordered, names, metric, keep, schemes, spare, ahead)


def _said(accelerator: Accelerator) -> dict[str, object]:
    """Return the accelerator as a hardware file states it, without the buffers that it does not have."""
    return {name: value for name, value in accelerator.to_json().items() if name not in BUFFERS or value is not None}


def _shown(interval: KeptInterval) -> str:
    start = "" if interval.from_layer == interval.tensor else f" from {interval.from_layer}"
    return f"{interval.tensor}{start} until {interval.until_layer}"


def named_groups(network: Network, groups: Iterable[Iterable[object]]) -> list[list[int]]:
    """Return the layer ids of groups of names, wildcards and ranges; raises PartitionError as from_groups does."""
    index, found = network.index, []
    for position, group in enumerate(expand(network, groups)):
        for name in group:
            if not isinstance(name, str):
                raise PartitionError(f"subgraph {position} has {name!r}; it must hold layer names only")
            if name not in index:
                raise PartitionError(f"subgraph {position} names unknown layer {name!r}{_suggest(name, network)}")
        layers = [index[str(name)] for name in group if index[str(name)] < len(network.layers)]
        if not layers:
            raise PartitionError(f"subgraph {position} is empty; it needs at least one layer")
        found.append(layers)
    return found


def _suggest(name: str, network: Network) -> str:
    close = get_close_matches(name, [layer.name for layer in network.layers], n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; network {network.name!r} has no such layer"
