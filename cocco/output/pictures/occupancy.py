"""How full the buffers are while each subgraph runs: weights, MAIN and SIDE against the capacity (Cocco, Fig. 7)."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cocco.output.pictures.style import FILLS, Fill, bar_figure, stack
from simulator.accelerator import Accelerator
from simulator.views.occupancy import Occupancy

KB = 2.0**10
HEAD = 1.18  #: height of the axis over the capacity: room for its label
KEPT, WEIGHTS, MAIN, SIDE = FILLS[0], FILLS[1], FILLS[2], FILLS[3]


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
    axes.axhline(
        capacity / KB, color="black", linestyle="--", linewidth=1.2, label=f"capacity, {capacity / KB:,.0f} KB"
    )
    axes.set_ylim(0, capacity / KB * HEAD)
    axes.set_ylabel(f"{buffer} of one core (KB)")
    axes.legend(loc="upper right", ncols=4, fontsize=7, framealpha=1.0, borderpad=0.3)
