"""ResNeXt-50 32x4d (Xie et al., 2016, Table 1): 4.23 GMAC, 25.0 M parameters (torchvision 0.29: 25,028,904)."""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network

GROUPS = 32  #: of the 3x3 convolutions
STAGES = ((128, 3), (256, 4), (512, 6), (1024, 3))  #: channels of the 3x3 convolutions, blocks; twice as many leave


def resnext50() -> Network:
    """Return ResNeXt-50 at 224x224; the 3x3 convolutions stride."""
    b = Builder("resnext50")
    x = b.input("image", 224, 224, 3)
    x = b.conv("conv1", x, 64, kernel=7, stride=2, padding=3)
    x = b.maxpool("pool1", x, kernel=3, stride=2, padding=1)
    for stage, (width, blocks) in enumerate(STAGES, start=1):
        for block in range(1, blocks + 1):
            stride = 2 if stage > 1 and block == 1 else 1
            x = _block(b, f"s{stage}b{block}", x, width, stride, project=block == 1)
    x = b.global_avgpool("pool5", x)
    b.fc("fc", x, 1000)
    return b.build()


def _block(b: Builder, name: str, x: str, width: int, stride: int, project: bool) -> str:
    """1x1 -> grouped 3x3 -> 1x1 next to an identity or a projection; then the sum."""
    y = b.conv(f"{name}_a", x, width)
    y = b.conv(f"{name}_b", y, width, kernel=3, stride=stride, padding=1, groups=GROUPS)
    y = b.conv(f"{name}_c", y, 2 * width)
    if project:
        x = b.conv(f"{name}_shortcut", x, 2 * width, stride=stride)
    return b.add(f"{name}_add", [y, x])
