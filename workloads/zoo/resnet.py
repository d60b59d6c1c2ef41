"""ResNet50 and ResNet152 (He et al., 2015): 3.86 and 11.3 GMAC, 25.6 and 60.2 M parameters."""

from __future__ import annotations

from workloads.errors import NetworkError, shown
from workloads.network.builder import Builder
from workloads.network.network import Network

WIDTHS = (64, 128, 256, 512)  #: channels of the 3x3 convolutions of each stage; four times as many leave a block


def resnet50(version: str = "1") -> Network:
    """Return ResNet50 at 224x224; version "1" is the paper's, "1.5" puts the stride on the 3x3 (4.09 GMAC)."""
    return _resnet("resnet50", (3, 4, 6, 3), version)


def resnet152(version: str = "1") -> Network:
    """Return ResNet152 at 224x224; version as in resnet50."""
    return _resnet("resnet152", (3, 8, 36, 3), version)


def _resnet(name: str, blocks: tuple[int, ...], version: str) -> Network:
    if version not in ("1", "1.5"):
        raise NetworkError(f"{name} has no version {shown(version)}; it must be '1' or '1.5'")
    b = Builder(name)
    x = b.input("image", 224, 224, 3)
    x = b.conv("conv1", x, 64, kernel=7, stride=2, padding=3)
    x = b.maxpool("pool1", x, kernel=3, stride=2, padding=1)
    for stage, (width, count) in enumerate(zip(WIDTHS, blocks, strict=True), start=1):
        for block in range(1, count + 1):
            stride = 2 if stage > 1 and block == 1 else 1
            x = _bottleneck(b, f"s{stage}b{block}", x, width, stride, version, project=block == 1)
    x = b.global_avgpool("pool5", x)
    b.fc("fc", x, 1000)
    return b.build()


def _bottleneck(b: Builder, name: str, x: str, width: int, stride: int, version: str, project: bool) -> str:
    """1x1 -> 3x3 -> 1x1 next to an identity, or to a 1x1 projection where the shape changes; then the sum."""
    first, second = (stride, 1) if version == "1" else (1, stride)
    y = b.conv(f"{name}_a", x, width, stride=first)
    y = b.conv(f"{name}_b", y, width, kernel=3, stride=second, padding=1)
    y = b.conv(f"{name}_c", y, 4 * width)
    if project:
        x = b.conv(f"{name}_shortcut", x, 4 * width, stride=stride)
    return b.add(f"{name}_add", [y, x])
