"""VGG16 (Simonyan and Zisserman, 2014, configuration D): 15.5 GMAC, 138.4 M parameters."""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network

STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))  #: channels, 3x3 convolutions; a 2x2 pool ends each


def vgg16() -> Network:
    """Return VGG16 at 224x224."""
    b = Builder("vgg16")
    x = b.input("image", 224, 224, 3)
    for stage, (channels, count) in enumerate(STAGES, start=1):
        for i in range(1, count + 1):
            x = b.conv(f"conv{stage}_{i}", x, channels, kernel=3, padding=1)
        x = b.maxpool(f"pool{stage}", x, kernel=2)
    x = b.fc("fc6", x, 4096)
    x = b.fc("fc7", x, 4096)
    b.fc("fc8", x, 1000)
    return b.build()
