"""Where every region of a plan lies: found for the answer of a search, and written as one table file per network."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cocco.allocation.address_map import AddressMap, address_map
from cocco.exploration.answers.result import Result
from cocco.output.folders.written.about import address_names
from cocco.output.pictures.saving import save_picture
from simulator.accelerator import Accelerator
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.partition import Partition
from workloads import Network
from workloads.files import write_atomic

REGION_COLUMNS = ("memory", "subgraph", "tensor", "kind", "start", "end")


def maps_of(networks: Sequence[Network], result: Result) -> list[AddressMap]:
    """Return the address map of each network of a search's answer."""
    rule = result.evaluations[0].tile_rule if result.evaluations else "exact"
    return maps_of_plans(networks, result.plans, result.accelerator, rule)


def maps_of_plans(
    networks: Sequence[Network], plans: Sequence[Partition], accelerator: Accelerator, tile_rule: TileRule
) -> list[AddressMap]:
    """Return the address map of each network's plan."""
    found = [address_map(network, plan, accelerator, tile_rule) for network, plan in zip(networks, plans)]
    return [each for each in found if each is not None]


def with_maps(content: dict[str, Any], maps: Sequence[AddressMap]) -> dict[str, Any]:
    """Return what --json prints, with the key "addresses" added next to each network's evaluation."""
    if "networks" in content:
        rows = [row | {"addresses": each.to_json()} for row, each in zip(content["networks"], maps)]
        return content | {"networks": rows} if rows else content
    return content | {"addresses": maps[0].to_json()} if maps else content


def save(folder: Path, maps: Sequence[AddressMap], is_brief: bool = False) -> list[Path]:
    """Write a table for each network, and return the paths.

    Unless it is to be brief, also writes a picture of each memory in which tensors are kept over several subgraphs.
    """
    paths = [folder / name for name in address_names([each.network for each in maps])] if maps else []
    drawn: list[Path] = []
    for path, found in zip(paths, maps):
        write_table(path, found)
        for each in () if is_brief else found.memories:
            if any(placed.kind == "kept" for regions in each.regions for placed in regions):
                from cocco.output.pictures.allocation import map_figure

                drawn += save_picture(folder, f"{path.stem}-{each.memory}", map_figure(found.network, each))
    return paths + drawn


def write_table(path: Path, found: AddressMap) -> None:
    """Write a line per region: memory, subgraph (its position), tensor, kind, start, end (after the last byte)."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(REGION_COLUMNS)
    writer.writerows(found.rows())
    write_atomic(path, text.getvalue())
