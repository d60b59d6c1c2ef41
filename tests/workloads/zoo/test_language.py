"""Language models against the parameters that their pages publish, and their counts by hand."""

import pytest

import workloads
from workloads import Bits, Experts, NetworkError
from workloads.zoo.encoders import ENCODERS
from workloads.zoo.language import DECODERS

#: parameters as the pages of the models give them, in millions: Hugging Face (safetensors), BERT and Whisper's papers
PUBLISHED = {
    "gpt2": 124.4, "llama3_8b": 8030, "llama3_70b": 70_600, "qwen2_5_7b": 7620, "mistral_7b": 7250,
    "mixtral_8x7b": 46_700, "gemma2_9b": 9240, "bert_base": 110, "whisper_tiny": 8.2,
}  # fmt: skip


def test_the_last_names_are_the_language_models():
    assert workloads.LANGUAGE_MODELS == tuple(DECODERS | ENCODERS) == tuple(PUBLISHED)
    assert workloads.names()[-9:] == workloads.LANGUAGE_MODELS


@pytest.mark.parametrize("name", PUBLISHED)
def test_parameters_are_within_1_percent_of_the_published(name):
    """Ours have no bias and no norms; tables that are gathered from belong to no layer and are added."""
    model = (DECODERS | ENCODERS)[name]
    network = workloads.load(name)
    found = sum(layer.parameters for layer in network.layers) + model.not_loaded
    assert found == pytest.approx(PUBLISHED[name] * 1e6, rel=0.01)
    assert found == pytest.approx(model.published, rel=0.003)
    assert network.name == name


def test_a_decode_step_of_llama_by_hand():
    """One layer: 4096 wide, 32 heads of 128, 8 of keys and values, 14336 in between; 4096 positions in the cache."""
    network = workloads.load("llama3_8b", phase="decode", past=4096, layers=1)
    width, keys, ffn, rows = 4096, 8 * 128, 14336, 4097
    weights = 2 * width * width + 2 * width * keys + 3 * width * ffn
    assert network.weight_bytes == weights == 218_103_808
    assert network.macs == weights + 2 * 32 * 128 * rows
    tokens, k_cache, v_cache = network.inputs
    assert (tokens.kind, k_cache.kind, v_cache.kind) == ("input", "cache", "cache")
    assert k_cache.size_bytes == v_cache.size_bytes == 4096 * keys
    names = [network.layers[i].name for i in network.outputs]
    assert names == ["l1_k", "l1_v", "l1_add2"]  # the new rows go to DRAM, whoever reads them
    scores = network.layers[network.index["l1_scores"]]
    assert scores.inputs == ("l1_q", "l1_k_cache", "l1_k") and scores.whole == (1, 2)
    assert (scores.channels, scores.groups, scores.second_heads) == (32 * rows, 32, 8)


def test_prefill_writes_the_rows_of_the_cache_and_its_head_reads_one_position():
    network = workloads.load("gpt2", length=1024)
    assert [network.layers[i].name for i in network.outputs] == [f"l{i}_{kv}" for i in range(1, 13) for kv in "kv"] + [
        "head"
    ]
    head = network.layers[network.index["head"]]
    assert (head.height, head.macs) == (1, 768 * 50257)
    assert network.macs == 12 * (12 * 768**2 * 1024 + 2 * 1024**2 * 768) + head.macs


def test_speculation_is_the_same_with_more_rows():
    network = workloads.load("mistral_7b", phase="decode", length=4, past=100, layers=2)
    assert network.name == "mistral_7b_decode_length4_past100_layers2"
    scores = network.layers[network.index["l2_scores"]]
    assert (scores.height, scores.channels) == (4, 32 * 104)
    chunk = workloads.load("mistral_7b", length=4, past=100, layers=2)  # of a prompt
    assert chunk.layers == network.layers


def test_local_layers_of_gemma_look_back_a_window():
    network = workloads.load("gemma2_9b", phase="decode", past=8192, layers=2)
    assert [tensor.height for tensor in network.inputs] == [1, 4095, 4095, 8192, 8192]


def test_experts_load_those_in_use_and_compute_those_that_take_part():
    matrix = 4096 * 14336
    for length, used in ((1, 2), (2, 4), (4, 6), (512, 8)):  # 8 (1 - 0.75^t): 2, 3.5, 5.5, 8
        network = workloads.load("mixtral_8x7b", phase="decode", length=length, past=1, layers=1)
        up = network.layers[network.index["l1_up"]]
        down = network.layers[network.index["l1_down"]]
        assert up.experts == down.experts == Experts(8, 2) and up.experts.in_use(length) == used
        assert up.weight_bytes == down.weight_bytes == used * matrix
        assert up.macs == down.macs == length * 2 * matrix
        assert up.parameters == 8 * matrix
    given = workloads.load("mixtral_8x7b", length=4, layers=1, experts=3)
    assert given.layers[given.index["l1_up"]].experts.used == 3


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("gpt2", {"past": -1}, ["'gpt2'", "past -1", "from 0"]),
        ("gpt2", {"layers": 13}, ["layers 13", "from 1 to 12"]),
        ("gpt2", {"length": 0}, ["length 0", "from 1"]),
        ("gpt2", {"phase": "train"}, ["phase 'train'", "prefill or decode"]),
        ("bert_base", {"past": 5}, ["'bert_base'", "'past'"]),  # a past for a model without cache
        ("whisper_tiny", {"length": 1501}, ["length 1501", "1500"]),
        ("mixtral_8x7b", {"experts": 9}, ["experts 9", "from 2 to 8"]),
        ("mixtral_8x7b", {"batch": 4}, ["'mixtral_8x7b'", "'batch'"]),
        ("vgg16", {"phase": "decode"}, ["'vgg16'", "'phase'"]),
    ],
)
def test_a_bad_option_is_one_line(name, options, words):
    with pytest.raises(NetworkError) as error:
        workloads.load(name, **options)
    assert "\n" not in str(error.value) and all(word in str(error.value) for word in words)


def test_bits_change_bytes_and_nothing_else():
    network = workloads.load("llama3_8b", phase="decode", past=64, layers=1)
    small = network.with_bits(Bits(weights=4, activations=16, cache=8))
    assert small.weight_bytes * 2 == network.weight_bytes and small.macs == network.macs
    sizes = {tensor.name: tensor.size_bytes for tensor in small.tensors}
    assert sizes["tokens"] == 2 * 4096 and sizes["l1_q"] == 2 * 4096
    assert sizes["l1_k"] == 1024 and sizes["l1_k_cache"] == 64 * 1024  # of the cache
    assert not small.has_paper_types and network.has_paper_types
