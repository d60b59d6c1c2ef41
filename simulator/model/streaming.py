"""One layer that does not fit: weights are streamed in chunks, the map is read again where it must be.

A single layer is always executable (our choice; else the paper's own 144 KB candidates could not exist). A chunk is
whole units of 8 outputs x 8 inputs x F_h F_w weights; partial sums stay in the PEs' accumulators.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

from simulator.model.regions import Region, Tiling, activation_bytes, allocate_regions, derive_tiling
from simulator.model.subgraph import COLUMNS, ROWS, Subgraph
from simulator.model.tiling import TileRule
from simulator.model.traffic import window_ends

Order = Literal["chunk", "tile", "operand", "element"]


class Streaming(NamedTuple):
    """How the loops of a streamed layer are nested, and what stays on chip."""

    order: Order  #: the outermost loop: chunks of weights, tiles, tiles that an operand passes by, single elements
    has_side: bool  #: whether rows are kept for the next row of tiles
    is_whole_map: bool  #: whether input and output stay on chip in full
    input_passes: int  #: how often the inputs are read


@dataclass(frozen=True)
class Residency:
    """The activations that a subgraph holds on chip, while weights may stream by."""

    tile: tuple[int, int]
    tiling: Tiling
    regions: dict[int, Region]  #: by tensor id
    halo: Fraction = Fraction(1)  #: input elements read per element, where nothing is kept for the next row of tiles
    has_side: bool = True
    is_whole_map: bool = False

    @property
    def activation_bytes(self) -> int:
        """Bytes of one core."""
        return activation_bytes(self.regions)


@dataclass(frozen=True)
class StreamPlan:
    """How a single layer runs that does not fit; bytes read are those of one sample."""

    residency: Residency
    streaming: Streaming
    activation_bytes: int
    weight_bytes: int  #: held by one core
    weight_reads: int
    input_reads: int


def stream_layer(
    subgraph: Subgraph, capacity: int, weight_capacity: int | None, rule: TileRule, cores: int, samples: int, bands: int
) -> StreamPlan:
    """Return the plan of least EMA of a subgraph of one layer; ties go to the first in the order of the spec.

    capacity: bytes of one core for activations. weight_capacity: bytes of one core for weights, None where they
    share the capacity.
    """
    best: StreamPlan | None = None
    for residency in residencies(subgraph, rule, samples, bands):
        need = residency.activation_bytes
        if need > capacity:
            continue
        room = capacity - need if weight_capacity is None else weight_capacity
        for plan in _orders(subgraph, residency, need, room, cores, bands):
            if best is None or plan.weight_reads + plan.input_reads < best.weight_reads + best.input_reads:
                best = plan
    return (
        best
        or _stream_operand(subgraph, capacity, rule, samples, bands)
        or _last_resort(subgraph, capacity, rule, samples, bands)
    )


def residency_of(
    subgraph: Subgraph,
    tile: tuple[int, int],
    streaming: Streaming | None,
    rule: TileRule,
    samples: int = 1,
    bands: int = 1,
) -> Residency:
    """Return what a priced subgraph holds: every region, or those of the way in which its only layer is streamed.

    The last resort, where single elements pass by, holds nothing.
    """
    if streaming is None:
        return _tiled(subgraph, tile, rule, samples, bands)
    if streaming.order == "element":
        return replace(_tiled(subgraph, tile, rule, samples, bands), regions={}, has_side=False)
    if streaming.order == "operand":
        return _beside_a_row(subgraph, tile, rule, samples, bands)
    if streaming.is_whole_map:
        return _whole_map(subgraph, rule, samples, bands)
    held = _tiled(subgraph, tile, rule, samples, bands)
    return held if streaming.has_side else _without_side(subgraph, held)


def residencies(subgraph: Subgraph, rule: TileRule, samples: int = 1, bands: int = 1) -> Iterator[Residency]:
    """Yield what can stay on chip: tiles from the largest, with SIDE and without, then the whole map."""
    for t in subgraph.geometry.technology.tiles:
        held = _tiled(subgraph, (t, t), rule, samples, bands)
        yield held
        yield _without_side(subgraph, held)
    yield _whole_map(subgraph, rule, samples, bands)


def _tiled(subgraph: Subgraph, tile: tuple[int, int], rule: TileRule, samples: int, bands: int) -> Residency:
    tiling = derive_tiling(subgraph, tile, rule)
    assert tiling is not None, "it was priced, or a single layer has one path to each of its inputs"
    return Residency(tile, tiling, allocate_regions(subgraph, tiling, samples, bands))


def _without_side(subgraph: Subgraph, held: Residency) -> Residency:
    regions = {u: region._replace(side=(0, 0), side_bytes=0) for u, region in held.regions.items()}
    return replace(held, regions=regions, halo=_halo(subgraph, held.tile[ROWS]), has_side=False)


def _whole_map(subgraph: Subgraph, rule: TileRule, samples: int, bands: int) -> Residency:
    geometry, (v,) = subgraph.geometry, subgraph.layers
    height, width = geometry.extent
    held = _tiled(subgraph, (height[v], width[v]), rule, samples, bands)
    regions = {}
    for u in subgraph.tensors:
        main = (height[u], -(-width[u] // bands))
        element_bytes = 0 if u in subgraph.on_chip else geometry.held_bytes(u)
        regions[u] = Region(main, (0, 0), main[0] * main[1] * element_bytes * samples, 0)
    return replace(held, regions=regions, is_whole_map=True)


def _halo(subgraph: Subgraph, tile: int) -> Fraction:
    """Return how often the input is read where every row of tiles reads again the rows it shares with the one above.

    As many rows again for each step of a tile; on maps lower than their tiles' steps (deep padding), exactly.
    """
    geometry, (v,) = subgraph.geometry, subgraph.layers
    _, shared, _ = window_ends(geometry, ROWS, v)
    if shared <= 0:
        return Fraction(1)
    height = geometry.extent[ROWS][v]
    step = Fraction(min(tile, height) * geometry.stride[ROWS][v], geometry.upsample[ROWS][v]).numerator
    least = min(geometry.extent[ROWS][u] for u in subgraph.inputs)
    return 1 + max(Fraction(shared, step), Fraction((-(-height // tile) - 1) * shared, least))


def _orders(
    subgraph: Subgraph, residency: Residency, need: int, room: int, cores: int, bands: int
) -> Iterator[StreamPlan]:
    """Yield the two loop orders that are possible with so many bytes for the weights of one core."""
    geometry, (v,) = subgraph.geometry, subgraph.layers
    layer, weights = geometry.network.layers[v], subgraph.weight_bytes
    array = geometry.technology
    groups = -(-layer.channels // array.pe_outputs)
    chunks, chunk_bytes = 1, 0
    if weights:
        unit = -(-weights // (groups * -(-(layer.in_channels // layer.groups) // array.pe_inputs)))
        units = -(-weights // unit)
        chunk_bytes = room * cores // unit * unit
        if not chunk_bytes:
            return
        chunks = -(-units // (chunk_bytes // unit))
    resident = -(-min(weights, chunk_bytes) // cores)
    passes = 1 if residency.is_whole_map or chunks == 1 else min(chunks, groups)
    tiles = _tiles(subgraph, residency, bands)
    orders: tuple[tuple[Order, int, int], ...] = (("chunk", 1, passes), ("tile", 1 if chunks == 1 else tiles, 1))
    for order, weight_passes, input_passes in orders:
        streaming = Streaming(order, residency.has_side, residency.is_whole_map, input_passes)
        reads = input_reads(subgraph, residency, streaming)
        yield StreamPlan(residency, streaming, need, resident, weights * weight_passes, reads)


def input_reads(subgraph: Subgraph, held: Residency, streaming: Streaming, bands: int = 1) -> int:
    """Return the bytes of in(S) that a streamed layer reads, one sample.

    A passing operand is read for each tile of the band of one core; in the last resort a window is read for each
    position, and a whole operand in full. Inputs that are on chip are not read, those that are kept from here on once.
    """
    geometry, (v,) = subgraph.geometry, subgraph.layers
    once = sum(geometry.size_bytes[u] for u in subgraph.arriving)
    if streaming.order not in ("operand", "element"):
        return once + math.ceil((subgraph.input_bytes - once) * streaming.input_passes * held.halo)
    kernel, whole, window = geometry.network.layers[v].kernel, _tiles(subgraph, held, bands), 1
    if streaming.order == "element":
        whole, window = geometry.extent[ROWS][v] * geometry.extent[COLUMNS][v], kernel[ROWS] * kernel[COLUMNS]
    return once + sum(
        geometry.size_bytes[u] * (reader.local * window + reader.whole * whole)
        for u in subgraph.loaded
        if u not in subgraph.on_chip
        for reader in subgraph.readers[u]
    )


def _tiles(subgraph: Subgraph, held: Residency, bands: int) -> int:
    """Return the tiles of the band of one core: cores work in lock-step on the same weights."""
    (v,) = subgraph.layers
    height, width = subgraph.geometry.extent
    return -(-height[v] // held.tile[ROWS]) * -(-width[v] // (bands * held.tile[COLUMNS]))


def _stream_operand(subgraph: Subgraph, capacity: int, rule: TileRule, samples: int, bands: int) -> StreamPlan | None:
    """Read a whole operand row by row for each tile, the largest that fits beside one row (our choice, as weights)."""
    passing = [u for u in whole_operands(subgraph) if u not in subgraph.on_chip]
    if not passing or any(subgraph.readers[u][0].local for u in passing):
        return None
    streaming = Streaming("operand", True, False, 1)
    for t in subgraph.geometry.technology.tiles:
        held = _beside_a_row(subgraph, (t, t), rule, samples, bands)
        if held.activation_bytes <= capacity:
            reads = input_reads(subgraph, held, streaming, bands)
            return StreamPlan(held, streaming, held.activation_bytes, 0, 0, reads)
    return None


def whole_operands(subgraph: Subgraph) -> list[int]:
    """Return the inputs of a single layer that it needs in full."""
    return [u for u in subgraph.inputs if subgraph.readers[u][0].whole]


def _beside_a_row(subgraph: Subgraph, tile: tuple[int, int], rule: TileRule, samples: int, bands: int) -> Residency:
    """Return the regions where whole operands pass by, one row of each on chip."""
    held = _tiled(subgraph, tile, rule, samples, bands)
    rows = {
        u: Region((1, columns), (0, 0), held.regions[u].main_bytes // height, 0)
        for u in whole_operands(subgraph)
        for height, columns in [held.regions[u].main]
    }
    return replace(held, regions=held.regions | rows)


def _last_resort(subgraph: Subgraph, capacity: int, rule: TileRule, samples: int, bands: int) -> StreamPlan:
    """One output position at a time: its weights and its window are read anew, a whole operand in full."""
    geometry, (v,) = subgraph.geometry, subgraph.layers
    held, streaming = _tiled(subgraph, (1, 1), rule, samples, bands), Streaming("element", False, False, 1)
    weight_reads = subgraph.weight_bytes * geometry.extent[ROWS][v] * geometry.extent[COLUMNS][v]
    return StreamPlan(held, streaming, capacity, 0, weight_reads, input_reads(subgraph, held, streaming))
