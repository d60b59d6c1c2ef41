"""A picture of a schedule: step against address above, the bytes that are resident, spilled and retrieved below.

Drawn without pyplot. Greys and hatches, so it reads on paper: a stay that ends with a spill and one that begins with a
retrieval have their own hatch, and a triangle marks the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from cocco.output.pictures.saving import write_picture
from cocco.scheduling.answer import ScheduleResult
from simulator.schedule.schedule import Segment
from simulator.units import SIZE

SIZE_INCHES = (9.0, 5.8)
LABEL_HEIGHT = 0.045  #: of the axis that a stay must have for its name; our choice
LETTER = 0.0095  #: of the width that a letter takes
LABEL_LETTERS = (4, 12)  #: fewer say nothing, more are cut
STAY_STYLES = {
    "kept until it is dead": ("0.86", ""),
    "parameters": ("0.97", "...."),
    "leaves for the host": ("0.62", "////"),
    "comes back from the host": ("0.78", "\\\\\\\\"),
}


def save_picture(path: Path, result: ScheduleResult) -> None:
    """Write the picture to a .png or .svg file, whole or not at all; the same answer, the same bytes."""
    write_picture(path, lambda: schedule_figure(result), "schedule", hatch_width=0.5)


def schedule_figure(result: ScheduleResult) -> Figure:
    """Return where every tensor lies at each step, above what is resident and what moves."""
    assert result.schedule is not None and result.replay is not None
    unit, scale, *_ = SIZE.unit(result.scratchpad_bytes)
    segments, steps = result.schedule.segments, len(result.schedule.order)
    figure = Figure(figsize=SIZE_INCHES, layout="constrained")
    memory, live = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    memory.set_xlim(0, steps)
    capacity = result.scratchpad_bytes / scale
    memory.set_ylim(0, 1.06 * capacity)
    _draw_stays(memory, segments, scale)
    memory.axhline(capacity, color="black", linewidth=1.4)
    memory.set_ylabel(f"address ({unit})")
    proof = "proven" if result.status == "optimal" else "not proven"
    title = (
        f"{result.network}, scratchpad {result.scratchpad_bytes:,} bytes, off-chip {result.replay.offchip_bytes:,} "
        f"bytes ({proof}, {result.method})"
    )
    memory.set_title(title, size=10, loc="left", parse_math=False)
    handles: list[Artist] = [
        Patch(facecolor=grey, hatch=hatch, edgecolor="black", label=name) for name, (grey, hatch) in STAY_STYLES.items()
    ]
    handles += _draw_live(live, segments, steps, scale)
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    live.axhline(capacity, color="black", linewidth=1.4)
    live.set_ylim(0, 1.25 * capacity)
    live.set_ylabel(f"resident ({unit})")
    live.set_xlabel("step (one operator each)")
    live.xaxis.set_major_locator(MaxNLocator(nbins="auto", integer=True))
    for axes in (memory, live):
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.6g}"))
    return figure


def _kind(segment: Segment) -> str:
    if segment.enters == "retrieved":
        return "comes back from the host"
    if segment.leaves == "dead":
        return "kept until it is dead"
    return "parameters" if segment.last == segment.first and segment.leaves == "dropped" else "leaves for the host"


def _draw_stays(axes: Axes, segments: Sequence[Segment], scale: float) -> None:
    steps, top = axes.get_xlim()[1], axes.get_ylim()[1]
    for kind, (grey, hatch) in STAY_STYLES.items():
        boxes = [_box(each, scale) for each in segments if _kind(each) == kind]
        width = 0.6 if steps < 150 else 0.25
        axes.add_collection(
            PolyCollection(boxes, facecolor=grey, hatch=hatch, edgecolor="black", linewidth=width)
        )  # fmt: skip
    for each in segments:
        letters = min(LABEL_LETTERS[1], int((each.last + 1 - each.first) / steps / LETTER))
        if letters >= min(LABEL_LETTERS[0], len(each.tensor)) and each.size / scale / top > LABEL_HEIGHT:
            label = each.tensor if len(each.tensor) <= letters else f"{each.tensor[: letters - 1]}~"
            at = ((each.first + each.last + 1) / 2, (each.address + each.size / 2) / scale)
            white = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
            axes.text(*at, label, ha="center", va="center", size=6, parse_math=False, bbox=white, clip_on=True)


def _box(segment: Segment, scale: float) -> list[tuple[float, float]]:
    left, right = segment.first, segment.last + 1
    low, high = segment.address / scale, (segment.address + segment.size) / scale
    return [(left, low), (right, low), (right, high), (left, high)]


def _draw_live(axes: Axes, segments: Sequence[Segment], steps: int, scale: float) -> list[Artist]:
    """Draw what is resident, mark what moves, and return the marks for the legend."""
    live = [0.0] * steps
    for each in segments:
        for step in range(each.first, each.last + 1):
            live[step] += each.size / scale
    axes.stairs(live, range(steps + 1), fill=True, color="0.8")
    axes.stairs(live, range(steps + 1), color="black", linewidth=0.6)
    spilled = sorted({each.last + 1 for each in segments if each.leaves == "spilled"})
    back = sorted({each.first for each in segments if each.enters == "retrieved"})
    height = axes.get_xaxis_transform()
    style: dict[str, Any] = {"linestyle": "none", "color": "black", "markersize": 4, "transform": height}
    marks = axes.plot(spilled, [0.93] * len(spilled), marker="^", label="step of a spill", **style)
    style["markerfacecolor"] = "white"
    return [*marks, *axes.plot(back, [0.86] * len(back), marker="v", label="step of a retrieval", **style)]
