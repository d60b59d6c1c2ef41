"""Figure 4 of the paper, priced: bytes of one tile by production-centric and by consumption-centric execution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

import workloads
from experiments.common import command
from experiments.common.drawing import bars, number, panels, title
from experiments.common.experiment import Compute, Experiment, Seconds
from experiments.sweep.points import Point
from simulator.model.subgraph.production import Span, consumed, produced
from workloads.network.network import Network

TILES = (1, 4)  #: rows and columns of each output; our choice
LEAST_IN_BLOCK = 4  #: layers of a block; our choice


def rows(compute: Compute, _: int, networks: Sequence[str]) -> list[Point]:
    """Return one row per block and tile: bytes of all its tensors at once, by both ways; nothing is random.

    A block: the layers between two tensors through which all goes. Blocks of equal bytes are one row, with their count.
    """
    found = compute(blocks, [{"network": name, "tile": tile} for name in networks for tile in TILES])
    return [{"network": row["network"], "tile": row["tile"], **each} for row in found for each in row["rows"]]


def check(settings: Mapping[str, Any]) -> None:
    """Raise ValueError where no network has a block to compare."""
    networks = settings["networks"]
    if not any(blocks({"network": name, "tile": TILES[0]})["rows"] for name in networks):
        raise ValueError(
            f"{', '.join(networks)} {'has' if len(networks) == 1 else 'have'} no block of {LEAST_IN_BLOCK} layers or "
            "more with tiles; production_centric compares blocks"
        )


def blocks(point: Point) -> Point:
    """Return the blocks of a network, each with its bytes for a tile in the middle of its outputs."""
    network = workloads.load(point["network"])
    table: dict[tuple[int, int, int], Point] = {}
    for layers in blocks_of(network):
        last = network.layers[layers[-1]]
        spans = _middle(last.height, point["tile"]), _middle(last.width, point["tile"])
        try:
            asked = consumed(network, layers, *spans)
        except ValueError:  # a layer without a tile
            continue
        made = produced(network, layers, asked.spans).bytes
        row = table.setdefault(
            (len(layers), asked.bytes, made),
            {"block": last.name, "count": 0, "layers": len(layers), "consumption_bytes": asked.bytes}
            | {"production_bytes": made, "times": round(made / asked.bytes, 4)},
        )
        row["count"] += 1
    return {"rows": list(table.values())}


def blocks_of(network: Network) -> list[list[int]]:
    """Return runs of layers, cut where all that is read later has the same readers: one tensor, or ends of branches."""
    found: list[list[int]] = [[]]
    for v in range(len(network.layers)):
        found[-1].append(v)
        alive = [u for u in range(v + 1) if any(reader > v for reader in network.consumers[u])]
        if len({tuple(network.consumers[u]) for u in alive}) <= 1:
            found.append([])
    return [each for each in found if len(each) >= LEAST_IN_BLOCK]


def _middle(extent: int, tile: int) -> Span:
    first = max(0, (extent - tile) // 2)
    return first, min(extent, first + tile) - 1


def plot(table: pandas.DataFrame) -> Figure:
    """Return production's bytes over consumption's: a panel for each network, a bar for each tile of a block."""
    names = list(dict.fromkeys(table["network"]))
    figure, axes = panels(1, len(names), max(6.4, 5 * len(names)), 4.2)
    for each, name in zip(axes, names):
        part = table[table["network"] == name]
        blocks = list(dict.fromkeys(part["block"]))
        times = part.pivot_table(index="block", columns="tile", values="times").reindex(blocks)
        bars(each, blocks, {f"outputs of {tile} x {tile}": [*map(number, times[tile])] for tile in times})
        each.axhline(1, color="black", linewidth=0.8)
        each.set_title(title(str(name)), size=10)
        each.set_xticks(range(len(blocks)), blocks, rotation=40, ha="right", rotation_mode="anchor")
    axes[0].set_ylabel("bytes of a tile, production / consumption", fontsize=9)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(TILES), fontsize=8)
    return figure


EXPERIMENT = Experiment(
    "production_centric",
    "What would production-centric execution hold in place of the consumption-centric one (Figure 4)?",
    rows,
    plot,
    Seconds(quick=1, full=1),
    full={"networks": ("resnet50", "googlenet")},
    quick={"networks": ("resnet50",)},
    check=check,
)
run = EXPERIMENT.run


if __name__ == "__main__":
    command.script(EXPERIMENT)
