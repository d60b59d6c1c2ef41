"""One layer that does not fit: weights are streamed in chunks, the map is read again where it must be.

A single layer is always executable (our choice; else the paper's own 144 KB candidates could not exist). A chunk is
whole units of 8 outputs x 8 inputs x F_h F_w weights; partial sums stay in the PEs' accumulators.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

from simulator.model.regions import Region, Tiling, activation_bytes, allocate_regions, derive_tiling
from simulator.model.subgraph import COLUMNS, ROWS, Subgraph
from simulator.model.tiling import TileRule
from simulator.model.traffic import window_ends

Order = Literal["chunk", "tile", "operand", "element"]


class Stream(NamedTuple):
    """How the loops of a streamed layer are nested, and what stays on chip."""

    order: Order  #: the outermost loop: chunks of weights, tiles, tiles that an operand passes by, single elements
    has_side: bool  #: whether rows are kept for the next row of tiles
    is_whole_map: bool  #: whether input and output stay on chip in full
    input_passes: int  #: how often the inputs are read


@dataclass(frozen=True)
class StreamPlan:
    """How a single layer runs that does not fit; bytes read are those of one sample."""

    tile: tuple[int, int]
    tiling: Tiling
    regions: dict[int, Region]
    stream: Stream
    activation_bytes: int
    weight_bytes: int  #: held by one core
    weight_reads: int
    input_reads: int


@dataclass(frozen=True)
class Residency:
    """Activations on chip while the weights stream by."""

    tile: tuple[int, int]
    tiling: Tiling
    regions: dict[int, Region]
    activation_bytes: int
    halo: Fraction  #: input elements read per element, where nothing is kept for the next row of tiles
    has_side: bool
    is_whole_map: bool


def stream_layer(
    subgraph: Subgraph, capacity: int, weight_capacity: int | None, rule: TileRule, cores: int, samples: int, bands: int
) -> StreamPlan:
    """Return the plan of least EMA of a subgraph of one layer; ties go to the first in the order of the spec.

    capacity: bytes of one core for activations. weight_capacity: bytes of one core for weights, None where they
    share the capacity.
    """
    best: StreamPlan | None = None
    for residency in residencies(subgraph, rule, samples, bands):
        if residency.activation_bytes > capacity:
            continue
        room = capacity - residency.activation_bytes if weight_capacity is None else weight_capacity
        for plan in _orders(subgraph, residency, room, cores, bands):
            if best is None or plan.weight_reads + plan.input_reads < best.weight_reads + best.input_reads:
                best = plan
    return (
        best
        or _stream_operand(subgraph, capacity, rule, samples, bands)
        or _last_resort(subgraph, capacity, rule, samples, bands)
    )


def residencies(subgraph: Subgraph, rule: TileRule, samples: int = 1, bands: int = 1) -> Iterator[Residency]:
    """Yield what can stay on chip: tiles from the largest, with SIDE and without, then the whole map."""
    geometry, (v,) = subgraph.geometry, subgraph.layers
    height, width = geometry.extent
    for t in geometry.technology.tiles:
        tiling = _derive(subgraph, (t, t), rule)
        regions = allocate_regions(subgraph, tiling, samples, bands)
        yield Residency((t, t), tiling, regions, activation_bytes(regions), Fraction(1), True, False)
        without = {u: region._replace(side=(0, 0), side_bytes=0) for u, region in regions.items()}
        yield Residency((t, t), tiling, without, activation_bytes(without), _halo(subgraph, t), False, False)
    tile = (height[v], width[v])
    regions, alignment = {}, geometry.technology.channel_alignment
    for u in subgraph.tensors:
        main = (height[u], -(-width[u] // bands))
        channels = -(-geometry.channels[u] // alignment) * alignment
        regions[u] = Region(main, (0, 0), main[0] * main[1] * channels * samples, 0)
    yield Residency(tile, _derive(subgraph, tile, rule), regions, activation_bytes(regions), Fraction(1), True, True)


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


def _orders(subgraph: Subgraph, residency: Residency, room: int, cores: int, bands: int) -> Iterator[StreamPlan]:
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
    rows, columns = geometry.extent[ROWS][v], -(-geometry.extent[COLUMNS][v] // bands)
    tiles = -(-rows // residency.tile[ROWS]) * -(-columns // residency.tile[COLUMNS])
    orders: tuple[tuple[Order, int, int], ...] = (("chunk", 1, passes), ("tile", 1 if chunks == 1 else tiles, 1))
    for order, weight_passes, input_passes in orders:
        yield StreamPlan(
            residency.tile,
            residency.tiling,
            residency.regions,
            Stream(order, residency.has_side, residency.is_whole_map, input_passes),
            residency.activation_bytes,
            resident,
            weights * weight_passes,
            math.ceil(subgraph.input_bytes * input_passes * residency.halo),
        )


def _stream_operand(subgraph: Subgraph, capacity: int, rule: TileRule, samples: int, bands: int) -> StreamPlan | None:
    """Read a whole operand row by row for each tile, the largest that fits beside one row (our choice, as weights)."""
    geometry, (v,) = subgraph.geometry, subgraph.layers
    width = geometry.extent[COLUMNS]
    passing = [u for u in subgraph.inputs if subgraph.readers[u][0].whole]
    if not passing or any(subgraph.readers[u][0].local for u in passing):
        return None
    rows, columns = geometry.extent[ROWS][v], -(-width[v] // bands)
    for t in geometry.technology.tiles:
        tiling = _derive(subgraph, (t, t), rule)
        regions = allocate_regions(subgraph, tiling, samples, bands)
        for u in passing:
            regions[u] = Region((1, width[u]), (0, 0), regions[u].main_bytes // regions[u].main[ROWS], 0)
        need = activation_bytes(regions)
        if need <= capacity:
            tiles = -(-rows // t) * -(-columns // t)
            reads = sum(geometry.size_bytes[u] * (tiles if u in passing else 1) for u in subgraph.inputs)
            return StreamPlan((t, t), tiling, regions, Stream("operand", True, False, 1), need, 0, 0, reads)
    return None


def _last_resort(subgraph: Subgraph, capacity: int, rule: TileRule, samples: int, bands: int) -> StreamPlan:
    """One output position at a time: its weights and its window are read anew, a whole operand in full."""
    geometry, (v,) = subgraph.geometry, subgraph.layers
    positions = geometry.extent[ROWS][v] * geometry.extent[COLUMNS][v]
    kernel = geometry.network.layers[v].kernel
    reads = sum(
        geometry.size_bytes[u] * (local * kernel[ROWS] * kernel[COLUMNS] + whole * positions)
        for u in subgraph.inputs
        for _, local, whole in subgraph.readers[u]
    )
    tiling = _derive(subgraph, (1, 1), rule)
    regions = allocate_regions(subgraph, tiling, samples, bands)
    weight_reads = subgraph.weight_bytes * positions
    return StreamPlan((1, 1), tiling, regions, Stream("element", False, False, 1), capacity, 0, weight_reads, reads)


def _derive(subgraph: Subgraph, tile: tuple[int, int], rule: TileRule) -> Tiling:
    tiling = derive_tiling(subgraph, tile, rule)
    assert tiling is not None, "a single layer has one path to each of its inputs"
    return tiling
