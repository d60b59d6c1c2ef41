"""Several cores: the cheapest scheme is taken, its price is what is executed, and one core is as before."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

import workloads
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution import verify
from simulator.execution.claims import plan_of
from simulator.execution.judge import check, count_plan
from simulator.metrics import METRIC_NAMES
from simulator.model.priced import price_partition
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.technology import Technology
from tests.helpers.parts import first_of
from tests.helpers.random_cores_plans import random_cores_plan
from workloads import Builder

UNCOUNTED = {"area_mm2"}  #: what no plan on several cores counts


def verify_random(seeds) -> Counter:
    """Verify random plans; return how often which scheme was executed."""
    taken: Counter = Counter()
    for seed in seeds:
        network, plan, chip = random_cores_plan(seed)
        priced = price_partition(network, plan, chip)
        if not priced.fits:
            continue
        found = verify(network, plan, chip)
        assert found.verified, (seed, found.message)
        uncounted = {each.name for each in found.checks if each.status == "not executed"}
        assert uncounted - {"rereads"} == UNCOUNTED  # rereads only where a layer moves something again
        for model, price in zip(priced.models, priced.prices):
            assert sum(model.layer_cycles(price).values()) == price.compute_cycles
            taken[price.scheme] += 1
    return taken


def test_random_plans_on_several_cores_run_as_priced():
    """2 to 7 cores, batches, kept tensors, memories from roomy to tight: all is counted but what is simulated."""
    taken = verify_random([*range(30), 144, 153, 237])
    assert min(taken[each] for each in ("channels", "rotated", "held", "alone")) > 0 and sum(taken.values()) > 50


@pytest.mark.slow
def test_many_random_plans_on_several_cores_run_as_priced():
    assert sum(verify_random(range(1_000, 3_000)).values()) > 5_000


def two_convolutions():
    b = Builder("two")
    b.conv("b", b.conv("a", b.input("x", 16, 16, 8), 8, 3, padding=1), 8, 3, padding=1)
    return b.build()


def test_two_convolutions_on_16_cores_take_what_is_executed():
    """Columns: 3 maps of 16 rows and one column of 8 B, a 16th of 1152 B of weights; channels: all in one core."""
    network = two_convolutions()
    plan, chip = Partition.from_groups(network, [["a", "b"]]), Accelerator(shared_buffer=456, cores=16)
    (price,) = price_partition(network, plan, chip).prices
    assert (price.scheme, price.activation_bytes, price.weight_bytes) == ("rotated", 3 * 16 * 8, 72)
    assert price.compute_cycles == 18 and price.crossbar_bytes == 2 * 16 * 30 * 8 + 15 * 1152
    assert verify(network, plan, chip).check("activation_bytes", 0).counted == 384
    (price,) = price_partition(network, plan, replace(chip, shared_buffer=8 * KiB)).prices
    assert (price.scheme, price.activation_bytes, price.crossbar_bytes) == ("channels", 3 * 16 * 16 * 8, 0)


@pytest.mark.parametrize("metric", METRIC_NAMES)
@pytest.mark.parametrize("cores", first_of([3, 2, 4], 1))
def test_the_cheapest_way_is_taken(metric, cores):
    """No way alone is cheaper than the price, which may choose of all of them; each is taken by some subgraph."""
    network = workloads.load("resnet50")
    chip = Accelerator(shared_buffer=640 * KiB, cores=cores, batch=2)
    rules = PricingRules(Geometry(network), chip, "exact", metric)
    goal = rules.goal(chip.activation_capacity, 0)
    found = Counter()
    for first in range(0, 60, 3):
        model = SubgraphModel(rules, range(first, first + 3))
        best = model.price(chip.activation_capacity, 0)
        for way in model.ways:
            only = SubgraphModel(rules, range(first, first + 3))
            only.ways = (model.ways[0], way)
            price = only.price(chip.activation_capacity, 0)
            if isinstance(price, Price):
                assert model._rank(best, goal) <= model._rank(price, goal)
        found[getattr(best, "scheme", "")] += 1
    assert found["channels"] > 0


def test_the_crossbar_takes_time():
    """x 1x4x16 and a 1x1 convolution on 2 cores: each reads 32 of 64 elements of the other, at a byte per cycle."""
    b = Builder("one")
    b.conv("b", b.conv("a", b.input("x", 1, 4, 16), 16, 1), 16, 1)
    network = b.build()
    plan, technology = Partition.from_groups(network, [["a", "b"]]), Technology(crossbar_bytes_per_cycle=1)
    chip = Accelerator(shared_buffer=10**6, cores=2, technology=technology)
    found = evaluate(network, plan, chip)
    assert found.subgraphs[0].scheme == "channels"
    assert found.latency_cycles == (64 + 64) / 2  # reads of a and of b, over two ports
    assert evaluate(network, plan, replace(chip, technology=Technology())).latency_cycles == (512 + 128) / 32


def test_lies_about_cores_are_noticed():
    """Every number of a price changed by -1 and +7, and another scheme than the one that was priced."""
    fields = (
        "activation_bytes", "weight_bytes", "global_buffer_bytes", "weight_buffer_bytes", "crossbar_bytes",
        "global_written_bytes", "weight_written_bytes",
    )  # fmt: skip
    noticed = 0
    for seed in range(40):
        network, plan, chip = random_cores_plan(seed)
        priced = price_partition(network, plan, chip)
        if not priced.fits or plan.keep:
            continue
        plans = [plan_of(*each) for each in zip(plan.subgraphs, priced.prices)]
        counts = [count_plan(network, chip, each) for each in plans]
        price = priced.prices[0]
        lies = [price._replace(**{name: getattr(price, name) + by}) for name in fields for by in (-1, 7)]
        for lie in lies if price.loops is None else []:
            checks = check(chip, [lie, *priced.prices[1:]], counts)
            assert any(each.status == "different" for each in checks), (seed, lie)
            noticed += 1
    assert noticed > 100


def test_a_mapper_by_tiles_deals_channels_only():
    from simulator.mapping import Enumerate

    network = two_convolutions()
    chip = Accelerator(shared_buffer=10**6, cores=2, mapper=Enumerate(tiled=True))
    (price,) = price_partition(network, Partition.from_groups(network, [["a", "b"]]), chip).prices
    assert price.scheme == "channels"
