"""How full the buffers are while each subgraph runs (Cocco, Fig. 7), and how long each kept tensor stays in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from cocco.output.pictures.style import FILLS, SIZE_INCHES, WIDEST_INCHES, Fill, bar_figure, stack
from simulator.accelerator import Accelerator
from simulator.units import KB, SIZE
from simulator.views.occupancy import Occupancy, rows_of

INTERVALS_NAMED = 80  #: intervals up to which each has a row with its name; our choice: more share rows
ROW_INCHES = (0.17, 0.11)  #: height of a row with a name, and without
LIGHTEST, DARKEST = 0.85, 0.25  #: greys of the smallest and the largest tensor
LONGEST_NAME = 32  #: characters
HEAD = 1.18  #: height of the axis over the capacity: room for its label
KEPT, WEIGHTS, MAIN, SIDE = FILLS[0], FILLS[1], FILLS[2], FILLS[3]


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
    named = len(bars) <= INTERVALS_NAMED
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
    return f"{name}, {SIZE.text(bar.size_bytes)}"


def occupancy_figure(occupied: Sequence[Occupancy], accelerator: Accelerator, title: str = "") -> Figure:
    """Return the bytes of one core that each subgraph holds, in execution order, against the capacity.

    One picture for a shared buffer, two for separate ones. Weights of the next subgraph that come early are
    not drawn.
    """
    if not occupied:
        raise ValueError("a picture of the buffers needs a subgraph")
    weights = {"weights": [each.weight_bytes / KB for each in occupied]}
    activations = {
        "MAIN, windows": [each.main_bytes / KB for each in occupied],
        "SIDE, rows kept": [each.side_bytes / KB for each in occupied],
    }
    fills: tuple[Fill, ...] = (MAIN, SIDE)
    if any(each.kept_bytes for each in occupied):
        activations = {"kept whole": [each.kept_bytes / KB for each in occupied]} | activations
        fills = (KEPT, *fills)
    if accelerator.is_shared:
        figure, (axes,) = bar_figure(len(occupied), title)
        stack(axes, weights | activations, (WEIGHTS, *fills))
        _finish(axes, "shared buffer", accelerator.activation_capacity)
    else:
        figure, (axes, below) = bar_figure(len(occupied), title, rows=2)
        stack(axes, activations, fills)
        _finish(axes, "global buffer", accelerator.activation_capacity)
        stack(below, weights, (WEIGHTS,))
        _finish(below, "weight buffer", accelerator.weight_capacity)
    figure.axes[-1].set_xlabel("subgraph, in the order they run")
    return figure


def _finish(axes: Axes, buffer: str, capacity: int) -> None:
    axes.axhline(capacity / KB, color="black", linestyle="--", linewidth=1.2, label=f"capacity, {SIZE.text(capacity)}")
    axes.set_ylim(0, capacity / KB * HEAD)
    axes.set_ylabel(f"{buffer} of one core (KB)")
    axes.legend(loc="upper right", ncols=4, fontsize=7, framealpha=1.0, borderpad=0.3)
