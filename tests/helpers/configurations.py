"""Public configurations of language models: the keys that say their shape, and their parameters as published."""

from __future__ import annotations

from typing import Any


def _keys(
    family: str, width: int, layers: int, heads: int, key_heads: int, between: int, vocabulary: int, **more: Any
) -> dict[str, Any]:
    return {
        "model_type": family, "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": key_heads, "intermediate_size": between, "vocab_size": vocabulary, **more,
    }  # fmt: skip


def _experts(count: int, active: int, **more: Any) -> dict[str, Any]:
    return {"num_local_experts": count, "num_experts_per_tok": active, **more}


def _deepseek(routed: int, shared: int, active: int, width: int, dense: int, query_rank: int | None) -> dict[str, Any]:
    return {
        "kv_lora_rank": 512, "q_lora_rank": query_rank, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
        "v_head_dim": 128, "n_routed_experts": routed, "n_shared_experts": shared, "num_experts_per_tok": active,
        "moe_intermediate_size": width, "first_k_dense_replace": dense, "moe_layer_freq": 1,
    }  # fmt: skip


#: repository: parameters that its page counts (of DeepSeek-V3 its main model alone, as the technical report does; of
#: Gemma 3 the text model), and the keys of its config.json
PUBLISHED: dict[str, tuple[int, dict[str, Any]]] = {
    "meta-llama/Llama-3.2-1B": (
        1_235_814_400, _keys("llama", 2048, 16, 32, 8, 8192, 128256, head_dim=64, tie_word_embeddings=True)
    ),
    "meta-llama/Llama-3.1-8B": (8_030_261_248, _keys("llama", 4096, 32, 32, 8, 14336, 128256)),
    "meta-llama/Llama-3.1-405B": (405_853_388_800, _keys("llama", 16384, 126, 128, 8, 53248, 128256)),
    "Qwen/Qwen2.5-0.5B": (
        494_032_768,
        _keys("qwen2", 896, 24, 14, 2, 4864, 151936, tie_word_embeddings=True, use_sliding_window=False,
              sliding_window=32768, max_window_layers=24),
    ),
    "Qwen/Qwen2.5-72B": (72_706_203_648, _keys("qwen2", 8192, 80, 64, 8, 29568, 152064)),
    "Qwen/Qwen3-8B": (8_190_735_360, _keys("qwen3", 4096, 36, 32, 8, 12288, 151936, head_dim=128)),
    "Qwen/Qwen3-30B-A3B": (
        30_532_122_624,
        _keys("qwen3_moe", 2048, 48, 32, 4, 6144, 151936, head_dim=128, num_experts=128, num_experts_per_tok=8,
              moe_intermediate_size=768, decoder_sparse_step=1, mlp_only_layers=[]),
    ),
    "mistralai/Mistral-7B-v0.3": (7_248_023_552, _keys("mistral", 4096, 32, 32, 8, 14336, 32768, sliding_window=None)),
    "mistralai/Mistral-Nemo-Base-2407": (
        12_247_782_400, _keys("mistral", 5120, 40, 32, 8, 14336, 131072, head_dim=128)
    ),
    "mistralai/Mixtral-8x7B-v0.1": (
        46_702_792_704, _keys("mixtral", 4096, 32, 32, 8, 14336, 32000, **_experts(8, 2))
    ),
    "mistralai/Mixtral-8x22B-v0.1": (
        140_620_634_112, _keys("mixtral", 6144, 56, 48, 8, 16384, 32000, **_experts(8, 2))
    ),
    "google/gemma-2-2b": (2_614_341_888, _keys("gemma2", 2304, 26, 8, 4, 9216, 256000, sliding_window=4096)),
    "google/gemma-2-27b": (27_227_128_320, _keys("gemma2", 4608, 46, 32, 16, 36864, 256000, head_dim=128)),
    "google/gemma-3-1b-pt": (
        999_885_952, _keys("gemma3_text", 1152, 26, 4, 1, 6912, 262144, head_dim=256, sliding_window=512)
    ),
    "google/gemma-3-27b-pt": (
        27_009_002_240,
        {"model_type": "gemma3", "text_config": _keys("gemma3_text", 5376, 62, 32, 16, 21504, 262208, head_dim=128)},
    ),
    "microsoft/phi-4": (14_659_507_200, _keys("phi3", 5120, 40, 40, 10, 17920, 100352, sliding_window=None)),
    "microsoft/Phi-4-mini-instruct": (
        3_836_021_760, _keys("phi3", 3072, 32, 24, 8, 8192, 200064, tie_word_embeddings=True, sliding_window=262144)
    ),
    "deepseek-ai/DeepSeek-V2-Lite": (
        15_706_484_224, _keys("deepseek_v2", 2048, 27, 16, 16, 10944, 102400, **_deepseek(64, 2, 6, 1408, 1, None))
    ),
    "deepseek-ai/DeepSeek-V2": (
        235_741_434_880, _keys("deepseek_v2", 5120, 60, 128, 128, 12288, 102400, **_deepseek(160, 2, 6, 1536, 1, 1536))
    ),
    "deepseek-ai/DeepSeek-V3": (
        671_026_419_200, _keys("deepseek_v3", 7168, 61, 128, 128, 18432, 129280, **_deepseek(256, 1, 8, 2048, 3, 1536))
    ),
    "openai/gpt-oss-20b": (
        20_914_757_184, _keys("gpt_oss", 2880, 24, 64, 8, 2880, 201088, head_dim=64, **_experts(32, 4))
    ),
    "openai/gpt-oss-120b": (
        116_829_156_672, _keys("gpt_oss", 2880, 36, 64, 8, 2880, 201088, head_dim=64, **_experts(128, 4))
    ),
    "ibm-granite/granite-3.1-8b-base": (
        8_170_848_256, _keys("granite", 4096, 40, 32, 8, 12800, 49155, tie_word_embeddings=True)
    ),
    "ibm-granite/granite-3.1-3b-a800m-base": (
        3_299_203_072,
        _keys("granitemoe", 1536, 32, 24, 8, 512, 49155, tie_word_embeddings=True, **_experts(40, 8)),
    ),
    "mistralai/Mamba-Codestral-7B-v0.1": (
        7_285_403_648,
        {"model_type": "mamba2", "hidden_size": 4096, "num_hidden_layers": 64, "vocab_size": 32768, "num_heads": 128,
         "head_dim": 64, "state_size": 128, "n_groups": 8, "conv_kernel": 4, "chunk_size": 256, "expand": 2},
    ),
}  # fmt: skip

#: models small enough to be executed in a second
TINY: dict[str, dict[str, Any]] = {
    "grouped": _keys("qwen3_moe", 64, 2, 4, 2, 96, 128, head_dim=16, num_experts=8, num_experts_per_tok=2,
                     moe_intermediate_size=32),
    "latent": _keys("deepseek_v3", 64, 2, 4, 4, 96, 128, kv_lora_rank=32, q_lora_rank=24, qk_nope_head_dim=16,
                    qk_rope_head_dim=8, v_head_dim=16, n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=2,
                    moe_intermediate_size=32, first_k_dense_replace=1),
    "state": {"model_type": "mamba2", "hidden_size": 64, "num_hidden_layers": 2, "vocab_size": 128, "num_heads": 8,
              "head_dim": 16, "n_groups": 2, "state_size": 16, "chunk_size": 8},
}  # fmt: skip
