"""Random partitions in a random execution order, with random kept intervals."""

from __future__ import annotations

import random

from simulator import Partition
from simulator.partition.intervals import Span, Uses
from tests.helpers.random_plans import random_plan
from workloads.network.network import Network


def random_order(network: Network, plan: Partition, rng: random.Random) -> list[tuple[int, ...]]:
    """Return the subgraphs of a plan in a random topological order."""
    owner = {v: i for i, group in enumerate(plan.subgraphs) for v in group}
    waits = [
        {owner[p] for v in group for p in network.producers[v] if p in owner} - {i}
        for i, group in enumerate(plan.subgraphs)
    ]
    done: list[int] = []
    while len(done) < len(plan):
        done.append(rng.choice([i for i in range(len(plan)) if i not in done and waits[i] <= set(done)]))
    return [plan.subgraphs[i] for i in done]


def random_spans(network: Network, subgraphs: list[tuple[int, ...]], rng: random.Random, odds: float) -> list[Span]:
    """Return valid intervals; a tensor begins one with these odds wherever it may."""
    uses, spans = Uses(network, subgraphs), []
    for tensor in range(len(network.tensors)):
        made = uses.made(tensor)
        places = ([] if made is None else [made]) + uses.reads(tensor)
        at = 0
        while at < len(places) - 1:
            if rng.random() < odds:
                end = rng.randrange(at + 1, len(places))
                spans.append((tensor, places[at], places[end]))
                at = end
            at += 1
    return spans


def random_kept_plan(network: Network, seed: int) -> Partition:
    """Return a valid partition with random order and intervals; some have none."""
    rng = random.Random(seed)
    subgraphs = random_order(network, random_plan(network, seed), rng)
    spans = random_spans(network, subgraphs, rng, rng.choice((0.2, 0.5, 0.9)))
    rng.shuffle(spans)
    return Partition.from_ids(network, subgraphs, keep=spans)
