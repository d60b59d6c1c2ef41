"""Where a layered drawing puts the layers of a network: levels by depth, few crossings, straight lines.

As in Sugiyama, Tagawa, Toda, "Methods for visual understanding of hierarchical system structures" (1981): a tensor
that is read levels below passes through each level between in a lane of its own, which all its readers share;
levels are ordered by the mean place of their neighbours; then each moves towards that mean as far as its neighbours in
the level let it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SWEEPS = 24  #: down and up in turn, the first half also orders the levels; our choice: more change nothing one sees
PULL = 0.97  #: towards the middle, against a drift to one side; our choice
LANE_GAP, LAYER_GAP = 0.55, 1.0  #: between neighbours of a level, in widths of a layer
LANE_WEIGHT = 3.0  #: lanes hold their course against layers; our choice


@dataclass(frozen=True)
class Layout:
    """Places by node: nodes 0 .. layers - 1 are layers, the others lanes. Lines join nodes of adjacent levels.

    level: from 0 at the top. x: in widths of a layer. owner: the layer whose tensor a node carries. lines: from, to.
    """

    layers: int
    level: list[int]
    x: list[float]
    owner: list[int]
    lines: list[tuple[int, int]]


def layout(producers: Sequence[Sequence[int]]) -> Layout:
    """Return the places of layers 0, 1, 2, ... with these producers, which stand before them."""
    count = len(producers)
    level = [0] * count
    for v, inputs in enumerate(producers):
        level[v] = max((level[u] + 1 for u in inputs), default=0)
    owner, lines = list(range(count)), list[tuple[int, int]]()
    lanes: dict[int, list[int]] = {u: [u] for u in range(count)}  # the node that carries u, per level from its own
    for v, inputs in enumerate(producers):
        for u in dict.fromkeys(inputs):
            lane = lanes[u]
            while len(lane) < level[v] - level[u]:
                lines.append((lane[-1], len(level)))
                lane.append(len(level))
                level.append(level[lane[-2]] + 1)
                owner.append(u)
            lines.append((lane[level[v] - level[u] - 1], v))
    return Layout(count, level, _places(count, level, lines), owner, lines)


def _places(count: int, level: list[int], lines: list[tuple[int, int]]) -> list[float]:
    rows: list[list[int]] = [[] for _ in range(max(level, default=-1) + 1)]
    for node, depth in enumerate(level):
        rows[depth].append(node)
    above: list[list[int]] = [[] for _ in level]
    below: list[list[int]] = [[] for _ in level]
    for start, end in lines:
        above[end].append(start)
        below[start].append(end)
    x = [0.0] * len(level)
    for row in rows:
        _spread(row, [0.0] * len(row), count, x)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            orders = sweep < SWEEPS // 2
            near = (above if down else below) if orders else [up + low for up, low in zip(above, below)]
            wanted = {node: PULL * _mean([x[other] for other in near[node]], x[node]) for node in row}
            if orders:
                row.sort(key=wanted.__getitem__)
            _spread(row, [wanted[node] for node in row], count, x)
    return x


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _spread(row: list[int], wanted: list[float], count: int, x: list[float]) -> None:
    """Place a row in its order, as near to what is wanted as the gaps allow: least squares, by pooling violators."""
    offsets, blocks = [0.0], list[tuple[float, float, int]]()  # of a block: its place, its weight, its nodes
    for left, right in zip(row, row[1:]):
        gaps = [LAYER_GAP if node < count else LANE_GAP for node in (left, right)]
        offsets.append(offsets[-1] + sum(gaps) / 2)
    for node, want, offset in zip(row, wanted, offsets):
        block = (want - offset, 1.0 if node < count else LANE_WEIGHT, 1)
        while blocks and blocks[-1][0] > block[0]:
            place, weight, nodes = blocks.pop()
            total = weight + block[1]
            block = ((place * weight + block[0] * block[1]) / total, total, nodes + block[2])
        blocks.append(block)
    places = [place for place, _, nodes in blocks for _ in range(nodes)]
    for node, place, offset in zip(row, places, offsets):
        x[node] = place + offset
