"""PNASNet-5-Large, N = 4, F = 216 (Liu et al., 2017, Fig. 1 and Table 5), at 331x331: 25.0 GMAC, 86.1 M parameters.

Wiring, strides and channels are those of the published model (timm 1.0 pnasnet5large: 86,057,668). A cell reads the two
cells before it. Every separable convolution is applied twice; ReLU and batch norm are free.
"""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network
from workloads.zoo.nasnet import adjust, twice

FILTERS = 216  #: of the first normal cells; the last have 4 times as many and join 5 maps: 4 * 5 * 216 = 4320
STEM_FILTERS = 96
CELLS = 4  #: of each stage; those of the second and third stage begin with a reduction


def pnasnet5large(size: int = 331) -> Network:
    """Return PNASNet-5-Large, padded as in the published model; `size` is that of the image: COSMA runs it at 224."""
    b = Builder("pnasnet5large")
    image = b.input("image", size, size, 3)
    stem = b.conv("conv0", image, STEM_FILTERS, kernel=3, stride=2, padding="valid")
    right = b.conv("stem1_squeeze", stem, FILTERS // 4)
    x, previous = _combine(b, "stem1", stem, right, FILTERS // 4, 2), stem
    x, previous = _cell(b, "stem2", x, previous, FILTERS // 2, 2), x
    for stage in range(1, 4):
        for cell in range(1, CELLS + 1):
            stride = 2 if stage > 1 and cell == 1 else 1
            x, previous = _cell(b, f"s{stage}c{cell}", x, previous, FILTERS * 2 ** (stage - 1), stride), x
    x = b.global_avgpool("pool", x)
    b.fc("fc", x, 1000)
    return b.build()


def _cell(b: Builder, name: str, current: str, previous: str, filters: int, stride: int) -> str:
    """The cell over both inputs, brought to its channels and to the map of `current`."""
    left = adjust(b, name, previous, current, filters)
    return _combine(b, name, left, b.conv(f"{name}_squeeze", current, filters), filters, stride)


def _combine(b: Builder, name: str, left: str, right: str, filters: int, stride: int) -> str:
    """Five sums of two, joined. The first pool is brought to the cell's channels where its input has others."""

    def separable(where: str, x: str, kernel: int, step: int = stride) -> str:
        return twice(b, f"{name}_{where}", x, filters, kernel, step)

    def pool(where: str, x: str) -> str:
        return b.maxpool(f"{name}_{where}", x, 3, stride, "same")

    x1 = separable("1_left", left, 5)
    pooled = pool("1_right", left)
    if b.shape(left)[2] != filters:
        pooled = b.conv(f"{name}_1_right_conv", pooled, filters)
    x1 = b.add(f"{name}_1_add", [x1, pooled])
    x2 = b.add(f"{name}_2_add", [separable("2_left", right, 7), pool("2_right", right)])
    x3 = b.add(f"{name}_3_add", [separable("3_left", right, 5), separable("3_right", right, 3)])
    x4 = b.add(f"{name}_4_add", [separable("4_left", x3, 3, 1), pool("4_right", right)])
    x5 = separable("5_left", left, 3)
    kept = right if stride == 1 else b.conv(f"{name}_5_right", right, filters, stride=stride)
    x5 = b.add(f"{name}_5_add", [x5, kept])
    return b.concat(f"{name}_concat", [x1, x2, x3, x4, x5])
