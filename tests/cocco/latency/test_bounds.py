"""Bounds of executed latency: worked by hand, and against the simulation of every plan of small networks."""

from __future__ import annotations

import random

import pytest

from cocco.candidates.sets import Cones
from cocco.latency.bounds import bounds_of, late_weights
from simulator import Accelerator, Partition, Technology
from simulator.metrics import METRIC_NAMES
from simulator.model.price import Price
from simulator.model.priced import price_partition
from simulator.model.rules import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from simulator.timing.simulation import simulate_priced
from tests.helpers.every_kept_plan import all_orders, all_spans
from tests.helpers.nest_networks import nest_network
from tests.helpers.search_graphs import dag, diamond
from workloads import Builder
from workloads.network.network import Network

MOST = 400  #: plans of one network and memory


def bounds(network: Network, chip: Accelerator, least: int = 0):
    return bounds_of(PricingRules(Geometry(network, chip.technology), chip, "exact"), chip, least)


def late(layers: int = 2, size: int = 32) -> Network:
    """Return layers whose weights grow towards the end: each has four times as many channels as the one before."""
    b = Builder("late")
    x = b.input("x", size, size, 8)
    for i in range(layers):
        x = b.conv(f"n{i}", x, 32 * 4**i)
    return b.build()


def test_what_does_not_fit_before_the_last_layer_comes_after_it():
    """fc has 32 * 256 = 8192 weights, of which at most 1024 are there when all before has computed."""
    b = Builder("late")
    b.fc("fc", b.maxpool("pool", b.conv("conv", b.input("x", 32, 32, 8), 32, 3, padding=1), 32), 256)
    network, chip = b.build(), Accelerator(shared_buffer=1024, plans="paper")
    rules = PricingRules(Geometry(network), chip, "exact")
    computing = sum(rules.cycles[:2]) * chip.dram_bytes_per_cycle
    assert late_weights(rules, chip) == (computing + 8192 - 1024, "weights behind pool")


def test_weights_of_a_nest_with_the_layer_do_not_count():
    """Two dense layers may run in chunks of the channels between them: then weights of the second go before T."""
    network, chip = late(), Accelerator(shared_buffer=1024)
    rules = PricingRules(Geometry(network), chip, "exact")
    assert list(rules.nests) == [(0, 1)]
    assert late_weights(rules, chip).why == "weights behind n1"


def test_ancestors_and_descendants_are_those_on_paths():
    cones = Cones(diamond().producers)
    assert (cones.up, cones.down) == ([0b1, 0b11, 0b101, 0b1111], [0b1111, 0b1010, 0b1100, 0b1000])
    assert cones.between((0, 3)) == 0b1111 and cones.between((1, 2)) == 0b110


def test_the_largest_bound_comes_first_and_says_what_it_is():
    found = bounds(dag([[], [0]]), Accelerator(shared_buffer=2**20), 10**9)
    assert found[0] == (10**9, "off-chip traffic")
    assert [each.slots for each in found] == sorted((each.slots for each in found), reverse=True)


def ends(network: Network, chip: Accelerator, rng: random.Random):
    """Yield when plans end that fit, and what each moves off chip: all of them, or as many as MOST at random."""
    orders = list(all_orders(network))
    rng.shuffle(orders)
    count = 0
    for order in orders:
        spans = list(all_spans(network, order))
        for chosen in rng.sample(spans, min(len(spans), 6)):
            spare = rng.choice(((), tuple(rng.choice((0, 64, 256)) for _ in order)))
            plan = Partition.from_ids(network, order, rng.choice(METRIC_NAMES), chosen, (), spare)
            priced = price_partition(network, plan, chip)
            if priced.fits:
                count += 1
                prices = [price for price in priced.prices if isinstance(price, Price)]
                yield simulate_priced(priced).end, sum(price.ema_bytes for price in prices)
            if count == MOST:
                return


def undercut(seed: int) -> list[int]:
    rng = random.Random(seed)
    network = nest_network(rng, 4) if seed % 2 else late(rng.randint(2, 3), rng.choice((4, 8, 16)))
    size = rng.choice((512, 1024, 2048, 4096, 16384))
    buffers = {"shared_buffer": size} if rng.random() < 0.6 else {"global_buffer": size, "weight_buffer": size // 2}
    technology = Technology(sram_bytes_per_cycle=None if seed % 3 else 4)
    chip = Accelerator(**buffers, batch=rng.choice((1, 1, 2)), technology=technology)
    found = list(ends(network, chip, rng))
    least = min((size for _, size in found), default=0)
    bound = bounds(network, chip, least)[0].slots
    return [end for end, _ in found if end < bound]


@pytest.mark.parametrize("seed", range(12))
def test_no_plan_undercuts_the_bounds(seed):
    assert not undercut(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 400))
def test_no_plan_undercuts_the_bounds_of_many(seed):
    assert not undercut(seed)
