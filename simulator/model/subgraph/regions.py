"""MAIN and SIDE: what a subgraph occupies in one core's global buffer (Cocco, Sec. 3.2, Fig. 7; model.md, section 3).

columns, the inner loop ->          MAIN(u): the window that slides over the row of tiles
rows   +----------------------+     SIDE(u): the rows that the next row of tiles reads again,
 |     |   ===SIDE===[MAIN]   |              over the whole width
 v     |                      |
       +----------------------+
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Subgraph
from simulator.model.subgraph.tiling import Tile, TileRule, derive_tiles


class Region(NamedTuple):
    """The two regions of one tensor, in elements (rows x columns) and bytes of one core."""

    main: tuple[int, int]
    side: tuple[int, int]  #: (0, 0) where there is none
    main_bytes: int
    side_bytes: int


@dataclass(frozen=True)
class Tiling:
    """The execution scheme of a subgraph for one output tile: both axes by tensor id.

    merged: rows that a tensor advances per row operation, over all its row updates (a single step where all tensors
    are held over their full width).
    held: rows held at once, size' of model.md, section 2.
    """

    rows: dict[int, Tile]
    columns: dict[int, Tile]
    merged: dict[int, int]
    held: dict[int, int]
    rows_run_alone: bool  #: every tensor is as wide as its map, so rows run as in one dimension
    rule: TileRule


class Residency(NamedTuple):
    """The activations that a subgraph holds on chip."""

    tile: tuple[int, int]
    tiling: Tiling
    regions: dict[int, Region]  #: by tensor id


def derive_tiling(subgraph: Subgraph, tile: tuple[int, int], rule: TileRule = "exact") -> Tiling | None:
    """Return the scheme for output tiles of rows x columns, or None where stage 3 has no solution."""
    rows = derive_tiles(subgraph, ROWS, tile[ROWS], rule)
    columns = derive_tiles(subgraph, COLUMNS, tile[COLUMNS], rule)
    if rows is None or columns is None:
        return None
    width = subgraph.geometry.extent[COLUMNS]
    alone = all(columns[u].size >= width[u] for u in subgraph.tensors)
    merged = {u: rows[u].step if alone else rows[u].updates * rows[u].step for u in subgraph.tensors}
    held = {u: rows[u].size for u in subgraph.tensors}
    if rule == "exact":
        held |= {u: rows[u].size + merged[u] - rows[u].step for u in subgraph.tensors if subgraph.readers[u]}
    return Tiling(rows, columns, merged, held, alone, rule)


def is_one_operation(subgraph: Subgraph, tiling: Tiling) -> bool:
    """Return whether every map fits in its region from top to bottom, so that one row operation makes it all."""
    height = subgraph.geometry.extent[ROWS]
    return not subgraph.has_whole_edge and all(tiling.held[u] >= height[u] for u in subgraph.tensors)


def allocate_regions(
    subgraph: Subgraph,
    tiling: Tiling,
    samples: int = 1,
    bands: Mapping[int, int] | None = None,
    cores: int = 1,
    groups: int = 1,
) -> dict[int, Region]:
    """Return MAIN and SIDE of every tensor of S and in(S), for a core with this many samples.

    bands: the columns of each tensor in a core, None for all. cores: how many the channels are dealt to; core 0 has
    the most. groups: of channels, run one after the other; the regions are those of one. A tensor that is kept on chip
    takes nothing here: its whole map is counted with the plan, not with the subgraph.
    """
    geometry = subgraph.geometry
    height, width = geometry.extent
    one_operation = is_one_operation(subgraph, tiling)
    regions = {}
    for u in subgraph.tensors:
        rows, columns = tiling.rows[u], tiling.columns[u]
        band = width[u] if bands is None else bands[u]
        if u in subgraph.on_chip:
            regions[u] = Region((height[u], band), (0, 0), 0, 0)
            continue
        element_bytes = geometry.held_bytes(u, groups, cores) * samples
        main = (min(tiling.held[u], height[u]), min(columns.size, band))
        side = (0, 0)
        if subgraph.readers[u] and columns.size < band and rows.size > rows.step:
            if tiling.rule == "exact" and not one_operation:
                side = (min(rows.size - rows.step, height[u]), band)
            elif tiling.rule == "paper" and rows.size < height[u]:
                side = (rows.size - rows.step, band)
        regions[u] = Region(main, side, main[0] * main[1] * element_bytes, side[0] * side[1] * element_bytes)
    return regions


def activation_bytes(regions: dict[int, Region]) -> int:
    """Bytes that the subgraph's activations occupy in one core: the sum of all MAIN and SIDE regions."""
    return sum(region.main_bytes + region.side_bytes for region in regions.values())
