"""Sequences that share the first rows of their caches: what they compute, and what is read once for all."""

import random

import numpy as np
import pytest

import workloads
from simulator import Accelerator, MiB, Partition, evaluate
from simulator.execution import verify
from tests.helpers.language_values import random_values, run_chips
from workloads import FeedForward, LatentAttention, NetworkError, SelfAttention
from workloads.language.decoder import Decoder, DecoderLayer
from workloads.language.step import step


@pytest.mark.parametrize("seed", range(16))
def test_a_shared_prefix_changes_no_value(seed):
    """Beside each sequence with a cache of its own, which starts with the same rows."""
    rng = random.Random(seed)
    heads, length, prefix = rng.choice((2, 4)), rng.choice((1, 2)), rng.randint(1, 5)
    mixer = rng.choice((SelfAttention(heads, 2, 6), LatentAttention(heads, 6, 2, 4, 10, rng.choice((0, 12)))))
    model = Decoder(16, 24, (DecoderLayer(mixer, FeedForward(8)),) * rng.randint(1, 2))
    options = {"phase": "decode", "length": length, "past": [prefix + rng.choice((0, 1, 4)) for _ in range(3)]}
    apart, together = step("m", model, **options), step("m", model, **options, prefix=prefix)
    numbers = np.random.default_rng(seed)
    inputs, weights = random_values(apart, numbers)
    first = {t.name: numbers.normal(size=(t.height, t.channels)) for t in together.inputs if "_prefix" in t.name}
    own = {name: each for name, each in inputs.items() if not name.endswith("_cache")}
    for name in inputs.keys() - own.keys():
        layer, _, part, _ = name.split("_")
        inputs[name][:prefix] = first[f"{layer}_{part}_prefix"]
        own[name] = inputs[name][prefix:]
    one = run_chips([apart], [inputs], [weights], 1)[0]
    shared = run_chips([together], [own | first], [weights], 1)[0]
    assert np.allclose(shared["head"], one["head"], rtol=1e-9, atol=1e-9)


def test_the_prefix_is_read_once():
    """Llama's layer with 3 sequences of 512 and 1024 rows: 256 of each cache, 2048 B in K and V, are shared."""
    options = {"phase": "decode", "past": [512, 512, 1024], "layers": 1}
    apart, together = (workloads.load("llama3_8b", **options, **more) for more in ({}, {"prefix": 256}))
    chip = Accelerator(shared_buffer=2 * MiB)
    found = [evaluate(each, Partition.layerwise(each), chip) for each in (apart, together)]
    least = [each.compulsory_bytes for each in found]
    assert least[0] - least[1] == 2 * 256 * 2048
    assert [each.serving.cache_bytes for each in found] == [2051 * 2048, (2051 - 2 * 256) * 2048]
    assert [each.serving.positions for each in found] == [1025, 1025]
    # maps of 3 x 4096: queries read again, contexts of the prefix stored and read, merged ones stored and read
    assert found[0].ema_bytes - found[1].ema_bytes == 2 * 256 * 2048 - 5 * 3 * 4096
    assert apart.macs == together.macs and verify(together, Partition.layerwise(together), chip).verified


def test_sequences_that_are_the_prefix_have_no_cache_of_their_own():
    network = workloads.load("gpt2", phase="decode", past=[8, 8], prefix=8, layers=1)
    caches = [tensor.name for tensor in network.inputs if tensor.kind == "cache"]
    assert caches == ["l1_k_prefix", "l1_v_prefix"]


def test_layers_with_a_window_share_nothing_that_leaves_it():
    model = Decoder(
        16, 24, tuple(DecoderLayer(SelfAttention(2, 2, 8, window), FeedForward(8)) for window in (6, 0, 99))
    )
    network = step("m", model, "decode", past=[4, 9], prefix=3)
    caches = {tensor.name: tensor.height for tensor in network.inputs if "_k_" in tensor.name}
    assert caches == {
        "l1_s1_k_cache": 4, "l1_s2_k_cache": 5, "l2_s1_k_cache": 1, "l2_s2_k_cache": 6, "l2_k_prefix": 3,
        "l3_s1_k_cache": 1, "l3_s2_k_cache": 6, "l3_k_prefix": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"past": 512, "prefix": 8}, "prefix 8 and one sequence"),
        ({"past": [512, 8], "prefix": 9}, "prefix 9; it must be an integer from 0 to 8"),
    ],
)
def test_what_no_prefix_is(options, said):
    with pytest.raises(NetworkError, match=said):
        workloads.load("gpt2", phase="decode", layers=1, **options)
