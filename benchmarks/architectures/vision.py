"""torchvision: classifiers, segmentation, detectors, video."""

from __future__ import annotations

from typing import Any

from benchmarks.architectures.cases import Case

IMAGES = (
    "alexnet vgg16_bn resnet18 resnet50 resnext50_32x4d wide_resnet50_2 squeezenet1_1 densenet121 googlenet "
    "inception_v3 mobilenet_v2 mobilenet_v3_large mnasnet1_0 shufflenet_v2_x1_0 efficientnet_b0 efficientnet_v2_s "
    "regnet_y_400mf regnet_x_800mf convnext_tiny vit_b_16 swin_t swin_v2_t maxvit_t"
).split()
DENSE = "fcn_resnet50 deeplabv3_resnet50 deeplabv3_mobilenet_v3_large lraspp_mobilenet_v3_large".split()
CLIPS = "r3d_18 mc3_18 r2plus1d_18 s3d mvit_v1_b swin3d_t".split()
EXTENTS = {"inception_v3": 299, "swin_v2_t": 256}


def cases() -> list[Case]:
    """Return the cases; raises ImportError without torchvision."""
    _import()
    found = [Case("torchvision", name, lambda name=name: _image(name)) for name in IMAGES]
    found += [Case("torchvision", name, lambda name=name: _dense(name)) for name in DENSE]
    found += [Case("torchvision", name, lambda name=name: _clip(name)) for name in CLIPS]
    found += [
        Case("torchvision", "retinanet_resnet50_fpn", _retinanet),
        Case("torchvision", "ssdlite_heads", _ssdlite),
        Case("torchvision", "raft_small", _raft),
    ]
    return found


def _import() -> Any:
    """torchvision; where its compiled operators are of another build, what it registers is declared beforehand."""
    import torch

    try:
        import torchvision
    except RuntimeError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _import.kept = library  # type: ignore[attr-defined]  # it goes with its last reference
        import torchvision
    return torchvision.models


def _image(name: str) -> tuple[Any, Any]:
    import torch

    extent = EXTENTS.get(name, 224)
    more = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    return getattr(_import(), name)(weights=None, **more), (torch.zeros(1, 3, extent, extent),)


def _dense(name: str) -> tuple[Any, Any]:
    import torch

    module = getattr(_import().segmentation, name)(weights=None, weights_backbone=None)
    return module, (torch.zeros(1, 3, 224, 224),)


def _clip(name: str) -> tuple[Any, Any]:
    import torch

    frames, extent = (16, 224) if name in ("mvit_v1_b", "swin3d_t", "s3d") else (8, 112)
    return getattr(_import().video, name)(weights=None), (torch.zeros(1, 3, frames, extent, extent),)


def _retinanet() -> tuple[Any, Any]:
    """Backbone and heads; the anchors and the choice of boxes are no layers."""
    import torch

    whole = _import().detection.retinanet_resnet50_fpn(weights=None, weights_backbone=None)

    class Heads(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.backbone, self.head = whole.backbone, whole.head

        def forward(self, image: Any) -> Any:
            return self.head(list(self.backbone(image).values()))

    return Heads(), (torch.zeros(1, 3, 320, 320),)


def _ssdlite() -> tuple[Any, Any]:
    import torch

    whole = _import().detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None)

    class Heads(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.backbone, self.head = whole.backbone, whole.head

        def forward(self, image: Any) -> Any:
            return self.head(list(self.backbone(image).values()))

    return Heads(), (torch.zeros(1, 3, 320, 320),)


def _raft() -> tuple[Any, Any]:
    import torch

    images = torch.zeros(1, 3, 128, 160), torch.zeros(1, 3, 128, 160)
    return _import().optical_flow.raft_small(weights=None), images
