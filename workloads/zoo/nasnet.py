"""NASNet-A-Large, 6 @ 4032 (Zoph et al., 2017, Fig. 4 and Sec. 4), at 331x331: 23.8 GMAC, 88.9 M parameters.

A cell reads the two cells before it. Every separable convolution is applied twice, as the paper says; ReLU and
batch norm are free. The first normal cell after a reduction reads the cell two before the reduction, not the
reduction's input (the published large model skips it), so that map is brought to size by a factorised reduction.
"""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network

FILTERS = 168  #: of the first normal cells; the last cells have 4 times as many and join 6 maps: 4 * 6 * 168 = 4032
STEM_FILTERS = 96
CELLS = 6  #: normal cells between reductions


def nasnet(size: int = 331) -> Network:
    """Return NASNet-A-Large, padded as in the published model ("same", the odd row at the bottom).

    `size` is that of the image: COSMA runs it at 224.
    """
    b = Builder("nasnet")
    image = b.input("image", size, size, 3)
    stem = b.conv("conv1", image, STEM_FILTERS, kernel=3, stride=2, padding="valid")
    x, previous = _reduction(b, "stem1", stem, stem, FILTERS // 4), stem
    x, previous = _reduction(b, "stem2", x, previous, FILTERS // 2), x
    for stage in range(1, 4):
        filters = FILTERS * 2 ** (stage - 1)
        if stage > 1:
            x = _reduction(b, f"r{stage - 1}", x, previous, filters)
        for cell in range(1, CELLS + 1):
            x, previous = _normal(b, f"s{stage}c{cell}", x, previous, filters), x
    x = b.global_avgpool("pool", x)
    b.fc("fc", x, 1000)
    return b.build()


def _normal(b: Builder, name: str, current: str, previous: str, filters: int) -> str:
    """Five sums of two; the output joins them and the adjusted previous cell."""
    p = adjust(b, name, previous, current, filters)
    h = b.conv(f"{name}_squeeze", current, filters)
    x1 = b.add(f"{name}_1_add", [twice(b, f"{name}_1_left", h, filters, 5), twice(b, f"{name}_1_right", p, filters, 3)])
    x2 = b.add(f"{name}_2_add", [twice(b, f"{name}_2_left", p, filters, 5), twice(b, f"{name}_2_right", p, filters, 3)])
    x3 = b.add(f"{name}_3_add", [b.avgpool(f"{name}_3_left", h, 3, 1, "same"), p])
    x4 = b.add(f"{name}_4_add", [b.avgpool(f"{name}_4_{side}", p, 3, 1, "same") for side in ("left", "right")])
    x5 = b.add(f"{name}_5_add", [twice(b, f"{name}_5_left", h, filters, 3), h])
    return b.concat(f"{name}_concat", [p, x1, x2, x3, x4, x5])


def _reduction(b: Builder, name: str, current: str, previous: str, filters: int) -> str:
    """Five sums of two at half the resolution; the output joins those that no sum reads, and the second."""
    p = previous if previous == current else adjust(b, name, previous, current, filters)
    h = b.conv(f"{name}_squeeze", current, filters)
    x1 = b.add(
        f"{name}_1_add", [twice(b, f"{name}_1_left", h, filters, 5, 2), twice(b, f"{name}_1_right", p, filters, 7, 2)]
    )
    x2 = b.add(
        f"{name}_2_add", [b.maxpool(f"{name}_2_left", h, 3, 2, "same"), twice(b, f"{name}_2_right", p, filters, 7, 2)]
    )
    x3 = b.add(
        f"{name}_3_add", [b.avgpool(f"{name}_3_left", h, 3, 2, "same"), twice(b, f"{name}_3_right", p, filters, 5, 2)]
    )
    x4 = b.add(f"{name}_4_add", [b.avgpool(f"{name}_4_left", x1, 3, 1, "same"), x2])
    x5 = b.add(
        f"{name}_5_add", [twice(b, f"{name}_5_left", x1, filters, 3), b.maxpool(f"{name}_5_right", h, 3, 2, "same")]
    )
    return b.concat(f"{name}_concat", [x2, x3, x4, x5])


def twice(b: Builder, name: str, x: str, filters: int, kernel: int, stride: int = 1) -> str:
    """A separable convolution, applied twice; the first one strides."""
    return b.separable(f"{name}_2", b.separable(f"{name}_1", x, filters, kernel, stride), filters, kernel)


def adjust(b: Builder, name: str, previous: str, current: str, filters: int) -> str:
    """The previous cell with the map of the current one and `filters` channels."""
    if b.shape(previous)[:2] == b.shape(current)[:2]:
        return b.conv(f"{name}_adjust", previous, filters)
    even = b.avgpool(f"{name}_adjust_even_pool", previous, 1, 2)
    even = b.conv(f"{name}_adjust_even", even, filters // 2)
    odd = b.avgpool(f"{name}_adjust_odd_pool", previous, 1, 2, padding=(-1, -1, 1, 1))  # shifted by one position
    odd = b.conv(f"{name}_adjust_odd", odd, filters // 2)
    return b.concat(f"{name}_adjust_concat", [even, odd])
