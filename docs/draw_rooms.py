"""Draws the rooms of the house from the imports, and writes the table of them (docs/architecture.md).

`python -m docs.draw_rooms PICTURE.svg` draws; the documentation does it at every build.
"""

from __future__ import annotations

import random
import re
import sys
import textwrap
from collections.abc import Sequence
from itertools import combinations, permutations
from pathlib import Path

import networkx
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from docs.rooms import PACKAGES, ROOMS, arrows, purpose, room_of

#: what a band says of its package
SAYS = ("what is computed", "what it costs", "what to choose", "questions and their answers")
COLOURS = ("#e6f0e2", "#e1ecf7", "#fbeedd", "#f0e7f5")
COLUMNS = 4
WIDTH, HEIGHT, ACROSS, DOWN = 1.95, 0.56, 2.1, 0.86  #: a box, and the distance to the next one, in inches
LABEL, GAP = 1.45, 0.3  #: what the name of a band takes at its left, and what is between two bands, in inches

FACES = PACKAGES[:3]  #: `__init__.py` that hands out names; that of experiments stands for its scripts

Place = tuple[int, int]  #: row and column
Places = dict[str, Place]  #: of the rooms of a package


def write(folder: Path) -> None:
    """Write rooms.svg and rooms.md, the table."""
    folder.mkdir(exist_ok=True)
    draw().savefig(folder / "rooms.svg", metadata={"Date": None})
    (folder / "rooms.md").write_text(table(), encoding="utf-8")


def chambers() -> networkx.DiGraph:
    """Return the rooms of one level below the packages, with an edge from each to every one that it imports."""
    graph = networkx.DiGraph()
    graph.add_nodes_from(_chamber(room) for room in ROOMS if room not in FACES)
    imports = {(_chamber(room_of(a)), _chamber(room_of(b))) for a, b in arrows()}
    graph.add_edges_from((a, b) for a, b in imports if a != b and {a, b} <= set(graph))
    return graph


def _chamber(room: str) -> str:
    return ".".join(room.split(".")[:2])


def inside(graph: networkx.DiGraph, package: str) -> networkx.DiGraph:
    """Return the rooms of one package, in their order, so that the same house gives the same picture."""
    part = networkx.DiGraph()
    part.add_nodes_from(room for room in graph if room.split(".")[0] == package)
    part.add_edges_from(edge for edge in sorted(graph.edges) if set(edge) <= set(part))
    return part


def drawn_arrows(graph: networkx.DiGraph) -> list[tuple[str, str]]:
    """Return the imports that do not follow from others: what a picture needs."""
    return sorted(networkx.transitive_reduction(graph).edges)


def rows(graph: networkx.DiGraph) -> list[list[str]]:
    """Return the rooms of a package in rows: each stands below what it imports, just above what imports it first."""
    row: dict[str, int] = {}
    for room in networkx.topological_sort(graph.reverse()):
        row[room] = max((row[other] + 1 for other in graph[room]), default=0)
    for room in networkx.topological_sort(graph):
        row[room] = min((row[other] - 1 for other in graph.predecessors(room)), default=row[room])
    return [[room for room in graph if row[room] == level] for level in range(max(row.values()) + 1)]


def placed(graph: networkx.DiGraph, starts: int = 30) -> Places:
    """Return a place for every room: arrows are short, apart from each other and outside boxes."""
    rng = random.Random(0)
    found = [_improved(graph, rng) for _ in range(starts)]
    return min(found, key=lambda places: _effort(drawn_arrows(graph), places))


def _improved(graph: networkx.DiGraph, rng: random.Random) -> Places:
    """Return places that no other order of a single row makes better, from places drawn at random."""
    edges = drawn_arrows(graph)
    levels = rows(graph)
    places: Places = {}
    for level, each in enumerate(levels):
        places |= _in_row(level, each, rng.sample(range(COLUMNS), len(each)))
    while True:
        before = places
        for level, each in enumerate(levels):
            orders = permutations(range(COLUMNS), len(each))
            choices = (places, *(places | _in_row(level, each, columns) for columns in orders))
            places = min(choices, key=lambda choice: _effort(edges, choice))
        if places == before:
            return places


def _in_row(level: int, each: Sequence[str], columns: Sequence[int]) -> Places:
    return {room: (level, column) for room, column in zip(each, columns, strict=True)}


def _effort(edges: list[tuple[str, str]], places: Places) -> float:
    """Return how hard the arrows are to follow: through boxes, across each other, aslant; our weights."""
    lines = [(places[a], places[b]) for a, b in edges]
    hits = sum(_hits(*line, box) for line in lines for box in places.values())
    crossings = sum(_cross(one, other) for one, other in combinations(lines, 2))
    aslant = sum(abs(start[1] - end[1]) for start, end in lines)
    return 100 * hits + 10 * crossings + aslant + 0.01 * sum(column for _, column in places.values())


def _hits(start: Place, end: Place, box: Place) -> bool:
    """Whether the arrow from one place up to another passes through the box at a third, or close by."""
    return end[0] < box[0] < start[0] and abs(_column(start, end, box[0]) - box[1]) < 0.75


def _cross(one: tuple[Place, Place], other: tuple[Place, Place]) -> bool:
    """Whether two arrows cross: they change sides between the rows that both pass."""
    high, low = max(one[1][0], other[1][0]), min(one[0][0], other[0][0])
    if high >= low:
        return False
    sides = [_column(*one, row) - _column(*other, row) for row in (high, low)]
    return sides[0] * sides[1] < 0


def _column(start: Place, end: Place, row: int) -> float:
    """Return where an arrow passes a row."""
    return start[1] + (start[0] - row) / (start[0] - end[0]) * (end[1] - start[1])


def draw() -> Figure:
    """Return the picture: a band for each package, its rooms below what they import, arrows to what they import."""
    graph = chambers()
    parts = [inside(graph, package) for package in PACKAGES]
    places = [placed(each) for each in parts]
    heights = [DOWN * (1 + max(row for row, _ in each.values())) for each in places]
    width = LABEL + COLUMNS * ACROSS
    height = sum(heights) + GAP * (len(PACKAGES) - 1)
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    top = 0.0
    for package, says, colour, rooms, each, tall in zip(PACKAGES, SAYS, COLOURS, parts, places, heights, strict=True):
        _box(axes, 0, top, width, tall, colour)
        axes.text(0.15, top + tall / 2, package, fontsize=13, weight="bold", va="bottom")
        axes.text(0.15, top + tall / 2 + 0.05, textwrap.fill(says, 19), fontsize=9, va="top")
        if top:
            _arrow(axes, (LABEL / 2, top + 0.12), (LABEL / 2, top - GAP - 0.12), 2.5)
        centres = {room: _centre(top, place) for room, place in each.items()}
        for a, b in drawn_arrows(rooms):
            _arrow(axes, (centres[a][0], centres[a][1] - HEIGHT / 2), (centres[b][0], centres[b][1] + HEIGHT / 2), 1)
        for room, (x, y) in centres.items():
            _box(axes, x - WIDTH / 2, y - HEIGHT / 2, WIDTH, HEIGHT, "white")
            axes.text(x, y - 0.14, room.split(".")[-1], fontsize=10, weight="bold", ha="center", va="center")
            axes.text(x, y + 0.11, _short(room), fontsize=6.8, ha="center", va="center", linespacing=1.1)
        top += tall + GAP
    return figure


def _centre(top: float, place: tuple[int, int]) -> tuple[float, float]:
    row, column = place
    return LABEL + ACROSS * (column + 0.5), top + DOWN * (row + 0.5)


def _box(axes: Axes, x: float, y: float, width: float, height: float, colour: str) -> None:
    style = "round,pad=0,rounding_size=0.06"
    axes.add_patch(FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor=colour, edgecolor="#777777", lw=0.8))


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], width: float) -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "lw": width, "color": "#444444", "shrinkA": 0})


def _short(room: str) -> str:
    """Return the first words of a room's purpose, in two lines at most."""
    said = purpose(room).replace("`", "").removeprefix(f"{room.split('.')[-1]}(): ")
    words = re.split(r"[:;.] | \(|\.$", said)[0]
    return "\n".join(textwrap.wrap(words, 36, max_lines=2, placeholder=" ..."))


def table() -> str:
    """Return the rooms with their purposes in Markdown, in the order of imports."""
    lines = [f"| `{room.replace('.', '/')}` | {purpose(room)} |" for room in ROOMS]
    return "\n".join(["| room | what it is for |", "|---|---|", *lines, ""])


if __name__ == "__main__":
    draw().savefig(sys.argv[1])
