"""The least memory of a layer: worked by hand, and by asking for a plan in every memory around it."""

from __future__ import annotations

import random

import pytest

import workloads
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan
from simulator.model.layer.least_room import Need, can_run, least_room, needs
from simulator.model.layer.loops import loop_layer
from simulator.technology import Technology
from tests.helpers.every_order import every_plan
from tests.helpers.parts import over_seeds
from tests.helpers.random_attention import random_masked_attention
from tests.helpers.random_layers import random_layer, random_norm, random_reduction
from workloads import Builder

PLENTY = 1 << 40


def one(op, *given, shape, **options):
    """Return one layer on one input, as its loops see it."""
    b = Builder("one")
    getattr(b, op)("n", b.input("x", *shape), *given, **options)
    return loop_layer(b.build(), 0)


@pytest.mark.parametrize(
    "layer, found",
    [
        (one("conv", 64, 7, padding=3, shape=(56, 56, 64)), [(49 * 64 + 8, 49 * 8 * 64), (49 * 8 + 32, 49 * 64)]),
        (one("conv", 4096, 7, shape=(7, 7, 512)), [(49 * 512 + 8, 49 * 8 * 512), (49 * 8 + 32, 49 * 64)]),
        (one("conv", 1, 1, shape=(4, 4, 16)), [(16 + 8, 16), (8 + 32, 8)]),
        (one("conv", 24, 3, padding=1, shape=(4, 4, 3)), [(9 * 8 + 8, 9 * 8 * 3)]),
        (one("depthwise", 31, padding=15, shape=(56, 56, 384)), [(961 * 8 + 8, 961 * 8)]),
        (one("avgpool", 32, shape=(32, 32, 64)), [(1024 * 8 + 8, 0), (32 * 8 + 32, 0)]),
        (one("softmax", shape=(16, 1, 64)), [(128, 0), (24, 0)]),
        (one("lrn", shape=(16, 1, 64)), [(128, 0)]),
        (one("rearrange", 8, 4, 4, shape=(4, 4, 8)), [(8, 0)]),
    ],
)  # fmt: skip
def test_by_hand(layer, found):
    """A word of inputs beside a word of sums, 4 B each; all inputs beside a word of results; channels apart."""
    assert list(needs(layer)) == found


def test_a_product_holds_its_second_operand_beside_the_first():
    """A word of a row, 8 sums, and 8 x 8 of the second operand: 104 B in one buffer, and nothing in the other."""
    b = Builder("product")
    b.matmul("n", b.input("x", 512, 1, 512), b.input("y", 512, 1, 512))
    layer = loop_layer(b.build(), 0)
    assert needs(layer) == (Need(512 + 8 + 8 * 512, 0), Need(8 + 32 + 64, 0))
    assert least_room(layer, False) == Room(104, 0) and least_room(layer, True) == Room(104, None)


def test_both_buffers_may_need_more_than_each_alone():
    """16 inputs and one output: TK holds 24 B and 16 of weights, BC 40 and 8."""
    layer = one("conv", 1, 1, shape=(4, 4, 16))
    assert least_room(layer, False) == Room(24, 8) and least_room(layer, True) == Room(40, None)
    assert can_run(layer, Room(24, 16)) and can_run(layer, Room(40, 8)) and not can_run(layer, Room(39, 15))


def has_plan(layer, room, tiles):
    """Return whether any plan is tried that fits."""
    return cheapest_plan(layer, room, Goal("ema", 1.0, 0.0, 0.0), tiles) is not None


def random_case(seed, kinds=(random_layer, random_layer, random_reduction, random_norm)):
    """Return a small layer of any kind, sometimes with other words and tiles than the usual, and tiles."""
    rng = random.Random(seed)
    network = rng.choice(kinds)(rng)
    usual = rng.random() < 0.5
    technology = Technology() if usual else Technology(
        channel_alignment=rng.choice((1, 3, 8)), tiles=rng.choice(((4, 2, 1), (4, 2), (8,)))
    )  # fmt: skip
    layer = loop_layer(network, 0, rng.choice((1, 1, 2, 3)), technology)
    return rng, layer, rng.choice(("bands", "equal", "all"))


def check_random(seed, *kinds):
    """In every memory around each need, and in some others: there is a plan where, and only where, a need is met."""
    rng, layer, tiles = random_case(seed, *kinds)
    shared, apart = least_room(layer, True, tiles).activation, least_room(layer, False, tiles)
    rooms = [Room(size, None) for size in {*range(max(0, shared - 12), shared + 13), *range(0, 2 * shared, 37)}]
    for activation, weights in needs(layer, tiles):
        near = [(activation + i, weights + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        rooms += [Room(a, w) for a, w in near if min(a, w) >= 0]
        rooms += [Room(rng.randrange(2 * activation + 2), rng.randrange(2 * weights + 2)) for _ in range(12)]
    for a in (apart.activation - 1, apart.activation):
        rooms.append(Room(a, PLENTY))
        assert has_plan(layer, rooms[-1], tiles) == (a == apart.activation), (seed, layer, rooms[-1])
    for w in {max(0, apart.weights - 1), apart.weights}:
        assert has_plan(layer, Room(PLENTY, w), tiles) == (w == apart.weights), (seed, layer, w)
    for room in rooms:
        fits = has_plan(layer, room, tiles)
        assert fits == can_run(layer, room, tiles), (seed, layer, room)
        assert room.weights is not None or fits == (room.activation >= shared), (seed, layer, room)


def test_a_layer_runs_where_its_least_room_is_and_nowhere_else():
    for seed in range(20):
        check_random(seed)


def test_an_attention_with_a_mask_runs_where_its_least_room_is_and_nowhere_else():
    for seed in range(30):
        check_random(seed, (random_masked_attention,))


test_many_layers_run_where_their_least_room_is = over_seeds(check_random, 0, 5_000, 500)


def test_no_plan_of_any_size_holds_less():
    """Among all tiles, chunks, slices and samples at once of every order."""
    for seed in range(40):
        rng = random.Random(seed)
        layer = loop_layer(rng.choice((random_layer, random_reduction, random_norm))(rng), 0, rng.choice((1, 2)))
        if layer.kind == "copy":
            continue
        room = least_room(layer, True, "all")
        plans = list(every_plan(layer, Room(room.activation + 200, None)))
        assert min(plan.activation_bytes + plan.weight_bytes for plan in plans) == room.activation, (seed, layer)


@pytest.mark.parametrize("name, most", [("vgg16", 3560), ("resnet50", 1576), ("gpt", 104), ("googlenet", 1832)])
def test_layers_of_networks(name, most):
    """One byte less than the least has no plan; the most demanding is the one with the largest windows."""
    network = workloads.load(name)
    layers = dict.fromkeys(loop_layer(network, v) for v in range(len(network.layers)))
    for layer in layers:
        least = least_room(layer, True).activation
        assert has_plan(layer, Room(least, None), "bands") and not has_plan(layer, Room(least - 1, None), "bands")
    assert max(least_room(layer, True).activation for layer in layers) == most
