"""Operators that move elements: reshape, transpose, slice, concatenate, pad. Most of them only change the view."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from math import prod

from workloads.errors import NetworkError
from workloads.importing import views
from workloads.importing.families.sliding import resize
from workloads.importing.sketch import Piece, Sketch
from workloads.importing.values import Value, checked, derived, position_dims, size_of
from workloads.importing.views import CHANNELS, COLUMNS, REPEATS, ROWS, Atom, full, is_channels
from workloads.network.layers.layer import Layer


def axis_of(value: Value, axis: int) -> int:
    """Return a dimension counted from the front; raises NetworkError where there is none."""
    if not -value.rank <= axis < value.rank:
        raise NetworkError(f"has axis {axis} of an array of {value.rank} dimensions")
    return axis % value.rank


def reshape(sketch: Sketch, value: Value, shape: tuple[int, ...]) -> Value:
    """Return the value in another shape of as many elements."""
    if prod(checked(shape)) != size_of(value):
        raise NetworkError(f"reshapes {list(value.shape)} to {list(shape)}, which has other elements")
    if shape == value.shape:
        return value
    if value.is_constant:
        data = None if value.data is None else value.data.reshape(shape)
        return derived(shape, data, [value])
    if value.pad != (0, 0, 0, 0):
        rest = iter([dim for dim, extent in zip(value.dims, value.shape) if extent > 1])
        if [extent for extent in shape if extent > 1] == [extent for extent in value.shape if extent > 1]:
            return replace(value, shape=shape, dims=tuple(next(rest) if extent > 1 else () for extent in shape))
        value = sketch.settle(value)
    dims = views.reshape(value.dims, shape)
    if dims is None:
        return sketch.rearranged([sketch.settle(value)], shape, range(len(shape) - 1))
    return replace(value, shape=shape, dims=dims)


def transpose(sketch: Sketch, value: Value, order: Sequence[int]) -> Value:
    """Return the value with its dimensions in this order."""
    order = [axis_of(value, axis) for axis in order]
    if sorted(order) != list(range(value.rank)):
        raise NetworkError(f"transposes {value.rank} dimensions by {order}")
    shape = tuple(value.shape[i] for i in order)
    if value.is_constant:
        data = None if value.data is None else value.data.transpose(order)
        return derived(shape, data, [value])
    return replace(value, shape=shape, dims=tuple(value.dims[i] for i in order))


def roll(sketch: Sketch, value: Value, steps: Sequence[int], axes: Sequence[int]) -> Value:
    """Return the value rolled along some dimensions: the same map, read from another place on, or a rearrangement."""
    value = sketch.settle(value)
    dims = list(value.dims)
    for axis, count in zip(axes, steps, strict=True):
        dim = dims[axis_of(value, axis)]
        found = dim if is_channels(dim) else views.turned(dim, count)
        if found is None:
            along = position_dims(value)
            rows, columns = ([along[0]], [along[1]]) if len(along) == 2 else (along, [])
            return sketch.rearranged([value], value.shape, rows, columns)
        dims[axis_of(value, axis)] = found
    return replace(value, dims=tuple(dims))


def squeeze(sketch: Sketch, value: Value, axes: Sequence[int] | None) -> Value:
    """Return the value without these dimensions of extent 1, or without all of them."""
    found = [i for i, extent in enumerate(value.shape) if extent == 1]
    gone = found if axes is None else [axis_of(value, axis) for axis in axes]
    if not set(gone) <= set(found):
        raise NetworkError(f"squeezes the dimensions {gone} of {list(value.shape)}; they must have extent 1")
    return reshape(sketch, value, tuple(extent for i, extent in enumerate(value.shape) if i not in gone))


def unsqueeze(sketch: Sketch, value: Value, axes: Sequence[int]) -> Value:
    """Return the value with dimensions of extent 1 at these places of the result."""
    rank = value.rank + len(axes)
    places = {axis % rank for axis in axes}
    rest = iter(value.shape)
    if len(places) != len(axes):
        raise NetworkError(f"unsqueezes the dimensions {list(axes)} of {list(value.shape)}")
    return reshape(sketch, value, tuple(1 if i in places else next(rest) for i in range(rank)))


def expand(sketch: Sketch, value: Value, shape: tuple[int, ...]) -> Value:
    """Return the value repeated to a shape: a view, until a layer other than a product reads it."""
    checked(shape)
    if shape == value.shape:
        return value
    if value.is_constant:
        return derived(shape, None, [value])
    rank = len(shape) - value.rank
    if prod(shape) == size_of(value):
        return reshape(sketch, value, shape)
    if len(shape) == 4 and value.shape == (*shape[:2], 1, 1):  # a pooled map over all positions
        return resize(sketch, value, shape[2:], "nearest")
    value = value if value.is_statistic else sketch.put_down(value)
    dims = [*((),) * rank, *value.dims]
    for i, (extent, have) in enumerate(zip(shape, (1,) * rank + value.shape, strict=True)):
        if extent != have:
            dims[i] = (Atom(REPEATS, 1, extent // have), *dims[i])
    return replace(value, shape=shape, dims=tuple(dims))


def part(sketch: Sketch, value: Value, axis: int, start: int, stop: int, step: int = 1) -> Value:
    """Return every step-th of the elements start to stop of a dimension, as Python slices do."""
    axis = axis_of(value, axis)
    kept = range(*slice(start, stop, step).indices(value.shape[axis]))
    shape = (*value.shape[:axis], len(kept), *value.shape[axis + 1 :])
    if value.is_constant:
        whole = (slice(None),) * axis
        data = None if value.data is None else value.data[(*whole, slice(start, stop, step))]
        return derived(shape, data, [value])
    if len(kept) == 0:
        return derived(shape, None, [])
    if shape == value.shape and step > 0:
        return value
    for piece in sketch.pieces_of(value, axis):  # what was written there is read again
        if kept[0] in piece.steps and kept[-1] in piece.steps and kept.step == piece.steps.step == 1:
            first = piece.of[piece.steps.index(kept[0])]
            return part(sketch, piece.value, axis, first, first + len(kept) * piece.of.step, piece.of.step)
    value = sketch.settle(value)
    height, width, channels = sketch.map_of(value)
    dim = value.dims[axis]
    if step == 1 and len(dim) == 1 and dim[0].axis == CHANNELS:
        return sketch.cut(value, axis, kept[0], kept[-1] + 1)
    if len(dim) == 1 and dim[0].axis == CHANNELS and step > 1 and kept == range(start, value.shape[axis], step):
        if start < step and value.shape[axis] % step == 0:  # every step-th channel, as halves of rotary embeddings
            pairs = reshape(sketch, value, (*shape[: axis + 1], step, *shape[axis + 1 :]))
            return pick(sketch, pairs, axis + 1, start)
    if is_channels(dim):
        return sketch.chosen(value, axis, kept)
    for along, extent in ((ROWS, height), (COLUMNS, width)):
        if step > 0 and views.unturned(dim) == full(along, extent):
            first = (kept[0] + sum(dim[0].turn[2:])) % extent if dim else 0
            if first + kept[-1] - kept[0] < extent:
                return _cropped(sketch, value, axis, along, kept, first)
    return sketch.rearranged([value], shape, [i for i in position_dims(value) if shape[i] > 1])


def _cropped(sketch: Sketch, value: Value, axis: int, along: int, kept: range, first: int) -> Value:
    """Some rows or columns of a map, from its `first` on: a slice with negative padding and a stride."""
    height, width, channels = sketch.map_of(value)
    extents, strides, sides = [height, width], [1, 1], [0, 0, 0, 0]
    sides[along], sides[along + 2] = -first, first + kept[-1] - kept[0] + 1 - extents[along]
    extents[along], strides[along] = len(kept), kept.step
    assert value.source is not None
    name = sketch.add(Layer(
        "", "slice", (value.source,), extents[0], extents[1], channels, channels, stride=(strides[0], strides[1]),
        padding=(sides[0], sides[1], sides[2], sides[3]),
    ))  # fmt: skip
    dims, shape = list(value.dims), list(value.shape)
    dims[axis], shape[axis] = full(along, len(kept)), len(kept)
    return sketch.note_part(replace(value, shape=tuple(shape), source=name, dims=tuple(dims)), value, axis, kept)


def pick(sketch: Sketch, value: Value, axis: int, index: int) -> Value:
    """Return one element of a dimension, without that dimension."""
    axis = axis_of(value, axis)
    extent = value.shape[axis]
    if not -extent <= index < extent:
        raise NetworkError(f"takes element {index} of {extent}")
    index %= extent
    return squeeze(sketch, part(sketch, value, axis, index, index + 1), [axis])


def concat(sketch: Sketch, values: Sequence[Value], axis: int) -> Value:
    """Return values one after the other: a concat by channel, else a rearrangement of all of them."""
    values = [value for value in values if size_of(value)] or list(values[:1])
    axis = axis_of(values[0], axis)
    total = sum(value.shape[axis] for value in values)
    for value in values:
        if value.shape[:axis] + value.shape[axis + 1 :] != values[0].shape[:axis] + values[0].shape[axis + 1 :]:
            raise NetworkError(f"joins arrays of shapes {list(values[0].shape)} and {list(value.shape)}")
    shape = (*values[0].shape[:axis], total, *values[0].shape[axis + 1 :])
    if all(value.is_constant for value in values):
        known = all(value.data is not None for value in values)
        data = None
        if known:
            import numpy as np

            data = np.concatenate([value.data for value in values], axis)
        return derived(shape, data, values)
    if len(values) == 2 and values[0].source in sketch.caches and values[0].dims[axis] and not values[1].is_constant:
        found = sketch.append(values[0], values[1], axis) if _lies_as_cache(sketch, values[0], axis) else None
        if found is not None:
            return found
    maps = _joined(sketch, values, axis)
    if len(values) == 1:
        return maps[0]
    whole = sketch.whole_of(maps, axis) if len(maps) == len(values) else None
    if whole is not None:
        return whole
    if len(maps) == len(values) and _joins_channels(sketch, maps, axis):
        sources = tuple(value.source for value in maps if value.source is not None)
        height, width, _ = sketch.map_of(maps[0])
        channels = sum(sketch.map_of(value)[2] for value in maps)
        name = sketch.add(Layer("", "concat", sources, height, width, channels, channels))
        dims = list(maps[0].dims)
        dims[axis] = (Atom(CHANNELS, 1, total),)
        return Value(shape, name, views.numbered(tuple(dims)))
    along = sorted({i for value in maps for i in position_dims(value)}) or [axis]
    rows, columns = ([along[0]], [along[1]]) if len(along) == 2 else (along, [])
    found = sketch.rearranged(maps, shape, rows, columns)
    if len(maps) == len(values):
        ends = list(accumulate(value.shape[axis] for value in maps))
        steps = [range(end - value.shape[axis], end) for value, end in zip(maps, ends)]
        sketch.remember(found, axis, tuple(Piece(each, value, range(len(each))) for value, each in zip(maps, steps)))
    return found


def _lies_as_cache(sketch: Sketch, value: Value, axis: int) -> bool:
    """Whether the rows of a cache run along a dimension, and nothing has been done with them."""
    is_plain = not value.above and not value.pending and not value.is_statistic and value.pad == (0, 0, 0, 0)
    return is_plain and value.dims[axis] == full(ROWS, sketch.map_of(value)[0])


def _joined(sketch: Sketch, values: Sequence[Value], axis: int) -> list[Value]:
    """The maps among some values; constants that are stored (a class token, a cache) are model inputs."""
    along = sorted({i for value in values for i in position_dims(value)})
    rows, columns = ([along[0]], [along[1]]) if len(along) == 2 else (along, [])
    found = []
    for value in values:
        if not value.is_constant:
            found.append(sketch.settle(value))
        elif sketch.is_stored(value):
            found.append(sketch.fed(value, [i for i in rows if value.shape[i] > 1], columns))
    return found


def _joins_channels(sketch: Sketch, maps: Sequence[Value], axis: int) -> bool:
    """Whether the maps have the same layout and differ in the channels along this axis only."""
    first = maps[0]
    for value in maps:
        if sketch.map_of(value)[:2] != sketch.map_of(first)[:2] or not is_channels(value.dims[axis]):
            return False
        for i, (dim, other) in enumerate(zip(value.dims, first.dims, strict=True)):
            if i != axis and views.positions(dim) != views.positions(other):
                return False
    return True


def overwrite(sketch: Sketch, cache: Value, value: Value, axis: int) -> Value | None:
    """Return a cache some of whose rows are written anew: the others, and the new ones below them; None where not.

    The order of rows that a product needs whole is free; what is overwritten is not read.
    """
    axis = axis_of(cache, axis)
    rows, new = cache.shape[axis], value.shape[axis]
    if new >= rows or not _lies_as_cache(sketch, cache, axis):
        return None
    shape = (*cache.shape[:axis], rows - new, *cache.shape[axis + 1 :])
    key = "earlier", cache.source, shape
    if key not in sketch.made:
        kept = sketch.cache(f"{cache.source}.earlier", shape, axis)
        assert kept.source is not None
        sketch.made[key] = kept.source
    kept = replace(cache, shape=shape, source=sketch.made[key])
    return sketch.append(replace(kept, dims=views.laid_out(shape, [axis], [])[0]), value, axis)


def pad(sketch: Sketch, value: Value, before: Sequence[int], after: Sequence[int]) -> Value:
    """Return the value with elements around it: rows and columns go into their reader."""
    if len(before) != value.rank or len(after) != value.rank:
        raise NetworkError(f"pads {value.rank} dimensions by {len(before)} numbers")
    shape = tuple(b + extent + a for b, extent, a in zip(before, value.shape, after, strict=True))
    if min(shape, default=1) < 1:
        raise NetworkError(f"pads {list(value.shape)} to {list(shape)}")
    if value.is_constant:
        return derived(shape, None, [value])
    if shape == value.shape and not any(before):
        return value
    padded = [i for i in range(value.rank) if before[i] or after[i]]
    lies = None
    if min(*before, *after) >= 0 and not (value.pending or value.is_statistic or value.above):
        lies = _sides_of(sketch, value, padded)  # in addition to what is there
    if lies is None:
        value = sketch.settle(value)
        lies = _sides_of(sketch, value, padded)
    if lies is None and value.rank in (3, 4) and padded[0] > 1:
        value = sketch.conform(value, [2], [3][: value.rank - 3])
        lies = dict(zip((2, 3), (ROWS, COLUMNS)))
    if lies is None:
        return sketch.rearranged([value], shape, position_dims(value) or [value.rank - 1])
    sides = list(value.pad)
    for i in padded:
        sides[lies[i]] += before[i]
        sides[lies[i] + 2] += after[i]
    return replace(value, shape=shape, pad=(sides[0], sides[1], sides[2], sides[3]))


def _sides_of(sketch: Sketch, value: Value, padded: Sequence[int]) -> dict[int, int] | None:
    """Which of these dimensions runs along all rows, and which along all columns; None where one does not."""
    extents = sketch.map_of(value)
    ways = {full(axis, extents[axis]): axis for axis in (ROWS, COLUMNS) if extents[axis] > 1}
    found = {i: ways[value.dims[i]] for i in padded if value.dims[i] in ways}
    return found if len(found) == len(padded) else None
