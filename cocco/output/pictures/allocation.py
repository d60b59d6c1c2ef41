"""Pictures of a packing, time against address, with the bytes that are live in each step, and of a plan's memory.

Drawn without pyplot, so that nothing global changes. Shades of grey tell neighbours apart; nothing rests on colour.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from cocco.allocation.address_map import Kind, MemoryMap, Placed
from cocco.allocation.answer import AllocationResult
from cocco.output.pictures.saving import write_picture
from simulator.allocation.buffers import Allocation, Buffer, live_intervals
from simulator.units import SIZE

SIZE_INCHES = (8.0, 5.6)
GREYS = (0.88, 0.79, 0.70, 0.61)  #: free memory is white; light enough for a black id on them
LABEL_SHARE = (0.035, 0.035)  #: of width and height that a buffer must have for its id to be readable; our choice
MAX_LABEL = 8  #: characters
NAME_COLUMNS = 120  #: characters of a name that the width of a map has room for
#: shade and hatch of each kind of region, from the ones that live for one step to those that stay
REGION_STYLES: dict[Kind, tuple[str, str | None]] = {
    "main": ("0.94", None), "side": ("0.85", None), "weights": ("1.0", "////"), "kept": ("0.68", None),
}  # fmt: skip


def save_picture(path: Path, buffers: Sequence[Buffer], result: AllocationResult) -> None:
    """Write the picture of an answer to a .png or .svg file, whole or not at all; the same answer, the same bytes."""
    write_picture(path, lambda: packing_figure(buffers, result), "allocation")


def packing_figure(buffers: Sequence[Buffer], result: AllocationResult) -> Figure:
    """Return the packing, with capacity and height as lines, above the contention of every step."""
    assert result.allocation is not None and result.height_bytes is not None
    unit, scale, *_ = SIZE.unit(result.capacity_bytes)
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    packing, contention = figure.subplots(2, 1, sharex=True, height_ratios=(4, 1))
    start = min((buffer.lower for buffer in buffers), default=0)
    end = max((buffer.upper for buffer in buffers), default=1)
    packing.set_xlim(start, end)
    packing.set_ylim(0, 1.04 * max(result.capacity_bytes, result.height_bytes) / scale)
    _draw_buffers(packing, buffers, result.allocation, scale)
    capacity, height = result.capacity_bytes / scale, result.height_bytes / scale
    packing.axhline(capacity, color="black", linewidth=1.6, label=f"capacity {capacity:,.6g} {unit}")
    packing.axhline(height, color="black", linewidth=1.2, linestyle="--", label=f"height {height:,.6g} {unit}")
    figure.legend(loc="outside upper right", ncols=2, frameon=False, fontsize=9)
    packing.set_ylabel(f"address ({unit})")
    packing.set_title(f"{len(buffers):,} buffers, {result.status}", size=10, loc="left")
    _draw_contention(contention, buffers, scale)
    contention.axhline(capacity, color="black", linewidth=1.6)
    contention.set_ylim(0, packing.get_ylim()[1])
    contention.set_ylabel(f"live ({unit})")
    contention.set_xlabel("step")
    for axes in (packing, contention):
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.6g}"))
    contention.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
    contention.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return figure


def map_figure(network: str, each: MemoryMap) -> Figure:
    """Return what lies where in one memory over a whole plan: kept tensors are long bars with their names."""
    assert each.fits and each.height_bytes is not None
    unit, scale, *_ = SIZE.unit(each.capacity_bytes)
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    axes = figure.subplots()
    steps, capacity = len(each.regions), each.capacity_bytes / scale
    axes.set_xlim(0, steps)
    axes.set_ylim(0, 1.04 * capacity)
    for kind, (shade, hatch) in REGION_STYLES.items():
        runs = list(_runs([[p for p in regions if p.kind == kind] for regions in each.regions]))
        corners = [
            [(a, p.start / scale), (a, p.end / scale), (z, p.end / scale), (z, p.start / scale)] for p, a, z in runs
        ]
        width = 0.8 if kind == "kept" else 0.3
        if corners:
            drawn = PolyCollection(
                corners, facecolors=shade, edgecolors="black", linewidths=width, hatch=hatch, label=kind
            )
            axes.add_collection(drawn)
        for p, a, z in runs if kind == "kept" else []:
            name = p.tensor or ""
            is_tall = p.end - p.start >= LABEL_SHARE[1] * axes.get_ylim()[1] * scale
            if is_tall and (z - a) * NAME_COLUMNS >= len(name) * steps:
                axes.text((a + z) / 2, (p.start + p.end) / 2 / scale, name, size=7, ha="center", va="center")
    axes.axhline(capacity, color="black", linewidth=1.6, label=f"capacity {capacity:,.6g} {unit}")
    figure.legend(loc="outside upper right", ncols=len(REGION_STYLES) + 1, frameon=False, fontsize=9)
    axes.set_title(f"{network}, {each.memory} memory", size=10, loc="left")
    axes.set_ylabel(f"address ({unit})")
    axes.set_xlabel("subgraph")
    axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.6g}"))
    axes.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
    return figure


def _runs(steps: Sequence[Sequence[Placed]]) -> Iterator[tuple[Placed, int, int]]:
    """Yield every region with its first step and the one after its last; a kept tensor is one over its steps."""
    begun: dict[Placed, int] = {}
    for i, regions in enumerate([*steps, []]):
        for placed in [each for each in begun if each not in regions or each.kind != "kept"]:
            yield placed, begun.pop(placed), i
        for placed in regions:
            begun.setdefault(placed, i)


def _draw_buffers(axes: Axes, buffers: Sequence[Buffer], allocation: Allocation, scale: float) -> None:
    (left, right), top = axes.get_xlim(), axes.get_ylim()[1]
    corners, shades = [], []
    for number, buffer in enumerate(sorted(buffers, key=lambda each: (each.lower, allocation.addresses[each.id]))):
        low = allocation.addresses[buffer.id] / scale
        high = low + buffer.size / scale
        for first, after in live_intervals(buffer):
            corners.append([(first, low), (first, high), (after, high), (after, low)])
            shades.append(str(GREYS[number % len(GREYS)]))
            is_wide = after - first >= LABEL_SHARE[0] * (right - left)
            if is_wide and high - low >= LABEL_SHARE[1] * top and len(buffer.id) <= MAX_LABEL:
                axes.text((first + after) / 2, (low + high) / 2, buffer.id, size=7, ha="center", va="center")
    width = 0.6 if len(corners) <= 500 else 0.2
    axes.add_collection(PolyCollection(corners, facecolors=shades, edgecolors="black", linewidths=width))


def _draw_contention(axes: Axes, buffers: Sequence[Buffer], scale: float) -> None:
    changes: dict[int, int] = {}
    for buffer in buffers:
        for first, after in live_intervals(buffer):
            changes[first] = changes.get(first, 0) + buffer.size
            changes[after] = changes.get(after, 0) - buffer.size
    steps = sorted(changes)
    live = np.cumsum([changes[step] for step in steps]) / scale
    axes.fill_between(steps, live, step="post", color="0.8", edgecolor="black", linewidth=0.6)
