"""diffusers: U-Nets, transformers and autoencoders of diffusion models, with fewer or narrower blocks."""

from __future__ import annotations

from typing import Any

from benchmarks.architectures.cases import Case


def cases() -> list[Case]:
    """Return the cases; raises ImportError without diffusers."""
    from benchmarks.architectures.vision import _import

    _import()
    import diffusers  # noqa: F401

    makers = (_unet, _unet_plain, _vae, _dit, _pixart, _sd3, _flux)
    return [Case("diffusers", f"diffusers.{make.__name__[1:]}", make) for make in makers]


def _unet() -> tuple[Any, Any]:
    """Stable Diffusion 1's U-Net, its channels divided by 4."""
    import torch
    from diffusers import UNet2DConditionModel

    module = UNet2DConditionModel(
        sample_size=32, block_out_channels=(80, 160, 320, 320), cross_attention_dim=192, attention_head_dim=8,
        norm_num_groups=16,
    )  # fmt: skip
    return module, (torch.zeros(1, 4, 32, 32), torch.tensor(10), torch.zeros(1, 77, 192))


def _unet_plain() -> tuple[Any, Any]:
    import torch
    from diffusers import UNet2DModel

    module = UNet2DModel(sample_size=32, block_out_channels=(32, 64, 64, 128), norm_num_groups=8)
    return module, (torch.zeros(1, 3, 32, 32), torch.tensor([10]))


def _vae() -> tuple[Any, Any]:
    import torch
    from diffusers import AutoencoderKL

    kinds = {"down_block_types": ("DownEncoderBlock2D",) * 3, "up_block_types": ("UpDecoderBlock2D",) * 3}
    module = AutoencoderKL(block_out_channels=(32, 64, 128), layers_per_block=2, norm_num_groups=8, **kinds)
    return module, (torch.zeros(1, 3, 64, 64),)


def _dit() -> tuple[Any, Any]:
    import torch
    from diffusers import DiTTransformer2DModel

    module = DiTTransformer2DModel(num_attention_heads=6, attention_head_dim=64, num_layers=2, sample_size=32)
    arguments = {"timestep": torch.tensor([5]), "class_labels": torch.tensor([1])}
    return module, {"hidden_states": torch.zeros(1, 4, 32, 32), **arguments}


def _pixart() -> tuple[Any, Any]:
    import torch
    from diffusers import PixArtTransformer2DModel

    module = PixArtTransformer2DModel(
        num_attention_heads=4, attention_head_dim=32, num_layers=2, sample_size=32, cross_attention_dim=128,
        caption_channels=64,
    )  # fmt: skip
    arguments = {"encoder_hidden_states": torch.zeros(1, 20, 64), "timestep": torch.tensor([5])}
    added = {"resolution": None, "aspect_ratio": None}
    return module, {"hidden_states": torch.zeros(1, 4, 32, 32), **arguments, "added_cond_kwargs": added}


def _sd3() -> tuple[Any, Any]:
    import torch
    from diffusers import SD3Transformer2DModel

    module = SD3Transformer2DModel(
        sample_size=32, num_layers=2, num_attention_heads=4, attention_head_dim=32, joint_attention_dim=64,
        caption_projection_dim=128, pooled_projection_dim=64, pos_embed_max_size=32,
    )  # fmt: skip
    arguments = {
        "encoder_hidden_states": torch.zeros(1, 20, 64), "pooled_projections": torch.zeros(1, 64),
        "timestep": torch.tensor([5]),
    }  # fmt: skip
    return module, {"hidden_states": torch.zeros(1, 16, 32, 32), **arguments}


def _flux() -> tuple[Any, Any]:
    import torch
    from diffusers import FluxTransformer2DModel

    module = FluxTransformer2DModel(
        num_layers=1, num_single_layers=1, num_attention_heads=2, attention_head_dim=128, joint_attention_dim=64,
        pooled_projection_dim=64, in_channels=64,
    )  # fmt: skip
    arguments = {
        "encoder_hidden_states": torch.zeros(1, 20, 64), "pooled_projections": torch.zeros(1, 64),
        "timestep": torch.tensor([0.5]), "img_ids": torch.zeros(256, 3), "txt_ids": torch.zeros(20, 3),
        "guidance": None,
    }  # fmt: skip
    return module, {"hidden_states": torch.zeros(1, 256, 64), **arguments}
