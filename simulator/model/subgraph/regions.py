"""MAIN and SIDE: what a subgraph occupies in one core's global buffer (Cocco, Sec. 3.2, Fig. 7; model.md, section 3).

columns, the inner loop ->          MAIN(u): the window that slides over the row of tiles
rows   +----------------------+     SIDE(u): the rows that the next row of tiles reads again,
 |     |   ===SIDE===[MAIN]   |              over the whole width
 v     |                      |
       +----------------------+
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from simulator.integers import FITS, LIMIT, OVERFLOW, product
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Subgraph, is_kept, shape
from simulator.model.subgraph.tiling import Tile, TileRule, derive_tiles


class Region(NamedTuple):
    """The two regions of one tensor, in elements (rows x columns) and bytes of one core."""

    main: tuple[int, int]
    side: tuple[int, int]  #: (0, 0) where there is none
    main_bytes: int
    side_bytes: int  #: of SIDE, or of the state of a scan


@dataclass
class Tiling:
    """The execution scheme of a subgraph for one output tile: both axes by tensor id.

    merged: rows that a tensor advances per row operation, over all its row updates (a single step where all tensors
    are held over their full width).
    held: rows held at once, size' of model.md, section 2.
    """

    rows: dict[int, Tile]
    columns: dict[int, Tile]
    is_exact: bool  #: the tile rule
    merged: dict[int, int] = field(default_factory=dict)
    held: dict[int, int] = field(default_factory=dict)
    rows_run_alone: bool = False  #: every tensor is as wide as its map, so rows run as in one dimension
    is_one_operation: bool = False  #: every map fits in its region from top to bottom: one row operation makes it all


class Residency(NamedTuple):
    """The activations that a subgraph holds on chip."""

    tile: tuple[int, int]
    tiling: Tiling
    regions: dict[int, Region]  #: by tensor id


def derive_tiling(
    subgraph: Subgraph, tile: tuple[int, int], rule: TileRule = "exact", bands: Mapping[int, int] | None = None
) -> Tiling | None:
    """Return the scheme for output tiles of rows x columns, or None where stage 3 has no solution.

    bands: the columns of each tensor in a core, swept in either direction; None for all.
    """
    rows = derive_tiles(subgraph, ROWS, tile[ROWS], rule)
    is_alike = bands is None and tile[ROWS] == tile[COLUMNS] and subgraph.is_square
    columns = rows if is_alike else derive_tiles(subgraph, COLUMNS, tile[COLUMNS], rule, bands is not None)
    if rows is None or columns is None:
        return None
    tiling = Tiling(rows, columns, rule == "exact")
    join_axes(subgraph, subgraph.geometry.extent[COLUMNS] if bands is None else bands, tiling)
    return tiling


def join_axes(subgraph: Subgraph, widths: Mapping[int, int] | list[int], tiling: Tiling) -> int:
    """Fill in what follows from the tiles of both axes. widths: the columns of each tensor in a core."""
    tiling.rows_run_alone, tiling.is_one_operation = True, not subgraph.has_whole_edge
    for u in subgraph.tensors[: subgraph.tensor_count]:
        if tiling.columns[u].size < widths[u]:
            tiling.rows_run_alone = False
    for u in subgraph.tensors[: subgraph.tensor_count]:
        rows = tiling.rows[u]
        merged, held = rows.step, rows.size
        if not tiling.rows_run_alone:
            merged = product(rows.updates, rows.step)
        if merged > LIMIT:
            return OVERFLOW
        if tiling.is_exact and subgraph.reader_count[u]:
            held += merged - rows.step
        if held < subgraph.geometry.extent[ROWS][u]:
            tiling.is_one_operation = False
        tiling.merged[u], tiling.held[u] = merged, held
    return FITS


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
    geometry, regions = subgraph.geometry, dict[int, Region]()
    cell_bytes = {u: geometry.held_bytes(u, groups, cores) for u in subgraph.tensors}
    fill_regions(subgraph, tiling, geometry.extent[COLUMNS] if bands is None else bands, cell_bytes, samples, regions)
    return regions


def fill_regions(
    subgraph: Subgraph,
    tiling: Tiling,
    widths: Mapping[int, int] | list[int],
    cell_bytes: dict[int, int],
    samples: int,
    regions: dict[int, Region],
) -> int:
    """Fill in the regions of every tensor, and return their bytes; SIDE of what a scan makes has its state.

    cell_bytes: of a position of each tensor, one sample.
    """
    total, made = 0, subgraph.layer_count  # layers come first
    for u in subgraph.tensors[: subgraph.tensor_count]:
        rows, columns = tiling.rows[u], tiling.columns[u].size
        height, width, cell = subgraph.geometry.extent[ROWS][u], widths[u], cell_bytes[u] * samples
        state = subgraph.geometry.state_bytes[u] * samples if made > 0 else 0
        made -= 1
        if is_kept(subgraph, u):
            regions[u] = Region(shape(height, width), shape(0, 0), 0, state)
            total += state
            continue
        main = min(tiling.held[u], height) * min(columns, width) * cell
        side = 0
        if subgraph.reader_count[u] and columns < width and rows.size > rows.step:
            if tiling.is_exact and not tiling.is_one_operation:
                side = min(rows.size - rows.step, height)
            elif not tiling.is_exact and rows.size < height:
                side = rows.size - rows.step
        regions[u] = Region(
            shape(min(tiling.held[u], height), min(columns, width)),
            shape(side, width if side else 0),
            main,
            side * width * cell + state,
        )
        total += main + side * width * cell + state
    return total


def activation_bytes(regions: dict[int, Region]) -> int:
    """Bytes that the subgraph's activations occupy in one core: the sum of all MAIN and SIDE regions."""
    return sum(region.main_bytes + region.side_bytes for region in regions.values())
