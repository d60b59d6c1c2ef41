"""Partition: which layers run together, and in which order (Cocco, Sec. 4.1.1). Validity, canonical order, files."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike
from typing import TYPE_CHECKING

from simulator.metrics import DEFAULT_METRIC, Metric, check_metric
from simulator.partition.errors import PartitionError
from simulator.partition.files import read_handwritten
from simulator.partition.patterns import expand
from workloads.display import html
from workloads.files import write_atomic
from workloads.network.network import Network, check_network

if TYPE_CHECKING:
    import pandas

__all__ = ["Partition", "PartitionError", "connected_parts", "order_subgraphs"]


@dataclass(frozen=True)
class Partition:
    """Subgraphs of layer ids in execution order; build it with from_groups, layerwise or load.

    A valid partition covers every layer once, each subgraph is weakly connected through its own layers, and the
    subgraphs can run one after the other. Execution order: of the subgraphs that are ready, the one whose first
    layer is earliest in the network's order. So two partitions are equal if and only if their sets of sets are.

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
    """

    network_name: str
    subgraphs: tuple[tuple[int, ...], ...]  #: layer ids, ascending in each
    names: tuple[tuple[str, ...], ...]  #: the same by name
    metric: Metric = DEFAULT_METRIC  #: by which tile, loop order and samples at once of each subgraph are chosen

    def __post_init__(self) -> None:
        check_metric(self.metric)

    def __repr__(self) -> str:
        layers = sum(map(len, self.subgraphs))
        return f"Partition({self.network_name}, {layers} layers in {len(self)} subgraphs)"

    def _repr_html_(self) -> str:
        return html(self.summary(), self.to_frame())

    def summary(self) -> str:
        """Return a few lines of text: how many subgraphs there are, and of how many layers."""
        sizes = sorted(map(len, self.subgraphs))
        alone = f"{sizes.count(1)} layers run alone" if sizes[0] == 1 else "no layer runs alone"
        counts = f"{sum(sizes)} layers in {len(sizes)} subgraphs"
        return f"{self.network_name}: {counts}\n  at most {sizes[-1]} layers together; {alone}"

    def to_frame(self) -> pandas.DataFrame:
        """Return one row per subgraph in execution order: its layers joined by spaces, and how many they are."""
        import pandas

        return pandas.DataFrame({"layers": map(" ".join, self.names), "count": map(len, self.names)})

    @classmethod
    def from_ids(cls, network: Network, groups: Iterable[Iterable[int]], metric: Metric = DEFAULT_METRIC) -> Partition:
        """Return the partition with these groups of layer ids; raises PartitionError where it is not valid."""
        check_network(network)
        ordered = order_subgraphs(network, [tuple(sorted(group)) for group in groups])
        return cls(network.name, ordered, tuple(network.names(group) for group in ordered), metric)

    @classmethod
    def from_groups(
        cls, network: Network, groups: Iterable[Iterable[str]], metric: Metric = DEFAULT_METRIC
    ) -> Partition:
        """Return the partition with these groups of layer names; layers that are not named run alone.

        Parameters
        ----------
        network : Network
            Whose layers they are.
        groups : iterable of iterables of str
            Names, wildcards ("s1b1_*") and ranges ("conv1..pool1"): simulator.partition.patterns.
        metric : {"energy", "ema", "latency"}
            What is to be least where a subgraph may run in several ways: tile, loop order, samples at once.

        Raises
        ------
        TypeError
            The network is no Network, or the groups are no lists of names.
        PartitionError
            An unknown or repeated layer, a pattern without a layer, an empty or disconnected group, or groups that
            wait for each other.
        """
        check_network(network)
        ids = named_groups(network, groups)
        seen = {v for group in ids for v in group}
        return cls.from_ids(network, ids + [[v] for v in range(len(network.layers)) if v not in seen], metric)

    @classmethod
    def layerwise(cls, network: Network, metric: Metric = DEFAULT_METRIC) -> Partition:
        """Return the partition in which every layer runs alone."""
        check_network(network)
        return cls.from_ids(network, [[i] for i in range(len(network.layers))], metric)

    @classmethod
    def load(cls, path: str | PathLike[str], network: Network) -> Partition:
        """Return the partition in a .json or .yaml file: {"network": name, "subgraphs": [[layer names], ...]}.

        Layers that are not named run alone; a file with "rest: greedy" is for cocco.load_partition, which has prices.
        """
        check_network(network)
        found = read_handwritten(path, network)
        if found.rest != "layerwise":
            raise PartitionError(
                f"{path}: 'rest: {found.rest}' needs hardware and a search; load it with cocco.load_partition"
            )
        try:
            return cls.from_groups(network, found.groups, found.metric)  # type: ignore[arg-type]  # it checks them
        except PartitionError as error:
            raise PartitionError(f"{path}: {error}") from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the partition as JSON (or YAML, which JSON is), atomically."""
        lines = ",\n".join("  " + json.dumps(list(group)) for group in self.names)
        metric = "" if self.metric == DEFAULT_METRIC else f'"metric": {json.dumps(self.metric)}, '
        text = f'{{"network": {json.dumps(self.network_name)}, {metric}"subgraphs": [\n{lines}\n]}}\n'
        write_atomic(path, text)

    def __len__(self) -> int:
        return len(self.subgraphs)


def named_groups(network: Network, groups: Iterable[Iterable[object]]) -> list[list[int]]:
    """Return the layer ids of groups of names, wildcards and ranges; raises PartitionError as from_groups does."""
    index, found = network.index, []
    for position, group in enumerate(expand(network, groups)):
        for name in group:
            if not isinstance(name, str):
                raise PartitionError(f"subgraph {position} has {name!r}; it must hold layer names only")
            if name not in index:
                raise PartitionError(f"subgraph {position} names unknown layer {name!r}{_suggest(name, network)}")
            if index[name] >= len(network.layers):
                raise PartitionError(
                    f"subgraph {position} names {name!r}, a model input; only layers belong to subgraphs"
                )
        if not group:
            raise PartitionError(f"subgraph {position} is empty; it needs at least one layer")
        found.append([index[str(name)] for name in group])
    return found


def order_subgraphs(network: Network, groups: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Return the groups in execution order; raises PartitionError where they are no valid partition."""
    owner = _owners(network, groups)
    waits: list[set[int]] = [set() for _ in groups]
    feeds: list[set[int]] = [set() for _ in groups]
    for layer, producers in enumerate(network.producers):
        for producer in producers:
            if producer < len(owner) and owner[producer] != owner[layer]:
                waits[owner[layer]].add(owner[producer])
                feeds[owner[producer]].add(owner[layer])
    missing = [len(group) for group in waits]
    ready = [(group[0], i) for i, group in enumerate(groups) if not missing[i]]
    heapq.heapify(ready)
    ordered = []
    while ready:
        _, i = heapq.heappop(ready)
        ordered.append(groups[i])
        for j in feeds[i]:
            missing[j] -= 1
            if not missing[j]:
                heapq.heappush(ready, (groups[j][0], j))
    if len(ordered) < len(groups):
        raise PartitionError(_describe_cycle(network, groups, waits, {i for i in range(len(groups)) if missing[i]}))
    return tuple(ordered)


def connected_parts(network: Network, group: Iterable[int]) -> list[list[int]]:
    """Return the weakly connected parts of a set of layers, counting its own layers only; each ascending."""
    remaining, parts = set(group), []
    for root in sorted(remaining):
        if root not in remaining:
            continue
        remaining.discard(root)
        part, stack = [], [root]
        while stack:
            layer = stack.pop()
            part.append(layer)
            for near in (*network.producers[layer], *network.consumers[layer]):
                if near in remaining:
                    remaining.discard(near)
                    stack.append(near)
        parts.append(sorted(part))
    return parts


def _owners(network: Network, groups: Sequence[tuple[int, ...]]) -> list[int]:
    count = len(network.layers)
    owner = [-1] * count
    for i, group in enumerate(groups):
        if not group:
            raise PartitionError(f"subgraph {i} is empty; it needs at least one layer")
        for layer in group:
            if not 0 <= layer < count:
                raise PartitionError(f"subgraph {i} has layer id {layer}; the network has ids 0 to {count - 1}")
            if owner[layer] >= 0:
                raise PartitionError(
                    f"layer {network.layers[layer].name!r} is in subgraph {owner[layer]} and again in subgraph {i}"
                )
            owner[layer] = i
        parts = connected_parts(network, group)
        if len(parts) > 1:
            first, second = (network.layers[part[0]].name for part in parts[:2])
            raise PartitionError(
                f"subgraph {i} is not connected: no path inside it joins {first!r} and {second!r}; "
                "put them in separate subgraphs"
            )
    if -1 in owner:
        raise PartitionError(f"layer {network.layers[owner.index(-1)].name!r} is missing from the partition")
    return owner


def _describe_cycle(
    network: Network, groups: Sequence[tuple[int, ...]], waits: Sequence[set[int]], stuck: set[int]
) -> str:
    path = [min(stuck)]
    while path.count(path[-1]) == 1:
        path.append(min(waits[path[-1]] & stuck))
    cycle = path[path.index(path[-1]) :][::-1]
    shown = " -> ".join(f"{i} (with {network.layers[groups[i][0]].name!r})" for i in cycle)
    return f"subgraphs wait for each other: {shown}; split one of them so that every layer runs after its inputs"


def _suggest(name: str, network: Network) -> str:
    close = get_close_matches(name, [layer.name for layer in network.layers], n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; network {network.name!r} has no such layer"
