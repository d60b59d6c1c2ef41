"""Tensors that stay on chip between subgraphs, as bars over the steps, from their maker to their last reader there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cocco.output.pictures.style import SIZE_INCHES, WIDEST_INCHES
from simulator.views.intervals import rows_of

KB = 2.0**10
NAMED = 80  #: intervals up to which each has a row with its name; our choice: more share rows
ROW_INCHES = (0.17, 0.11)  #: height of a row with a name, and without
LIGHTEST, DARKEST = 0.85, 0.25  #: greys of the smallest and the largest tensor
LONGEST_NAME = 32  #: characters


class KeptBar(NamedTuple):
    """A tensor, the steps over which it is kept, and the bytes that it takes in one core."""

    tensor: str
    from_step: int
    until_step: int
    size_bytes: int


def kept_figure(bars: Sequence[KeptBar], steps: int, title: str = "") -> Figure:
    """Return a bar for each interval over the steps of a plan, in execution order; the larger the darker."""
    if not bars:
        raise ValueError("a picture of kept tensors needs one that is kept")
    named = len(bars) <= NAMED
    ordered = sorted(bars, key=lambda bar: (bar.from_step, bar.until_step, bar.tensor))
    rows = list(range(len(bars))) if named else rows_of([(bar.from_step, bar.until_step + 1) for bar in ordered])
    height = max(2.2, 1.1 + (max(rows) + 1) * ROW_INCHES[0 if named else 1])
    figure = Figure(figsize=(min(WIDEST_INCHES, max(SIZE_INCHES[0], 2.5 + 0.14 * steps)), height), layout="constrained")
    axes = figure.add_subplot()
    largest = max(bar.size_bytes for bar in bars)
    greys = [str(LIGHTEST - (LIGHTEST - DARKEST) * bar.size_bytes / largest) for bar in ordered]
    axes.barh(
        rows, [bar.until_step - bar.from_step + 1 for bar in ordered], 0.76,
        left=[bar.from_step - 0.5 for bar in ordered], color=greys, edgecolor="black", linewidth=0.5,
    )  # fmt: skip
    axes.set_xlim(-0.6, steps - 0.4)
    axes.set_ylim(max(rows) + 0.7, -0.7)
    axes.set_yticks(rows if named else [])
    if named:
        axes.set_yticklabels([_label(bar) for bar in ordered], size=6.5, parse_math=False)
    axes.set_ylabel("" if named else f"{len(bars)} intervals")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel("subgraph, in the order they run")
    axes.set_title(title, size=10, parse_math=False)  # a name may have dollar signs
    return figure


def _label(bar: KeptBar) -> str:
    name = bar.tensor if len(bar.tensor) <= LONGEST_NAME else f"{bar.tensor[: LONGEST_NAME - 2]}.."
    return f"{name}, {bar.size_bytes / KB:,.1f} KB"
