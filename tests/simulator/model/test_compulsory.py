"""What crosses to DRAM at least, and the layers that move something again and again: by hand."""

from __future__ import annotations

import pytest

from simulator import Accelerator, Partition, evaluate
from simulator.model.compulsory import OFTEN
from tests.helpers.graphs import chain, resnet_block
from workloads import Builder, Network


def conv() -> Network:
    """One 3x3 convolution: 16 x 16 x 64 = 16,384 bytes in and out, 9 x 64 x 64 = 36,864 of weights."""
    b = Builder("one")
    b.conv("only", b.input("x", 16, 16, 64), 64, 3, padding=1)
    return b.build()


@pytest.mark.parametrize("batch", [1, 3])
def test_weights_cross_once_and_inputs_and_outputs_once_for_each_sample(batch):
    """The chain has 3,968 bytes of weights, 2,048 of input and of output; in one subgraph nothing else crosses."""
    chip = Accelerator(global_buffer=2**16, weight_buffer=2**16, batch=batch)
    fused = evaluate(chain(), Partition.from_groups(chain(), [["a", "b", "c"]]), chip)
    assert fused.compulsory_bytes == 3968 + batch * 4096 == fused.ema_bytes
    alone = evaluate(chain(), Partition.layerwise(chain()), chip)
    assert alone.compulsory_bytes == fused.compulsory_bytes < alone.ema_bytes
    assert alone.to_json()["totals"]["compulsory_bytes"] == fused.compulsory_bytes
    assert fused.rereads == alone.rereads == ()


def test_an_input_with_two_readers_is_once_the_least():
    """pool1 is 56 x 56 x 64 bytes, what comes out 56 x 56 x 256; weights 16,384 twice, 4,096 and 36,864."""
    block = resnet_block()
    found = evaluate(block, Partition.layerwise(block), Accelerator(shared_buffer=2**20))
    assert found.compulsory_bytes == 56 * 56 * (64 + 256) + 2 * 16384 + 4096 + 36864


def test_what_does_not_fit_has_the_same_least():
    plan = Partition.from_groups(chain(), [["a", "b", "c"]])
    found = evaluate(chain(), plan, Accelerator(shared_buffer=64))
    assert not found.fits and found.compulsory_bytes == 8064 and found.rereads == ()


@pytest.mark.parametrize("cores", [1, 4])
@pytest.mark.parametrize("is_shared", [True, False])
def test_a_layer_that_moves_its_inputs_often_is_named_with_its_whole_need(is_shared, cores):
    """Nothing is said of memories that hold it: from the need on it fits, and one byte less streams it again."""

    def asked(activations: int, weights: int):
        buffers = {"shared_buffer": activations + weights}
        if not is_shared:
            buffers = {"global_buffer": activations, "weight_buffer": weights}
        return evaluate(conv(), Partition.layerwise(conv(), "ema"), Accelerator(**buffers, cores=cores))

    small = asked(1024, 1024)
    *others, found = small.rereads
    assert [each.what for each in others] == (["weights"] if cores == 1 else [])
    if cores == 1:
        assert (found.layer, found.what, found.times) == ("only", "inputs", small.ema_input_bytes / 16384)
    else:  # a core has few outputs, which pass in one chunk
        assert (found.layer, found.what, found.times) == ("only", "weights", small.ema_weight_bytes / 36864)
    assert found.times > OFTEN
    assert found.weight_bytes == 36864 // cores
    held = asked(found.activation_bytes, found.weight_bytes)
    assert (held.rereads, held.ema_bytes) == ((), 2 * 16384 + 36864) and held.ema_bytes == held.compulsory_bytes
    short = asked(found.activation_bytes, found.weight_bytes - 1)
    assert short.ema_bytes > held.ema_bytes or short.subgraphs[0].loops is not None or cores > 1
    assert short.subgraphs[0].weight_bytes < found.weight_bytes
