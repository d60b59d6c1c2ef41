"""The config.json of a language model, with the keys that Hugging Face's transformers writes, as a Decoder.

A family is a set of defaults for keys that its files may leave out: layers differ by values, not by code. Written from
the published configurations and papers. A file for text and images says what its text model is in "text_config".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workloads.errors import NetworkError, shown
from workloads.language.decoder import Decoder, DecoderLayer
from workloads.network.decoding import FeedForward, LatentAttention, Mixer, SelfAttention, StateSpace
from workloads.network.layers.types import INT8, Bits, Experts, bits_of

MAX_LAYERS, MAX_NUMBER = 2**10, 2**20  #: of a file; our choice, far above any model
_GEMMA = {"tie_word_embeddings": True, "head_dim": 256, "norms_after": True, "sliding_window": 4096}
_GEMMA3 = _GEMMA | {
    "vocab_size": 262_208, "num_attention_heads": 8, "num_key_value_heads": 4, "sliding_window_pattern": 6,
}  # fmt: skip
#: model_type: what its files may leave out. norms_after, gated: ours, no key of theirs
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {},
    "mistral": {"num_key_value_heads": 8},
    "mixtral": {"num_key_value_heads": 8},
    "qwen2": {"use_sliding_window": False},
    "qwen3": {"use_sliding_window": False, "head_dim": 128},
    "qwen3_moe": {"use_sliding_window": False, "head_dim": 128},
    "gemma2": _GEMMA | {"sliding_window_pattern": 2},
    "gemma3": _GEMMA3,
    "gemma3_text": _GEMMA3,
    "phi3": {},
    "deepseek_v2": {"tie_word_embeddings": False},
    "deepseek_v3": {"tie_word_embeddings": False},
    "gpt_oss": {"head_dim": 64, "sliding_window": 128, "sliding_window_pattern": 2},
    "granite": {},
    "granitemoe": {},
    "mamba2": {"num_heads": 128, "head_dim": 64, "state_size": 128, "n_groups": 8, "conv_kernel": 4, "chunk_size": 256},
    "gpt2": {"tie_word_embeddings": True, "gated": False, "n_positions": 1024, "n_inner": None},
}
#: what files of different families call the same
NAMES = {
    "hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
    "intermediate_size": "n_inner",
}  # fmt: skip
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts")
DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}


def is_configuration(content: Mapping[str, Any]) -> bool:
    """Return whether the content of a file is the configuration of a model, and no network."""
    return "nodes" not in content and "format" not in content and ("model_type" in content or "text_config" in content)


def decoder_of(content: Mapping[str, Any]) -> Decoder:
    """Return the model that a configuration describes.

    Raises NetworkError, one line that names the key, the rule and the value, where it is malformed, or where its
    model_type is none of FAMILIES.
    """
    inner = content.get("text_config")
    if isinstance(inner, Mapping) and content.get("model_type") not in (*FAMILIES.keys() - {"gemma3"},):
        content = {**content, "model_type": None, **inner}
    family = content.get("model_type")
    if not isinstance(family, str) or family not in FAMILIES:
        raise NetworkError(f"key 'model_type' is {shown(family)}; known are {', '.join(FAMILIES)}")
    keys = _Keys(family, FAMILIES[family] | {name: each for name, each in content.items() if each is not None})
    count = keys.number("num_hidden_layers", most=MAX_LAYERS)
    return Decoder(
        keys.number("hidden_size"), keys.number("vocab_size"),
        tuple(DecoderLayer(_mixer(keys, i), _feed_forward(keys, i), keys.flag("norms_after")) for i in range(count)),
        keys.flag("tie_word_embeddings"), keys.number("n_positions", 0), *_types(keys),
    )  # fmt: skip


class _Keys:
    """The keys of a configuration, each checked when it is read."""

    def __init__(self, family: str, values: Mapping[str, Any]) -> None:
        self.family, self.values = family, values

    def has(self, name: str) -> bool:
        return self.values.get(name) is not None

    def number(self, name: str, default: int | None = None, least: int = 1, most: int = MAX_NUMBER) -> int:
        found = name if self.has(name) else NAMES.get(name, name)
        value = self.values.get(found)
        if value is None and default is not None:
            return default
        if value is None:
            raise NetworkError(f"has no key {name!r}; a configuration of {self.family!r} needs it")
        if type(value) is not int or not least <= value <= most:
            raise NetworkError(f"key {found!r} is {shown(value)}; it must be an integer from {least} to {most}")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.values.get(name, default)
        if type(value) is not bool:
            raise NetworkError(f"key {name!r} is {shown(value)}; it must be true or false")
        return value

    def entries(self, name: str, kind: type) -> list[Any]:
        value = self.values.get(name, [])
        if type(value) is not list or any(type(each) is not kind for each in value):
            raise NetworkError(f"key {name!r} is {shown(value)}; it must be a list of {kind.__name__}")
        return value


def _mixer(keys: _Keys, layer: int) -> Mixer:
    if keys.has("state_size"):
        names = ("num_heads", "head_dim", "n_groups", "state_size", "conv_kernel", "chunk_size")
        mixer = StateSpace(*(keys.number(name) for name in names))
        if mixer.heads % mixer.groups:
            raise NetworkError(f"key 'n_groups' is {mixer.groups}; it must divide the {mixer.heads} of 'num_heads'")
        return mixer
    heads = keys.number("num_attention_heads")
    if keys.has("kv_lora_rank"):
        return LatentAttention(
            heads, keys.number("qk_nope_head_dim"), keys.number("qk_rope_head_dim"), keys.number("v_head_dim"),
            keys.number("kv_lora_rank"), keys.number("q_lora_rank", 0),
        )  # fmt: skip
    own, width = keys.number("num_key_value_heads", heads), keys.number("hidden_size")
    if heads % own:
        raise NetworkError(f"key 'num_key_value_heads' is {own}; it must divide the {heads} of 'num_attention_heads'")
    if not keys.has("head_dim") and width % heads:
        raise NetworkError(f"key 'num_attention_heads' is {heads}; it must divide the {width} of 'hidden_size'")
    return SelfAttention(heads, own, keys.number("head_dim", width // heads), _window(keys, layer))


def _window(keys: _Keys, layer: int) -> int:
    """Return how far a layer looks back, 0 where it looks at all: as its type says, else by the rule of its family."""
    if not keys.has("sliding_window") or not keys.flag("use_sliding_window", True):
        return 0
    if types := keys.entries("layer_types", str):
        count = keys.number("num_hidden_layers")
        if len(types) != count or not {*types} <= {"sliding_attention", "full_attention"}:
            rule = f"it must have sliding_attention or full_attention for each of {count} layers"
            raise NetworkError(f"key 'layer_types' is {shown(types)}; {rule}")
        slides = types[layer] == "sliding_attention"
    elif period := keys.number("sliding_window_pattern", 0):
        slides = (layer + 1) % period > 0
    else:
        slides = layer >= (keys.number("max_window_layers", 0, 0) if keys.has("use_sliding_window") else 0)
    return keys.number("sliding_window") if slides else 0


def _feed_forward(keys: _Keys, layer: int) -> FeedForward | None:
    if keys.has("state_size"):
        return None
    gated, name = keys.flag("gated", True), next((each for each in EXPERTS if keys.has(each)), None)
    is_dense = (
        layer < keys.number("first_k_dense_replace", 0, 0)
        or layer in keys.entries("mlp_only_layers", int)
        or layer % keys.number("moe_layer_freq", 1)
        or (layer + 1) % keys.number("decoder_sparse_step", 1)
    )
    if name is None or is_dense:
        return FeedForward(keys.number("intermediate_size", None if gated else 4 * keys.number("hidden_size")), gated)
    count = keys.number(name, most=2**16)
    experts = Experts(count, keys.number("num_experts_per_tok", most=count))
    width = keys.number("moe_intermediate_size" if keys.has("moe_intermediate_size") else "intermediate_size")
    return FeedForward(width, gated, experts, width * keys.number("n_shared_experts", 0, 0))


def _types(keys: _Keys) -> tuple[Bits, int | None]:
    """Return the types of the file, INT8 where it has none, and the bits of experts where those are fewer."""
    name = keys.values.get("dtype", keys.values.get("torch_dtype"))
    if name is None:
        return INT8, None
    if not isinstance(name, str) or name not in DTYPES:
        raise NetworkError(f"key 'torch_dtype' is {shown(name)}; known are {', '.join(DTYPES)}")
    bits: dict[str, Any] = dict.fromkeys(("weights", "activations", "cache"), DTYPES[name])
    method = keys.values.get("quantization_config") or {}
    said = method.get("quant_method") if isinstance(method, Mapping) else method
    if said == "fp8":
        bits["weights"] = "fp8"
    elif said in ("gptq", "awq"):
        bits["weights"] = method.get("bits")
    elif said not in (None, "mxfp4"):
        raise NetworkError(f"key 'quantization_config' has {shown(said)}; known are fp8, gptq, awq, mxfp4")
    return bits_of(bits), 4 if said == "mxfp4" else None
