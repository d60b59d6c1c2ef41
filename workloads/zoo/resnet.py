"""ResNet50, ResNet152 (He et al., 2015) and ResNeXt-50 32x4d (Xie et al., 2016, Table 1).

3.86, 11.3 and 4.23 GMAC; 25.6, 60.2 and 25.0 M parameters (torchvision 0.29 of the last: 25,028,904).
"""

from __future__ import annotations

from collections.abc import Sequence

from workloads.errors import NetworkError, shown
from workloads.network.builder import Builder
from workloads.network.network import Network

WIDTHS = (64, 128, 256, 512)  #: channels of the 3x3 convolutions of each stage; four times as many leave a block
GROUPS = 32  #: of the 3x3 convolutions of ResNeXt, which have twice the channels


def resnet50(version: str = "1") -> Network:
    """Return ResNet50 at 224x224; version "1" is the paper's, "1.5" puts the stride on the 3x3 (4.09 GMAC)."""
    return _resnet("resnet50", (3, 4, 6, 3), version)


def resnet152(version: str = "1") -> Network:
    """Return ResNet152 at 224x224; version as in resnet50."""
    return _resnet("resnet152", (3, 8, 36, 3), version)


def resnext50() -> Network:
    """Return ResNeXt-50 at 224x224; the 3x3 convolutions stride."""
    return _resnet("resnext50", (3, 4, 6, 3), "1.5", GROUPS)


def _resnet(name: str, blocks: tuple[int, ...], version: str, groups: int = 1) -> Network:
    if version not in ("1", "1.5"):
        raise NetworkError(f"{name} has no version {shown(version)}; it must be '1' or '1.5'")
    b = Builder(name)
    x = stages(b, b.input("image", 224, 224, 3), blocks, is_first=version == "1", groups=groups)
    x = b.global_avgpool("pool5", x)
    b.fc("fc", x, 1000)
    return b.build()


def stages(
    b: Builder, x: str, blocks: Sequence[int], *, is_first: bool = False, groups: int = 1, dilates: bool = False
) -> str:
    """All before the last pool. is_first: the first 1x1 of a block strides; dilates: stages 3 and 4 do instead."""
    x = b.conv("conv1", x, 64, kernel=7, stride=2, padding=3)
    x = b.maxpool("pool1", x, kernel=3, stride=2, padding=1)
    dilation = 1
    for stage, (width, count) in enumerate(zip(WIDTHS, blocks, strict=True), start=1):
        for block in range(1, count + 1):
            strides = (1, 1)
            if stage > 1 and block == 1 and not (dilates and stage > 2):
                strides = (2, 1) if is_first else (1, 2)
            x = _bottleneck(b, f"s{stage}b{block}", x, 4 * width, strides, groups, dilation, project=block == 1)
            if dilates and stage > 2:
                dilation = 2 ** (stage - 2)  # the first block still reads a map of the stage before
    return x


def _bottleneck(
    b: Builder, name: str, x: str, width: int, strides: tuple[int, int], groups: int, dilation: int, project: bool
) -> str:
    """1x1 -> 3x3 -> 1x1 next to an identity, or to a 1x1 projection where the shape changes; then the sum."""
    inner = width // 4 if groups == 1 else width // 2
    y = b.conv(f"{name}_a", x, inner, stride=strides[0])
    y = b.conv(f"{name}_b", y, inner, 3, strides[1], padding=dilation, groups=groups, dilation=dilation)
    y = b.conv(f"{name}_c", y, width)
    if project:
        x = b.conv(f"{name}_shortcut", x, width, stride=max(strides))
    return b.add(f"{name}_add", [y, x])
