"""The cheapest loop order: nothing cheaper among all plans of small layers, and bytes of real layers, worked out apart.

The numbers of real layers come from an independent statement of the same orders.
"""

from __future__ import annotations

import random
from functools import partial

import pytest

import workloads
from simulator.model.layer.cheapest import Goal, Room, cheapest_plan, plans_of
from simulator.model.layer.loop_layer import round_up
from simulator.model.layer.loops import loop_layer
from simulator.technology import KiB, Technology
from tests.helpers.every_order import every_plan, key
from tests.helpers.parts import over_seeds
from tests.helpers.random_layers import random_layer, random_norm, random_reduction
from workloads import Builder


def goal_of(activation, weights=None, metric="ema"):
    """Return what is to be least in buffers of these bytes."""
    technology = Technology()
    pj = [technology.sram_pj_per_byte(each or activation) for each in (activation, weights)]
    return Goal(metric, technology.dram_pj_per_byte, *pj)


def simplest(layer, room, goal, tiles):
    """Return the cheapest plan in which nothing stays in part."""
    plans = (plan for plan in plans_of(layer, room, tiles) if plan.order not in ("TP", "KP"))
    return min(plans, key=partial(key, goal), default=None)


def least(builder, activation, weights=None, batch=1, tiles="bands"):
    """Return the plan of least EMA of the one layer, memory in KB."""
    room = Room(int(activation * KiB), weights and int(weights * KiB))
    return simplest(loop_layer(builder.build(), 0, batch), room, goal_of(*room), tiles)


def layerwise(name, activation, weights, batch=1, tiles="bands", find=simplest):
    """Return EMA, and energy of all but the operations in mJ, of a network whose layers run one by one."""
    network, room = workloads.load(name), Room(activation * KiB, weights * KiB)
    goal = goal_of(*room)
    plans = [find(loop_layer(network, v, batch), room, goal, tiles) for v in range(len(network.layers))]
    return sum(plan.ema_bytes for plan in plans), round(sum(key(goal, plan)[1] for plan in plans) / 1e9, 2)


def small_problem(rng, network):
    """Return a layer and a memory of 5 to 80 % of what it needs."""
    layer = loop_layer(network, 0, rng.choice((1, 1, 2, 3)))
    need = sum(t.height * t.width * round_up(layer, t.channels) for t in network.tensors)
    share = rng.uniform(0.05, 0.8)
    if rng.random() < 0.5:
        return layer, Room(int((need + layer.weights) * share), None)
    return layer, Room(int(need * share), int(layer.weights * rng.uniform(0.03, 0.9)))


def check_nothing_cheaper(seed, kinds=(random_reduction, random_reduction, random_layer)):
    rng = random.Random(seed)
    layer, room = small_problem(rng, rng.choice(kinds)(rng))
    if layer.kind == "copy":
        return
    for metric, slack in (("ema", 1.0), ("energy", 1.01)):
        goal = Goal(metric, 100.0, 1.0, 1.0)
        ours, best = (
            cheapest_plan(layer, room, goal, "all"),
            min(every_plan(layer, room), key=partial(key, goal), default=None),
        )
        assert (ours is None) == (best is None), (seed, best)
        if ours is not None:
            assert key(goal, best)[0] <= key(goal, ours)[0] <= slack * key(goal, best)[0], (seed, ours, best)


def test_nothing_is_cheaper_among_all_tiles_chunks_slices_and_samples_at_once():
    """In EMA nothing, in energy less than 1 %: sizes between the fewest chunks and one word are not tried."""
    for seed in range(20):
        check_nothing_cheaper(seed)


def test_nothing_is_cheaper_among_all_passes_of_norms():
    for seed in range(100):
        check_nothing_cheaper(seed, (random_norm,))


test_nothing_is_cheaper_among_all_of_many_layers = over_seeds(check_nothing_cheaper, 0, 5_000, 500)


def test_more_tiles_are_never_more_expensive():
    for seed in range(50):
        rng = random.Random(seed)
        layer, room = small_problem(rng, random_reduction(rng))
        goal = Goal("ema", 100.0, 1.0, 1.0)
        plans = [cheapest_plan(layer, room, goal, tiles) for tiles in ("all", "equal", "bands")]
        keys = [key(goal, plan)[:2] if plan else (float("inf"),) for plan in plans]
        assert keys[0] <= keys[1] <= keys[2], seed


def test_a_global_pool_takes_channels_apart():
    """32x32x1024 in 1 MB: 64 channels of the map are 65,536 B and their results 64; in 4 KB a row of 8, 32 * 8 B, and
    8 sums of 4 B."""
    b = Builder("pool")
    b.avgpool("p", b.input("x", 32, 32, 1024), 32, 32)
    plan = least(b, 1024)
    assert (plan.order, plan.ema_bytes, plan.activation_bytes) == ("CT", 1_049_600, 65_600)
    plan = least(b, 4)
    assert (plan.order, plan.ema_bytes, plan.activation_bytes) == ("RS", 1_049_600, 288)


def test_a_rearrangement_is_a_copy():
    """4 MiB in 1 MiB: once in, once out, a word at a time."""
    b = Builder("order")
    b.rearrange("r", b.input("x", 64, 64, 1024), 1024, 64, 64)
    plan = least(b, 1024)
    assert (plan.order, plan.ema_bytes, plan.activation_bytes) == ("copy", 8_388_608, 8)


@pytest.mark.parametrize(
    "activation, weights, ema, reads",
    [(1024, 1152, 45_322_496, (14_155_776, 30_085_120, 1_081_600)), (2048, None, 30_279_936, None)],
)
def test_a_dilated_convolution_is_cut_into_blocks_with_sums(activation, weights, ema, reads):
    """65x65x2048 -> 256, 3x3 of dilation 12: 22 rows x 128 sums of 4 B, 104 channels of the 46 rows that they meet."""
    b = Builder("dilated")
    b.conv("c", b.input("x", 65, 65, 2048), 256, 3, padding=12, dilation=12)
    plan = least(b, activation, weights)
    assert plan.ema_bytes == ema
    if reads:
        assert (plan.order, plan.tile, plan.chunk, plan.slice) == ("BC", (22, 65), 128, 104)
        assert (plan.totals.ema_weight_bytes, plan.totals.ema_input_bytes, plan.totals.ema_output_bytes) == reads
        assert plan.activation_bytes == 4 * 22 * 65 * 128 + 46 * 65 * 104


@pytest.mark.parametrize(
    "capacity, ema",
    [(192, 9_043_968), (256, 6_684_672), (320, 6_684_672), (384, 6_684_672), (390, 6_291_456), (392, 4_325_376),
     (448, 4_325_376), (512, 4_325_376), (1024, 4_325_376), (2048, 4_325_376)],
)  # fmt: skip
def test_a_fully_connected_layer_reads_all_once_from_390_kb_and_a_word_on(capacity, ema):
    """512 x 768 -> 3072: the input is 384 KB; beside it 8 outputs of weights, 6 KB, and 8 B of a result."""
    b = Builder("fc")
    b.conv("c", b.input("x", 512, 1, 768), 3072, 1)
    assert least(b, capacity).ema_bytes == ema
    assert least(b, 390 + 8 / KiB).ema_bytes == 4_325_376


@pytest.mark.parametrize(
    "capacity, ema",
    [(8, 6_553_600), (16, 4_718_592), (32, 2_883_584), (64, 1_835_008), (128, 1_310_720), (256.5, 1_048_576),
     (260, 786_432)],
)  # fmt: skip
def test_a_product_of_512_cubed_takes_its_second_operand_as_weights(capacity, ema):
    b = Builder("product")
    b.matmul("c", b.input("a", 512, 1, 512), b.input("b", 512, 1, 512))
    assert least(b, capacity).ema_bytes == ema


@pytest.mark.parametrize(
    "capacity, order, kept, ema_in, held",
    [(128, "CT", 0, 1024, 128), (127, "TCC", 64, 1024, 80), (80, "TCC", 64, 1024, 80), (79, "TCC", 48, 1280, 72),
     (31, "TCC", 0, 2048, 24), (24, "TCC", 0, 2048, 24), (23, None, 0, 0, 0)],
)  # fmt: skip
def test_softmax_reads_channels_again_that_do_not_stay(capacity, order, kept, ema_in, held):
    """16x1x64: 64 channels and their results are 128 B; a word of results and two statistics 16 B, and beside them 64,
    or 48 and a word that passes, or that word alone."""
    b = Builder("norm")
    b.softmax("s", b.input("x", 16, 1, 64))
    plan = least(b, capacity / KiB)
    if order is None:
        assert plan is None
        return
    assert (plan.order, plan.kept, plan.totals.ema_input_bytes, plan.activation_bytes) == (order, kept, ema_in, held)
    assert (plan.tile, plan.totals.ema_output_bytes) == ((1, 1), 1024)


def test_a_local_norm_needs_all_channels_of_a_position():
    """Its outputs take no statistics that all channels share: 64 channels and their results."""
    b = Builder("mixed")
    b.lrn("n", b.input("x", 16, 1, 64))
    assert least(b, 127 / KiB) is None and least(b, 128 / KiB).tile == (1, 1)


@pytest.mark.parametrize(
    "name, activation, weights, batch, ema, energy_mj",
    [
        ("gpt", 128, 144, 1, 646_447_104, 66.14),
        pytest.param("gpt", 128, 144, 8, 4_652_531_712, 482.8, marks=pytest.mark.slow),
        ("vgg16", 128, 144, 1, 184_699_560, 18.84),
        pytest.param("vgg16", 128, 144, 8, 566_142_464, 58.02, marks=pytest.mark.slow),
        ("resnet50", 768, 144, 8, 337_372_160, 34.38),
        ("deeplabv3", 1024, 1152, 1, 140_373_088, 14.36),
        pytest.param("nasnet", 128, 144, 1, 484_757_839, 49.37, marks=pytest.mark.slow),
    ],
)
def test_networks_layer_by_layer(name, activation, weights, batch, ema, energy_mj):
    assert layerwise(name, activation, weights, batch) == (ema, energy_mj)


@pytest.mark.slow
@pytest.mark.parametrize("batch, ema", [(1, 483_233_743), (8, 3_623_419_778)])
def test_nasnet_with_all_equal_rectangles(batch, ema):
    assert layerwise("nasnet", 128, 144, batch, "equal")[0] == ema
