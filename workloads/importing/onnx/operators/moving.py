"""The operators of ONNX that move elements, and what they become."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from workloads.errors import NetworkError
from workloads.importing.families import combining, moving, multiplying, writing
from workloads.importing.families.moving import axis_of
from workloads.importing.onnx.operators.call import Answer, Call
from workloads.importing.values import Value, broadcast, derived, position_dims, size_of
from workloads.importing.views import is_channels


def reshape(call: Call) -> Answer:
    value = call.value(0)
    wanted = call.integers("shape") if "shape" in call.attributes else call.numbers(1)
    if not call.integer("allowzero", 0):
        wanted = [value.shape[i] if n == 0 and i < value.rank else n for i, n in enumerate(wanted)]
    if wanted.count(-1) > 1 or any(n < -1 for n in wanted):
        raise NetworkError(f"reshapes to {wanted}")
    known = prod(n for n in wanted if n != -1)
    if -1 in wanted and not known:
        raise NetworkError(f"reshapes to {wanted}")
    return moving.reshape(call.sketch, value, tuple(size_of(value) // known if n == -1 else n for n in wanted))


def flatten(call: Call) -> Answer:
    value, axis = call.value(0), call.integer("axis", 1)
    axis = axis + value.rank if axis < 0 else axis
    if not 0 <= axis <= value.rank:
        raise NetworkError(f"flattens {value.rank} dimensions from {axis}")
    return moving.reshape(call.sketch, value, (prod(value.shape[:axis]), prod(value.shape[axis:])))


def transpose(call: Call) -> Answer:
    value = call.value(0)
    order = call.integers("perm") or list(range(value.rank))[::-1]
    return moving.transpose(call.sketch, value, order)


def squeeze(call: Call) -> Answer:
    return moving.squeeze(call.sketch, call.value(0), call.axes())


def unsqueeze(call: Call) -> Answer:
    return moving.unsqueeze(call.sketch, call.value(0), call.axes() or [])


def expand(call: Call) -> Answer:
    value = call.value(0)
    return moving.expand(call.sketch, value, broadcast([value.shape, tuple(call.numbers(1))]))


def tile(call: Call) -> Answer:
    value, times = call.value(0), call.numbers(1)
    if len(times) != value.rank or min(times, default=1) < 1:
        raise NetworkError(f"repeats {value.rank} dimensions {times} times")
    return moving.expand(call.sketch, value, tuple(n * extent for n, extent in zip(times, value.shape)))


def concat(call: Call) -> Answer:
    values = call.present()
    if not values:
        raise NetworkError("joins nothing")
    return moving.concat(call.sketch, values, call.integer("axis", 1))


def split(call: Call) -> Answer:
    value = call.value(0)
    axis = axis_of(value, call.integer("axis", 0))
    extent, count = value.shape[axis], call.integer("num_outputs", len(call.outputs))
    sizes = call.integers("split") or call.known(1)
    if not sizes:
        size = -(-extent // max(1, count))
        sizes = [min(size, extent - i * size) for i in range(count)]
    if sum(sizes) != extent or min(sizes, default=0) < 1 or len(sizes) < len(call.outputs):
        raise NetworkError(f"splits {extent} into {sizes[:8]}")
    ends = np.cumsum([0, *sizes]).tolist()
    return [moving.part(call.sketch, value, axis, start, stop) for start, stop in zip(ends, ends[1:])]


def take_slice(call: Call) -> Answer:
    value = call.value(0)
    if "starts" in call.attributes:
        starts, stops = call.integers("starts"), call.integers("ends")
        axes, steps = call.integers("axes") or list(range(len(starts))), [1] * len(starts)
    else:
        starts, stops = call.numbers(1), call.numbers(2)
        axes, steps = call.known(3) or list(range(len(starts))), call.known(4) or [1] * len(starts)
    if not len(starts) == len(stops) == len(axes) == len(steps) or 0 in steps:
        raise NetworkError(f"slices from {starts[:4]} to {stops[:4]} by {steps[:4]}")
    for axis, start, stop, step in zip(axes, starts, stops, steps):
        if step < 0 and stop < -value.shape[axis_of(value, axis)]:
            stop = None  # type: ignore[assignment]  # down to the first
        value = moving.part(call.sketch, value, axis, start, stop, step)
    return value


def gather(call: Call) -> Answer:
    table, indices = call.value(0), call.value(1)
    axis = axis_of(table, call.integer("axis", 0))
    shape = (*table.shape[:axis], *indices.shape, *table.shape[axis + 1 :])
    if table.is_constant and not indices.is_constant:
        if table.rank > 1:
            raise NetworkError("chooses rows of a table by a map of the network")
        return combining.activate(indices)
    if table.is_constant:
        if indices.is_given and not table.is_given and axis == 0 and table.rank == 2:
            return multiplying.embed(call.sketch, call.name, table, indices)
        return derived(shape, None, [table, indices])
    if not indices.is_constant:
        return _chosen(call, table, indices, shape)
    if indices.data is not None and indices.data.size == 1:
        index = int(indices.data.reshape(-1)[0])
        return moving.reshape(call.sketch, moving.pick(call.sketch, table, axis, index), shape)
    value = call.sketch.settle(table)
    along = [i for i in range(len(shape) - 1) if shape[i] > 1]
    return call.sketch.rearranged([value], shape, along)


def gather_elements(call: Call) -> Answer:
    value, indices = call.value(0), call.value(1)
    if value.is_constant and indices.is_constant:
        return derived(indices.shape, None, [value, indices])
    if value.is_constant:
        raise NetworkError("chooses elements of a table by a map of the network")
    return _chosen(call, value, indices, indices.shape)


def _chosen(call: Call, value: Value, indices: Value, shape: tuple[int, ...]) -> Answer:
    """Elements of a map that constants choose, or another map: any of them may be needed."""
    maps = [call.sketch.settle(each) for each in (value, indices) if not each.is_constant]
    return call.sketch.rearranged(maps, shape, [i for i in range(len(shape) - 1) if shape[i] > 1])


def scatter(call: Call) -> Answer:
    """ScatterND, ScatterElements: an array with other elements at constant positions."""
    data, indices, updates = (call.value(i) for i in range(3))
    maps = [each for each in (data, indices, updates) if not each.is_constant]
    if not maps:
        return derived(data.shape, None, [data, indices, updates])
    if not indices.is_constant or indices.is_given:
        raise NetworkError("writes where the numbers of an input say; only constant positions are known")
    box = _box(data.shape, indices) if call.op == "ScatterND" and call.text("reduction", "none") == "none" else None
    if box is not None:
        axis, kept = box
        shape = (*data.shape[:axis], len(kept), *data.shape[axis + 1 :])
        return writing.write(call.sketch, data, axis, kept, moving.reshape(call.sketch, updates, shape))
    maps = [call.sketch.settle(each) for each in maps]
    maps += [call.sketch.fed(each) for each in (data, updates) if call.sketch.is_stored(each)]
    return call.sketch.rearranged(maps, data.shape, [i for i in range(len(data.shape) - 1) if data.shape[i] > 1])


def _box(shape: tuple[int, ...], indices: Value) -> tuple[int, range] | None:
    """The dimension, and its steps, that are written where all else is written as a whole and in order; or None."""
    if indices.data is None or not indices.data.size:
        return None
    count = indices.shape[-1]
    places = indices.data.reshape(-1, count).astype(np.int64)
    places = np.where(places < 0, places + np.array(shape[:count]), places)
    steps = [np.unique(column) for column in places.T]
    partial = [i for i in range(count) if len(steps[i]) < shape[i]] or [count - 1]
    grid = np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, count)
    if len(partial) > 1 or grid.shape != places.shape or not np.array_equal(grid, places):
        return None
    (axis,) = partial
    kept = steps[axis].tolist()
    found = range(kept[0], kept[-1] + 1, kept[1] - kept[0] if len(kept) > 1 else 1)
    return (axis, found) if list(found) == kept else None


def rank_by(call: Call) -> Answer:
    """ArgMax, ArgMin, TopK: values or places of the first elements by size."""
    value, is_top = call.value(0), call.op == "TopK"
    axis = axis_of(value, call.integer("axis", -1 if is_top else 0))
    kept = (call.integer("k", 1) if call.opset < 10 else (call.numbers(1) or [0])[0]) if is_top else 1
    if not 0 < kept <= value.shape[axis]:
        raise NetworkError(f"takes the first {kept} of {value.shape[axis]}")
    shape = (*value.shape[:axis], kept, *value.shape[axis + 1 :])
    if not is_top and not call.integer("keepdims", 1):
        shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    if value.is_constant:
        found = derived(shape, None, [value])
    else:
        found = moving.reshape(call.sketch, combining.ranked(call.sketch, value, axis, kept), shape)
    return [found, found][: max(1, len(call.outputs))]


def sample(call: Call) -> Answer:
    """GridSample: a map read at places that the network computes, or a constant says; any of it may be needed."""
    value, grid = call.value(0), call.value(1)
    if value.rank != 4 or grid.rank != 4:
        raise NetworkError(f"samples {value.rank} dimensions by {grid.rank}; 4 are known")
    shape = (*value.shape[:2], *grid.shape[1:3])
    maps = [call.sketch.settle(each) for each in (value, grid) if not each.is_constant]
    return call.sketch.rearranged(maps, shape, [2], [3]) if maps else derived(shape, None, [value, grid])


def pool_boxes(call: Call) -> Answer:
    """RoiAlign: for each box a map of its own, sampled from that of the picture, of which any element may be needed."""
    value, boxes = call.value(0), call.value(1)
    extents = [call.integer(key, 1) for key in ("output_height", "output_width")]
    maps = [call.sketch.settle(each) for each in (value, boxes) if not each.is_constant]
    shape = (boxes.shape[0], value.shape[1], *extents)
    return call.sketch.rearranged(maps, shape, [0, 2], [3]) if maps else derived(shape, None, [value, boxes])


def scan(call: Call) -> Answer:
    """A running sum: each element needs those before it."""
    value, axes = call.value(0), call.numbers(1)
    axis = axis_of(value, axes[0] if axes else 0)
    if value.is_constant:
        return derived(value.shape, None, [value])
    value = call.sketch.settle(value)
    if is_channels(value.dims[axis]):
        return combining.local_normalisation(call.sketch, value)
    return call.sketch.rearranged([value], value.shape, position_dims(value))


def pad(call: Call) -> Answer:
    value = call.value(0)
    pads = call.integers("pads") if "pads" in call.attributes else call.numbers(1)
    axes = call.known(3) or list(range(value.rank))
    if len(pads) != 2 * len(axes):
        raise NetworkError(f"pads {len(axes)} dimensions by {len(pads)} numbers")
    before, after = [0] * value.rank, [0] * value.rank
    for i, axis in enumerate(axes):
        before[axis_of(value, axis)], after[axis_of(value, axis)] = pads[i], pads[i + len(axes)]
    return moving.pad(call.sketch, value, before, after)


def to_space(call: Call) -> Answer:
    """Blocks of channels become blocks of positions, or the reverse."""
    value, size = call.value(0), call.integer("blocksize", 0)
    if value.rank != 4 or size < 1:
        raise NetworkError(f"moves blocks of {size} in {value.rank} dimensions")
    batch, channels, height, width = value.shape
    sketch = call.sketch
    if call.op == "DepthToSpace":
        inside = (
            (size, size, channels // size**2)
            if call.text("mode", "DCR") == "DCR"
            else (channels // size**2, size, size)
        )
        split = moving.reshape(sketch, value, (batch, *inside, height, width))
        order = (0, 3, 4, 1, 5, 2) if call.text("mode", "DCR") == "DCR" else (0, 1, 4, 2, 5, 3)
        turned = moving.transpose(sketch, split, order)
        return moving.reshape(sketch, turned, (batch, channels // size**2, height * size, width * size))
    split = moving.reshape(sketch, value, (batch, channels, height // size, size, width // size, size))
    turned = moving.transpose(sketch, split, (0, 3, 5, 1, 2, 4))
    return moving.reshape(sketch, turned, (batch, channels * size**2, height // size, width // size))


MOVING_OPERATORS: dict[str, Callable[[Call], Answer]] = {
    "Reshape": reshape,
    "Flatten": flatten,
    "Transpose": transpose,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Expand": expand,
    "Tile": tile,
    "Concat": concat,
    "Split": split,
    "Slice": take_slice,
    **dict.fromkeys(("ArgMax", "ArgMin", "TopK"), rank_by),
    "Gather": gather,
    "GatherElements": gather_elements,
    **dict.fromkeys(("ScatterND", "ScatterElements", "Scatter"), scatter),
    "GridSample": sample,
    "RoiAlign": pool_boxes,
    "CumSum": scan,
    "Pad": pad,
    "DepthToSpace": to_space,
    "SpaceToDepth": to_space,
}
