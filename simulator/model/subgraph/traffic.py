"""Bytes that move through the global buffer and the weight buffer (model.md, section 5).

Exactly what the counting run of simulator/execution counts: sums over all updates, which are constant except at the
borders of the maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from simulator.mapping.mappers import Times, Work
from simulator.model.subgraph.regions import Region, Tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Geometry, Subgraph
from simulator.model.subgraph.updates import Updates, derive_updates, starts_full


class Window(NamedTuple):
    """The window of a layer along one axis."""

    reach: int
    stride: int
    padding: int  #: before the first output
    upsample: int

    @property
    def mirrored(self) -> Window:
        """The same window with elements and outputs counted down from a border that both maps share."""
        return self._replace(padding=self.reach + self.upsample - 1 - self.stride - self.padding)


def buffer_bytes(
    subgraph: Subgraph, tiling: Tiling, regions: dict[int, Region], works: Mapping[int, Work] | None = None
) -> tuple[int, int]:
    """Return the global-buffer traffic of one sample, not counting DRAM transfers, and how much of it is writes.

    Results are written, windows read, SIDE copies both.

    works: how often a mapper moves each word; without it, operands are read and results written once per update.
    """
    geometry, (rows, columns) = subgraph.geometry, derive_updates(subgraph, tiling)
    is_full = starts_full(subgraph, tiling, ROWS)
    total, written = results_of(subgraph, works)
    for u in subgraph.tensors:
        for v, local, whole in subgraph.readers[u]:
            if whole:
                updates = rows[v].times * columns[v].times
                total += often(updates * geometry.size_bytes[u], work_of(works, v).weights)
            if local:
                window = window_elements(geometry, ROWS, v, u, rows[v])
                window *= window_elements(geometry, COLUMNS, v, u, columns[v])
                total += often(window * geometry.row_bytes[u], work_of(works, v).inputs)
        if regions[u].side_bytes:
            again = rows_again(subgraph, tiling, regions[u], u, is_full)
            copied = again * geometry.extent[COLUMNS][u] * geometry.row_bytes[u]
            total, written = total + 2 * copied, written + copied
    return total, written


def results_of(subgraph: Subgraph, works: Mapping[int, Work] | None = None) -> tuple[int, int]:
    """Return the bytes that move while one sample's results are made, and how many of them are writes."""
    sizes, total, written = subgraph.geometry.size_bytes, 0, 0
    for v in subgraph.layers:
        times = work_of(works, v).outputs
        total, written = total + often(sizes[v], times), written + often(sizes[v], _written(times))
    return total, written


def weight_buffer_bytes(subgraph: Subgraph, tiling: Tiling, works: Mapping[int, Work] | None = None) -> int:
    """Return the weight-buffer reads: every update of a layer reads its weights once, or as a mapper says."""
    weights, (rows, columns) = subgraph.geometry.weight_bytes, derive_updates(subgraph, tiling)
    return sum(
        often(rows[v].times * columns[v].times * weights[v], work_of(works, v).weights)
        for v in subgraph.layers
        if weights[v]
    )


def window_elements(geometry: Geometry, axis: int, layer: int, producer: int, updates: Updates) -> int:
    """Return the elements of `producer` that `layer` reads along one axis, summed over the windows of all updates.

    That is all from the first to the last, plus, at each border between two updates, what both read (below 0 where
    elements between them are skipped). Where steps are whole elements, all borders are equal except the map's own.
    """
    window, extent = window_of_layer(geometry, axis, layer), geometry.extent[axis][producer]
    return window_sum(window, (0, extent), 0, updates.first, updates.step, updates.extent)


def window_sum(window: Window, inside: tuple[int, int], start: int, first: int, step: int, stop: int) -> int:
    """Return the elements within bounds that the windows of outputs from start to stop read, summed over the updates.

    first: where the first update ends; the others advance by step.
    """
    reach, stride, padding, upsample = window
    floor, source = inside

    def clip(element: int) -> int:
        return min(max(element, floor), source)

    def begin(output: int) -> int:
        return -((padding - output * stride) // upsample)

    def end(outputs: int) -> int:
        return -((padding - reach - (outputs - 1) * stride) // upsample)

    total = clip(end(stop)) - clip(begin(start))
    low, left = first, max(0, -(-(stop - first) // step))  # borders
    shared, is_even = end(low) - begin(low), step * stride % upsample == 0
    while left and (not is_even or min(begin(low), end(low)) < floor):
        total += clip(end(low)) - clip(begin(low))
        low, left = low + step, left - 1
    high = low + (left - 1) * step
    while left and max(begin(high), end(high)) > source:
        total += clip(end(high)) - clip(begin(high))
        high, left = high - step, left - 1
    return total + left * shared


def rows_again(subgraph: Subgraph, tiling: Tiling, region: Region, tensor: int, is_full: bool) -> int:
    """Return how many rows of a tensor all row operations together take out of SIDE.

    Operation k makes the rows from merged (k - 1) + lead to merged k + lead. Its readers also need rows above, as far
    as SIDE has them: equally many in each operation, except where one of these positions lies outside a map.
    """
    height, steps, tiles = subgraph.geometry.extent[ROWS], tiling.merged, tiling.rows
    step, lead, room, kept = steps[tensor], tiles[tensor].lead, region.main[ROWS], region.side[ROWS]
    readers = [reader.layer for reader in subgraph.readers[tensor]]

    def start(u: int, operation: int) -> int:
        return min(max(steps[u] * (operation - 1) + tiles[u].lead, 0), height[u])

    def again(operation: int) -> int:
        top, end, wanted = start(tensor, operation), start(tensor, operation + 1), height[tensor]
        for v in readers:
            if start(v, operation) < start(v, operation + 1):
                reach, stride, padding, upsample = window_of_layer(subgraph.geometry, ROWS, v)
                wanted = min(wanted, -((padding - start(v, operation) * stride) // upsample))
        return max(0, min(top, kept, room - (end - top), top - wanted))

    ends = [(height[v] - 1 - tiles[v].lead) // steps[v] + 1 for v in readers]  # operations up to their last row
    first = -lead // step + 2  # where rows lie above
    if is_full:
        first = max(first, 2)
    last = max(ends)
    low = max(first, 1 - (lead - kept) // step, *[1 - tiles[v].lead // steps[v] for v in readers])
    low = min(low, last + 1)
    high = max(low - 1, min((height[tensor] - lead) // step, *ends))
    total = sum(again(operation) for operation in (*range(first, low), *range(high + 1, last + 1)))
    return total + (high - low + 1) * again(low)


def window_ends(geometry: Geometry, axis: int, layer: int) -> tuple[int, int, int]:
    """Return the first element that a layer reads on an axis, what two tiles share, and its last element + 1.

    Unclipped. Two tiles share F - s elements (below 0 where elements between them are skipped); over a spread map it is
    the difference of two positions, exact where a tile is a whole number of the map's elements.
    """
    reach, stride, padding, upsample = window_of_layer(geometry, axis, layer)
    first = -(padding // upsample)
    end = -((stride + padding - reach) // upsample)  # of the tile before the first
    last = -((padding - reach - (geometry.extent[axis][layer] - 1) * stride) // upsample)
    return first, end - first, last


def window_of_layer(geometry: Geometry, axis: int, layer: int) -> Window:
    """Return the window of a layer along one axis."""
    return Window(
        geometry.reach[axis][layer],
        geometry.stride[axis][layer],
        geometry.padding[axis][layer],
        geometry.upsample[axis][layer],
    )


_ONCE = Work(0)


def work_of(works: Mapping[int, Work] | None, layer: int) -> Work:
    """Return how often a mapper moves the words of a layer; without a mapper each word moves once."""
    return _ONCE if works is None else works[layer]


def _written(times: Times) -> Times:
    """Return how often a result word that moves this often is written: all writes but the last are read back."""
    return times[0] + times[1], 2 * times[1]


def often(size: int, times: Times) -> int:
    """Return bytes times a fraction, in whole bytes."""
    return size * times[0] // times[1]
