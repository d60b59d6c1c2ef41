"""Random partitions with their prices and counts, for the tests of the judge."""

from __future__ import annotations

import random

from simulator import Accelerator, Partition
from simulator.execution.claims import plan_of
from simulator.execution.judge import count_plan
from simulator.model.cost import price_subgraphs
from simulator.model.pricing import PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph import Geometry
from simulator.partition.partition import connected_parts
from simulator.technology import Technology
from tests.helpers.random_graphs import large_network, random_network


def price_partition(network, partition, chip, rule="exact"):
    """Return the price of each subgraph; None where one cannot run."""
    rules = PricingRules(Geometry(network, chip.technology), chip, rule)
    prices = price_subgraphs([SubgraphModel(rules, group) for group in partition.subgraphs], chip)
    return None if any(isinstance(price, Shortage) for price in prices) else prices


def judged(network, partition, chip):
    """Return prices and counts; None where a subgraph cannot run."""
    prices = price_partition(network, partition, chip)
    if prices is None:
        return None
    plans = [plan_of(group, price) for group, price in zip(partition.subgraphs, prices)]
    return prices, [count_plan(network, chip, plan) for plan in plans]


def random_network_of(seed):
    """Return small graphs with all operators, each second with whole operands, and each fourth with larger maps."""
    return large_network(seed) if seed % 4 == 3 else random_network(seed, whole=seed % 2 == 1)


def random_chip(seed, capacity=10**7, tiles=(1, 2, 3, 4, 8)):
    """Return a machine with one tile, batch 1 to 4; two of three have a shared buffer."""
    rng = random.Random(seed)
    technology = Technology(tiles=(rng.choice(tiles),))
    batch = rng.randint(1, 4)
    if seed % 3:
        return Accelerator(shared_buffer=capacity, batch=batch, technology=technology)
    return Accelerator(global_buffer=capacity, weight_buffer=capacity, batch=batch, technology=technology)


def random_judged(seed):
    """Return (network, machine, prices, counts) of the connected parts of a random graph that fit, or None."""
    network, chip = random_network_of(seed), random_chip(seed)
    partition = Partition.from_ids(network, connected_parts(network, range(len(network.layers))))
    found = judged(network, partition, chip)
    return found and (network, chip, *found)
