"""The best known decoder-only language models, from what their public configurations say (facts)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from workloads.language.configuration import decoder_of
from workloads.language.decoder import Decoder
from workloads.language.step import step
from workloads.network.network import Network


class Published(NamedTuple):
    """A model as it is published; configuration: the keys of its config.json that say its shape."""

    source: str  #: the repository
    published: int  #: parameters that its page counts
    configuration: dict[str, Any]

    @property
    def decoder(self) -> Decoder:
        """Its layers and widths."""
        return decoder_of(self.configuration)

    @property
    def layers(self) -> int:
        """How many there are."""
        return len(self.decoder.layers)

    @property
    def not_loaded(self) -> int:
        """Parameters of tables that are gathered from."""
        return self.decoder.not_loaded


def _keys(
    family: str, width: int, layers: int, heads: int, key_heads: int, between: int, vocabulary: int
) -> dict[str, Any]:
    return {
        "model_type": family, "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": key_heads, "intermediate_size": between, "vocab_size": vocabulary,
    }  # fmt: skip


DECODERS = {
    "gpt2": Published(
        "openai-community/gpt2", 124_439_808,
        {"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12, "vocab_size": 50257},
    ),
    "llama3_8b": Published(
        "meta-llama/Meta-Llama-3-8B", 8_030_261_248, _keys("llama", 4096, 32, 32, 8, 14336, 128256)
    ),
    "llama3_70b": Published(
        "meta-llama/Meta-Llama-3-70B", 70_553_706_496, _keys("llama", 8192, 80, 64, 8, 28672, 128256)
    ),
    "qwen2_5_7b": Published("Qwen/Qwen2.5-7B", 7_615_616_512, _keys("qwen2", 3584, 28, 28, 4, 18944, 152064)),
    "mistral_7b": Published(
        "mistralai/Mistral-7B-v0.3", 7_248_023_552, _keys("mistral", 4096, 32, 32, 8, 14336, 32768)
    ),
    "mixtral_8x7b": Published(
        "mistralai/Mixtral-8x7B-v0.1", 46_702_792_704,
        _keys("mixtral", 4096, 32, 32, 8, 14336, 32000) | {"num_local_experts": 8, "num_experts_per_tok": 2},
    ),
    "gemma2_9b": Published("google/gemma-2-9b", 9_241_705_984, _keys("gemma2", 3584, 42, 16, 8, 14336, 256000)),
}  # fmt: skip


def _named(name: str) -> Callable[..., Network]:
    """Return the function that makes a step of a built-in model; its options are those of `step`."""
    return partial(step, name, DECODERS[name].decoder)


gpt2 = _named("gpt2")
llama3_8b = _named("llama3_8b")
llama3_70b = _named("llama3_70b")
qwen2_5_7b = _named("qwen2_5_7b")
mistral_7b = _named("mistral_7b")
mixtral_8x7b = _named("mixtral_8x7b")
gemma2_9b = _named("gemma2_9b")
