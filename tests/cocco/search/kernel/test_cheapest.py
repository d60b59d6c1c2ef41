"""The compiled twin finds the cheapest loop order that the readable code finds, all numbers and ties alike."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import workloads
from cocco.search.kernel.choice import has_kernel
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan
from simulator.model.layer.loops import loop_layer
from simulator.model.schemes.dealing import Deal
from simulator.model.schemes.looped import loop_ways
from simulator.technology import KiB, Technology
from tests.helpers.parts import over_seeds
from tests.helpers.random_attention import random_masked_attention
from tests.helpers.random_epilogue import random_case
from tests.helpers.random_layers import random_layer, random_norm, random_reduction
from workloads import Builder

if has_kernel():
    from cocco.search.kernel._model import LoopLayers

pytestmark = pytest.mark.skipif(not has_kernel(), reason="the compiled engine is not built")

NETWORKS = ("vgg16", "resnet50", "googlenet", "gpt", "nasnet", "deeplabv3", "randwire_a")
SOME = ("resnet50", "gpt", "nasnet", "deeplabv3")  #: of other strides, products, windows and dilations
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


def random_question(seed, kinds=(random_layer, random_reduction)):
    """Return a small layer, a memory of a few bytes to more than it needs, a goal that makes ties or few, and tiles."""
    rng = random.Random(seed)
    make, batch = rng.choice(kinds), rng.choice((1, 1, 2, 3, 8))
    layer = loop_layer(make(rng), 0, batch, Technology(channel_alignment=rng.choice((8, 8, 8, 1, 3))))
    room = Room(int(2 ** rng.uniform(3, 17)), rng.choice((None, int(2 ** rng.uniform(3, 16)))))
    pj = rng.choice((*PRICES, tuple(rng.choice((0.0, 1.0, 100.0)) for _ in range(3))))
    return layer, room, Goal(rng.choice(("ema", "energy")), *pj), rng.choice(("bands", "bands", "equal", "all"))


def check_random(seed, *kinds):
    layer, room, goal, tiles = random_question(seed, kinds or (random_layer, random_reduction))
    check_equal([layer], room, [goal], tiles)
    return cheapest_plan(layer, room, goal, tiles)


def check_dealt(seed):
    """Return in which ways cores run a random layer, both engines alike in each."""
    rng = random.Random(seed)
    network, word = rng.choice((random_layer, random_reduction, random_norm))(rng), rng.choice((8, 8, 8, 1, 3))
    layer = loop_layer(network, 0, rng.choice((1, 1, 2, 3, 8)), Technology(channel_alignment=word))
    room = Room(int(2 ** rng.uniform(3, 17)), rng.choice((None, int(2 ** rng.uniform(3, 16)))))
    writes = rng.choice(((None, None), (0.5, 2.0), (2.0, 0.5)))
    goal = Goal(
        rng.choice(("ema", "energy", "latency-sum")), *rng.choice(PRICES), *writes, rng.choice((0.0, 2.5)),
        rng.choice((0, 10**4)), rng.choice((0.0, 3.2, 50.0)), (16, rng.choice((1, 32))),
    )  # fmt: skip
    ways = loop_ways(network.layers[:1], layer, Deal(rng.randint(2, 7), word))
    for way in ways:
        check_equal([way.loops], room, [goal])
    return [way.scheme for way in ways]


def check_large(seed):
    """A convolution of up to 2^40 weights, 4,096 samples, 2^50 bytes of memory; return whether it is refused."""
    rng = random.Random(seed)
    rows, columns = int(2 ** rng.uniform(0, 10)), int(2 ** rng.uniform(0, 5))
    channels, outputs, taps = int(2 ** rng.uniform(3, 18)), int(2 ** rng.uniform(3, 18)), rng.choice((1, 3))
    b = Builder("large")
    b.conv("c", b.input("x", rows, columns, channels), outputs, taps, padding=taps // 2)
    layer = loop_layer(b.build(), 0, rng.choice((1, 4, 1024, 4096)))
    room = Room(int(2 ** rng.uniform(10, 50)), rng.choice((None, int(2 ** rng.uniform(10, 50)))))
    try:
        check_equal([layer], room, [goal_of(room, "ema"), goal_of(room, "energy")])
    except OverflowError:
        return True
    return False


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_layers_of_networks_run_alike(name, batch):
    """In two of the memories for each batch; all of them in the slow test."""
    check_network(name, batch, ROOMS[batch % 3 :: 3])


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("batch", [1, 2, 3, 8])
def test_layers_of_networks_run_alike_in_all_memories(name, batch):
    check_network(name, batch, ROOMS)


def test_random_layers_run_alike():
    for seed in range(800):
        check_random(seed)


def test_random_attentions_with_masks_run_alike():
    for seed in range(400):
        check_random(seed, random_masked_attention)


def test_random_softmax_and_norms_run_alike():
    plans = [check_random(seed, random_norm) for seed in range(400)]
    kept = {plan.kept > 0 for plan in plans if plan is not None and plan.order == "TCC"}
    assert kept == {True, False}


def test_random_layers_with_an_epilogue_run_alike():
    for seed in range(300):
        _, room, goal, tiles = random_question(seed)
        check_equal([random_case(seed, behind_chain=seed % 3 == 0).loops], room, [goal], tiles)


def test_random_layers_run_alike_on_several_cores():
    found = Counter(scheme for seed in range(200) for scheme in check_dealt(seed))
    assert min(found.values()) > 30 and len(found) == 3, found


@pytest.mark.parametrize(
    "seed, order, mode",
    [(0, "TK", "ring"), (895, "TK", "rows"), (2661, "TK", "side"), (3385, "TK", "block"), (161, "KT", "ring"),
     (251, "KT", "slide"), (3683, "KT", "rows"), (7154, "KT", "side"), (78, "WK", "whole"), (6098, "KS", "whole"),
     (710, "TP", "ring"), (5269, "TP", "slide"), (35, "KP", "ring"), (46, "TKC", "ring"), (3664, "TKC", "rows"),
     (5, "BC", "block"), (174, "BC", "block-row"), (4, "CT", "ring"), (2918, "CT", "rows"), (10299, "CT", "block"),
     (17380, "CT", "side"), (582, "TC", "slide"), (2294, "TC", "ring"), (85, "RS", "row"), (57, "copy", "word"),
     (66, "TCC", "slide"), (1364, "TCC", "ring")],
)  # fmt: skip
def test_every_order_is_the_cheapest_somewhere(seed, order, mode):
    """Random layers where each of them is, in each of its modes."""
    assert check_random(seed)[:2] == (order, mode)


def test_large_layers_run_alike_or_are_refused():
    refused = sum(map(check_large, range(60)))
    assert 0 < refused < 30


def test_a_layer_that_64_bits_may_not_hold_is_refused_and_the_others_are_not():
    """2^20 x 2^20 weights, again for each of 2^20 positions and each of 8 samples, are 2^63 bytes."""
    b, small = Builder("large"), Builder("small")
    b.conv("c", b.input("x", 2**20, 1, 2**20), 2**20, 1)
    small.conv("c", small.input("x", 4, 4, 8), 8, 1)
    layers = [loop_layer(b.build(), 0, 8), loop_layer(small.build(), 0, 8)]
    room, goal = ROOMS[0], goal_of(ROOMS[0], "ema")
    twin = LoopLayers(layers)
    with pytest.raises(OverflowError, match="64 bits"):
        twin.cheapest(0, *room, *goal)
    assert twin.cheapest(1, *room, *goal) == cheapest_plan(layers[1], room, goal)


def test_a_softmax_over_millions_of_scores_is_none_of_them():
    """A decode step at 32,768 tokens of 32 heads: without weights nothing is multiplied by channels three times."""
    b = Builder("scores")
    b.softmax("s", b.input("x", 1, 1, 2**20))
    layer, room = loop_layer(b.build(), 0), Room(2**20, None)
    goal = goal_of(room, "ema")
    assert LoopLayers([layer]).cheapest(0, *room, *goal) == cheapest_plan(layer, room, goal)


test_many_random_layers_run_alike_on_several_cores = over_seeds(check_dealt, 10_000, 15_000, 500)


test_many_random_layers_run_alike = over_seeds(check_random, 10_000, 30_000, 2000)
