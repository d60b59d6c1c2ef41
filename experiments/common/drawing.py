"""What the experiments' pictures share: panels, bars that differ without colour, lines with their own markers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

from cocco.output.pictures.style import FILLS

TITLES = {
    "vgg16": "VGG16",
    "resnet50": "ResNet50",
    "resnet152": "ResNet152",
    "googlenet": "GoogleNet",
    "transformer": "Transformer",
    "gpt": "GPT",
    "randwire_a": "RandWire-A",
    "randwire_b": "RandWire-B",
    "nasnet": "NASNet",
    "densenet121": "DenseNet121",
    "resnext50": "ResNeXt50",
    "vit_b16": "ViT-B/16",
    "transformer_10_20": "Transformer 10-20",
    "encoder_stack": "Encoder stack",
    "fcn": "FCN",
    "l_raspp": "L-RASPP",
    "deeplabv3": "DeepLabv3",
    "s3d": "S3D",
    "r2plus1d": "R(2+1)D",
    "pnasnet5large": "PNASNet-5",
    "amoebanet_d": "AmoebaNet-D",
    "darts": "DARTS",
}
LINES: tuple[Mapping[str, Any], ...] = (
    {"color": "black", "linestyle": "-", "marker": "o"},
    {"color": "#0072b2", "linestyle": "--", "marker": "s"},
    {"color": "#d55e00", "linestyle": "-.", "marker": "^"},
    {"color": "#009e73", "linestyle": ":", "marker": "D"},
    {"color": "#cc79a7", "linestyle": "-", "marker": "v"},
    {"color": "#e69f00", "linestyle": "--", "marker": "P"},
)  #: style of the first, second, ... line, in colours that all eyes tell apart (Okabe and Ito)
PAPER_STYLE: Mapping[str, Any] = {
    "marker": "D",
    "color": "white",
    "markeredgecolor": "black",
    "markersize": 5,
    "linestyle": "none",
    "zorder": 4,
}  #: style of the paper's numbers
BAR = 0.8  #: of the room of a group


def title(network: str) -> str:
    """Return how the paper writes the name of a network; that of a file without its folder; other names as they are."""
    return TITLES.get(network, Path(network).name if network.endswith((".json", ".onnx")) else network)


def by_case(table: pandas.DataFrame, fields: Sequence[str]) -> pandas.DataFrame:
    """Return the table with "VGG16, 4 cores" in place of a network where fields such as `cores` have several values."""
    varied = [name for name in fields if name in table and table[name].nunique() > 1]
    if not varied or "network" not in table:
        return table
    names = [
        ", ".join([title(str(network)), *(_case_words(name, value) for name, value in zip(varied, case))])
        for network, *case in table[["network", *varied]].itertuples(index=False)
    ]
    return table.assign(network=names)


def _case_words(name: str, value: Any) -> str:
    if name == "cores":
        return f"{value} core{'s' if value != 1 else ''}"
    if name == "hardware_file":
        return Path(str(value)).stem
    if name == "keep":
        return f"keep {value}"
    return f"{name} {value:g}" if name in ("alpha", "batch") else str(value)


def styles(labels: Iterable[Any]) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield each label with the style of its line; from the sixth on they repeat, with hollow markers in turn."""
    for place, label in enumerate(labels):
        hollow = {"markerfacecolor": "white"} if place // len(LINES) % 2 else {}
        yield label, {**LINES[place % len(LINES)], **hollow}


def panels(rows: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """Return a picture of so many panels, in inches, row by row, each with a quiet grid."""
    figure = Figure(figsize=(width, height), layout="constrained")
    found = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in found:
        axes.grid(axis="y", color="0.9", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.tick_params(labelsize=8)
    return figure, found


def over_capacity(table: pandas.DataFrame, ylabel: str) -> tuple[Figure, list[tuple[Axes, pandas.DataFrame]]]:
    """Return a picture of a panel per network, three in a row, each with its rows of a table over the capacity."""
    names = list(dict.fromkeys(table["network"]))
    columns = min(3, len(names))
    lines = -(-len(names) // columns)
    figure, axes = panels(lines, columns, 3.7 * columns, 2.9 * lines)
    for i, each in enumerate(axes):
        each.set_visible(i < len(names))
        if i < len(names):
            each.set_title(title(names[i]), size=9)
        if i % columns == 0:
            each.set_ylabel(ylabel)
        if len(names) - columns <= i < len(names):
            each.set_xlabel("one memory (KB)")
    return figure, [(each, table[table["network"] == name]) for each, name in zip(axes, names)]


def bars(axes: Axes, groups: Sequence[str], heights: Mapping[str, Sequence[float | None]]) -> dict[str, list[float]]:
    """Draw the bars of each label side by side in each group, "n/a" where there is none, and return their middles."""
    middles = {}
    for (label, places, known), fill in zip(_in_groups(axes, groups, heights), FILLS):
        axes.bar(
            list(known), list(known.values()), BAR / len(heights), label=label, color=fill.colour, hatch=fill.hatch,
            edgecolor="black", linewidth=0.5,
        )  # fmt: skip
        middles[label] = places
    return middles


def dots(axes: Axes, groups: Sequence[str], heights: Mapping[str, Sequence[float | None]]) -> None:
    """Draw a marker for each label in each group, "n/a" where there is none; for log axes, where bars have no foot."""
    for (label, _, known), style in zip(_in_groups(axes, groups, heights), LINES):
        axes.plot(
            list(known), list(known.values()), label=label, markersize=5, markeredgecolor="black",
            markeredgewidth=0.5, **{**style, "linestyle": "none"},
        )  # fmt: skip
    for edge in range(1, len(groups)):
        axes.axvline(edge - 0.5, color="0.85", linewidth=0.6)


def _in_groups(
    axes: Axes, groups: Sequence[str], heights: Mapping[str, Sequence[float | None]]
) -> Iterator[tuple[str, list[float], dict[float, float]]]:
    """Yield each label, its places and what is known there; the axes get the groups, and "n/a" where nothing is."""
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    for i, (label, values) in enumerate(heights.items()):
        places = [group + (i - (len(heights) - 1) / 2) * (BAR / len(heights)) for group in range(len(groups))]
        yield label, places, {place: value for place, value in zip(places, values) if value is not None}
        for place, value in zip(places, values):
            if value is None:
                axes.text(place, 0.02, "n/a", transform=axes.get_xaxis_transform(), rotation=90, size=7, ha="center")


def say_none(axes: Axes) -> None:
    """Say in a panel without data that nothing runs."""
    axes.set_xticks([])
    axes.set_yticks([])
    axes.text(0.5, 0.5, "nothing runs in the memories given", transform=axes.transAxes, size=9, ha="center")


def log_labels(axis: Axis) -> None:
    """Label a log axis, drawn and scaled, in plain numbers: 1, 2, 5 of each decade, evenly where it spans less."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)) if high >= 10 * low else MaxNLocator(7, steps=(1, 2, 5, 10)))
    axis.set_major_formatter(StrMethodFormatter("{x:,g}"))
    axis.set_minor_formatter(NullFormatter())


def number(value: object) -> float | None:
    """Return a cell of a table as a number, None where it is empty."""
    if value is None or value != value:
        return None
    assert isinstance(value, (int, float)) or hasattr(value, "__float__")
    return float(value)
