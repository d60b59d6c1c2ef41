"""DenseNet-121 (Huang et al., 2016, Table 1): 2.83 GMAC, 8.0 M parameters (torchvision 0.29: 7,978,856).

Every layer of a block reads the concatenation of all maps before it in the block, written down once for each layer as
torchvision does; batch norm and ReLU stand before the convolutions and are free.
"""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network

BLOCKS = (6, 12, 24, 16)  #: dense layers
GROWTH = 32  #: channels that each dense layer adds; its 1x1 convolution has four times as many


def densenet121() -> Network:
    """Return DenseNet-121 at 224x224."""
    b = Builder("densenet121")
    x = b.input("image", 224, 224, 3)
    x = b.conv("conv1", x, 64, kernel=7, stride=2, padding=3)
    x = b.maxpool("pool1", x, kernel=3, stride=2, padding=1)
    for block, layers in enumerate(BLOCKS, start=1):
        x = _dense_block(b, f"d{block}", x, layers)
        if block < len(BLOCKS):
            x = b.conv(f"t{block}_conv", x, b.shape(x)[2] // 2)
            x = b.avgpool(f"t{block}_pool", x, 2)
    x = b.global_avgpool("pool5", x)
    b.fc("fc", x, 1000)
    return b.build()


def _dense_block(b: Builder, name: str, x: str, layers: int) -> str:
    """Layers of 1x1 -> 3x3 over all that came before; the output joins the input and what each added."""
    maps = [x]
    for i in range(1, layers + 1):
        y = b.conv(f"{name}l{i}_a", x, 4 * GROWTH)
        maps.append(b.conv(f"{name}l{i}_b", y, GROWTH, kernel=3, padding=1))
        x = b.concat(f"{name}l{i}_concat", maps)
    return x
