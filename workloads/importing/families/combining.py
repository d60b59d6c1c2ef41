"""Operators element by element, and along channels: activations, sums, products, normalisations, softmax."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from workloads.importing import views
from workloads.importing.families.moving import axis_of, expand, part, reshape
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value, broadcast, derived, position_dims, size_of
from workloads.importing.views import CHANNELS, extent_of, is_channels
from workloads.network.layers.layer import Layer


def activate(value: Value, is_exponential: bool = False) -> Value:
    """Return a function of each element: free, hidden in the pipeline. A normalised exponential is a softmax."""
    if value.is_constant:
        return derived(value.shape, None, [value])
    if is_exponential and value.pending:
        return replace(value, pending="softmax")
    return value


def join(sketch: Sketch, op: str, values: Sequence[Value]) -> Value:
    """Return the element-wise sum or product (op add, mul) of values, broadcast.

    Constants fold: biases, scales, masks; tables with numbers for each channel of each position are model inputs, where
    they are stored or given (angles computed from positions are not). A function of one map alone is an activation,
    GELU too, which is x times something of x. With a statistic of x in it, it normalises x: a layer for its reader.
    """
    shape = broadcast([value.shape for value in values])
    maps = [value for value in values if not value.is_constant]
    if not maps:
        return derived(shape, None, values)
    if len({(value.source, value.above, value.pad) for value in maps}) == 1:
        found = _of_one(maps)
        tables = [value for value in values if sketch.is_stored(value) and value.rank > 1]
        if found is not None and not tables:
            return _spread(sketch, found, shape)
        if found is not None:
            maps = [found]
    maps = [sketch.settle(_once(value)) for value in maps]
    largest = max(maps, key=size_of)
    maps.sort(key=lambda value: (value.shape != shape, value is not largest))
    first = maps[0] if maps[0].shape == shape else sketch.settle(_spread(sketch, maps[0], shape))
    operands = [first, *(_beside(sketch, value, first) for value in maps[1:]), *_tables(sketch, values, first)]
    sources = tuple(dict.fromkeys(value.source for value in operands if value.source is not None))
    if len(sources) == 1:
        return first
    extents = sketch.map_of(first)
    whole = tuple(i for i, source in enumerate(sources) if sketch.builder.shape(source)[:2] != extents[:2])
    return replace(first, source=sketch.light(op, "", sources, extents, whole))


def _tables(sketch: Sketch, values: Sequence[Value], first: Value) -> list[Value]:
    """The constants that are read: with a number for each channel of each position, or of each row."""
    found = []
    for value in values:
        if not sketch.is_stored(value) or value.rank < 2:
            continue
        pairs = list(zip(value.shape[::-1], first.dims[::-1]))
        over = [dim for extent, dim in pairs if extent > 1]
        if views.channels_in(over) == sketch.map_of(first)[2] and any(views.positions(dim) for dim in over):
            table = sketch.fed_like(value, first)
            found += [] if table is None else [table]
    return found


def _of_one(maps: Sequence[Value]) -> Value | None:
    """The values as one function of their common map, None where they lie differently."""
    full = [value for value in maps if not value.is_statistic]
    if not full:
        first = max(maps, key=size_of)
        return first if all(value.dims == first.dims for value in maps) else None
    first = max(full, key=size_of)
    for value in maps:
        for own, stored, dim in zip(value.dims[::-1], views.without_repeats(value.dims)[::-1], first.dims[::-1]):
            if own != dim and stored:
                return None
    kinds = [value.pending for value in full if value.pending] or ["layernorm"]
    statistics = any(value.is_statistic for value in maps)
    return replace(first, pending=kinds[0] if statistics or any(value.pending for value in full) else "")


def _spread(sketch: Sketch, value: Value, shape: tuple[int, ...]) -> Value:
    """The value in a shape that a constant made larger, or longer by ones."""
    if prod(shape) == size_of(value):
        return reshape(sketch, value, shape)
    return expand(sketch, value, shape)


def _once(value: Value) -> Value:
    """The value without the dimensions along which it is repeated as a whole: it is broadcast there again."""
    is_repeated = [bool(dim) and all(atom.axis == views.REPEATS for atom in dim) for dim in value.dims]
    shape = tuple(1 if gone else extent for gone, extent in zip(is_repeated, value.shape))
    return replace(value, shape=shape, dims=tuple(() if gone else dim for gone, dim in zip(is_repeated, value.dims)))


def _beside(sketch: Sketch, value: Value, first: Value) -> Value:
    """The value lying as the first operand does, or broadcast over its map."""
    shape = (1,) * (first.rank - value.rank) + value.shape
    value = reshape(sketch, value, shape)
    own, other = sketch.map_of(value), sketch.map_of(first)
    alike = all(have in (want, 1) for have, want in zip(own, other, strict=True))
    for dim, like in zip(value.dims, first.dims, strict=True):
        if dim and (views.positions(dim) != views.positions(like) or extent_of(dim) != extent_of(like)):
            alike = False
    if alike:
        return value
    key = "beside", value.source, value.dims, first.shape, first.dims
    if key not in sketch.made:
        assert value.source is not None
        sketch.made[key] = sketch.moved([value], other)
    return replace(first, source=sketch.made[key])


def softmax(sketch: Sketch, value: Value, axis: int) -> Value:
    """Return a softmax along one dimension."""
    return _along_channels(sketch, "softmax", value, [axis_of(value, axis)] if value.rank else [])


def ranked(sketch: Sketch, value: Value, axis: int, kept: int) -> Value:
    """Return the first of a dimension by size, or where they are: a row lies side by side, as for a softmax."""
    return part(sketch, softmax(sketch, value, axis), axis, 0, kept)


def normalise(sketch: Sketch, value: Value, axes: Sequence[int]) -> Value:
    """Return the value normalised over some dimensions.

    Over channels it is a layernorm. Over all positions (group and instance normalisation) it takes statistics of the
    whole map first: a pool over the map, and a product with it that is broadcast.
    """
    if value.is_constant:
        return activate(value)
    axes = sorted({axis_of(value, axis) for axis in axes})
    value = sketch.settle(value)
    height, width, channels = extents = sketch.map_of(value)
    over = [atom for axis in axes for atom in views.positions(value.dims[axis])]
    if not over or extent_of(tuple(over)) < height * width:
        return _along_channels(sketch, "layernorm", value, axes)
    assert value.source is not None
    mean = sketch.add(Layer(
        f"{sketch.at}.mean", "avgpool", (value.source,), 1, 1, channels, channels, (height, width), (height, width)
    ))  # fmt: skip
    whole = () if (height, width) == (1, 1) else (1,)
    return replace(value, source=sketch.light("mul", "", (value.source, mean), extents, whole))


def _along_channels(sketch: Sketch, op: str, value: Value, axes: Sequence[int]) -> Value:
    if value.is_constant:
        return activate(value)
    value = sketch.settle(value)
    if not all(is_channels(value.dims[axis]) for axis in axes):
        others = [i for i in range(value.rank) if i not in axes and value.shape[i] > 1]
        rows = [i for i in others if views.positions(value.dims[i])] or others[-1:]  # heads stay channels
        value = sketch.rearranged([value], value.shape, rows)
    assert value.source is not None
    return replace(value, source=sketch.light(op, "", (value.source,), sketch.map_of(value)))


def local_normalisation(sketch: Sketch, value: Value) -> Value:
    """Return a local response normalisation across channels (dimension 1)."""
    value = sketch.settle(value)
    if value.rank > 1 and not is_channels(value.dims[1]):
        value = sketch.rearranged([value], value.shape, [i for i in range(2, value.rank)])
    assert value.source is not None
    return replace(value, source=sketch.light("lrn", "", (value.source,), sketch.map_of(value)))


def reduce(sketch: Sketch, value: Value, axes: Sequence[int] | None, keeps: bool, op: str = "avgpool") -> Value:
    """Return the mean, sum or maximum over some dimensions: a pool over positions, a statistic over channels."""
    axes = sorted({axis_of(value, axis) for axis in (range(value.rank) if axes is None else axes)})
    shape = tuple(1 if i in axes else extent for i, extent in enumerate(value.shape))
    if value.is_constant:
        found = derived(shape, None, [value])
    else:
        found = _reduced(sketch, value, axes, shape, op)
    if not keeps:
        found = reshape(sketch, found, tuple(extent for i, extent in enumerate(shape) if i not in axes))
    return found


def _reduced(sketch: Sketch, value: Value, axes: Sequence[int], shape: tuple[int, ...], op: str) -> Value:
    if value.is_statistic or value.pad != (0, 0, 0, 0) or value.above or views.repeats_in(value.dims):
        value = sketch.settle(value)
    over = [atom for axis in axes for atom in value.dims[axis]]
    if any(atom.axis != CHANNELS for atom in over):
        value = _pooled(sketch, sketch.settle(value), axes, op)
    dims = tuple(() if i in axes else dim for i, dim in enumerate(value.dims))
    is_statistic = any(atom.axis == CHANNELS for atom in over)
    return replace(value, shape=shape, dims=dims, is_statistic=is_statistic)


def _pooled(sketch: Sketch, value: Value, axes: Sequence[int], op: str) -> Value:
    """The value pooled over all its rows, columns or both, as far as the dimensions run along them."""
    height, width, channels = extents = sketch.map_of(value)
    along = [views.unturned(tuple(a for i in axes for a in value.dims[i] if a.axis == axis)) for axis in (0, 1)]
    if any(along[axis] not in ((), views.full(axis, extents[axis])) for axis in (0, 1)):
        rows = [i for i in axes if views.positions(value.dims[i])]
        others = [i for i in position_dims(value) if i not in rows]
        value = sketch.rearranged([value], value.shape, rows, others)
        height, width, channels = extents = sketch.map_of(value)
        along = [views.full(0, height), ()]
    kernel = (height if along[0] else 1, width if along[1] else 1)
    assert value.source is not None
    name = sketch.add(Layer(
        "", op, (value.source,), height // kernel[0], width // kernel[1], channels, channels, kernel, kernel
    ))  # fmt: skip
    gone = {axis for axis in (0, 1) if kernel[axis] > 1}
    dims = tuple(tuple(atom for atom in dim if atom.axis not in gone) for dim in value.dims)
    return replace(value, source=name, dims=dims)
