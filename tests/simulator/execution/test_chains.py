"""Chains as subgraphs of a plan: what a price claims is counted and executed, lies are caught, other layers refused."""

from __future__ import annotations

import random
from itertools import product

import pytest

from simulator import Accelerator, KiB, Partition
from simulator.execution import verify
from simulator.execution.claims import plan_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import Lies
from simulator.execution.judge import count_plan
from simulator.execution.layer.chain import run_chain_scaled
from simulator.execution.layer.chained.links import links_of as links_again
from simulator.execution.layer.common.plan import LayerPlan
from simulator.model.buffer_plan import make_plan
from simulator.model.nests.chain import chains, links_of
from simulator.model.price import Price
from simulator.model.priced import price_partition
from simulator.timing import simulate
from tests.helpers.parts import in_parts
from tests.helpers.random_chains import random_chain_inside, random_plan_with_chain
from workloads import Builder

MANY = [pytest.param(part, marks=pytest.mark.slow) for part in in_parts(75, 2000, 385)]


@pytest.mark.parametrize("seeds", [range(75), *MANY])
def test_chains_are_executed_as_priced(seeds):
    """Random chains beside kept tensors, in bits, batches, metrics and memories: every number and all values.

    Regions add up to what is held, and the stages to what is moved and computed.
    """
    looped = 0
    for seed in seeds:
        network, plan, chip = random_plan_with_chain(seed)
        found = price_partition(network, plan, chip)
        if not found.fits or found.prices[1].loops is None:
            continue
        looped += 1
        price, model = found.prices[1], found.models[1]
        report = verify(network, plan, chip)
        assert report.verified, (seed, report.message)
        regions = model.residency(price).regions
        assert sum(each.main_bytes + each.side_bytes for each in regions.values()) == price.activation_bytes, seed
        assert make_plan(found).holdings[1].weight_bytes == price.weight_bytes
        cycles = model.layer_cycles(price)
        assert sum(cycles.values()) == price.compute_cycles, seed
        slices = [each for each in simulate(network, plan, chip).slices if each.subgraph == 1]
        assert sum(each.size_bytes for each in slices) == price.ema_bytes, seed
    assert looped > len(seeds) / 3


def test_a_choice_of_another_plan_is_no_plan_of_the_chain():
    """Each number of a plan one less or seven more, or other layers: the loops do not run, or their count differs."""
    changed = 0
    for seed in range(150):
        network, plan, chip = random_plan_with_chain(seed)
        price = price_partition(network, plan, chip).prices[1]
        if plan.keep or not isinstance(price, Price) or price.loops is None:
            continue
        layers, loops = plan.subgraphs[1], price.loops
        counted = count_plan(network, chip, plan_of(layers, price))
        assert not counted.miss
        for change, name in product((-1, 7), ("chunk", "slice", "apart", "inner", "at_once", "kept")):
            lie = price._replace(loops=loops._replace(**{name: getattr(loops, name) + change}))
            other = count_plan(network, chip, plan_of(layers, lie))
            assert other.miss or other.count != counted.count, (seed, name, change, loops)
        fewer = count_plan(network, chip, plan_of(layers[:-1], price))  # without the addition it is a chain as well
        assert fewer.miss or fewer.count != counted.count
        assert count_plan(network, chip, plan_of(layers, price._replace(loops=loops._replace(order="TK")))).miss
        assert count_plan(network, chip, plan_of((*layers, layers[-1] + 1), price)).miss
        changed += 1
    assert changed > 40


def inverted(b, x, channels, stride=1):
    wide = b.conv("expand", x, 6 * channels)
    return b.conv("project", b.depthwise("dw", wide, 3, stride, 1), channels)


def test_large_chains_run_smaller():
    """56 x 56 and 1,024 middle channels, in each order: values on small maps, counts as they are."""
    b = Builder("large")
    x = b.input("x", 56, 56, 96)
    wide = b.mul("gated", [b.conv("gate", x, 1024, 3, padding=1), b.conv("up", x, 1024, 3, padding=1)])
    b.add("sum", [x, b.conv("down", b.depthwise("dw", wide), 96)])
    network = b.build()
    plans = [
        LayerPlan("TM", "ring", (8, 56), 8, 64, 40, 8, 1, 512),
        LayerPlan("TW", "ring", (8, 56), 1024, 1024, 96, 8, 1, 1024),
        LayerPlan("TS", "ring", (56, 56), 64, 64, 96, 96, 1, 40),
        LayerPlan("MT", "whole", (3, 56), 64, 64, 96, 96, 1, 0),
    ]
    for plan in plans:
        assert run_chain_scaled(network, range(len(network.layers)), plan), plan


def test_what_is_no_chain():
    """A reader outside, a norm over the middle, groups, windows that leave rows out, a broadcast: nothing runs so."""

    def reader(b, x):
        y = inverted(b, x, 8)
        b.conv("other", "expand", 8)
        return y

    def norm(b, x):
        return b.fc("down", b.layernorm("norm", b.fc("up", x, 32)), 8)

    def groups(b, x):
        return b.conv("down", b.conv("up", x, 32, groups=2), 8)

    def skips(b, x):
        return b.conv("down", b.conv("up", x, 32), 8, stride=2)

    def two(b, x):
        return b.conv("down", b.depthwise("second", b.depthwise("first", b.conv("up", x, 32))), 8)

    for make in (reader, norm, groups, skips, two):
        b = Builder("none")
        make(b, b.input("x", 9, 9, 8))
        network = b.build()
        layers = tuple(v for v in range(len(network.layers)) if network.layers[v].name != "other")
        assert links_of(network, layers) is None
        assert layers not in {each.layers for each in chains(network)}
        plan = LayerPlan("TM", "ring", (1, network.layers[layers[-1]].width), 8, 8, 8, 8)
        with pytest.raises(Miss):
            run_chain_scaled(network, layers, plan)


def test_both_recognize_the_same():
    """The model's recognizer and the judge's say the same of who is who."""
    for seed in range(200):
        network, layers = random_chain_inside(random.Random(seed))
        ours, theirs = links_of(network, layers), links_again(network, layers)
        assert tuple(ours)[: len(theirs)] == tuple(theirs)
        assert ours in list(chains(network))


def test_a_map_inside_a_chain_is_not_kept():
    network, layers = random_chain_inside(random.Random(3))
    inner = frozenset({layers[0]})
    plan = LayerPlan("TM", "ring", (1, network.layers[layers[-1]].width), 8, 8, 8, 8)
    with pytest.raises(Miss, match="pieces"):
        run_chain_scaled(network, layers, plan, lies=Lies(inner, inner, None, inner))


def test_a_block_of_mobilenet():
    """14 x 14, 96 channels, residual, 64 KB: 211,368 B are moved, as without the addition, and verified."""
    b = Builder("block")
    x = b.input("x", 14, 14, 96)
    b.add("sum", [x, inverted(b, x, 96)])
    network, chip = b.build(), Accelerator(shared_buffer=64 * KiB)
    plan = Partition.from_groups(network, [["*"]], metric="ema")
    report = verify(network, plan, chip, full=True)
    assert report.verified
    assert report.check("ema_bytes").claimed == 211_368
