"""The tables of docs/mapping.md that come from experiments/reference/*.csv, in Markdown.

`python -m experiments.mapping_tables` prints them; a test keeps the page equal to them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from experiments.common.drawing import TITLES
from experiments.page_tables.tables import markdown, reference
from experiments.paper.related import mapping_quality
from simulator.technology import KiB

Found = Mapping[Any, Any]  #: a row of a table
LISTS = {
    "resnet50": "ResNet-50",
    "resnext50_32x4d": "ResNeXt-50",
    "alexnet": "AlexNet",
    "vgg16": "VGG16",
    "dlrm": "DLRM",
    "deepbench": "DeepBench",
}  #: as the lists are called
KILOCYCLES = 1e3
MILLIJOULES = 1e9  #: pJ


def methods() -> str:
    """Return each method's cycles and energy over those of CoSA, means of each list."""
    table = reference("mapping_quality")
    rows = []
    for found in mapping_quality.summary(table).to_dict("records"):
        cells = [f"{found['layers']}", f"{found['cosa_over_bound']:.3f}"]
        for method in ("random", "search", "climb"):
            cells += [f"{found[f'{method}_cycles']:.2f}", f"{found[f'{method}_energy']:.2f}"]
        cells.append(f"{found['closed_cycles']:.2f}")
        cells += [f"{found['polished_cycles']:.2f}", f"{found['polished_energy']:.2f}"]
        rows.append([LISTS[found["list"]], *cells])
    valid = table["valid"].iloc[0]
    heads = ["list", "layers", "cycles / bound", "best of 5", "energy", f"search, {valid:,} valid", "energy", "climb",
             "energy", "closed form", "polished", "energy"]  # fmt: skip
    return markdown(heads, rows).replace("---|" * len(heads), "---|" + "---:|" * (len(heads) - 1))


def mappers() -> str:
    """Return memories, energies or latencies under three mappers, and the regret of the default's plan."""
    table = reference("mapper_effect")
    rows = []
    for metric in dict.fromkeys(map(str, table["metric"])):
        for network in dict.fromkeys(map(str, table["network"])):
            mine = table.query("network == @network and metric == @metric").to_dict("records")
            sizes = ", ".join(f"{row['shared_buffer_bytes'] // KiB}" for row in mine)
            values = ", ".join(_value(row) for row in mine)
            rows.append([TITLES[network], metric.removesuffix("-sum"), sizes, values, _regrets(mine[1:])])
    names = ", ".join(dict.fromkeys(map(str, table["mapper"])))
    regrets = ", ".join(list(dict.fromkeys(map(str, table["mapper"])))[1:])
    return markdown(
        ["network", "metric", f"KB: {names}", "energy, mJ, or latency, kcycles", f"regret: {regrets}"], rows
    )


def _value(found: Found) -> str:
    if str(found["metric"]).startswith("latency"):
        return f"{found['latency_cycles'] / KILOCYCLES:.0f}"
    value = found["energy_pj"] / MILLIJOULES
    return f"{value:.2f}" if value >= 10 else f"{value:.3f}"


def _regrets(found: Sequence[Found]) -> str:
    cells = [f"{row['regret_percent']:.2f} %" for row in found]
    cells = ["0" if each == "0.00 %" else each for each in cells]
    return cells[0] if set(cells) == {"0"} else ", ".join(cells)


PAGES: dict[str, tuple[Callable[[], str], ...]] = {"mapping.md": (methods, mappers)}


if __name__ == "__main__":
    sys.stdout.write("\n\n".join(table() for tables in PAGES.values() for table in tables) + "\n")
