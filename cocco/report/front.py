"""The front as an SVG drawing, and the points behind it as data for the script of the page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocco.dominance import non_dominated
from cocco.objective import EVALUATED
from cocco.pictures.style import UNITS
from cocco.report.run import Run

WIDTH, HEIGHT = 860, 460
LEFT, RIGHT, TOP, BOTTOM = 70, 20, 16, 52  #: margins
CELL = 4  #: pixels; of the dominated points in a cell only the cheapest is kept, our choice: more cannot be told apart
SHOWN = 0.98  #: share of the points that the axes show; the worst lie outside
STAR = 9  #: pixels


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


@dataclass(frozen=True)
class Front:
    """The drawing, and per point in it what a reader wants to know."""

    svg: str
    data: dict[str, Any]


def front(run: Run) -> Front:
    """Return the samples of a run by capacity and metric, the front as a staircase, the recommendation as a star."""
    unit, points = UNITS[run.metric], run.points
    capacity, value = points["capacity"].to_numpy(float), points["value"].to_numpy(float) * unit.scale
    best = _best(run)
    across, up = np.append(capacity / 1024, best[0] / 1024), np.append(value, best[1] * unit.scale)
    edge = non_dominated(across, up)
    x = _scale(across, edge, LEFT, WIDTH - RIGHT)
    y = _scale(up, edge, HEIGHT - BOTTOM, TOP)
    kept = _thinned(x(across), y(up), edge, np.append(points["cost"].to_numpy(float), run.cost))
    body = [_axes(x, y, f"capacity of one core ({UNITS['capacity'].symbol})", f"{unit.name} ({unit.symbol})")]
    body += [f'<circle class="point" cx="{x(across[i]):.1f}" cy="{y(up[i]):.1f}" r="2"/>' for i in kept]
    corners = [f"M{x(across[edge[0]]):.1f},{TOP}"]
    corners += [f"V{y(up[i]):.1f}" if k == 0 else f"H{x(across[i]):.1f}V{y(up[i]):.1f}" for k, i in enumerate(edge)]
    body.append(f'<path class="front" d="{"".join(corners)}H{WIDTH - RIGHT}"/>')
    body += [f'<circle class="best" cx="{x(across[i]):.1f}" cy="{y(up[i]):.1f}" r="4"/>' for i in edge]
    body.append(f'<polygon class="star" points="{_star(x(across[-1]), y(up[-1]))}"/><circle id="ring" r="8"/>')
    svg = f'<svg id="front" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{unit.name} against capacity">'
    shown = [*kept, *(int(i) for i in edge if i != len(value)), len(value)]
    return Front(f"{svg}{''.join(body)}</svg>", _data(run, shown, x(across), y(up), up))


def _best(run: Run) -> tuple[float, float]:
    """Return the capacity and the metric of the recommendation."""
    assert run.accelerator is not None, "a run without an answer has no front"
    field = EVALUATED[run.metric]
    value = sum(network.weight * getattr(network, field) for network in run.networks)
    return float(run.accelerator.buffer_bytes), value


def _scale(values: np.ndarray, edge: np.ndarray, start: float, end: float) -> Scale:
    low, high = float(values[edge].min()), max(float(values[edge].max()), float(np.quantile(values, SHOWN)))
    margin = 0.05 * (high - low) or 0.05 * high or 1.0
    return Scale(low - margin, high + margin, start, end)


def _thinned(x: np.ndarray, y: np.ndarray, edge: np.ndarray, cost: np.ndarray) -> list[int]:
    """Return the dominated points inside the axes, of each cell the cheapest, in the order of the samples."""
    cells: dict[tuple[int, int], int] = {}
    taken = {*edge.tolist(), len(x) - 1}
    for i in np.argsort(cost, kind="stable").tolist():
        if i not in taken and x[i] <= WIDTH - RIGHT and y[i] >= TOP:
            cells.setdefault((int(x[i] // CELL), int(y[i] // CELL)), i)
    return sorted(cells.values())


def _data(run: Run, shown: list[int], x: np.ndarray, y: np.ndarray, up: np.ndarray) -> dict[str, Any]:
    """Return what hovering shows, a list per column; the last point is the recommendation."""
    unit, points, accelerator = UNITS[run.metric], run.points, run.accelerator
    assert accelerator is not None
    buffers = [name for name in points.columns if name.endswith("_buffer_bytes")]
    sizes = {name: points[name].tolist() for name in buffers}
    counts = points["subgraphs"].tolist() if "subgraphs" in points.columns else None
    best = {name: getattr(accelerator, name.removesuffix("_bytes")) for name in buffers}
    last, costs = len(points), points["cost"].tolist()
    return {
        "metric": unit.name,
        "unit": unit.symbol,
        "x": [round(float(x[i]), 1) for i in shown],
        "y": [round(float(y[i]), 1) for i in shown],
        "value": [float(f"{up[i]:.6g}") for i in shown],
        "buffers": {
            name.removesuffix("_bytes").replace("_", " "): [best[name] if i == last else column[i] for i in shown]
            for name, column in sizes.items()
        },
        "cost": [round(run.cost if i == last else costs[i]) for i in shown],
        "subgraphs": [
            sum(len(network.subgraphs) for network in run.networks) if i == last else counts[i] if counts else None
            for i in shown
        ],
        "sample": [None if i == last else i + 1 for i in shown],
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
