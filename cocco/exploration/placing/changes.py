"""Small changes to a plan with kept tensors, and a description of each.

There are three kinds. A subgraph runs earlier or later: by itself this costs nothing, unless other windows then fit. A
tensor is given up between two steps that use it: its interval is dropped, shortened or cut in two. A subgraph is split
in two along its topological order; tensors that cross the cut go through DRAM.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from cocco.exploration.answers.lacking import Moved
from simulator.connected import Connected, connected_parts
from simulator.partition.errors import PartitionError
from simulator.partition.intervals import Span, Uses
from simulator.partition.partition import Partition
from workloads.network.network import Network

Groups = list[tuple[int, ...]]


def replanned(network: Network, before: Partition, after: Partition, how: str) -> Moved:
    """Return the description of steps that were solved again: the first and the last that differ."""
    old, new = list(zip(before.subgraphs, _kept_beyond(before))), list(zip(after.subgraphs, _kept_beyond(after)))
    same = [0, 0]
    for i, (a, b) in enumerate(((old, new), (old[::-1], new[::-1]))):
        while same[i] < min(len(a), len(b)) - same[0] * i and a[same[i]] == b[same[i]]:
            same[i] += 1
    first, last = before.names[same[0]][0], before.names[len(old) - same[1] - 1][-1]
    text = f"what runs from {first!r} to {last!r} is planned again {how}"
    return Moved(network.name, "replanned", None, first, text)


def _kept_beyond(plan: Partition) -> list[frozenset[int]]:
    """Return, for each step, the tensors that stay on chip after it."""
    return [frozenset(u for u, a, z in _spans(plan) if a <= step < z) for step in range(len(plan))]


class Change(NamedTuple):
    """A plan that differs by one move."""

    moved: Moved
    plan: Partition


def changes(network: Network, plan: Partition, where: range, connected: Connected = "all") -> Iterator[Change]:
    """Yield all plans that one move within these steps gives; connected: what connects the layers of a subgraph."""
    steps = set(where)
    splits = partial(_splits, connected=connected)
    makers = (_reorders, _cuts, splits) if plan.keep else (splits,)
    for make in makers:
        for moved, groups, spans in make(network, plan, steps):
            try:
                yield Change(moved, Partition.from_ids(network, groups, plan.metric, spans))
            except PartitionError:  # an order that cannot run, or two intervals that meet
                continue


Made = Iterator[tuple[Moved, Groups, list[Span]]]


def _reorders(network: Network, plan: Partition, steps: set[int]) -> Made:
    """Move each subgraph to each other place where it can run; kept intervals still serve the same readers."""
    groups = list(plan.subgraphs)
    uses = Uses(network, groups)
    held = [(u, [groups[step] for step in _touching(uses, u) if a <= step <= z]) for u, a, z in _spans(plan)]
    for step in sorted(steps):
        group, name = groups[step], plan.names[step][0]
        first, last = _slack(network, groups, step)
        for place in range(first, last + 1):
            if place == step:
                continue
            moved = groups[:step] + groups[step + 1 :]
            moved.insert(place, group)
            at = {each: i for i, each in enumerate(moved)}
            spans = [(u, min(at[g] for g in touched), max(at[g] for g in touched)) for u, touched in held]
            when = f"before the one with {plan.names[place][0]!r}" if place < step else (
                f"after the one with {plan.names[place][0]!r}")  # fmt: skip
            yield Moved(network.name, "reordered", None, name, f"the subgraph with {name!r} runs {when}"), moved, spans


def _slack(network: Network, groups: Groups, step: int) -> tuple[int, int]:
    """Return the first and the last place at which a subgraph can run."""
    at = {v: i for i, group in enumerate(groups) for v in group}
    before = [at[p] for v in groups[step] for p in network.producers[v] if p in at and at[p] != step]
    after = [at[c] for v in groups[step] for c in network.consumers[v] if at[c] != step]
    return max(before, default=-1) + 1, min(after, default=len(groups)) - 1


def _cuts(network: Network, plan: Partition, steps: set[int]) -> Made:
    """Give up each kept tensor between two consecutive steps that use it."""
    groups, spans = list(plan.subgraphs), _spans(plan)
    uses = Uses(network, groups)
    for k, (u, a, z) in enumerate(spans):
        touched = [step for step in _touching(uses, u) if a <= step <= z]
        for end, start in zip(touched, touched[1:]):
            if steps.isdisjoint(range(end, start + 1)):
                continue
            left = [(u, a, end)] if end > a else []
            right = [(u, start, z)] if z > start else []
            moved = _of_tensor(network, plan, u, end if left else None, start if right else None)
            yield moved, groups, spans[:k] + left + right + spans[k + 1 :]


def _of_tensor(network: Network, plan: Partition, u: int, end: int | None, start: int | None) -> Moved:
    """Return the description of a tensor's cut; end, start: the steps until and from which it is still kept."""
    name = network.tensors[u].name
    until, again = (None if step is None else repr(plan.names[step][0]) for step in (end, start))
    if until and again:
        return Moved(network.name, "cut", name, None, f"{name!r} is kept until {until} and, loaded, from {again} on")
    if until:
        return Moved(network.name, "shortened", name, None, f"{name!r} is kept until {until} only")
    if again:
        return Moved(network.name, "shortened", name, None, f"{name!r} is kept from {again} on only, loaded there")
    return Moved(network.name, "dropped", name, None, f"{name!r} is not kept")


def _splits(network: Network, plan: Partition, steps: set[int], connected: Connected) -> Made:
    """Split each subgraph in two, or into the connected parts of both halves."""
    groups, spans = list(plan.subgraphs), _spans(plan)
    uses = Uses(network, groups)
    for step in sorted(steps):
        group, names = groups[step], plan.names[step]
        for cut in range(1, len(group)):
            halves = [group[:cut], group[cut:]]
            parts = [tuple(part) for half in halves for part in connected_parts(network, half, connected)]
            new = []
            for u, a, z in spans:
                touching = [i for i, part in enumerate(parts) if u in part or u in _reads(network, part)]
                first = a + (touching[0] if a == step else (len(parts) - 1) * (a > step))
                last = z + (touching[-1] if z == step else (len(parts) - 1) * (z > step))
                if a == step and uses.made(u) == step:
                    first = a + next(i for i, part in enumerate(parts) if u in part)
                new.append((u, first, last))
            text = f"the subgraph with {names[0]!r} is split before {names[cut]!r}"
            moved = Moved(network.name, "split", None, names[0], text)
            yield moved, groups[:step] + parts + groups[step + 1 :], new


def _reads(network: Network, part: Sequence[int]) -> set[int]:
    return {p for v in part for p in network.producers[v]}


def _spans(plan: Partition) -> list[Span]:
    return [each.span for each in plan.keep]


def _touching(uses: Uses, tensor: int) -> list[int]:
    """Return the steps that make or read a tensor, ascending."""
    made = uses.made(tensor)
    return ([] if made is None else [made]) + uses.reads(tensor)
