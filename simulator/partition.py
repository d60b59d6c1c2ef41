"""Partition: which layers run together, and in which order (Cocco, Sec. 4.1.1). Validity, canonical order, files."""

from __future__ import annotations

import heapq
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from os import PathLike

from workloads.files import read_mapping, write_atomic
from workloads.network import Network


class PartitionError(ValueError):
    """A partition that is malformed or not valid: the message names the layer, the rule and the value."""


@dataclass(frozen=True)
class Partition:
    """Subgraphs of layer ids in execution order; build it with from_groups, layerwise or load.

    A valid partition covers every layer once, each subgraph is weakly connected through its own layers, and the
    subgraphs can run one after the other. Execution order: of the subgraphs that are ready, the one whose first
    layer is earliest in the network's order. So two partitions are equal if and only if their sets of sets are.
    """

    network_name: str
    subgraphs: tuple[tuple[int, ...], ...]
    names: tuple[tuple[str, ...], ...]

    @classmethod
    def from_ids(cls, network: Network, groups: Iterable[Iterable[int]]) -> Partition:
        """Return the partition with these groups of layer ids; raises PartitionError where it is not valid."""
        ordered = order_subgraphs(network, [tuple(sorted(group)) for group in groups])
        return cls(network.name, ordered, tuple(network.names(group) for group in ordered))

    @classmethod
    def from_groups(cls, network: Network, groups: Iterable[Iterable[str]]) -> Partition:
        """Return the partition with these groups of layer names; layers that are not named run alone.

        Raises PartitionError for an unknown or repeated layer, an empty or disconnected group, or groups that wait
        for each other.
        """
        index, ids, seen = network.index, [], dict[str, int]()
        for position, group in enumerate(groups):
            if isinstance(group, str):
                raise PartitionError(f"subgraph {position} is the string {group!r}; it must be a list of layer names")
            found = []
            for name in group:
                if not isinstance(name, str):
                    raise PartitionError(f"subgraph {position} has {name!r}; it must hold layer names only")
                if name not in index:
                    raise PartitionError(f"subgraph {position} names unknown layer {name!r}{_suggest(name, network)}")
                if index[name] >= len(network.layers):
                    raise PartitionError(
                        f"subgraph {position} names {name!r}, a model input; only layers belong to subgraphs"
                    )
                if name in seen:
                    raise PartitionError(f"layer {name!r} is in subgraph {seen[name]} and again in subgraph {position}")
                seen[name] = position
                found.append(index[name])
            if not found:
                raise PartitionError(f"subgraph {position} is empty; it needs at least one layer")
            ids.append(found)
        alone = [[i] for i, layer in enumerate(network.layers) if layer.name not in seen]
        return cls.from_ids(network, ids + alone)

    @classmethod
    def layerwise(cls, network: Network) -> Partition:
        """Return the partition in which every layer runs alone."""
        return cls.from_ids(network, [[i] for i in range(len(network.layers))])

    @classmethod
    def load(cls, path: str | PathLike[str], network: Network) -> Partition:
        """Return the partition in a .json or .yaml file: {"network": name, "subgraphs": [[layer names], ...]}."""
        content = read_mapping(path)
        if not isinstance(content, dict) or "subgraphs" not in content:
            raise PartitionError(f"{path}: a partition is a mapping with the key 'subgraphs'")
        unknown = sorted(str(key) for key in content if key not in ("network", "subgraphs"))
        if unknown:
            raise PartitionError(f"{path}: unknown key {unknown[0]!r}; a partition has 'network' and 'subgraphs'")
        named = content.get("network", network.name)
        if named != network.name:
            raise PartitionError(f"{path}: is a partition of network {named!r}, not of {network.name!r}")
        groups = content["subgraphs"]
        if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
            raise PartitionError(f"{path}: 'subgraphs' must be a list of lists of layer names")
        try:
            return cls.from_groups(network, groups)
        except PartitionError as error:
            raise PartitionError(f"{path}: {error}") from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the partition as JSON (or YAML, which JSON is), atomically."""
        lines = ",\n".join("  " + json.dumps(list(group)) for group in self.names)
        text = f'{{"network": {json.dumps(self.network_name)}, "subgraphs": [\n{lines}\n]}}\n'
        write_atomic(path, text)

    def __len__(self) -> int:
        return len(self.subgraphs)


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
