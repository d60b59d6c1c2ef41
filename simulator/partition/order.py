"""Which groups of layers are a partition, and in which order they run (Cocco, Sec. 4.1.1)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from simulator.connected import Connected, connected_parts
from simulator.partition.errors import PartitionError
from workloads.network.network import Network

JOINS = {"all": "edge, common input or concatenation", "paper": "edge between its own layers (the paper's rule)"}


def order_subgraphs(
    network: Network, groups: Sequence[tuple[int, ...]], written: int = 0, connected: Connected = "all"
) -> tuple[tuple[int, ...], ...]:
    """Return the groups in execution order; raises PartitionError where they are no valid partition.

    Of the groups that are ready, the one whose first layer is earliest. The first `written` of them run in the order
    in which they stand; the others as soon as that rule has them, between these (our choice).
    """
    owner = _owners(network, groups)
    check_connected(network, groups, connected)
    waits: list[set[int]] = [set() for _ in groups]
    for layer, producers in enumerate(network.producers):
        for producer in producers:
            if producer < len(owner) and owner[producer] != owner[layer]:
                waits[owner[layer]].add(owner[producer])
    ordered, stuck = _run(groups, waits)
    if stuck:
        raise PartitionError(_describe_cycle(network, groups, waits, stuck))
    if written > 1:
        ordered, stuck = _run(groups, [wait | {i - 1} if 0 < i < written else wait for i, wait in enumerate(waits)])
        if stuck:
            raise PartitionError(_describe_order(network, groups, owner, written))
    return tuple(groups[i] for i in ordered)


def _run(groups: Sequence[tuple[int, ...]], waits: Sequence[set[int]]) -> tuple[list[int], set[int]]:
    """Return the positions of the groups in execution order, and those that can never run."""
    feeds: list[list[int]] = [[] for _ in groups]
    for i, before in enumerate(waits):
        for j in before:
            feeds[j].append(i)
    missing = [len(before) for before in waits]
    ready = [(group[0], i) for i, group in enumerate(groups) if not missing[i]]
    heapq.heapify(ready)
    ordered = []
    while ready:
        _, i = heapq.heappop(ready)
        ordered.append(i)
        for j in feeds[i]:
            missing[j] -= 1
            if not missing[j]:
                heapq.heappush(ready, (groups[j][0], j))
    return ordered, {i for i in range(len(groups)) if missing[i]}


def check_connected(network: Network, groups: Iterable[tuple[int, ...]], connected: Connected) -> None:
    """Raise PartitionError where a group is not connected; every partition is by the rule "all"."""
    for i, group in enumerate(groups):
        parts = connected_parts(network, group, connected) if len(group) > 1 else ()
        if len(parts) > 1:
            first, second = (network.layers[part[0]].name for part in parts[:2])
            raise PartitionError(
                f"subgraph {i} is not connected: no {JOINS[connected]} leads from {first!r} to {second!r} inside it; "
                "put them in separate subgraphs"
            )


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


def _describe_order(network: Network, groups: Sequence[tuple[int, ...]], owner: Sequence[int], written: int) -> str:
    """Name the edge by which a written group needs one that is written later, be it through groups that are not."""
    for i, group in enumerate(groups[:written]):
        for layer in group:
            queue = [(producer, producer) for producer in network.producers[layer]]
            seen = set()
            for needed, first in queue:  # which grows
                if needed >= len(owner) or needed in seen or owner[needed] == i:
                    continue
                seen.add(needed)
                if i < owner[needed] < written:
                    return _runs_before(network, (layer, i), first, (needed, owner[needed]))
                if owner[needed] >= written:
                    queue += [(each, first) for member in groups[owner[needed]] for each in network.producers[member]]
    raise AssertionError("groups that can run do so in an order that breaks no edge")


def _runs_before(network: Network, reader: tuple[int, int], first: int, needed: tuple[int, int]) -> str:
    (layer, early), (missing, late) = reader, needed
    name, source, through = network.names((layer, missing, first))
    way = "its input" if first == missing else f"what its input {through!r} needs,"
    return (
        f"subgraph {early} runs {name!r} before {way} {source!r} (subgraph {late}); with 'keep' the subgraphs run in "
        f"the order in which they are written: write the one with {source!r} first"
    )
