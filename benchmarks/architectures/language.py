"""transformers: text, speech and vision, with published kinds of layers and fewer or narrower ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.architectures.cases import Case

SMALL = {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512}
DECODER = {**SMALL, "vocab_size": 1000, "max_position_embeddings": 256}
GROUPED = {**DECODER, "num_key_value_heads": 2}
LENGTH = 32

#: class -> what its configuration has beside its defaults
TEXT: dict[str, dict[str, Any]] = {
    "BertModel": {**SMALL, "vocab_size": 1000}, "RobertaModel": {**SMALL, "vocab_size": 1000},
    "AlbertModel": {**SMALL, "num_hidden_layers": 4, "embedding_size": 64, "vocab_size": 1000},
    "DistilBertModel": {"dim": 256, "n_layers": 2, "n_heads": 4, "hidden_dim": 512, "vocab_size": 1000},
    "ElectraModel": {**SMALL, "embedding_size": 64, "vocab_size": 1000},
    "MobileBertModel": {"num_hidden_layers": 2, "vocab_size": 1000}, "DebertaV2Model": {**SMALL, "vocab_size": 1000},
    "MPNetModel": {**SMALL, "vocab_size": 1000}, "ModernBertModel": {**SMALL, "vocab_size": 1000, "pad_token_id": 0},
    "SqueezeBertModel": {**SMALL, "embedding_size": 256, "vocab_size": 1000},
    "FNetModel": {**SMALL, "vocab_size": 1000},
    "GPT2LMHeadModel": {"n_embd": 256, "n_layer": 2, "n_head": 4, "vocab_size": 1000, "bos_token_id": 0,
                        "eos_token_id": 0},
    "GPTNeoXForCausalLM": DECODER, "OPTForCausalLM": {
        "hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "ffn_dim": 512, "vocab_size": 1000,
        "word_embed_proj_dim": 256},
    "BloomForCausalLM": {"hidden_size": 256, "n_layer": 2, "n_head": 4, "vocab_size": 1000},
    "FalconForCausalLM": {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 1000},
    "LlamaForCausalLM": GROUPED, "MistralForCausalLM": GROUPED, "Qwen2ForCausalLM": GROUPED,
    "Qwen3ForCausalLM": {**GROUPED, "head_dim": 64}, "GemmaForCausalLM": {**GROUPED, "head_dim": 64},
    "Gemma2ForCausalLM": {**GROUPED, "head_dim": 64}, "Phi3ForCausalLM": {**GROUPED, "pad_token_id": 0},
    "StableLmForCausalLM": GROUPED, "CohereForCausalLM": GROUPED, "GPTJForCausalLM": {
        "n_embd": 256, "n_layer": 2, "n_head": 4, "rotary_dim": 32, "vocab_size": 1000, "n_positions": 256},
    "MixtralForCausalLM": {**GROUPED, "num_local_experts": 4},
    "Qwen2MoeForCausalLM": {
        **GROUPED, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 128,
        "shared_expert_intermediate_size": 256},
    "DeepseekV2ForCausalLM": {
        **DECODER, "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 128, "kv_lora_rank": 64,
        "q_lora_rank": 96, "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32, "n_group": 1,
        "topk_group": 1, "head_dim": 16},
    "OlmoForCausalLM": GROUPED,
    "MambaForCausalLM": {"hidden_size": 128, "num_hidden_layers": 1, "vocab_size": 1000, "state_size": 8},
}  # fmt: skip
#: encoders of images: class -> configuration, extent
IMAGES: dict[str, tuple[dict[str, Any], int]] = {
    "ViTModel": (SMALL, 224), "DeiTModel": (SMALL, 224), "BeitModel": (SMALL, 224), "Dinov2Model": (SMALL, 224),
    "SegformerForSemanticSegmentation": ({}, 224), "ConvNextModel": ({}, 224), "SwinModel": ({}, 224),
    "MobileViTModel": ({}, 256), "ResNetModel": ({}, 224), "PoolFormerModel": ({}, 224),
    "CLIPVisionModel": (SMALL, 224),
    "SiglipVisionModel": (SMALL, 224),
}  # fmt: skip


def cases() -> list[Case]:
    """Return the cases; raises ImportError without transformers."""
    import transformers  # noqa: F401

    found = [Case("transformers", f"transformers.{name}", lambda name=name: _text(name)) for name in TEXT]
    found += [Case("transformers", f"transformers.{name}", lambda name=name: _image(name)) for name in IMAGES]
    others: tuple[tuple[str, Callable[[], tuple[Any, Any]]], ...] = (
        ("T5Model", _t5), ("BartModel", _bart), ("WhisperModel", _whisper), ("Wav2Vec2Model", _wav2vec2),
        ("DetrModel", _detr), ("SamVisionModel", _sam), ("PerceiverModel", _perceiver), ("CLIPTextModel", _clip_text),
        ("LlamaForCausalLM decode", _decode),
    )  # fmt: skip
    return found + [Case("transformers", f"transformers.{name}", make) for name, make in others]


def _made(name: str, **options: Any) -> Any:
    import transformers

    kind = getattr(transformers, name)
    return kind(kind.config_class(**options)).eval()


def _text(name: str) -> tuple[Any, Any]:
    import torch

    module = _made(name, **TEXT[name])
    arguments = {"input_ids": torch.zeros(1, LENGTH, dtype=torch.int64)}
    return module, arguments | ({"use_cache": False} if "Causal" in name or "LMHead" in name else {})


def _image(name: str) -> tuple[Any, Any]:
    import torch

    options, extent = IMAGES[name]
    return _made(name, **options), (torch.zeros(1, 3, extent, extent),)


def _t5() -> tuple[Any, Any]:
    import torch

    module = _made("T5Model", d_model=128, d_kv=32, d_ff=256, num_layers=2, num_heads=4, vocab_size=1000)
    words = torch.zeros(1, LENGTH, dtype=torch.int64)
    return module, {"input_ids": words, "decoder_input_ids": words[:, :8], "use_cache": False}


def _bart() -> tuple[Any, Any]:
    import torch

    options = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in
               (("layers", 2), ("attention_heads", 4), ("ffn_dim", 256))}  # fmt: skip
    module = _made("BartModel", d_model=128, vocab_size=1000, **options)
    return module, {"input_ids": torch.zeros(1, LENGTH, dtype=torch.int64), "use_cache": False}


def _whisper() -> tuple[Any, Any]:
    import torch

    options = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in
               (("layers", 2), ("attention_heads", 4), ("ffn_dim", 256))}  # fmt: skip
    module = _made("WhisperModel", d_model=128, vocab_size=1000, pad_token_id=0, decoder_start_token_id=1,
                   bos_token_id=1, eos_token_id=1, **options)  # fmt: skip
    words = torch.zeros(1, 8, dtype=torch.int64)
    arguments = {"input_features": torch.zeros(1, 80, 3000), "decoder_input_ids": words, "use_cache": False}
    return module, arguments


def _wav2vec2() -> tuple[Any, Any]:
    import torch

    return _made("Wav2Vec2Model", **SMALL), (torch.zeros(1, 8000),)


def _detr() -> tuple[Any, Any]:
    import torch
    import transformers

    backbone = transformers.ResNetConfig(out_features=["stage4"])
    module = _made("DetrModel", backbone_config=backbone, use_timm_backbone=False, d_model=128, encoder_layers=2,
                   decoder_layers=2, use_pretrained_backbone=False)  # fmt: skip
    return module, {"pixel_values": torch.zeros(1, 3, 224, 224), "pixel_mask": torch.ones(1, 224, 224).long()}


def _sam() -> tuple[Any, Any]:
    import torch

    options = {"hidden_size": 192, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 256, "mlp_dim": 384}
    module = _made("SamVisionModel", **options, global_attn_indexes=[1], window_size=7)
    return module, (torch.zeros(1, 3, 256, 256),)


def _perceiver() -> tuple[Any, Any]:
    import torch

    module = _made("PerceiverModel", num_latents=64, d_latents=128, d_model=96, num_self_attends_per_block=2,
                   num_self_attention_heads=4, num_cross_attention_heads=4)  # fmt: skip
    return module, (torch.zeros(1, 100, 96),)


def _clip_text() -> tuple[Any, Any]:
    import torch

    return _made("CLIPTextModel", **SMALL, vocab_size=1000), {"input_ids": torch.zeros(1, LENGTH, dtype=torch.int64)}


def _decode() -> tuple[Any, Any]:
    """One token after a cache of earlier ones, which are arguments."""
    import torch
    from transformers import DynamicCache

    inner = _made("LlamaForCausalLM", **GROUPED)

    class Step(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, token: Any, *past: Any) -> Any:
            cache = DynamicCache()
            for i in range(len(past) // 2):
                cache.update(past[2 * i], past[2 * i + 1], i)
            return self.inner(token, past_key_values=cache).logits

    past = [torch.zeros(1, 2, 64, 64) for _ in range(4)]
    return Step(), (torch.zeros(1, 1, dtype=torch.int64), *past)
