"""A single layer that does not fit, worked by hand: its loop order on one core, pieces of it on several.

The sizes of docs/model.md, section 3, are bytes; a word is 8 channels, sums take 4 bytes.
"""

from __future__ import annotations

import pytest

import workloads
from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution.verify import verify
from simulator.model.pricing import Price, PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from tests.helpers.graphs import conv
from workloads import Builder
from workloads.network.layers.layer import Layer, Tensor
from workloads.network.network import Network


def asked(network, chip, metric="energy"):
    """Return the price of the one layer of a network, or what is missing."""
    rules = PricingRules(Geometry(network), chip, "exact", metric)
    return SubgraphModel(rules, [0]).price(chip.activation_capacity, chip.weight_capacity)


def priced(network, chip, metric="energy"):
    """Return the price of the one layer of a network, which is counted as it says."""
    price = asked(network, chip, metric)
    assert isinstance(price, Price)
    found = verify(network, Partition.layerwise(network, metric), chip)
    assert found.verified, found.message
    return price


def order_of(price):
    """Return the order and the sizes that matter in most of them."""
    plan = price.loops
    return plan.order, plan.mode, plan.tile, plan.chunk, plan.slice


def ema(price):
    """Return bytes off chip: weights, inputs, outputs."""
    return price.ema_weight_bytes, price.ema_input_bytes, price.ema_output_bytes


def one(layer, *inputs):
    """Return the network of a layer."""
    return Network("one", tuple(inputs), (layer,))


def vgg_fc6():
    """7x7 valid, 512 -> 4096 in 128 + 144 KB."""
    return one(conv("fc6", "x", (1, 1, 4096), 512, 7), Tensor("x", 7, 7, 512))


def pool():
    """3x3/1 pad 1 on 32x32x8."""
    return one(
        Layer("p", "maxpool", ("x",), 32, 32, 8, 8, (3, 3), (1, 1), (1, 1, 1, 1)), Tensor("x", 32, 32, 8)
    )  # fmt: skip


def scores():
    """8x1x16 times 8x1x16, transposed: 8x1x8."""
    layer = Layer("scores", "matmul", ("q", "k"), 8, 1, 8, 16, whole=(1,))
    return one(layer, Tensor("q", 8, 1, 16), Tensor("k", 8, 1, 16))


def test_vgg_fc6_reads_its_weights_once():
    """Weights of 8 outputs, 8 * 25088, exceed 144 KB, so slices of 8 inputs (one is 392 bytes an output) are summed.

    147,456 // 392 = 376 outputs: 11 passes over the map, whose 25,088 bytes are on chip beside 376 sums of 4 bytes.
    Through the buffer: in, out twice, the map 11 times, sums written and read again for 63 of 64 slices.
    """
    price = priced(vgg_fc6(), Accelerator(global_buffer=128 * KiB, weight_buffer=144 * KiB))
    assert order_of(price) == ("TKC", "ring", (1, 1), 376, 8)
    assert ema(price) == (102_760_448, 25_088, 4_096)
    assert (price.activation_bytes, price.weight_bytes) == (25_088 + 4 * 376, 376 * 392)
    assert price.global_buffer_bytes == 25_088 + 2 * 4_096 + 11 * 25_088 + 8 * 63 * 4_096
    assert price.weight_buffer_bytes == 2 * 102_760_448


def test_weights_that_stay_are_not_read_again_for_each_tile():
    """1x1, 64 -> 64 on 32x32: 64 bytes an output; 24 of 32 words' worth stay and 8 pass (order TP).

    8 bands of 4 rows, 128 * (64 + 8) = 9,216 bytes, in 10,000: 4,096 and 7 times the 40 outputs that do not stay.
    """
    network = one(conv("a", "x", (32, 32, 64), 64), Tensor("x", 32, 32, 64))
    price = priced(network, Accelerator(global_buffer=10_000, weight_buffer=2_048))
    assert order_of(price)[:4] == ("TP", "ring", (4, 32), 8) and price.loops.kept == 24
    assert (price.activation_bytes, price.weight_bytes) == (9_216, 64 * (24 + 8))
    assert ema(price) == (4_096 + 7 * 40 * 64, 65_536, 65_536)


def test_a_whole_map_on_chip_reads_everything_once():
    """1x1, 8 -> 16 on 80x80: map 51,200 and results of 8 channels 51,200 beside 64 bytes of weights, two chunks.

    Tiles of 64 would be 4, so the weights would be read 4 times; the whole map reads all once.
    """
    network = one(conv("a", "x", (80, 80, 16), 8), Tensor("x", 80, 80, 8))
    price = priced(network, Accelerator(global_buffer=153_600, weight_buffer=64))
    assert order_of(price)[:4] == ("TK", "ring", (80, 80), 8)
    assert ema(price) == (128, 51_200, 102_400) and price.weight_bytes == 64
    assert price.activation_bytes == 2 * 51_200


@pytest.mark.parametrize(
    "capacity, mode, tile, reads",
    [(80, "slide", (1, 1), 3 * 32 - 2), (160, "slide", (2, 2), 4 * 16 - 2), (416, "slide", (4, 4), 6 * 8 - 2),
     (592, "side", (1, 1), 32), (800, "side", (2, 2), 32), (1024, "ring", (1, 32), 32)],
)  # fmt: skip
def test_without_side_the_halo_rows_are_read_again(capacity, mode, tile, reads):
    """Rows read: 3 for each of 32, 4 for each of 16, 6 for each of 8, but for two in the padding; or all of them once.

    Words held: 3x3 + 1, 4x4 + 4, 6x6 + 16; beside two rows of SIDE 9 + 64 + 1 and 16 + 64 + 4; a ring of 3 rows and a
    row of results 96 + 32.
    """
    words = {80: 10, 160: 20, 416: 52, 592: 74, 800: 84, 1024: 128}
    price = priced(pool(), Accelerator(shared_buffer=capacity))
    assert (price.loops.order, price.loops.mode, price.tile) == ("CT", mode, tile)
    assert price.ema_input_bytes == reads * 32 * 8 and price.activation_bytes == 8 * words[capacity]


@pytest.mark.parametrize(
    "network, runs, missing", [(pool(), 80, 79), (scores(), 104, 103)], ids=["3x3 and a word", "sums"]
)
def test_below_the_least_order_nothing_runs(network, runs, missing):
    """A pool holds 3x3 words and one; scores 32 bytes of sums, 8 of q and 8 x 8 of k."""
    assert priced(network, Accelerator(shared_buffer=runs)).activation_bytes == runs
    short = asked(network, Accelerator(shared_buffer=missing))
    assert isinstance(short, Shortage) and (short.needed_bytes, short.available_bytes) == (runs, missing)


def test_deep_padding_reads_rows_of_a_low_map_again_as_often_as_it_runs():
    """Kernel 3, stride 2, 2 rows of padding on 3 rows: rows {0}, {0, 1, 2}, {2} are 5 of 3, not 3 x 3/2 = 4.5.

    5 rows of 8 columns and 2 channels are 80 bytes; 96 bytes hold 3 x 2 words and one, but not SIDE.
    """
    b = Builder("low")
    b.avgpool("pool", b.input("x", 3, 8, 2), (3, 2), (2, 1), (2, 0, 2, 1))
    price = priced(b.build(), Accelerator(shared_buffer=96))
    assert (price.ema_input_bytes, price.activation_bytes, price.loops.mode) == (80, 56, "slide")


def test_sums_of_one_word_are_the_last_resort():
    """1x1 conv on 4x4x64 in 40 + 64 bytes: sums of 8 outputs, 8 inputs, 8x8 weights. All weights for each position."""
    network = one(conv("a", "x", (4, 4, 8), 64), Tensor("x", 4, 4, 64))
    price = priced(network, Accelerator(global_buffer=40, weight_buffer=64))
    assert order_of(price) == ("BC", "block", (1, 1), 8, 8)
    assert ema(price) == (16 * 512, 1024, 128)
    for less in ((39, 64), (40, 63)):
        assert isinstance(asked(network, Accelerator(global_buffer=less[0], weight_buffer=less[1])), Shortage)


def test_the_second_operand_of_a_product_comes_once_where_a_chunk_of_it_is_all():
    """Scores in 200 bytes: k is 8 x 16 = 128; three rows of q, 48, and of results, 24. Windows: q once, k 3 times."""
    price = priced(scores(), Accelerator(shared_buffer=200))
    assert (price.loops.order, price.tile, price.activation_bytes, price.weight_bytes) == ("TK", (3, 1), 200, 0)
    assert ema(price) == (0, 128 + 128, 64)
    assert price.global_buffer_bytes == 256 + 2 * 64 + 128 + 3 * 128


@pytest.mark.parametrize(
    "batch, at_once, order, reads",
    [(1, 1, "TK", (1152, 512)), (8, 1, "KP", (1152, 8 * 512 + 8 * 6 * 64))],
)
def test_chunks_outermost_serve_all_samples(batch, at_once, order, reads):
    """3x3, 8 -> 16 on 8x8 beside half of its weights: one sample stays whole for both chunks.

    Of 8 samples chunks go outermost: weights once, of each sample 2 rows of 64 bytes stay and 6 come twice. The ring of
    6 rows (384), 4 rows of 8 results (256) and 2 rows of 8 samples (1,024) are more than 1,600, so a row less is held.
    """
    network = one(conv("a", "x", (8, 8, 16), 8, 3, 1, 1), Tensor("x", 8, 8, 8))
    price = priced(network, Accelerator(global_buffer=1600, weight_buffer=600, batch=batch))
    assert (price.loops.order, price.at_once, price.weight_bytes) == (order, at_once, 576)
    assert ema(price)[:2] == reads and price.ema_output_bytes == batch * 1024


def test_weights_that_fit_are_read_once_whatever_the_batch():
    """All 1,152 bytes on chip: samples follow each other in the memory of one, 512 + 1,024 bytes."""
    network = one(conv("a", "x", (8, 8, 16), 8, 3, 1, 1), Tensor("x", 8, 8, 8))
    price = priced(network, Accelerator(global_buffer=1600, weight_buffer=2000, batch=8))
    assert ema(price) == (1152, 8 * 512, 8 * 1024)
    assert (price.at_once, price.activation_bytes, price.weight_buffer_bytes) == (1, 1536, 1152 + 8 * 1152)


def built(make):
    """Return the network of what a function adds to a builder."""
    b = Builder("one")
    make(b)
    return b.build()


def global_pool():
    return built(lambda b: b.avgpool("p", b.input("x", 32, 32, 1024), 32, 32))


def dilated():
    return built(lambda b: b.conv("c", b.input("x", 65, 65, 2048), 256, 3, padding=12, dilation=12))


def copied():
    return built(lambda b: b.rearrange("r", b.input("x", 64, 64, 1024), 1024, 64, 64))


def machine(first, second=None, **more):
    """Return a machine with a shared buffer of so many KB, or with two."""
    if second is None:
        return Accelerator(shared_buffer=first * KiB, **more)
    return Accelerator(global_buffer=first * KiB, weight_buffer=second * KiB, **more)


def fully_connected():
    return built(lambda b: b.conv("c", b.input("x", 512, 1, 768), 3072, 1))


@pytest.mark.parametrize(
    "network, buffers, stated, least, of_energy",
    [
        (global_pool(), (1024,), 1_049_600, 1_049_600, 1_049_600),
        (copied(), (1024,), 8_388_608, 8_388_608, 8_388_608),
        (dilated(), (1024, 1152), 45_322_496, 45_322_496, 45_322_496),
        (dilated(), (2048,), 30_279_936, 30_279_936, 30_279_936),
        (fully_connected(), (192,), 9_043_968, 8_914_944, 9_043_968),
        (fully_connected(), (256,), 6_684_672, 6_629_376, 6_684_672),
        (fully_connected(), (320,), 6_684_672, 6_561_792, 6_684_672),
        (fully_connected(), (384,), 6_684_672, 6_362_112, 6_660_096),
        (fully_connected(), (392,), 4_325_376, 4_325_376, 4_325_376),
        (fully_connected(), (448,), 4_325_376, 4_325_376, 4_325_376),
        (fully_connected(), (512,), 4_325_376, 4_325_376, 4_325_376),
    ],
)
def test_layers_that_were_read_again_and_again(network, buffers, stated, least, of_energy):
    """Bytes off chip. Stated are those of the orders in which nothing stays in part; the price is the least of all."""
    chip = machine(*buffers)
    found = [asked(network, chip, metric).ema_bytes for metric in ("ema", "latency-sum", "energy")]
    assert found == [least, least, of_energy] and least <= of_energy <= stated


@pytest.mark.parametrize(
    "name, buffers, batch, stated, found",
    [
        ("gpt", (128, 144), 1, 646_447_104, 604_394_496),
        ("gpt", (128, 144), 8, 4_652_531_712, 4_610_727_936),
        ("vgg16", (128, 144), 1, 184_699_560, 183_469_736),
        ("vgg16", (128, 144), 8, 566_142_464, 563_545_600),
        pytest.param("nasnet", (128, 144), 1, 484_757_839, 470_936_143, marks=pytest.mark.slow),
        ("deeplabv3", (1024, 1152), 1, 140_373_088, 140_373_088),
        ("resnet50", (768, 144), 8, 337_372_160, 335_627_264),
    ],
)
def test_networks_layer_by_layer(name, buffers, batch, stated, found):
    """Bytes off chip, least EMA; stated: the least of the orders in which nothing stays in part."""
    network = workloads.load(name)
    result = evaluate(network, Partition.layerwise(network, "ema"), machine(*buffers, batch=batch))
    assert result.ema_bytes == found <= stated
    assert evaluate(network, Partition.layerwise(network), machine(*buffers, batch=batch)).energy_pj <= result.energy_pj
