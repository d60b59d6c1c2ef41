"""A drawing of points by two criteria as SVG, and what the script of the page shows when a reader hovers over one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

WIDTH, HEIGHT = 860, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 16, 52  #: margins
CELL = 4  #: pixels; of the dominated points in a cell only the first is kept, our choice: more cannot be told apart
SHOWN = 0.98  #: share of the points that the axes show; the worst lie outside
STAR = 9  #: pixels


@dataclass(frozen=True)
class Column:
    """What hovering says of each point: before, the value, after. kind "size": bytes, shown in KB where they are."""

    before: str
    after: str
    values: Sequence[float | None]  #: None: nothing is said
    kind: Literal["number", "size", "rounded"] = "number"  #: rounded: to six digits


@dataclass(frozen=True)
class Cloud:
    """Points to draw, all of them also in `columns` and `titles`."""

    x: np.ndarray  #: in the unit of the axis
    y: np.ndarray
    labels: tuple[str, str]  #: of the axes
    edge: np.ndarray  #: positions of the points on the black line, ascending in x
    order: np.ndarray  #: positions of all points, those to keep first where several cannot be told apart
    star: int | None  #: position of the recommendation
    columns: tuple[Column, ...]
    titles: Sequence[str]  #: the last line of each point
    bands: Sequence[tuple[float, float, str]] = ()  #: from where to where on the axis across, and the class


@dataclass(frozen=True)
class Chart:
    """The drawing, and per point in it what a reader wants to know."""

    svg: str
    data: dict[str, Any]


@dataclass(frozen=True)
class Scale:
    """One axis: from data to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: Any) -> Any:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return about six round numbers inside."""
        rough = (self.high - self.low) / 6
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)
        first = math.ceil(self.low / step)
        return [count * step for count in range(first, math.floor(self.high / step) + 1)]


def chart(cloud: Cloud, name: str) -> Chart:
    """Return the points with the line and the star; name: what screen readers say of it."""
    scale = (_scale(cloud.x, cloud.edge, LEFT, WIDTH - RIGHT), _scale(cloud.y, cloud.edge, HEIGHT - BOTTOM, TOP))
    x, y = scale[0](cloud.x), scale[1](cloud.y)
    kept = _thinned(x, y, cloud)
    edge = [int(i) for i in cloud.edge]
    body = [_axes(*scale, *cloud.labels)]
    body += _bands(cloud, scale[0])
    body += [f'<circle class="point" cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="2"/>' for i in kept]
    corners = [f"M{x[edge[0]]:.1f},{TOP}V{y[edge[0]]:.1f}", *(f"H{x[i]:.1f}V{y[i]:.1f}" for i in edge[1:])]
    body.append(f'<path class="front" d="{"".join(corners)}H{WIDTH - RIGHT}"/>')
    body += [f'<circle class="best" cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="4"/>' for i in edge]
    if cloud.star is not None:
        body.append(f'<polygon class="star" points="{_star(x[cloud.star], y[cloud.star])}"/>')
    body.append('<circle id="ring" r="8"/>')
    svg = f'<svg id="front" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">{"".join(body)}</svg>'
    shown = [*kept, *(i for i in edge if i != cloud.star), *([] if cloud.star is None else [cloud.star])]
    return Chart(svg, _data(cloud, shown, x, y))


def _bands(cloud: Cloud, scale: Scale) -> list[str]:
    """Return the bands as far as the axes show them."""
    found = []
    for low, high, name in cloud.bands:
        left, right = max(scale(low), LEFT), min(scale(high), WIDTH - RIGHT)
        if right > left:
            box = f'x="{left:.1f}" y="{TOP}" width="{right - left:.1f}" height="{HEIGHT - BOTTOM - TOP}"'
            found.append(f'<rect class="{name}" {box}/>')
    return found


def _scale(values: np.ndarray, edge: np.ndarray, start: float, end: float) -> Scale:
    low, high = float(values[edge].min()), max(float(values[edge].max()), float(np.quantile(values, SHOWN)))
    margin = 0.05 * (high - low) or 0.05 * high or 1.0
    return Scale(low - margin, high + margin, start, end)


def _thinned(x: np.ndarray, y: np.ndarray, cloud: Cloud) -> list[int]:
    """Return the dominated points inside the axes, of each cell the first of `order`, by position."""
    cells: dict[tuple[int, int], int] = {}
    taken = {*cloud.edge.tolist(), cloud.star}
    for i in cloud.order.tolist():
        if i not in taken and x[i] <= WIDTH - RIGHT and y[i] >= TOP:
            cells.setdefault((int(x[i] // CELL), int(y[i] // CELL)), i)
    return sorted(cells.values())


def _data(cloud: Cloud, shown: list[int], x: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Return what hovering shows; of several points at one place the last is shown."""
    columns = []
    for column in cloud.columns:
        values = [column.values[i] for i in shown]
        if column.kind == "rounded":
            values = [None if value is None else float(f"{value:.6g}") for value in values]
        columns.append({"before": column.before, "after": column.after, "kind": column.kind, "values": values})
    return {
        "x": [round(float(x[i]), 1) for i in shown],
        "y": [round(float(y[i]), 1) for i in shown],
        "columns": columns,
        "titles": [cloud.titles[i] for i in shown],
    }


def _axes(x: Scale, y: Scale, across: str, up: str) -> str:
    parts = []
    for tick in x.ticks():
        at = f"{x(tick):.1f}"
        parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        parts.append(f'<text x="{at}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{tick:,.6g}</text>')
    for tick in y.ticks():
        at = f"{y(tick):.1f}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at}" dy="4" text-anchor="end">{tick:,.6g}</text>')
    middle = (HEIGHT - BOTTOM + TOP) / 2
    parts.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{across}</text>')
    parts.append(f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle">{up}</text>')
    box = f'width="{WIDTH - RIGHT - LEFT}" height="{HEIGHT - BOTTOM - TOP}"'
    return "".join([*parts, f'<rect class="frame" x="{LEFT}" y="{TOP}" {box}/>'])


def _star(x: float, y: float) -> str:
    corners = []
    for corner in range(10):
        radius, angle = STAR * (1.0 if corner % 2 == 0 else 0.42), math.pi * (corner / 5 - 0.5)
        corners.append(f"{x + radius * math.cos(angle):.1f},{y + radius * math.sin(angle):.1f}")
    return " ".join(corners)
