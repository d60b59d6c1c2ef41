"""Bytes that move through the global buffer and the weight buffer (model.md, section 5).

Exactly what the counting run of simulator/execution counts: sums over all updates, which are constant except at the
borders of the maps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from simulator.integers import ceil_div, floor_div
from simulator.mapping.mappers import Times, Work
from simulator.model.subgraph.regions import Region, Tiling
from simulator.model.subgraph.subgraph import COLUMNS, ROWS, Geometry, Subgraph
from simulator.model.subgraph.tiling import mirrored
from simulator.model.subgraph.updates import Updates, derive_updates, starts_full


class Window(NamedTuple):
    """The window of a layer along one axis."""

    reach: int
    stride: int
    padding: int  #: before the first output
    upsample: int


def buffer_bytes(
    subgraph: Subgraph, tiling: Tiling, regions: dict[int, Region], works: Mapping[int, Work] | None = None
) -> tuple[int, int]:
    """Return the global-buffer traffic of one sample, not counting DRAM transfers, and how much of it is writes.

    Results are written, windows read, SIDE copies and states both.

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
                window = windows_met(geometry, v, u, rows[v], columns[v])
                total += often(window * geometry.row_bytes[u], work_of(works, v).inputs)
        if regions[u].side[ROWS]:
            again = rows_again(subgraph, tiling, u, regions[u].main[ROWS], regions[u].side[ROWS], is_full)
            copied = again * geometry.extent[COLUMNS][u] * geometry.row_bytes[u]
            total, written = total + 2 * copied, written + copied
    carried = carried_bytes(subgraph, rows, columns)
    return total + 2 * carried, written + carried


def carried_bytes(subgraph: Subgraph, rows: Mapping[int, Updates], columns: Mapping[int, Updates]) -> int:
    """Return the bytes of states that updates leave for the next one of their scan, which reads them."""
    carried = subgraph.geometry.carried_bytes
    return sum((rows[v].times * columns[v].times - 1) * carried[v] for v in subgraph.layers if carried[v])


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


def windows_met(geometry: Geometry, layer: int, producer: int, rows: Updates, columns: Updates) -> int:
    """Return the elements of `producer` in all windows that `layer` reads."""
    return window_elements(geometry, ROWS, layer, producer, rows) * window_elements(
        geometry, COLUMNS, layer, producer, columns
    )


def window_elements(geometry: Geometry, axis: int, layer: int, producer: int, updates: Updates) -> int:
    """Return the elements of `producer` that `layer` reads along one axis, summed over the windows of all updates.

    That is all from the first to the last, plus, at each border between two updates, what both read (below 0 where
    elements between them are skipped). Where steps are whole elements, all borders are equal except the map's own.
    """
    return window_sum(window_of_layer(geometry, axis, layer), 0, geometry.extent[axis][producer], 0, updates)


def window_sum(window: Window, floor: int, source: int, start: int, updates: Updates) -> int:
    """Return the elements from floor to source that the windows of outputs from start on read, over all updates."""
    total = clip(window_end(window, updates.extent), floor, source) - clip(window_start(window, start), floor, source)
    low, left = updates.first, updates.times - 1  # borders
    if not left:
        return total
    begin, end = window_start(window, low), window_end(window, low)
    shared = end - begin
    uneven = 0 if window.upsample == 1 else updates.step * window.stride % window.upsample
    while left and (uneven or min(begin, end) < floor):
        total += clip(end, floor, source) - clip(begin, floor, source)
        low, left = low + updates.step, left - 1
        begin, end = window_start(window, low), window_end(window, low)
    high = low + (left - 1) * updates.step
    begin, end = window_start(window, high), window_end(window, high)
    while left and max(begin, end) > source:
        total += clip(end, floor, source) - clip(begin, floor, source)
        high, left = high - updates.step, left - 1
        begin, end = window_start(window, high), window_end(window, high)
    return total + left * shared


def clip(element: int, floor: int, source: int) -> int:
    """Return the element, or the bound that it lies beyond."""
    return min(max(element, floor), source)


def window_start(window: Window, output: int) -> int:
    """Return the first element that this output reads."""
    place = output * window.stride - window.padding
    return place if window.upsample == 1 else ceil_div(place, window.upsample)


def window_end(window: Window, outputs: int) -> int:
    """Return the element behind those that the outputs before this one read."""
    place = window.reach + (outputs - 1) * window.stride - window.padding
    return place if window.upsample == 1 else ceil_div(place, window.upsample)


def rows_again(subgraph: Subgraph, tiling: Tiling, tensor: int, room: int, kept: int, is_full: bool) -> int:
    """Return how many rows of a tensor all row operations together take out of SIDE.

    Operation k makes the rows from merged (k - 1) + lead to merged k + lead. Its readers also need rows above, as far
    as SIDE has them: equally many in each operation, except where one of these positions lies outside a map.
    room, kept: the rows of MAIN and SIDE.
    """
    height, step, lead = subgraph.geometry.extent[ROWS], tiling.merged[tensor], tiling.rows[tensor].lead
    first = floor_div(-lead, step) + 2  # where rows lie above
    if is_full:
        first = max(first, 2)
    low, last = max(first, 1 + ceil_div(kept - lead, step)), first - 1  # last: of the last row of any reader
    high = floor_div(height[tensor] - lead, step)
    for reader in subgraph.readers[tensor][: subgraph.reader_count[tensor]]:
        v = reader.layer
        low = max(low, 1 + ceil_div(-tiling.rows[v].lead, tiling.merged[v]))
        end = floor_div(height[v] - 1 - tiling.rows[v].lead, tiling.merged[v]) + 1  # the operation of its last row
        last, high = max(last, end), min(high, end)
    low = min(low, last + 1)
    high = max(high, low - 1)
    total = 0
    for operation in range(first, low):
        total += taken_again(subgraph, tiling, tensor, room, kept, operation)
    for operation in range(high + 1, last + 1):
        total += taken_again(subgraph, tiling, tensor, room, kept, operation)
    if high >= low:
        total += (high - low + 1) * taken_again(subgraph, tiling, tensor, room, kept, low)
    return total


def taken_again(subgraph: Subgraph, tiling: Tiling, tensor: int, room: int, kept: int, operation: int) -> int:
    """Return the rows of a tensor that one row operation takes out of SIDE."""
    wanted = subgraph.geometry.extent[ROWS][tensor]
    top = rows_before(subgraph, tiling, tensor, operation)
    end = rows_before(subgraph, tiling, tensor, operation + 1)
    for reader in subgraph.readers[tensor][: subgraph.reader_count[tensor]]:
        row = rows_before(subgraph, tiling, reader.layer, operation)
        if row < rows_before(subgraph, tiling, reader.layer, operation + 1):
            wanted = min(wanted, window_start(window_of_layer(subgraph.geometry, ROWS, reader.layer), row))
    return max(0, min(min(top, kept), min(room - (end - top), top - wanted)))


def rows_before(subgraph: Subgraph, tiling: Tiling, tensor: int, operation: int) -> int:
    """Return the rows of a tensor that exist before a row operation, from the second on."""
    made = tiling.merged[tensor] * (operation - 1) + tiling.rows[tensor].lead
    return clip(made, 0, subgraph.geometry.extent[ROWS][tensor])


def window_of_layer(geometry: Geometry, axis: int, layer: int) -> Window:
    """Return the window of a layer along one axis."""
    return Window(
        geometry.reach[axis][layer],
        geometry.stride[axis][layer],
        geometry.padding[axis][layer],
        geometry.upsample[axis][layer],
    )


def mirror(window: Window) -> Window:
    """Return the same window with elements and outputs counted down from a border that both maps share."""
    padding = mirrored(window.reach, window.stride, window.padding, window.upsample)
    return Window(window.reach, window.stride, padding, window.upsample)


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
