"""timm: classifiers of images."""

from __future__ import annotations

from typing import Any

from benchmarks.architectures.cases import Case

NAMES = (
    "resnet50 resnetv2_50 res2net50_26w_4s resnest50d skresnet18 seresnet50 ecaresnet26t gcresnet33ts dpn68 dla34 "
    "densenet169 hrnet_w18_small efficientnet_cc_b0_4e mixnet_s mobilenetv4_conv_small ghostnet_100 tinynet_a "
    "hardcorenas_a nfnet_f0 repvgg_a0 vovnet39a cspresnet50 darknet53 rexnet_100 regnetz_b16 convnext_atto "
    "convnextv2_atto vit_tiny_patch16_224 deit_tiny_distilled_patch16_224 beit_base_patch16_224 cait_xxs24_224 "
    "crossvit_tiny_240 pit_ti_224 tnt_s_legacy_patch16_224 swin_tiny_patch4_window7_224 coat_lite_tiny twins_svt_small "
    "pvt_v2_b0 levit_128s mobilevit_xs mobilevitv2_050 edgenext_xx_small efficientformer_l1 poolformer_s12 "
    "mixer_s16_224 resmlp_12_224 gmixer_12_224 convmixer_768_32 xcit_nano_12_p16_224 visformer_tiny volo_d1_224 "
    "focalnet_tiny_srf maxvit_tiny_tf_224 coatnet_0_rw_224 fastvit_t8 inception_next_atto eva02_tiny_patch14_224 "
    "lambda_resnet26t halonet26t botnet26t_256 sequencer2d_s"
).split()


def cases() -> list[Case]:
    """Return the cases; raises ImportError without timm."""
    from benchmarks.architectures.vision import _import

    _import()
    import timm  # noqa: F401

    return [Case("timm", f"timm.{name}", lambda name=name: _make(name)) for name in NAMES]


def _make(name: str) -> tuple[Any, Any]:
    import timm
    import torch

    module = timm.create_model(name, pretrained=False)
    return module, (torch.zeros(1, *module.default_cfg["input_size"]),)
