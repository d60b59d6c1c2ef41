"""DARTS for ImageNet (Liu et al., 2018, Fig. 4, Sec. 3.3): 14 cells of 48 channels, 574 MMAC, 4.7 M parameters.

The genotype is DARTS_V2, the second-order one. A cell reads the two cells before it. Separable convolutions are applied
twice, dilated ones once; ReLU and batch norm are free; the auxiliary head is left out.
"""

from __future__ import annotations

from workloads.network.builder import Builder
from workloads.network.network import Network

CHANNELS, CELLS = 48, 14
#: two edges for each node: operation and the state it reads (0, 1: the inputs of the cell; then its nodes)
NORMAL = (
    ("sep", 0), ("sep", 1), ("sep", 0), ("sep", 1), ("sep", 1), ("skip", 0), ("skip", 0), ("dil", 2),
)  # fmt: skip
REDUCTION = (
    ("pool", 0), ("pool", 1), ("skip", 2), ("pool", 1), ("pool", 0), ("skip", 2), ("skip", 2), ("pool", 1),
)  # fmt: skip


def darts() -> Network:
    """Return the ImageNet network at 224x224: two strided stems, reductions at a third and two thirds of the cells."""
    b = Builder("darts")
    x = b.input("image", 224, 224, 3)
    x = b.conv("stem0_a", x, CHANNELS // 2, kernel=3, stride=2, padding=1)
    previous = b.conv("stem0_b", x, CHANNELS, kernel=3, stride=2, padding=1)
    x = b.conv("stem1", previous, CHANNELS, kernel=3, stride=2, padding=1)
    channels = CHANNELS
    for i in range(CELLS):
        reduces = i in (CELLS // 3, 2 * CELLS // 3)
        channels *= 2 if reduces else 1
        x, previous = _cell(b, f"c{i + 1}", previous, x, channels, reduces), x
    x = b.global_avgpool("pool", x)
    b.fc("fc", x, 1000)
    return b.build()


def _cell(b: Builder, name: str, previous: str, current: str, channels: int, reduces: bool) -> str:
    """Four nodes, each the sum of two edges; the output joins them."""
    halves = b.shape(previous)[:2] != b.shape(current)[:2]
    prepared = halved(b, f"{name}_in0", previous, channels) if halves else b.conv(f"{name}_in0", previous, channels)
    states = [prepared, b.conv(f"{name}_in1", current, channels)]
    edges = REDUCTION if reduces else NORMAL
    for node in range(len(edges) // 2):
        ends = []
        for side, (op, source) in zip("ab", edges[2 * node : 2 * node + 2], strict=True):
            stride = 2 if reduces and source < 2 else 1
            ends.append(_edge(b, f"{name}n{node + 1}{side}", states[source], op, stride))
        states.append(b.add(f"{name}n{node + 1}_add", ends))
    return b.concat(f"{name}_concat", states[2:])


def _edge(b: Builder, name: str, x: str, op: str, stride: int) -> str:
    """An operation of the genotype, 3x3 where it has a window."""
    channels = b.shape(x)[2]
    if op == "pool":
        return b.maxpool(name, x, 3, stride, padding=1)
    if op == "skip":
        return x if stride == 1 else halved(b, name, x, channels)
    if op == "dil":
        x = b.depthwise(f"{name}_dw", x, 3, stride, padding=2, dilation=2)
        return b.conv(f"{name}_pw", x, channels)
    x = b.separable(f"{name}_1", x, channels, 3, stride, padding=1)
    return b.separable(f"{name}_2", x, channels, 3, padding=1)


def halved(b: Builder, name: str, x: str, channels: int) -> str:
    """Return the map at half its extents: two strided 1x1 convolutions, the second shifted by one position, joined."""
    even = b.conv(f"{name}_even", x, channels // 2, stride=2)
    odd = b.conv(f"{name}_odd", x, channels - channels // 2, stride=2, padding=(-1, -1, 1, 1))
    return b.concat(f"{name}_concat", [even, odd])
