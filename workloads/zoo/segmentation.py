"""Semantic segmentation: FCN and DeepLabV3 on a dilated ResNet50, L-RASPP on a dilated MobileNetV3-Large.

The models of torchvision 0.29 with 21 classes: 33.0 M, 39.6 M and 3.22 M parameters without auxiliary heads; 152.7,
178.7 and 2.09 GMAC at 520x520, the former two with auxiliary heads of 10.0. COSMA runs them at 224x224.

As there, a bilinear resize at the end brings the scores to the size of the image; DeepLabV3 resizes the globally
pooled branch from 1x1 to the map of the other four before they are joined, L-RASPP the gated map to the one of twice
its resolution before both are classified and added.
"""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network
from workloads.zoo.resnet import stages

CLASSES = 21
RATES = (12, 24, 36)  #: dilations of DeepLabV3's pyramid

#: MobileNetV3-Large: kernel, expanded channels, channels, squeeze-and-excitation, stride (Howard et al., 2019, Table 1)
MOBILE = (
    (3, 16, 16, False, 1), (3, 64, 24, False, 2), (3, 72, 24, False, 1), (5, 72, 40, True, 2), (5, 120, 40, True, 1),
    (5, 120, 40, True, 1), (3, 240, 80, False, 2), (3, 200, 80, False, 1), (3, 184, 80, False, 1),
    (3, 184, 80, False, 1), (3, 480, 112, True, 1), (3, 672, 112, True, 1), (5, 672, 160, True, 2),
    (5, 960, 160, True, 1), (5, 960, 160, True, 1),
)  # fmt: skip
LOW = 6  #: the block whose map, at an eighth of the image, L-RASPP reads in addition to the last
DILATED = 13  #: the first block that dilates by 2; its stride is dropped


def fcn(size: int = 224) -> Network:
    """Return FCN (Long et al., 2014) on ResNet50; scores at an eighth of the image, resized to it."""
    b = Builder("fcn")
    x = stages(b, b.input("image", size, size, 3), (3, 4, 6, 3), dilates=True)
    x = b.conv("head", x, 512, kernel=3, padding=1)
    _resized(b, b.conv("scores", x, CLASSES), size)
    return b.build()


def deeplabv3(size: int = 224) -> Network:
    """Return DeepLabV3 (Chen et al., 2017) on ResNet50; scores at an eighth of the image, resized to it."""
    b = Builder("deeplabv3")
    x = stages(b, b.input("image", size, size, 3), (3, 4, 6, 3), dilates=True)
    branches = [b.conv("aspp_1x1", x, 256)]
    branches += [b.conv(f"aspp_{rate}", x, 256, kernel=3, padding=rate, dilation=rate) for rate in RATES]
    pooled = b.conv("aspp_pooled", b.global_avgpool("aspp_pool", x), 256)
    branches.append(b.resize("aspp_resized", pooled, *b.shape(x)[:2], method="linear"))
    x = b.conv("project", b.concat("aspp_concat", branches), 256)
    x = b.conv("head", x, 256, kernel=3, padding=1)
    _resized(b, b.conv("scores", x, CLASSES), size)
    return b.build()


def l_raspp(size: int = 224) -> Network:
    """Return L-RASPP (Howard et al., 2019, Sec. 6.4) on MobileNetV3; scores at an eighth, resized."""
    b = Builder("l_raspp")
    x = low = b.conv("conv1", b.input("image", size, size, 3), 16, kernel=3, stride=2, padding=1)
    for i, (kernel, expanded, channels, squeezes, stride) in enumerate(MOBILE, start=1):
        dilation = 2 if i >= DILATED else 1
        x = _inverted(b, f"b{i}", x, kernel, expanded, channels, squeezes, 1 if dilation > 1 else stride, dilation)
        low = x if i == LOW else low
    x = b.conv("conv2", x, 960)
    reduced = b.conv("reduce", x, 128)
    x = b.mul("gated", [reduced, b.conv("gate", b.global_avgpool("gate_pool", x), 128)])
    x = b.resize("gated_resized", x, *b.shape(low)[:2], method="linear")
    scores = [b.conv("low_scores", low, CLASSES), b.conv("high_scores", x, CLASSES)]
    _resized(b, b.add("scores", scores), size)
    return b.build()


def _resized(b: Builder, scores: str, size: int) -> None:
    """Bring the scores to the size of the image."""
    b.resize("resized", scores, size, size, method="linear")


def _inverted(
    b: Builder, name: str, x: str, kernel: int, expanded: int, channels: int, squeezes: bool, stride: int, dilation: int
) -> str:
    """Expand by 1x1, depth-wise, squeeze and excite, project by 1x1; the sum where the shape stays."""
    y = x if b.shape(x)[2] == expanded else b.conv(f"{name}_expand", x, expanded)
    y = b.depthwise(f"{name}_dw", y, kernel, stride, padding=kernel // 2 * dilation, dilation=dilation)
    if squeezes:
        y = _squeeze_excite(b, name, y)
    y = b.conv(f"{name}_project", y, channels)
    return b.add(f"{name}_add", [x, y]) if b.shape(x) == b.shape(y) else y


def _squeeze_excite(b: Builder, name: str, x: str) -> str:
    """The map times one factor for each channel: a global pool, two 1x1 convolutions, a product that broadcasts."""
    channels = b.shape(x)[2]
    squeezed = (channels // 4 + 4) // 8 * 8  # a quarter, to the nearest multiple of 8 that is not 10 % below
    squeezed += 8 if squeezed < 0.9 * (channels // 4) else 0
    y = b.conv(f"{name}_squeeze", b.global_avgpool(f"{name}_pool", x), squeezed)
    return b.mul(f"{name}_scale", [x, b.conv(f"{name}_excite", y, channels)])
