"""Random partitions with their prices and counts, for the tests of the judge."""

from __future__ import annotations

import random
import sys
from dataclasses import replace

from simulator import Accelerator, Partition
from simulator.execution.claims import plan_of
from simulator.execution.count.stays import Lies
from simulator.execution.judge import check, count_plan, judge
from simulator.metrics import METRIC_NAMES
from simulator.model.cost import price_subgraphs
from simulator.model.kept import Kept, Reserved
from simulator.model.priced import price_partition as price_the_plan
from simulator.model.pricing import PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.partition import connected_parts
from simulator.technology import Technology
from tests.helpers.random_graphs import large_network, random_network
from tests.helpers.random_layers import random_layer


def price_partition(network, partition, chip, rule="exact"):
    """Return the price of each subgraph; None where one cannot run."""
    rules = PricingRules(Geometry(network, chip.technology), chip, rule, partition.metric)
    prices = price_subgraphs([SubgraphModel(rules, group) for group in partition.subgraphs], chip)
    return None if any(isinstance(price, Shortage) for price in prices) else prices


def judged(network, partition, chip):
    """Return prices and counts; None where a subgraph cannot run."""
    prices = price_partition(network, partition, chip)
    if prices is None:
        return None
    plans = [plan_of(group, price) for group, price in zip(partition.subgraphs, prices)]
    return prices, [count_plan(network, chip, plan) for plan in plans]


def judged_plan(network, plan, chip, about=None):
    """Return the prices of a plan, whose every number is what is counted; None where it does not fit."""
    found = price_the_plan(network, plan, chip)
    if not found.fits:
        return None
    checks, message = judge(network, chip, plan, found.prices)
    assert not message and not [each for each in checks if each.status == "different"], about
    return found


def random_network_of(seed):
    """Return small graphs with all operators, each second with whole operands, and each fourth with larger maps."""
    return large_network(seed) if seed % 4 == 3 else random_network(seed, whole=seed % 2 == 1)


def random_chip(seed, capacity=10**7, tiles=(1, 2, 3, 4, 8)):
    """Return a machine with one tile, batch 1 to 8; two of three have a shared buffer."""
    rng = random.Random(seed)
    technology = Technology(tiles=(rng.choice(tiles),))
    batch = rng.choice((1, 2, 3, 4, 5, 8))
    if seed % 3:
        return Accelerator(shared_buffer=capacity, batch=batch, technology=technology)
    return Accelerator(global_buffer=capacity, weight_buffer=capacity, batch=batch, technology=technology)


def random_judged(seed):
    """Return (network, machine, prices, counts) of the connected parts of a random graph that fit, or None."""
    network, chip = random_network_of(seed), random_chip(seed)
    partition = Partition.from_ids(network, connected_parts(network, range(len(network.layers))))
    found = judged(network, partition, chip)
    return found and (network, chip, *found)


def tight_judged(seed):
    """Return (machine, prices, counts) of a random graph whose largest part has room for some of its samples only."""
    rng, network = random.Random(seed), random_network_of(seed)
    part = max(connected_parts(network, range(len(network.layers))), key=len)
    batch = rng.randint(1, 8)
    model = SubgraphModel(PricingRules(Geometry(network), Accelerator(shared_buffer=1, batch=batch), "exact"), part)
    if model.rule_broken is not None:
        return None
    room, weights = int(model.least_activation * rng.uniform(1, batch + 2)), max(1, model.weight_need)
    chip = Accelerator(global_buffer=room, weight_buffer=weights, batch=batch)
    if seed % 3:
        chip = Accelerator(shared_buffer=room + weights, batch=batch)
    partition = Partition.from_ids(network, connected_parts(network, range(len(network.layers))))
    found = judged(network, partition, chip)
    return found and (chip, *found)


def layer_judged(seed):
    """Return (network, machine, price, count) of a random layer in a memory of any size; None where it does not run."""
    rng = random.Random(seed)
    network, batch = random_layer(rng), rng.choice((1, 1, 2, 3, 8))
    sizes = [int(10 ** rng.uniform(1.5, 5)) for _ in range(2)]
    chip = Accelerator(global_buffer=sizes[0], weight_buffer=sizes[1], batch=batch)
    if rng.random() < 0.5:
        chip = Accelerator(shared_buffer=sizes[0], batch=batch)
    found = judged(network, Partition.layerwise(network, rng.choice(METRIC_NAMES)), chip)
    return found and (network, chip, found[0][0], found[1][0])


def layer_with_tensors_on_chip(network, rng, share=0.5, digits=(1.2, 4.5), batches=(1, 1, 2, 3), shared=1.0):
    """Price the first layer in a random memory, random tensors on chip; return rules, model and whether it runs.

    Where it does, its numbers are compared with what is counted, and its regions with what they take.
    """
    batch, inputs, metric = rng.choice(batches), sorted(set(network.operands[0])), rng.choice(METRIC_NAMES)
    on_chip = frozenset(u for u in (*inputs, 0) if rng.random() < share)
    there = frozenset(u for u in on_chip if u and rng.random() < 0.7)
    written = frozenset(v for v in (0,) if v not in on_chip or rng.random() < 0.5)
    room, weights = (int(10 ** rng.uniform(*digits)) for _ in range(2))
    rules = PricingRules(Geometry(network), Accelerator(shared_buffer=1, batch=batch), "exact", metric)
    reserved = Reserved(sum(map(rules.whole_bytes, on_chip)))
    chip = Accelerator(shared_buffer=room + reserved.size_bytes, batch=batch)
    if rng.random() >= shared:
        chip = Accelerator(global_buffer=room + reserved.size_bytes, weight_buffer=weights, batch=batch)
    rules = PricingRules(Geometry(network), chip, "exact", metric)
    model = SubgraphModel(rules, [0], Kept(on_chip, frozenset(inputs) - there, written))
    price = model.price(chip.activation_capacity, chip.weight_capacity, reserved)
    if isinstance(price, Shortage):
        return rules, model, False
    counted = count_plan(network, chip, plan_of([0], price, Lies(on_chip, there, written, on_chip)))
    assert not counted.miss
    assert not [each for each in check(chip, [price], [counted]) if each.status == "different"]
    regions = model.residency(price).regions.values()
    assert sum(region.main_bytes + region.side_bytes for region in regions) == price.activation_bytes
    return rules, model, True


def lie_about_prices(monkeypatch, change):
    """Let verify() see each price of a plan as this changes it; its step comes with it."""

    def lying(*asked):
        priced = price_the_plan(*asked)
        return replace(priced, prices=tuple(change(step, price) for step, price in enumerate(priced.prices)))

    monkeypatch.setattr(sys.modules["simulator.execution.verify"], "price_partition", lying)
