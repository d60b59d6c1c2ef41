"""A single layer that does not fit, worked by hand (docs/model.md, section 3)."""

from __future__ import annotations

from simulator import Accelerator, KiB, Partition, evaluate
from simulator.execution.verify import verify
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.model.subgraph import Geometry
from tests.helpers.graphs import conv
from workloads import Builder
from workloads.network.layer import Layer, Tensor
from workloads.network.network import Network


def cost_of(layer, inputs, accelerator):
    """Return the cost of a network of this one layer."""
    network = Network("one", tuple(inputs), (layer,))
    return evaluate(network, Partition.layerwise(network), accelerator).subgraphs[0]


def stream_of(layer, inputs, accelerator):
    """Return how the layer is streamed."""
    rules = PricingRules(Geometry(Network("one", tuple(inputs), (layer,))), accelerator, "exact")
    price = SubgraphModel(rules, [0]).price(accelerator.activation_capacity, accelerator.weight_capacity)
    assert isinstance(price, Price)
    return price.streaming


def test_vgg_fc6_reads_its_weights_once():
    """7x7 valid, 512 -> 4096, 128 + 144 KB: its map fits, so 102760448 + 25088 + 4096 bytes."""
    cost = cost_of(
        conv("fc6", "x", (1, 1, 4096), 512, 7),
        [Tensor("x", 7, 7, 512)],
        Accelerator(global_buffer=128 * KiB, weight_buffer=144 * KiB),
    )
    assert (cost.ema_weight_bytes, cost.ema_input_bytes, cost.ema_output_bytes) == (102760448, 25088, 4096)
    unit = 102760448 // (512 * 64)  # ceil(4096/8) * ceil(512/8) units of 8 x 8 x 49 bytes
    assert unit == 3136
    assert cost.weight_bytes == 144 * KiB // unit * unit


def test_weights_in_two_chunks_read_the_map_twice_or_stay_with_each_tile():
    """1x1, 64 -> 64 on 32x32, weights 4096 = 64 units of 64, room for 32: n_k = 2.

    A = 10000 holds 8x8 tiles (2 * 4096) but not the map. Chunk outermost: 4096 + 2 * 65536 = 135168 read; tile
    outermost: 4096 * tiles + 65536: with t = 8, 16 tiles, 131072. The least wins.
    """
    chip = Accelerator(global_buffer=10000, weight_buffer=2048)
    layer, inputs = conv("a", "x", (32, 32, 64), 64), [Tensor("x", 32, 32, 64)]
    cost = cost_of(layer, inputs, chip)
    assert cost.tile == (8, 8) and cost.activation_bytes == 8192 and cost.weight_bytes == 2048
    assert (cost.ema_weight_bytes, cost.ema_input_bytes) == (65536, 65536)
    assert stream_of(layer, inputs, chip).order == "tile"


def test_a_whole_map_on_chip_reads_everything_once():
    """1x1, 8 -> 16 on 80x80 with room for both maps, 51200 + 102400 bytes, and for one of two units of 64 weights.

    Tiles of 64 would be 4, so the weights would be read 4 times; the whole map reads all once.
    """
    chip = Accelerator(global_buffer=153600, weight_buffer=64)
    layer, inputs = conv("a", "x", (80, 80, 16), 8), [Tensor("x", 80, 80, 8)]
    cost = cost_of(layer, inputs, chip)
    assert cost.tile == (80, 80)
    assert (cost.ema_weight_bytes, cost.ema_input_bytes, cost.weight_bytes) == (128, 51200, 64)
    assert stream_of(layer, inputs, chip).is_whole_map


def test_without_side_the_halo_rows_are_read_again():
    """Pool 3x3/1 pad 1 on 32x32x8, A below MAIN + SIDE of t = 1 (72 + 2*32*8 + 8 = 592) and above 80: t = 1.

    No SIDE: every row of tiles reads 3 rows per row: 3 * 8192 bytes; t = 2 would read f = 4 rows per 2: 2 * 8192,
    with MAIN 4*4*8 + 2*2*8 = 160; t = 4: 6 * 6 * 8 + 128 = 416 and 6 rows per 4: 1.5 * 8192 = 12288.
    """
    layer = Layer("p", "maxpool", ("x",), 32, 32, 8, 8, (3, 3), (1, 1), (1, 1, 1, 1))
    inputs = [Tensor("x", 32, 32, 8)]
    reads = {
        capacity: cost_of(layer, inputs, Accelerator(shared_buffer=capacity)).ema_input_bytes
        for capacity in (80, 160, 416, 592)
    }
    assert reads == {80: 3 * 8192, 160: 2 * 8192, 416: 12288, 592: 8192}


def test_deep_padding_reads_rows_of_a_low_map_again_as_often_as_it_runs():
    """Kernel 3, stride 2, 2 rows of padding on 3 rows: rows {0}, {0, 1, 2}, {2} are 5 of 3, not 3 x 3/2 = 4.5.

    5 rows of 8 columns and 2 channels are 80 bytes; 96 bytes hold the windows, but not SIDE.
    """
    b = Builder("low")
    b.avgpool("pool", b.input("x", 3, 8, 2), (3, 2), (2, 1), (2, 0, 2, 1))
    network = b.build()
    plan, chip = Partition.layerwise(network), Accelerator(shared_buffer=96)
    assert evaluate(network, plan, chip).subgraphs[0].ema_input_bytes == 80
    assert verify(network, plan, chip).message == ""


def test_the_last_resort_reads_everything_for_every_output():
    """1x1 conv on 4x4x64 in 8 bytes: even one position, 64 + 8 bytes, does not fit: weights 16 times, inputs once."""
    chip = Accelerator(global_buffer=8, weight_buffer=8)
    cost = cost_of(conv("a", "x", (4, 4, 8), 64), [Tensor("x", 4, 4, 64)], chip)
    assert (cost.tile, cost.activation_bytes, cost.weight_bytes) == ((1, 1), 8, 0)
    assert (cost.ema_weight_bytes, cost.ema_input_bytes) == (16 * 512, 1024)


def test_a_whole_operand_that_does_not_fit_is_read_for_every_tile():
    """scores of 8x1x16 in 100 bytes: k takes 128, so it passes by, 16 bytes at a time, for each tile (our choice).

    t = 4 needs 4 * 16 + 4 * 8 + 16 = 112; t = 2 needs 64: 128 + 4 * 128. In 30 bytes nothing fits: 8 times.
    """
    layer = Layer("scores", "matmul", ("q", "k"), 8, 1, 8, 16, whole=(1,))
    cost = cost_of(layer, [Tensor("q", 8, 1, 16), Tensor("k", 8, 1, 16)], Accelerator(shared_buffer=100))
    assert (cost.ema_input_bytes, cost.tile, cost.activation_bytes) == (128 + 4 * 128, (2, 2), 64)
    cost = cost_of(layer, [Tensor("q", 8, 1, 16), Tensor("k", 8, 1, 16)], Accelerator(shared_buffer=30))
    assert (cost.ema_input_bytes, cost.tile, cost.activation_bytes) == (128 + 8 * 128, (1, 1), 30)


def test_cores_hold_the_chunks_together():
    """fc 512 -> 512, weights 262144 on 2 cores of 64 KB + 64 KB: a chunk of 131072, half of it in each core."""
    chip = Accelerator(global_buffer=64 * KiB, weight_buffer=64 * KiB, cores=2)
    cost = cost_of(conv("f", "x", (1, 1, 512), 512), [Tensor("x", 1, 1, 512)], chip)
    assert cost.weight_bytes == 64 * KiB and cost.ema_weight_bytes == 262144


def test_chunks_of_one_group_of_outputs_share_a_pass_over_the_inputs():
    """1x1, 64 -> 8 on 32x32: 8 units of 64 weights in 2 chunks, all of one group of 8 outputs: each reads half of C."""
    chip = Accelerator(global_buffer=5000, weight_buffer=256)
    layer, inputs = conv("a", "x", (32, 32, 8), 64), [Tensor("x", 32, 32, 64)]
    cost = cost_of(layer, inputs, chip)
    assert (cost.ema_weight_bytes, cost.ema_input_bytes) == (512, 65536)
    assert stream_of(layer, inputs, chip).order == "chunk"
