"""Bytes that move through the global buffer and the weight buffer (model.md, section 5)."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.mapping.mappers import Times, Work
from simulator.model.regions import Region, Tiling
from simulator.model.subgraph import COLUMNS, ROWS, Geometry, Subgraph


def window_elements(subgraph: Subgraph, axis: int, layer: int, producer: int, step: int) -> int:
    """Return the elements that `layer` reads from `producer` along one axis, in tiles of `step` outputs.

    From the first element inside the map to the last, and n - 1 times what two tiles share, n = ceil(H / step):
    counted for tiles from 0 on, border tiles included, with padding no deeper than a tile; never below 0.
    """
    geometry = subgraph.geometry
    height, source = geometry.extent[axis][layer], geometry.extent[axis][producer]
    first, shared, last = window_ends(geometry, axis, layer)
    return max(0, min(last, source) - max(first, 0) + (-(-height // step) - 1) * shared)


def window_ends(geometry: Geometry, axis: int, layer: int) -> tuple[int, int, int]:
    """Return the first element that a layer reads on an axis, what two tiles share, and its last element + 1.

    Unclipped. Two tiles share F - s elements (below 0 where some lie between them); over a spread map it is the
    difference of two positions, exact where a tile is a whole number of the map's elements.
    """
    reach, stride, padding, upsample = (
        each[axis][layer] for each in (geometry.reach, geometry.stride, geometry.padding, geometry.upsample)
    )
    first = -(padding // upsample)
    end = -((stride + padding - reach) // upsample)  # of the tile before the first
    last = -((padding - reach - (geometry.extent[axis][layer] - 1) * stride) // upsample)
    return first, end - first, last


def count_updates(subgraph: Subgraph, tiling: Tiling, layer: int) -> int:
    """Return n_upd: how often the layer is advanced, ceil(H / merged) ceil(W / step_w)."""
    height, width = subgraph.geometry.extent
    return -(-height[layer] // tiling.merged[layer]) * -(-width[layer] // tiling.columns[layer].step)


def buffer_bytes(
    subgraph: Subgraph, tiling: Tiling, regions: dict[int, Region], works: Mapping[int, Work] | None = None
) -> int:
    """Return the global-buffer traffic of one sample beside the DRAM side: results, windows read, SIDE copies.

    works: how often a mapper moves each word; without, operands are read and results written once for each update.
    """
    geometry = subgraph.geometry
    height, width = geometry.extent
    total = sum(_often(geometry.size_bytes[v], _of(works, v).outputs) for v in subgraph.layers)
    for u in subgraph.tensors:
        for v, local, whole in subgraph.readers[u]:
            if whole:
                total += _often(count_updates(subgraph, tiling, v) * geometry.size_bytes[u], _of(works, v).weights)
            if local:
                rows = window_elements(subgraph, ROWS, v, u, tiling.merged[v])
                columns = window_elements(subgraph, COLUMNS, v, u, tiling.columns[v].step)
                total += _often(rows * columns * geometry.channels[u], _of(works, v).inputs)
        if regions[u].side_bytes:
            overlap = min(tiling.rows[u].size - tiling.rows[u].step, height[u])
            operations = -(-height[u] // tiling.merged[u])
            total += 2 * overlap * width[u] * geometry.channels[u] * (operations - 1)
    return total


def weight_buffer_bytes(subgraph: Subgraph, tiling: Tiling, works: Mapping[int, Work] | None = None) -> int:
    """Return the weight-buffer reads: every update of a layer reads its weights once, or as a mapper says."""
    weights = subgraph.geometry.weight_bytes
    return sum(
        _often(count_updates(subgraph, tiling, v) * weights[v], _of(works, v).weights)
        for v in subgraph.layers
        if weights[v]
    )


_ONCE = Work(0)


def _of(works: Mapping[int, Work] | None, layer: int) -> Work:
    return _ONCE if works is None else works[layer]


def _often(size: int, times: Times) -> int:
    """Return bytes times a fraction, whole bytes."""
    return size * times[0] // times[1]
