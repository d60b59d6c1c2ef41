"""AmoebaNet-D (Real et al., 2018, Fig. 6 of the appendix), (18, 208): 82 M parameters (GPipe, Table 1).

(layers, filters) as GPipe (Huang et al., 2018) counts: 6 normal cells in each of three stages, 208 / 4 channels at the
stem, doubled by each of four reductions. The paper of the network and its published implementations differ in which
maps a normal cell joins; with those of the implementations (states 0, 3, 4, 6) the published parameters come out. ReLU
and batch norm are free. COSMA does not say which size it schedules; this is the smallest with published counts.
"""

from __future__ import annotations

from workloads.errors import check_option
from workloads.network.builder import Builder
from workloads.network.network import Network
from workloads.zoo.darts import halved

#: two edges for each of five nodes: the state that is read (0: the cell before, 1: the one before it) and operation
NORMAL = (
    (1, "conv1"), (1, "max3"), (1, "none"), (0, "conv7"), (0, "conv1"),
    (0, "conv7"), (2, "max3"), (2, "none"), (1, "avg3"), (5, "conv1"),
)  # fmt: skip
REDUCTION = (
    (0, "max2"), (0, "max3"), (2, "none"), (1, "conv3"), (2, "conv7"),
    (2, "max3"), (3, "none"), (1, "max2"), (2, "avg3"), (3, "conv1"),
)  # fmt: skip
NORMAL_JOINS, REDUCTION_JOINS = (0, 3, 4, 6), (4, 5, 6)


def amoebanet_d(layers: int = 18, filters: int = 208) -> Network:
    """Return AmoebaNet-D at 224x224; `layers` normal cells, a multiple of 3, and `filters` a multiple of 16."""
    check_option("amoebanet_d", "layers", layers, 3)
    check_option("amoebanet_d", "filters", filters, 16)
    b = Builder("amoebanet_d")
    channels = filters // 4
    x = previous = b.conv("stem", b.input("image", 224, 224, 3), channels, kernel=3, stride=2, padding=1)
    stages = ["stem_r1", "stem_r2", *_stage(1, layers), "r1", *_stage(2, layers), "r2", *_stage(3, layers)]
    for name in stages:
        reduces = "r" in name
        channels *= 2 if reduces else 1
        x, previous = _cell(b, name, x, previous, channels, reduces), x
    x = b.global_avgpool("pool", x)
    b.fc("fc", x, 1000)
    return b.build()


def _stage(stage: int, layers: int) -> list[str]:
    return [f"s{stage}c{cell}" for cell in range(1, layers // 3 + 1)]


def _cell(b: Builder, name: str, current: str, previous: str, channels: int, reduces: bool) -> str:
    """Five nodes, each the sum of two edges; the output joins some of the states."""
    squeezed = b.conv(f"{name}_in0", current, channels)
    if b.shape(previous)[:2] != b.shape(current)[:2]:
        previous = halved(b, f"{name}_in1", previous, channels)
    elif b.shape(previous)[2] != channels:
        previous = b.conv(f"{name}_in1", previous, channels)
    states = [squeezed, previous]
    edges, joins = (REDUCTION, REDUCTION_JOINS) if reduces else (NORMAL, NORMAL_JOINS)
    for node in range(len(edges) // 2):
        ends = []
        for side, (source, op) in zip("ab", edges[2 * node : 2 * node + 2], strict=True):
            stride = 2 if reduces and source < 2 else 1
            ends.append(_edge(b, f"{name}n{node + 1}{side}", states[source], op, stride))
        states.append(b.add(f"{name}n{node + 1}_add", ends))
    return b.concat(f"{name}_concat", [states[i] for i in joins])


def _edge(b: Builder, name: str, x: str, op: str, stride: int) -> str:
    """An operation of the cell; the larger convolutions work on a quarter of the channels."""
    channels = b.shape(x)[2]
    if op == "none":
        return x if stride == 1 else halved(b, name, x, channels)
    if op == "max2":
        return b.maxpool(name, x, 2, stride)
    if op in ("max3", "avg3"):
        return (b.maxpool if op == "max3" else b.avgpool)(name, x, 3, stride, padding=1)
    if op == "conv1":
        return b.conv(name, x, channels, stride=stride)
    x = b.conv(f"{name}_squeeze", x, channels // 4)
    if op == "conv3":
        x = b.conv(f"{name}_3x3", x, channels // 4, kernel=3, stride=stride, padding=1)
    else:
        x = b.conv(f"{name}_1x7", x, channels // 4, kernel=(1, 7), stride=(1, stride), padding=(0, 3, 0, 3))
        x = b.conv(f"{name}_7x1", x, channels // 4, kernel=(7, 1), stride=(stride, 1), padding=(3, 0, 3, 0))
    return b.conv(name, x, channels)
