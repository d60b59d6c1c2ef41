"""Language models from their public configurations: parameters, widths by hand, and files that are wrong."""

import json

import pytest

import workloads
from tests.helpers.configurations import PUBLISHED, TINY
from tests.helpers.parts import first_of
from workloads import Experts, FeedForward, LatentAttention, NetworkError, SelfAttention, StateSpace
from workloads.language.configuration import FAMILIES, decoder_of
from workloads.language.step import step


def _file(tmp_path, content, name="config.json"):
    path = tmp_path / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize("repository", PUBLISHED)
def test_parameters_are_within_three_in_a_thousand_of_the_published(repository):
    """Ours have no bias and no norms; tables that are gathered from belong to no layer and are added."""
    published, content = PUBLISHED[repository]
    model = decoder_of(content)
    layers = step("model", model, length=1).layers
    assert sum(layer.parameters for layer in layers) + model.not_loaded == pytest.approx(published, rel=0.003)


def test_every_family_has_a_published_model():
    found = {content["model_type"] for _, content in PUBLISHED.values()} | {"gemma3_text", "gpt2"}  # gpt2: built in
    assert found == set(FAMILIES)


def test_a_file_is_the_built_in_model(tmp_path):
    content = PUBLISHED["meta-llama/Llama-3.1-8B"][1]
    built_in = workloads.load("llama3_8b", phase="decode", past=4096, layers=2)
    network = workloads.load(_file(tmp_path, content), phase="decode", past=4096, layers=2)
    assert network.name == "llama_decode_past4096_layers2" and network.layers == built_in.layers
    named = workloads.load(_file(tmp_path, content, "mine.json"), layers=1)
    assert named.name == "mine_layers1_masked"
    plain = workloads.load(_file(tmp_path, content), layers=1, masks="none")
    assert plain.layers == workloads.load("llama3_8b", layers=1).layers


def test_layers_of_deepseek_v3():
    """DeepSeek-V3 (2024), Sec. 4.2: three dense layers, then 256 experts of 2048 and a shared one."""
    layers = decoder_of(PUBLISHED["deepseek-ai/DeepSeek-V3"][1]).layers
    assert {layer.mixer for layer in layers} == {LatentAttention(128, 128, 64, 128, 512, 1536)}
    experts = FeedForward(2048, experts=Experts(256, 8), shared=2048)
    assert [layer.feed_forward for layer in layers] == [FeedForward(18432)] * 3 + [experts] * 58


@pytest.mark.parametrize(
    ("repository", "windows"),
    [
        ("google/gemma-2-2b", [4096, 0] * 13),
        ("google/gemma-3-1b-pt", ([512] * 5 + [0]) * 4 + [512] * 2),
        ("openai/gpt-oss-20b", [128, 0] * 12),
        ("Qwen/Qwen2.5-0.5B", [0] * 24),
        ("mistralai/Mistral-7B-v0.3", [0] * 32),
    ],
)
def test_windows_are_those_of_the_family(repository, windows):
    found = [layer.mixer.window for layer in decoder_of(PUBLISHED[repository][1]).layers]
    assert found == windows


def test_windows_by_key():
    content = PUBLISHED["mistralai/Mistral-7B-v0.3"][1]
    assert {layer.mixer.window for layer in decoder_of(content | {"sliding_window": 4096}).layers} == {4096}
    types = ["full_attention", "sliding_attention"] * 16
    found = decoder_of(content | {"sliding_window": 64, "layer_types": types}).layers
    assert [layer.mixer.window for layer in found] == [0, 64] * 16
    qwen = PUBLISHED["Qwen/Qwen2.5-0.5B"][1] | {"use_sliding_window": True, "max_window_layers": 20}
    assert [layer.mixer.window for layer in decoder_of(qwen).layers] == [0] * 20 + [32768] * 4


def test_a_latent_cache_by_hand():
    """DeepSeek-V3, one token after 100: each row has 512 + 64 channels, and every head reads it as it is.

    MACs for each head and row: 512 and 64 in the scores, 512 in the context.
    """
    model = decoder_of(PUBLISHED["deepseek-ai/DeepSeek-V3"][1])
    network = step("model", model, "decode", past=100, layers=1)
    assert {t.name: (t.height, t.channels) for t in network.inputs[1:]} == {
        "l1_latent_cache": (100, 512), "l1_rotated_cache": (100, 64),
    }  # fmt: skip
    products = sum(layer.macs for layer in network.layers if layer.op == "matmul")
    assert products == 128 * 101 * (512 + 64 + 512)
    attention = 7168 * 1536 + 1536 * 128 * (128 + 64) + 7168 * 576 + 512 * 128 * (128 + 128) + 128 * 128 * 7168
    assert network.weight_bytes == attention + 3 * 7168 * 18432 == network.macs - products
    prompt = step("model", model, length=100, layers=1)  # keys and values made of its rows: 128 + 64 and 128 a head
    assert prompt.weight_bytes == network.weight_bytes
    assert sum(layer.macs for layer in prompt.layers if layer.op == "matmul") == 128 * 100 * 100 * (128 + 64 + 128)


def test_a_state_by_hand():
    """Mamba 2, one token: its state of 8192 x 128 numbers is read, grows by x B, is read by C and written."""
    model = decoder_of(PUBLISHED["mistralai/Mamba-Codestral-7B-v0.1"][1])
    assert model.layers[0].mixer == StateSpace(128, 64, 8, 128, 4, 256)
    network = step("model", model, "decode", past=100, layers=1)
    assert sum(layer.macs for layer in network.layers if layer.op == "matmul") == 2 * 8192 * 128
    state = {tensor.name: tensor.elements for tensor in network.inputs}["l1_state_before"]
    passed = network.layers[network.index["l1_passed"]]
    assert state == passed.elements == 8192 * 128 and passed.appended
    prompt = step("model", model, length=512, layers=1)
    # two chunks of 256: C B in 8 groups, times x; a state of each, read by C
    assert sum(layer.macs for layer in prompt.layers if layer.op == "matmul") == 512 * (
        256 * (8 * 128 + 8192) + 2 * 128 * 8192
    )
    with pytest.raises(NetworkError, match="'l1' has 500 new tokens in a state space; it must be at most the chunk"):
        step("model", model, length=500, past=1)


@pytest.mark.parametrize("name", TINY)
@pytest.mark.parametrize("options", [{"phase": "decode", "past": 20}, {"length": 8}], ids=["decode", "prefill"])
def test_a_step_is_executed(name, options):
    """The plan of least traffic moves every weight, cache and new row once, as its execution counts."""
    import cocco
    from simulator import Accelerator, KiB
    from simulator.execution import verify

    network, chip = step(name, decoder_of(TINY[name]), layers=1, **options), Accelerator(shared_buffer=32 * KiB)
    found = cocco.partition(network, chip, metric="ema")
    assert verify(network, found.plan, chip).verified
    assert found.evaluation.ema_bytes == found.evaluation.compulsory_bytes


@pytest.mark.parametrize("name", ["grouped", "latent"])
@pytest.mark.parametrize("pasts", first_of([[5, 0], [5, 20, 0, 9]], 1))
def test_sequences_of_unequal_lengths_share_the_weights(name, pasts):
    """Each reads its own cache; weights cross once, and the plan of least traffic is executed."""
    import cocco
    from simulator import Accelerator, KiB
    from simulator.execution import verify

    model, count = decoder_of(TINY[name]), len(pasts)
    network = step(name, model, "decode", past=tuple(pasts), layers=1)
    alone = [step(name, model, "decode", past=past, layers=1) for past in pasts]
    assert network.name == f"{name}_decode_past{'-'.join(map(str, pasts))}_layers1"
    caches = [tensor.elements for each in alone for tensor in each.inputs if tensor.kind == "cache"]
    assert sorted(tensor.elements for tensor in network.inputs if tensor.kind == "cache") == sorted(caches)
    if name == "latent":  # several tokens use more experts than one; dense layers are the same
        assert network.weight_bytes == alone[0].weight_bytes
        products = sum(layer.macs for layer in network.layers if layer.op == "matmul")
        assert network.macs == count * network.weight_bytes + products
    chip = Accelerator(shared_buffer=4 * KiB)
    found = cocco.partition(network, chip, metric="ema")
    assert verify(network, found.plan, chip).verified
    assert found.evaluation.ema_bytes == found.evaluation.compulsory_bytes
    serving = found.evaluation.serving
    assert (serving.new_tokens, serving.sequences, serving.positions) == (1, count, max(pasts) + 1)
    assert serving.cache_bytes == sum(caches) + count * sum(model.layers[0].mixer.cache_widths.values())


def test_one_sequence_in_a_list_is_that_sequence():
    model = decoder_of(TINY["grouped"])
    assert step("m", model, "decode", past=[20]) == step("m", model, "decode", past=20)
    with pytest.raises(NetworkError, match="several sequences are for the phase decode"):
        step("m", model, past=(1, 2))
    with pytest.raises(NetworkError, match="has past -1"):
        step("m", model, "decode", past=(1, -1))
    with pytest.raises(NetworkError, match="2 sequences in a state space"):
        step("m", decoder_of(TINY["state"]), "decode", past=(1, 2))


def test_types_are_those_of_the_file(tmp_path):
    content = PUBLISHED["openai/gpt-oss-20b"][1]
    assert workloads.load(_file(tmp_path, content), layers=1).has_paper_types
    typed = content | {"torch_dtype": "bfloat16", "quantization_config": {"quant_method": "mxfp4"}}
    network = workloads.load(_file(tmp_path, typed), layers=1)
    assert network.number_types()["weights"] == ("bf16", "int4")
    assert network.number_types()["cache"] == ("bf16",)
    typed["quantization_config"] = {"quant_method": "gptq", "bits": 4}
    assert workloads.load(_file(tmp_path, typed), layers=1).number_types()["weights"] == ("int4",)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model_type": "llama9"}, ["key 'model_type' is 'llama9'", "known are llama, mistral"]),
        ({"model_type": 3}, ["key 'model_type' is 3"]),
        ({"hidden_size": None}, ["has no key 'hidden_size'", "'llama' needs it"]),
        ({"hidden_size": 0}, ["key 'hidden_size' is 0", "an integer from 1 to"]),
        ({"num_hidden_layers": 2.5}, ["key 'num_hidden_layers' is 2.5"]),
        ({"num_key_value_heads": 5}, ["key 'num_key_value_heads' is 5", "divide the 32"]),
        ({"num_attention_heads": 33, "num_key_value_heads": 33}, ["'num_attention_heads' is 33", "divide the 4096"]),
        ({"num_local_experts": 4, "num_experts_per_tok": 5}, ["key 'num_experts_per_tok' is 5", "from 1 to 4"]),
        ({"torch_dtype": "int3"}, ["key 'torch_dtype' is 'int3'", "bfloat16"]),
        ({"torch_dtype": "bfloat16", "quantization_config": {"quant_method": "x"}}, ["has 'x'", "known are fp8"]),
        ({"tie_word_embeddings": "no"}, ["key 'tie_word_embeddings' is 'no'", "true or false"]),
        ({"sliding_window": 8, "layer_types": ["full_attention"]}, ["key 'layer_types'", "each of 32 layers"]),
        ({"mlp_only_layers": "x", "num_experts": 4}, ["key 'mlp_only_layers' is 'x'", "a list of int"]),
    ],
)
def test_a_malformed_configuration_is_one_line(tmp_path, change, words):
    content = PUBLISHED["meta-llama/Llama-3.1-8B"][1] | change
    path = _file(tmp_path, content)
    with pytest.raises(NetworkError) as error:
        workloads.load(path)
    message = str(error.value)
    assert "\n" not in message and message.startswith(f"{path}: ") and message.count(str(path)) == 1
    assert [word for word in words if word not in message] == []


def test_options_are_those_of_a_language_model(tmp_path):
    path = _file(tmp_path, PUBLISHED["meta-llama/Llama-3.1-8B"][1])
    with pytest.raises(NetworkError, match="takes no option 'batch'; a language model has phase, length, past"):
        workloads.load(path, batch=2)
    with pytest.raises(NetworkError, match="has no option 'experts'"):
        workloads.load(path, experts=2)


def test_a_layer_of_parts_by_hand():
    """Grouped queries over a window of 16, and a shared expert beside 2 of 8: 15 rows of the cache are read."""
    b = workloads.Builder("step")
    part = FeedForward(32, experts=Experts(8, 2), shared=48)
    b.decoder_layer("l1", b.input("x", 1, 1, 64), SelfAttention(4, 2, 16, window=16), part, past=100, norms_after=True)
    network = b.build()
    assert [tensor.height for tensor in network.inputs] == [1, 15, 15]
    assert network.weight_bytes == 64 * (2 * 64 + 2 * 32) + 2 * 3 * 64 * 32 + 64 * 8 + 3 * 64 * 48
    assert network.layers[-1].inputs == ("l1_norm2b", "l1_add1")


def test_masks_of_a_model(tmp_path):
    """Gemma 2 at 64 tokens, a window of 16 in every other layer: 16 x 17 / 2 + 48 x 16 pairs, and 64 x 65 / 2."""
    content = PUBLISHED["google/gemma-2-2b"][1] | {"sliding_window": 16}
    network = workloads.load(_file(tmp_path, content), length=64, layers=2)
    assert [network.layers[network.index[f"l{i}_scores"]].seen_pairs for i in (1, 2)] == [904, 2080]
    step = workloads.load(_file(tmp_path, content), phase="decode", past=64, layers=2)
    assert step == workloads.load(_file(tmp_path, content), phase="decode", past=64, layers=2, masks="none")
    several = workloads.load(_file(tmp_path, content), phase="decode", length=3, past=64, layers=2)
    assert several.layers[several.index["l1_scores"]].seen_pairs == 3 * 16
    assert several.layers[several.index["l2_scores"]].seen_pairs == 65 + 66 + 67


def test_latent_attention_has_its_mask(tmp_path):
    content = PUBLISHED["deepseek-ai/DeepSeek-V3"][1]
    network = workloads.load(_file(tmp_path, content), length=32, layers=1)
    masked = [layer for layer in network.layers if layer.mask]
    assert [layer.name for layer in masked] == ["l1_scores1", "l1_scores2", "l1_softmax", "l1_context"]
    assert {layer.seen_pairs for layer in masked} == {32 * 33 // 2}


def test_other_masks_are_malformed(tmp_path):
    with pytest.raises(NetworkError, match="has masks 'causal'; it must be none or model"):
        workloads.load("gpt2", masks="causal")
