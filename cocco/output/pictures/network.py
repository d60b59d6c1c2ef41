"""A network with its subgraphs: levels from top to bottom, folded into columns like text on a page."""

from __future__ import annotations

import math
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from cocco.output.layout import Layout, layout
from simulator.partition.partition import Partition
from workloads.network.network import Network

PALETTE = ("#f6c9a0", "#8fc1de", "#d9e6a2", "#c58fb5", "#f3e08a", "#6fae9c", "#e6a1a1", "#a7a5d6")  #: lightness differs
ALONE = "#ffffff"
LAYERS_NAMED = 110  #: layers up to which each shows its name; our choice: more make the letters too small
LETTER_INCHES, MARGIN_INCHES = 0.062, 0.3  #: width of a layer that shows its name
NUMBER_INCHES = 0.3  #: and of one that shows a number only
ROW_INCHES = (0.3, 0.24)  #: between levels, with names and with numbers only
BOX = 0.62  #: height of a layer, in rows
WIDER_THAN_HIGH = 1.4  #: of the page; our choice
GUTTER = 0.8  #: between columns, in widths of a layer
LONGEST_NAME = 26  #: characters
THROUGH_DRAM, KEPT, INSIDE = range(3)  #: how a layer reads a tensor

Corners = list[tuple[float, float]]


@dataclass(frozen=True)
class _Page:
    """The layout folded: levels per column, and where each column starts."""

    rows: int
    starts: list[float]  #: left side of each column
    lows: list[float]  #: least x of the nodes in it
    width: float


def network_figure(network: Network, partition: Partition) -> Figure:
    """Return the layers by depth, numbered by their subgraph in execution order.

    Layers of one subgraph share a colour and are joined by thick lines, tensors that stay on chip; thin lines go
    through DRAM. Where tensors are kept from one subgraph to a later one, dashed lines lead to those that read them on
    chip. A white layer runs alone. Model inputs are not drawn.
    """
    count = len(network.layers)
    drawn = layout([[u for u in inputs if u < count] for inputs in network.producers])
    named = count <= LAYERS_NAMED
    letters = max(len(_short(layer.name)) for layer in network.layers)
    width = MARGIN_INCHES + LETTER_INCHES * letters if named else NUMBER_INCHES
    row = ROW_INCHES[0 if named else 1]
    page = _fold(drawn, width, row)
    figure = Figure(figsize=(page.width * width + 0.4, (page.rows + 1.4) * row + 0.5), layout="constrained")
    axes = figure.add_subplot()
    axes.set_xlim(-0.1, page.width + 0.1)
    axes.set_ylim(page.rows + 0.2, -1.2)
    axes.axis("off")
    kept = "dashed ones too, from one subgraph to another; " if partition.keep else ""
    axes.set_title(
        f"{network.name}: {count} layers in {len(partition)} subgraphs, numbered in the order they run\n"
        f"thick lines stay on chip, {kept}thin ones go through DRAM; white layers run alone",
        size=9,
        parse_math=False,  # a name may have dollar signs
    )
    owner = {v: position for position, group in enumerate(partition.subgraphs) for v in group}
    _draw_lines(axes, drawn, page, _ways(network, partition, owner))
    _draw_layers(axes, drawn, page, _colours(network, partition, owner))
    for v, layer in enumerate(network.layers):
        x, y = _place(v, drawn, page)
        text = f"{owner[v]}  {_short(layer.name)}" if named else str(owner[v])
        axes.text(x, y, text, ha="center", va="center", size=6.2 if named else 5, zorder=4, parse_math=False)
    return figure


def _fold(drawn: Layout, width: float, row: float) -> _Page:
    """Choose the number of columns that comes closest to the shape of a page."""
    depth = max(drawn.level) + 1
    pages = [_page(drawn, math.ceil(depth / columns)) for columns in range(1, min(depth, 16) + 1)]
    return min(pages, key=lambda page: abs(math.log(page.width * width / (page.rows * row) / WIDER_THAN_HIGH)))


def _page(drawn: Layout, rows: int) -> _Page:
    columns = max(drawn.level) // rows + 1
    starts, lows, start = [], [], 0.0
    for column in range(columns):
        inside = [x for x, level in zip(drawn.x, drawn.level) if level // rows == column]
        starts.append(start)
        lows.append(min(inside))
        start += max(inside) - min(inside) + 1 + GUTTER
    return _Page(rows, starts, lows, start - GUTTER)


def _place(node: int, drawn: Layout, page: _Page) -> tuple[float, float]:
    column, y = divmod(drawn.level[node], page.rows)
    return page.starts[column] + drawn.x[node] - page.lows[column] + 0.5, float(y)


def _ways(network: Network, partition: Partition, owner: dict[int, int]) -> dict[tuple[int, int], int]:
    """Return how each layer reads a tensor, by (producer, reader): THROUGH_DRAM, KEPT or INSIDE."""
    kept = {
        (each.tensor_id, step) for each in partition.keep for step in range(each.from_step + 1, each.until_step + 1)
    }
    found = {}
    for reader, producers in enumerate(network.producers):
        for producer in producers:
            if owner.get(producer) == owner[reader]:
                found[producer, reader] = INSIDE
            else:
                found[producer, reader] = KEPT if (producer, owner[reader]) in kept else THROUGH_DRAM
    return found


def _draw_lines(axes: Axes, drawn: Layout, page: _Page, ways: dict[tuple[int, int], int]) -> None:
    """Draw the tensors; a lane is as thick as the thickest line that leaves it."""
    way = [THROUGH_DRAM] * len(drawn.level)  # of lanes
    lines: dict[int, list[Corners]] = {THROUGH_DRAM: [], KEPT: [], INSIDE: []}
    for is_drawn in (False, True):
        for start, end in drawn.lines if is_drawn else reversed(drawn.lines):
            here = way[end] if end >= drawn.layers else ways[drawn.owner[start], end]
            if is_drawn:
                lines[here].append(_line(start, end, drawn, page))
            elif start >= drawn.layers:
                way[start] = max(way[start], here)
    axes.add_collection(LineCollection(lines[THROUGH_DRAM], colors="0.55", linewidths=0.6, zorder=1))
    if lines[KEPT]:
        axes.add_collection(
            LineCollection(lines[KEPT], colors="0.1", linewidths=1.5, linestyles=(0, (2.2, 1)), zorder=2)
        )
    axes.add_collection(LineCollection(lines[INSIDE], colors="0.1", linewidths=1.9, zorder=2))


def _line(start: int, end: int, drawn: Layout, page: _Page) -> Corners:
    """Return the corners of a line; to the next column it runs down, up between the columns, and down again."""
    first, last = _place(start, drawn, page), _place(end, drawn, page)
    column = drawn.level[end] // page.rows
    if drawn.level[start] // page.rows == column:
        return [first, last]
    gutter = page.starts[column] - GUTTER / 2
    low, high = page.rows - 0.3, -0.7
    return [first, (first[0], low), (gutter, low), (gutter, high), (last[0], high), last]


def _draw_layers(axes: Axes, drawn: Layout, page: _Page, colours: list[str]) -> None:
    boxes = []
    for v in range(drawn.layers):
        x, y = _place(v, drawn, page)
        boxes.append(Rectangle((x - 0.46, y - BOX / 2), 0.92, BOX))
    axes.add_collection(PatchCollection(boxes, facecolors=colours, edgecolors="0.2", linewidths=0.6, zorder=3))


def _colours(network: Network, partition: Partition, owner: dict[int, int]) -> list[str]:
    """Return a colour per layer: subgraphs that touch differ, those of one layer are white."""
    chosen: dict[int, int] = {}
    for position, group in enumerate(partition.subgraphs):
        if len(group) > 1:
            near = {owner[u] for v in group for u in (*network.producers[v], *network.consumers[v]) if u in owner}
            taken = {chosen[other] for other in (*near, position - 1) if other in chosen}
            order = [(len(chosen) + step) % len(PALETTE) for step in range(len(PALETTE))]
            chosen[position] = next((colour for colour in order if colour not in taken), order[0])
    return [PALETTE[chosen[owner[v]]] if owner[v] in chosen else ALONE for v in range(len(network.layers))]


def _short(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 7]}..{name[-5:]}"
