"""Shares of language models: their partial sums add up to what one chip computes, and counts by hand."""

import random
from dataclasses import replace

import numpy as np
import pytest

import workloads
from simulator import Accelerator, MiB, Partition, Technology, evaluate
from simulator.timing.link import link_bytes
from tests.helpers.configurations import PUBLISHED, TINY
from tests.helpers.language_values import dealt, random_values, run_chips
from workloads import Bits, Experts, FeedForward, LatentAttention, NetworkError, SelfAttention, StateSpace
from workloads.language.configuration import decoder_of
from workloads.language.decoder import Decoder, DecoderLayer
from workloads.language.step import step
from workloads.network.network import Network
from workloads.zoo.language import DECODERS


def _random_decoder(rng: random.Random) -> Decoder:
    """Return a small decoder that 2 and 4 chips can share."""
    heads = rng.choice((4, 8))
    mixer = rng.choice((
        SelfAttention(heads, rng.choice([each for each in (1, 2, 4, 8) if each <= heads]), 6, rng.choice((0, 5))),
        LatentAttention(heads, 6, 2, 4, 10, rng.choice((0, 12))),
        StateSpace(heads, 6, rng.choice((1, 2, 4)), 5, rng.choice((1, 4)), 3),
    ))  # fmt: skip
    part = FeedForward(rng.choice((8, 12)), rng.random() < 0.7)
    if not isinstance(mixer, StateSpace) and rng.random() < 0.5:
        part = FeedForward(8, True, Experts(6, rng.choice((1, 2))), rng.choice((0, 12)))
    feed_forward = None if isinstance(mixer, StateSpace) and rng.random() < 0.5 else part
    return Decoder(16, 24, (DecoderLayer(mixer, feed_forward, rng.random() < 0.5),) * rng.randint(1, 2))


def _run(whole: Network, share: Network, chips: int, norm_groups: int, seed: int = 0):
    """Return the maps of one chip with all of a model, and of each of several with its share of the same numbers."""
    inputs, weights = random_values(whole, np.random.default_rng(seed))
    shapes = [
        {name: each.shape for name, each in made.items()} for made in random_values(share, np.random.default_rng())
    ]
    own = [[dealt(of, shape, c, chips) for c in range(chips)] for of, shape in zip((inputs, weights), shapes)]
    return run_chips([whole], [inputs], [weights], norm_groups)[0], run_chips([share] * chips, *own, norm_groups)


@pytest.mark.parametrize("seed", range(40))
def test_partial_sums_add_up_to_what_one_chip_computes(seed):
    rng = random.Random(seed)
    model, chips = _random_decoder(rng), rng.choice((2, 4))
    mixer = model.layers[0].mixer
    is_state = isinstance(mixer, StateSpace)
    options = {"phase": rng.choice(("prefill", "decode")), "past": rng.choice((0, 7)), "length": rng.choice((1, 3))}
    if options["phase"] == "decode" and not is_state and rng.random() < 0.4:
        options["past"] = [7, 2]
    elif is_state and not options["past"] and rng.random() < 0.5:
        options["length"] = 6  # two chunks
    norm_groups = max(mixer.groups, chips) if is_state else chips
    one, several = _run(step("m", model, **options), step("m", model, **options, chips=chips), chips, norm_groups, seed)
    head = np.concatenate([values["head"] for values in several], 1)
    assert np.allclose(head, one["head"], rtol=1e-9, atol=1e-9)
    for values in several:
        assert np.allclose(values["norm"], one["norm"], rtol=1e-9, atol=1e-9)  # on every chip


@pytest.mark.parametrize("chips", [2, 3])
def test_stages_of_a_pipeline_make_what_the_whole_model_makes(chips):
    """Layers keep their names, so that weights and caches are those of the whole: 5 layers in 2 + 3, and 1 + 2 + 2."""
    model = decoder_of(TINY["latent"] | {"num_hidden_layers": 5})
    options = {"phase": "decode", "past": 4, "length": 2}
    whole = step("m", model, **options)
    inputs, weights = random_values(whole, np.random.default_rng(0))
    made, rows = run_chips([whole], [inputs], [weights], 1)[0], inputs["tokens"]
    stages = [step("m", model, **options, chips=chips, stage=stage) for stage in range(1, chips + 1)]
    for stage in stages:
        values = run_chips([stage], [inputs | {"tokens": rows}], [weights], 1)[0]
        rows = values[stage.layers[-1].name]
    assert np.allclose(rows, made["head"], rtol=1e-9, atol=1e-9)
    assert sum(stage.weight_bytes for stage in stages) == whole.weight_bytes
    assert [link_bytes(stage) for stage in stages] == [2 * 64] * (chips - 1) + [0]


def test_what_is_not_added_up_is_seen():
    model = decoder_of(TINY["grouped"])
    whole, share = step("m", model, length=2), step("m", model, length=2, chips=2)
    lying = replace(share, notes=tuple(note for note in share.notes if note.node != "l1_add2"))
    one, several = _run(whole, lying, 2, 2)
    assert not np.allclose(several[0]["norm"], one["norm"])


def _decoder(name: str) -> Decoder:
    return DECODERS[name].decoder if name in DECODERS else decoder_of(PUBLISHED[name][1])


#: model, chips, past: of one layer in decode weights and MACs of a chip, rows of its caches, bytes that leave it
COUNTS = {
    # 4096 (1024 + 2 256) + 1024 4096 + 3 4096 3584; 2 8 heads 128 4097 more MACs; 2 4096 256; 2 3/4 4096 (4 + 1)
    ("llama3_8b", 4, 4096): (54_525_952, 62_916_608, 2_097_152, 30_720),
    # 8 heads of keys on 16 chips: 4096 (256 + 2 128) + 256 4096 + 3 4096 896; 2 2 heads 128 4097; 2 4096 128; 15/16
    ("llama3_8b", 16, 4096): (14_155_776, 16_253_440, 1_048_576, 38_400),
    # 8192 (1024 + 2 128) + 1024 8192 + 3 8192 3584; 2 8 heads 128 1025; 2 1024 128; 2 7/8 8192 5
    ("llama3_70b", 8, 1024): (106_954_752, 109_053_952, 262_144, 71_680),
    # 10,485,760 of attention, router 4096 8, two experts 2 3 4096 3584
    ("mixtral_8x7b", 4, 1024): (98_598_912, 100_698_112, 524_288, 30_720),
    # 7 of 28 heads: 3584 (896 + 2 128) + 896 3584 + 3 3584 4736; 2 7 heads 128 1025
    ("qwen2_5_7b", 4, 1024): (58_261_504, 60_098_304, 262_144, 26_880),
    # 3584 (512 + 2 256) + 512 3584 + 3 3584 1792; 2 2 heads 256 1025; 2 1024 256; 2 7/8 3584 5
    ("gemma2_9b", 8, 1024): (24_772_608, 25_822_208, 524_288, 31_360),
    # latent rows on every chip: 7168 (1536 + 512 + 64), of 16 heads 1536 (128 + 64), 2 128 512, 128 7168, and
    # 3 7168 2304; 16 heads (512 + 64 + 512) 1025 more MACs; 1024 (512 + 64); 2 7/8 7168 5
    ("deepseek-ai/DeepSeek-V3", 8, 1024): (86_179_840, 104_023_040, 589_824, 62_720),
    # 32 heads of 64 in 2 groups: 4096 (2 2048 + 32 + 2 256) + 4 2560 + 2048 4096; 2 2048 128 of the state; state
    # 128 2048 and 3 positions of 2560; one sum of 3/4 4096 5
    ("mistralai/Mamba-Codestral-7B-v0.1", 4, 1024): (27_404_288, 27_928_576, 269_824, 15_360),
}  # fmt: skip


@pytest.mark.parametrize("case", COUNTS)
def test_counts_of_a_share_by_hand(case):
    name, chips, past = case
    share = step("m", _decoder(name), "decode", past=past, layers=1, chips=chips)
    cache = sum(tensor.size_bytes for tensor in share.inputs if tensor.kind == "cache")
    assert (share.weight_bytes, share.macs, cache, link_bytes(share)) == COUNTS[case]


def test_heads_and_prompts_by_hand():
    whole = workloads.load("llama3_8b", phase="decode", past=4096, chips=4)
    assert whole.layers[-1].channels == 32_064 and whole.weight_bytes == 32 * 54_525_952 + 4096 * 32_064
    assert link_bytes(whole) == 32 * 30_720 + 3 * 32_064
    prompt = workloads.load("llama3_8b", length=2048, chips=4)
    assert link_bytes(prompt) == 32 * 2 * 2048 * 4096 * 5 * 3 // 4 + 3 * 32_064  # the head reads one position
    assert workloads.load("gpt2", chips=4).layers[-1].channels == 12_565  # 50,257 columns, rounded up
    same = workloads.load("llama3_8b", phase="decode", layers=1, chips=4).with_bits(Bits(8, 16, 16, 16))
    assert link_bytes(same) == 2 * (2 * 3 * 4096 * 2 // 4)  # two maps of 8 KB: 2 (N - 1) / N of each


@pytest.mark.parametrize(
    ("name", "chips", "said"),
    [
        ("qwen2_5_7b", 8, "network 'qwen2_5_7b' has 28 heads, which 8 chips do not divide"),
        ("gpt2", 8, "network 'gpt2' has 12 heads, which 8 chips do not divide"),
        ("llama3_8b", 0, "network 'llama3_8b' has chips 0; it must be an integer from 1 to 1024"),
        ("vgg16", 2, "network 'vgg16' has no option 'chips'"),
    ],
)
def test_what_cannot_be_dealt_is_one_line(name, chips, said):
    with pytest.raises(NetworkError, match=said):
        workloads.load(name, chips=chips)


def test_columns_and_heads_of_keys_that_cannot_be_dealt():
    for mixer, width, said in (
        (SelfAttention(12, 6, 8), 8, "6 heads of keys, which 4 chips"), (SelfAttention(4, 4, 8), 6, "6 columns"),
    ):  # fmt: skip
        with pytest.raises(NetworkError, match=said):
            step("m", Decoder(8, 8, (DecoderLayer(mixer, FeedForward(width)),)), chips=4)


def test_one_chip_is_the_whole_model():
    one, whole = (workloads.load("llama3_8b", layers=1, **more) for more in ({"chips": 1}, {}))
    assert one.layers == whole.layers and one.notes == whole.notes


def test_time_and_energy_of_the_link():
    """4 chips: 3 samples of 30,720 bytes leave each, at 10 GB/s and 44 pJ a byte."""
    share = workloads.load("llama3_8b", phase="decode", past=4096, layers=1, chips=4)
    chip = Accelerator(shared_buffer=2 * MiB, batch=3, technology=Technology(link_gb_per_s=10.0))
    found = evaluate(share, Partition.layerwise(share), chip)
    serving = found.serving
    assert (serving.chips, serving.link_bytes) == (4, 92_160)
    assert serving.link_seconds == pytest.approx(9.216e-6)
    assert serving.seconds == pytest.approx(found.latency_executed_cycles * 1e-9 + 9.216e-6)
    assert serving.joules == pytest.approx(4 * (found.energy_pj + 92_160 * 44.0) * 1e-12)
    assert serving.weight_bytes == 218_103_808 and serving.cache_bytes == 3 * 2 * 4097 * 1024
    assert serving.dram_bytes == 4 * found.ema_bytes
    assert serving.whole.link_bytes == 32 * 92_160 and serving.whole.chips == 4
    assert serving.bound == "bandwidth" and replace(serving, link_seconds=1.0).bound == "link"


def test_a_link_has_a_bandwidth():
    with pytest.raises(ValueError, match="technology.link_gb_per_s must be above 0, got 0"):
        Technology(link_gb_per_s=0)
