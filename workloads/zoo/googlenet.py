"""GoogleNet (Szegedy et al., 2014, Table 1), without auxiliary heads: 1.58 GMAC, 7.0 M parameters.

The two local response normalisations are left out: Cocco hides normalisation in the pipeline, and later versions of
the network use batch norm there, which folds into the convolutions. `lrn=True` puts them back as layers.
"""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network

#: name: 1x1; 3x3 reduce, 3x3; 5x5 reduce, 5x5; pool projection (channels)
MODULES = {
    "3a": (64, 96, 128, 16, 32, 32),
    "3b": (128, 128, 192, 32, 96, 64),
    "4a": (192, 96, 208, 16, 48, 64),
    "4b": (160, 112, 224, 24, 64, 64),
    "4c": (128, 128, 256, 24, 64, 64),
    "4d": (112, 144, 288, 32, 64, 64),
    "4e": (256, 160, 320, 32, 128, 128),
    "5a": (256, 160, 320, 32, 128, 128),
    "5b": (384, 192, 384, 48, 128, 128),
}


def googlenet(lrn: bool = False) -> Network:
    """Return GoogleNet at 224x224; pools round up, as in the original."""
    b = Builder("googlenet")
    x = b.input("image", 224, 224, 3)
    x = b.conv("conv1", x, 64, kernel=7, stride=2, padding=3)
    x = b.maxpool("pool1", x, kernel=3, stride=2, ceil_mode=True)
    if lrn:
        x = b.lrn("norm1", x)
    x = b.conv("conv2_reduce", x, 64)
    x = b.conv("conv2", x, 192, kernel=3, padding=1)
    if lrn:
        x = b.lrn("norm2", x)
    x = b.maxpool("pool2", x, kernel=3, stride=2, ceil_mode=True)
    for name, channels in MODULES.items():
        x = _inception(b, f"inception_{name}", x, *channels)
        if name in ("3b", "4e"):
            x = b.maxpool(f"pool{name[0]}", x, kernel=3, stride=2, ceil_mode=True)
    x = b.global_avgpool("pool5", x)
    b.fc("fc", x, 1000)
    return b.build()


def _inception(b: Builder, name: str, x: str, c1: int, c3r: int, c3: int, c5r: int, c5: int, pool: int) -> str:
    """Four branches over one map, concatenated by channel."""
    y1 = b.conv(f"{name}_1x1", x, c1)
    y3 = b.conv(f"{name}_3x3_reduce", x, c3r)
    y3 = b.conv(f"{name}_3x3", y3, c3, kernel=3, padding=1)
    y5 = b.conv(f"{name}_5x5_reduce", x, c5r)
    y5 = b.conv(f"{name}_5x5", y5, c5, kernel=5, padding=2)
    yp = b.maxpool(f"{name}_pool", x, kernel=3, stride=1, padding=1)
    yp = b.conv(f"{name}_pool_proj", yp, pool)
    return b.concat(f"{name}_concat", [y1, y3, y5, yp])
