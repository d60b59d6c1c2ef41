"""All plans of a small network: partitions x orders of execution x kept intervals, and the cheapest of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from cocco.search.exact.question import KeepQuestion, KeptStep
from simulator.accelerator import Accelerator
from simulator.connected import Connected
from simulator.evaluation import Evaluation, evaluate
from simulator.metrics import METRIC_NAMES
from simulator.partition.intervals import Span, Uses
from simulator.partition.partition import Partition
from simulator.partition.steps import steps_with
from workloads.network.network import Network

Order = list[tuple[int, ...]]


def all_orders(network: Network, connected: Connected = "all") -> Iterator[Order]:
    """Yield every partition into connected subgraphs in every order that runs.

    Subgraphs are grown one after the other: each has all its producers inside or before it. Convex sets are those.
    """
    count = len(network.layers)

    def go_on(done: int, order: Order) -> Iterator[Order]:
        left = [v for v in range(count) if not done >> v & 1]
        if not left:
            yield order
        for chosen in range(1, 1 << len(left)):
            group = tuple(v for i, v in enumerate(left) if chosen >> i & 1)
            here = done | sum(1 << v for v in group)
            if all(here >> p & 1 for v in group for p in network.producers[v] if p < count):
                if is_connected(network, group, connected):
                    yield from go_on(here, [*order, group])

    yield from go_on(0, [])


def is_connected(network: Network, group: tuple[int, ...], connected: Connected = "all") -> bool:
    """Return whether layers hang together: by edges among themselves, or by all that two layers may have in common."""

    def joined(u: int, v: int) -> bool:
        is_edge = u in network.producers[v] or v in network.producers[u]
        is_common = bool({*network.producers[u]} & {*network.producers[v]})
        lists = [layer for w, layer in enumerate(network.layers) if {u, v} <= {*network.producers[w]}]
        is_side_by_side = any(layer.op not in ("add", "mul", "matmul", "attention", "rearrange") for layer in lists)
        return is_edge or (connected == "all" and (is_common or is_side_by_side))

    inside, reached = set(group), {group[0]}
    grows = True
    while grows:
        near = {v for v in inside - reached if any(joined(u, v) for u in reached)}
        grows = bool(near)
        reached |= near
    return reached == inside


def all_spans(network: Network, subgraphs: Order) -> Iterator[list[Span]]:
    """Yield every set of valid intervals."""
    uses = Uses(network, subgraphs)
    choices = []
    for tensor in range(len(network.tensors)):
        made = uses.made(tensor)
        choices.append(list(_of_tensor(tensor, ([] if made is None else [made]) + uses.reads(tensor))))
    for chosen in product(*choices):
        yield [span for spans in chosen for span in spans]


def _of_tensor(tensor: int, places: list[int]) -> Iterator[list[Span]]:
    """Yield every set of intervals of one tensor: from one of its places to a later one, none shares a step."""
    yield []
    for i, first in enumerate(places):
        for j in range(i + 1, len(places)):
            for rest in _of_tensor(tensor, places[j + 1 :]):
                yield [(tensor, first, places[j]), *rest]


@cache
def all_evaluations(network: Network, chip: Accelerator, keep: str = "auto") -> list[Evaluation]:
    """Return every plan that fits, with the tiles that each metric chooses, as the simulator prices it."""
    found = []
    for order in all_orders(network):
        for spans in all_spans(network, order) if keep == "auto" else [[]]:
            for metric in METRIC_NAMES:
                each = evaluate(network, Partition.from_ids(network, order, metric, spans), chip)
                found += [each] if each.fits else []
    return found


def cost_of_plan(question: KeepQuestion, subgraphs: Order, spans: Sequence[Span]) -> float:
    """Return the cost of a plan: what steps.py says of its steps, priced and added; inf where one does not fit."""
    cost = 0.0
    for group, step in zip(subgraphs, steps_with(question.network, subgraphs, spans)):
        handed = question.handed(as_set(group), as_set(step.touched), as_set(step.last))
        size = sum(question.whole[u] for u in step.kept) - handed
        if size > question.room:
            return math.inf
        cost += question.price(
            KeptStep(
                group,
                as_set(step.touched),
                as_set(step.loaded),
                as_set(step.written),
                size,
                len(step.kept) - len(step.touched),
                handed,
            )  # fmt: skip
        )
    return cost


def as_set(tensors: Iterator[int] | Sequence[int] | frozenset[int]) -> int:
    """Return a set of tensors as an integer."""
    return sum(1 << u for u in tensors)


def cheapest(question: KeepQuestion) -> tuple[float, int]:
    """Return the least cost of all plans, and how many there are."""
    least, count = math.inf, 0
    for order in all_orders(question.network, question.connected):
        spans: Iterator[list[Span]] = all_spans(question.network, order) if question.may_keep else iter([[]])
        for each in spans:
            least, count = min(least, cost_of_plan(question, order, each)), count + 1
    return least, count
