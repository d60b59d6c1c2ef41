"""What the drawing of memories on a page shows, as plain data; the script of the page draws it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from cocco.candidates.rounding import SAME
from simulator.units import Unit

CHART_CELLS = (
    160  #: across and up; of the samples in a cell only the first is drawn, our choice: more cannot be told apart
)
SHARE_DRAWN = 0.98  #: share of the samples that are drawn; the worst lie outside


@dataclass(frozen=True)
class ChartAxis:
    """One criterion on an axis; number x scale is in `unit`."""

    title: str
    unit: str
    scale: float

    @staticmethod
    def of(title: str, unit: Unit) -> ChartAxis:
        """Return the axis of a quantity in this unit."""
        return ChartAxis(title, unit.name, 1 / unit.size)


@dataclass(frozen=True)
class Limit:
    """A number that no memory may exceed: of x (-1), or of the y with this position."""

    axis: int
    value: float
    text: str


@dataclass(frozen=True)
class Slider:
    """What a byte of buffer is worth: cost = x + alpha * y; alpha: where it starts. text: of alpha's unit."""

    alpha: float
    text: str
    reset: str = "As asked"  #: what the button back to that alpha says


@dataclass(frozen=True)
class Overlay:
    """The sizes of another run in the same drawing, by the first y; star: its recommendation."""

    title: str
    x: Sequence[float]
    y: Sequence[float | None]
    plan: Sequence[int | None]
    star: int | None


@dataclass(frozen=True)
class SizeGrid:
    """Two buffers of each memory, for a map of their sizes; bytes, parallel to the points of the chart."""

    titles: tuple[str, str]  #: across and up
    across: Sequence[int]
    up: Sequence[int]


@dataclass(frozen=True)
class Chart:
    """Memories by two or more criteria, a drawing for each y; all lists of points are parallel.

    x: numbers across, ascending. y: per drawing what the best plan known takes, None where the run priced none there.
    least: what no plan takes less than, by the first y; None where nothing is proven. names: of the memories. lines:
    what hovering shows. sure: whether the recommendation is proved.
    plan: which plans of the page are those of the point, None where the run has none. stairs: whether the points
    without a better one left and below are joined. star: the recommendation. whole: whether all sizes of the space are
    among the points. others: what all other sizes cost more than at the slider's first alpha, 0 where that is not
    known; None where there is none. banded: whether the sizes within the margins are drawn. grid: how large each of two
    buffers is.
    """

    across: ChartAxis
    up: tuple[ChartAxis, ...]
    x: Sequence[float]
    y: Sequence[Sequence[float | None]]
    names: Sequence[str]
    lines: Sequence[Sequence[str]]
    plan: Sequence[int | None]
    stairs: bool
    least: Sequence[float | None] | None = None
    star: int | None = None
    whole: bool = False
    others: float | None = None
    banded: bool = False
    sure: bool = False
    limits: Sequence[Limit] = ()
    ruled_out: float | None = None  #: an x below which nothing keeps the limits, proved
    slider: Slider | None = None
    margins: Sequence[float] = ()
    cloud: dict[str, Any] = field(default_factory=dict)
    overlay: Overlay | None = None
    grid: SizeGrid | None = None
    title: str = ""  #: of this run, where there is another
    slope: float = 0.0  #: what x is worth in the first y: a line through the star costs the same
    floors: Sequence[Sequence[Sequence[float]]] = ()  #: by drawing, stairs of x and y that nothing lies below
    log: bool = False  #: whether numbers across are drawn by their logarithm
    kinds: Sequence[int] = ()  #: the colour of each point
    kind_names: Sequence[str] = ()  #: what each colour is
    words: Mapping[str, str] = field(default_factory=dict)  #: of the legend, in place of those of memories

    @property
    def has_bounds(self) -> bool:
        """Whether bounds are drawn: where one is known and the best plan is not proved to be the least."""
        pairs = zip(self.y[0], self.least or ())
        return any(least is not None and not is_proved(price, least) for price, least in pairs)

    def to_json(self) -> dict[str, Any]:
        """Return plain data."""
        return asdict(self)


def is_proved(price: float | None, least: float | None) -> bool:
    """Return whether a price is known that no plan undercuts."""
    return price is not None and least is not None and least >= price * (1 - SAME)


def below_the_line(chart: Chart) -> list[int]:
    """Return the points without a price whose bound leaves open that they take less than the line does at their x."""
    alpha = 1.0 if chart.slider is None else chart.slider.alpha  # bounds are of the cost
    found, line, bounds = list[int](), math.inf, chart.least or [None] * len(chart.x)
    for i in sorted(range(len(chart.x)), key=lambda i: (chart.x[i], chart.y[0][i] is None)):
        price, least = chart.y[0][i], bounds[i]
        if price is not None:
            line = min(line, price)
        elif least is None or chart.x[i] + alpha * least < (chart.x[i] + alpha * line) * (1 - 2 * SAME):
            found.append(i)
    return found


def cloud(x: np.ndarray, y: Sequence[np.ndarray]) -> dict[str, Any]:
    """Return the samples to draw behind the points, without the worst, and one of those that look the same."""
    if not len(x):
        return {}
    seen = {
        place: i
        for i, place in reversed(list(enumerate(zip(_cells(x), *(_cells(each) for each in y)))))
        if place[0] <= CHART_CELLS and all(each <= CHART_CELLS for each in place[1:])
    }
    kept = sorted(seen.values())
    return {"x": [float(x[i]) for i in kept], "y": [[float(each[i]) for i in kept] for each in y]}


def _cells(values: np.ndarray) -> list[int]:
    low, high = float(values.min()), float(np.quantile(values, SHARE_DRAWN))
    return np.floor((values - low) / ((high - low) or 1.0) * CHART_CELLS).astype(int).tolist()
