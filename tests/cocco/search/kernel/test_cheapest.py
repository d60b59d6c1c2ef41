"""The compiled twin finds the cheapest loop order that the readable code finds, all numbers and ties alike."""

from __future__ import annotations

import random

import pytest

import workloads
from cocco.search.kernel.choice import has_kernel
from simulator.model.cheapest import Goal, Room, cheapest_plan
from simulator.model.loops import loop_layer
from simulator.technology import KiB, Technology
from tests.helpers.random_layers import random_layer, random_reduction

if has_kernel():
    from cocco.search.kernel._kernel import LoopLayers

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")

NETWORKS = ("vgg16", "resnet50", "googlenet", "gpt", "nasnet", "deeplabv3", "randwire_a")
ROOMS = (
    Room(8 * KiB, None), Room(128 * KiB, None), Room(2048 * KiB, None), Room(32 * KiB, 16 * KiB),
    Room(128 * KiB, 144 * KiB), Room(1024 * KiB, 1152 * KiB),
)  # fmt: skip
PRICES = ((100.0, 1.0, 1.0), (100.0, 0.71, 1.13), (0.3, 1.7, 2.9))  #: pJ per byte: DRAM, buffers


def goal_of(room, metric):
    """Return what is to be least in these buffers."""
    technology = Technology()
    pj = [technology.sram_pj_per_byte(each or room.activation) for each in room]
    return Goal(metric, technology.dram_pj_per_byte, *pj)


def check_equal(layers, room, goals, tiles="bands"):
    """Both find the same plan of each layer, or none."""
    twin = LoopLayers(layers, tiles)
    for i, layer in enumerate(layers):
        for goal in goals:
            assert twin.cheapest(i, *room, *goal) == cheapest_plan(layer, room, goal, tiles), (layer, room, goal)


def check_network(name, batch, rooms):
    network = workloads.load(name)
    layers = list(dict.fromkeys(loop_layer(network, v, batch) for v in range(len(network.layers))))
    for room in rooms:
        check_equal(layers, room, [goal_of(room, metric) for metric in ("ema", "energy")])


def check_random(seed, count):
    """Small layers in memories of a few bytes to more than they need, at prices that make ties, and others."""
    rng = random.Random(seed)
    for _ in range(count):
        make, batch = rng.choice((random_layer, random_reduction)), rng.choice((1, 1, 2, 3, 8))
        technology = Technology(channel_alignment=rng.choice((8, 8, 8, 1, 3)))
        layer = loop_layer(make(rng), 0, batch, technology)
        room = Room(int(2 ** rng.uniform(3, 17)), rng.choice((None, int(2 ** rng.uniform(3, 16)))))
        pj = rng.choice((*PRICES, tuple(rng.choice((0.0, 1.0, 100.0)) for _ in range(3))))
        goals = [Goal(metric, *pj) for metric in ("ema", "energy")]
        check_equal([layer], room, goals, rng.choice(("bands", "bands", "equal", "all")))


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_layers_of_networks_run_alike(name, batch):
    """In two of the memories for each batch; all of them in the slow test."""
    check_network(name, batch, ROOMS[batch % 3 :: 3])


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_layers_of_networks_run_alike_in_all_memories(name, batch):
    check_network(name, batch, ROOMS)


@pytest.mark.parametrize("seed", range(8))
def test_random_layers_run_alike(seed):
    check_random(seed, 60)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 180))
def test_many_random_layers_run_alike(seed):
    check_random(seed, 150)
