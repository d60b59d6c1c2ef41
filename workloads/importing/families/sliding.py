"""Operators with a window: convolutions and pools of one or two dimensions, transposed ones, resizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from workloads.errors import NetworkError
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value, size_of
from workloads.importing.views import CHANNELS, COLUMNS, ROWS, Atom, extent_of, full, is_channels, normal, positions
from workloads.network.layers.layer import Layer, Note
from workloads.network.layers.shapes import MAX_EXTENT, output_extent, same_padding, spread_extent
from workloads.network.layers.windows import Method, resize_window, transposed_padding


@dataclass(frozen=True)
class Sliding:
    """What slides: numbers for each dimension of the map (1 or 2)."""

    kernel: Sequence[int]
    stride: Sequence[int] = ()  #: 1 unless given
    before: Sequence[int] = ()  #: padding, 0 unless given
    after: Sequence[int] = ()
    dilation: Sequence[int] = ()
    auto: str = ""  #: "upper", "lower": padding for ceil(extent / stride) windows, its odd one after or before
    ceil: bool = False

    def planes(self, rank: int) -> list[tuple[int, int, int, int, int]]:
        """Return (kernel, stride, before, after, dilation) of rows and columns; 1, 1, 0, 0, 1 where there are none."""
        if len(self.kernel) != rank or rank not in (1, 2):
            raise NetworkError(f"has a kernel of {len(self.kernel)} dimensions on a map of {rank}; 1 and 2 are known")
        columns = []
        for given, default in (
            (self.kernel, 1), (self.stride, 1), (self.before, 0), (self.after, 0), (self.dilation, 1)
        ):  # fmt: skip
            numbers = [*(given or [default] * rank), default][:2] if rank == 1 else list(given or [default] * rank)
            if len(numbers) != 2 or not all(type(n) is int and abs(n) <= MAX_EXTENT for n in numbers):
                raise NetworkError(f"has the window numbers {list(given)[:8]}; they must be {rank} integers")
            columns.append(numbers)
        found = list(zip(*columns, strict=True))
        if any(min(kernel, stride, dilation) < 1 for kernel, stride, _, _, dilation in found):
            raise NetworkError(f"has a window of {list(self.kernel)}; kernel, stride and dilation must be at least 1")
        return found

    def outputs(self, at: str, extents: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return the padding before and after, and how many windows there are, of rows (and columns) so long."""
        found = []
        for extent, (kernel, stride, before, after, dilation) in zip(extents, self.planes(len(self.kernel))):
            reach = (kernel - 1) * dilation + 1
            if self.auto:
                before, after = same_padding(extent, reach, stride)[:: -1 if self.auto == "lower" else 1]
            found.append((before, after, output_extent(at, extent, reach, stride, before, after, self.ceil)))
        return found


def _on_map(sketch: Sketch, value: Value) -> tuple[Value, tuple[int, int, int, int]]:
    """The value with its last dimensions along rows and columns, and the padding that is still to be done."""
    if value.rank not in (3, 4):
        raise NetworkError(f"slides over an array of {value.rank} dimensions; 3 and 4 are known")
    if value.is_constant:
        value = sketch.fed(value, [2], [3][: value.rank - 3])
    height, width, _ = (1, 1, 1) if value.source is None else sketch.map_of(value)
    lies = value.dims[2:] == (full(ROWS, height), full(COLUMNS, width))[: value.rank - 2]
    if value.pending or value.is_statistic or not lies:
        value = sketch.settle(value)
    sides = value.pad
    return sketch.conform(replace(value, pad=(0, 0, 0, 0)), [2], [3][: value.rank - 3]), sides


def slide(
    sketch: Sketch, op: str, value: Value, window: Sliding, channels: int | None = None, groups: int = 1,
    weights: Value | None = None,
) -> Value:  # fmt: skip
    """Return a convolution (with channels and weights) or a pool of an array [1, C, L] or [1, C, H, W].

    A batch inside the network lies along channels: groups that have the same weights, which are counted for each.
    """
    if channels is not None and not value.is_constant and value.shape[0] == 1:
        if all(plane == (1, 1, 0, 0, 1) for plane in window.planes(value.rank - 2)):
            value = sketch.settle(value)
            if is_channels(value.dims[1]) and all(positions(dim) == dim for dim in value.dims[2:]):
                return _at_each(sketch, value, channels, groups, weights)
    value, sides = _on_map(sketch, value)
    height, width, in_channels = sketch.map_of(value)
    batch = value.shape[0]
    channels = None if channels is None else channels * batch
    planes = window.planes(value.rank - 2)
    padding, extents = list(sides), [1, width]
    whole = [extent + sides[axis] + sides[axis + 2] for axis, extent in enumerate((height, width))]
    for axis, (before, after, made) in enumerate(window.outputs(sketch.at, whole)):
        padding[axis], padding[axis + 2], extents[axis] = before + sides[axis], after + sides[axis + 2], made
    if any(side and own * side < 0 for side, own in zip(sides, (planes[0][2], planes[1][2]) * 2)):
        raise NetworkError("crops what it pads")
    assert value.source is not None
    out = in_channels if channels is None else channels
    name = sketch.dense(Layer(
        "", op, (value.source,), extents[0], extents[1], out, in_channels,
        (planes[0][0], planes[1][0]), (planes[0][1], planes[1][1]), (padding[0], padding[1], padding[2], padding[3]),
        (planes[0][4], planes[1][4]), groups * batch if channels else 1,
    ), weights)  # fmt: skip
    share(sketch, name, weights, batch)
    return mapped(name, out, extents, value.rank, batch)


def _at_each(sketch: Sketch, value: Value, channels: int, groups: int, weights: Value | None) -> Value:
    """A convolution that slides over single positions, whose order is free."""
    height, width, in_channels = sketch.map_of(value)
    assert value.source is not None
    layer = Layer("", "conv", (value.source,), height, width, channels, in_channels, groups=groups)
    shape, dims = (1, channels, *value.shape[2:]), ((), full(CHANNELS, channels), *value.dims[2:])
    return replace(value, shape=shape, source=sketch.dense(layer, weights), dims=dims)


def share(sketch: Sketch, name: str, weights: Value | None, batch: int) -> None:
    """Note the weights of a layer that are counted for each of a batch inside the network."""
    if weights is not None and batch > 1:
        sketch.notes.append(Note(name, f"batch of {batch}", "shared", size_of(weights) * (batch - 1)))


def spread(
    sketch: Sketch, value: Value, window: Sliding, channels: int, groups: int, extra: Sequence[int],
    out: Sequence[int] = (), weights: Value | None = None,
) -> Value:  # fmt: skip
    """Return a transposed convolution; `extra` is its output padding, `out` its extents where they are given."""
    value, sides = _on_map(sketch, value)
    if any(sides):
        value, _ = _on_map(sketch, sketch.settle(replace(value, pad=sides)))
    height, width, in_channels = sketch.map_of(value)
    planes = window.planes(value.rank - 2)
    more = ([*extra, 0] if value.rank == 3 else list(extra)) or [0, 0]
    wanted = [*out, 1][:2] if value.rank == 3 and out else list(out)
    padding, extents, upsample = [0, 0, 0, 0], [0, 0], (planes[0][1], planes[1][1])
    for axis, (kernel, stride, before, after, dilation) in enumerate(planes):
        extent, reach = spread_extent((height, width)[axis], stride), (kernel - 1) * dilation + 1
        if wanted or window.auto:
            size = wanted[axis] if wanted else (height, width)[axis] * stride
            total = extent + reach - 1 + more[axis] - size
            before, after = total // 2, total - total // 2
        before, _, after, _ = transposed_padding((before, 0, after, 0), (more[axis], 0), (reach, 1))
        padding[axis], padding[axis + 2] = before, after
        extents[axis] = output_extent(sketch.at, extent, reach, 1, before, after)
    assert value.source is not None
    name = sketch.dense(Layer(
        "", "conv_transpose", (value.source,), extents[0], extents[1], channels, in_channels,
        (planes[0][0], planes[1][0]), (1, 1), (padding[0], padding[1], padding[2], padding[3]),
        (planes[0][4], planes[1][4]), groups, (), upsample,
    ), weights)  # fmt: skip
    return mapped(name, channels, extents, value.rank)


def pool_all(sketch: Sketch, op: str, value: Value) -> Value:
    """Return a pool over the whole map."""
    value = sketch.settle(value)
    return slide(sketch, op, value, Sliding(value.shape[2:], value.shape[2:]))


def adaptive_pool(sketch: Sketch, op: str, value: Value, out: Sequence[int]) -> Value:
    """Return a pool to a map of given extents.

    Where they do not divide those of the map, each window lies in that of a plain pool: window i of n begins at
    floor(i E / n), not before i floor(E / n), and ends at ceil((i + 1) E / n), not behind E - (n - 1 - i) floor(E / n).
    """
    value = sketch.settle(value)
    extents = value.shape[2:]
    over, (height, width, channels) = [atom for dim in value.dims[2:] for atom in positions(dim)], sketch.map_of(value)
    if set(out) == {1} and height * width == extent_of(over) == prod(extents):  # in any order
        assert value.source is not None
        name = sketch.add(Layer("", op, (value.source,), 1, 1, channels, channels, (height, width), (height, width)))
        dims = (*value.dims[:2], *((),) * len(extents))
        return replace(value, shape=(*value.shape[:2], *out), source=name, dims=dims)
    if len(out) != len(extents) or min(out, default=0) < 1:
        raise NetworkError(f"pools a map of {list(extents)} to {list(out)}")
    if any(size > extent for extent, size in zip(extents, out)):
        return resize(sketch, value, out, "nearest")
    strides = [extent // size for extent, size in zip(extents, out)]
    kernel = [extent - (size - 1) * stride for extent, size, stride in zip(extents, out, strides)]
    return slide(sketch, op, value, Sliding(kernel, strides))


def resize(sketch: Sketch, value: Value, out: Sequence[int], method: Method, align_corners: bool = False) -> Value:
    """Return a resize of the last dimensions of [1, C, L] or [1, C, H, W] to these extents."""
    value, _ = _on_map(sketch, sketch.settle(value))
    height, width, channels = sketch.map_of(value)
    sizes = [*out, 1][:2] if value.rank == 3 else list(out)
    if len(sizes) != 2 or not all(type(size) is int and 0 < size <= MAX_EXTENT for size in sizes):
        raise NetworkError(f"resizes a map to {list(out)}")
    if (height, width) == tuple(sizes):
        return value
    rows, columns = (resize_window(have, want, method, align_corners) for have, want in zip((height, width), sizes))
    assert value.source is not None
    name = sketch.add(Layer(
        "", "resize", (value.source,), sizes[0], sizes[1], channels, channels, (rows.kernel, columns.kernel),
        (rows.stride, columns.stride), (rows.before, columns.before, rows.after, columns.after),
        upsample=(rows.upsample, columns.upsample),
    ))  # fmt: skip
    return mapped(name, channels, sizes, value.rank, value.shape[0])


def mapped(name: str, channels: int, extents: Sequence[int], rank: int, batch: int = 1) -> Value:
    """Return the map of a layer as an array [1, C, L] or [1, C, H, W]; a batch lies along its channels."""
    each = channels // batch
    dims = (normal([Atom(CHANNELS, each, batch)]), full(CHANNELS, each), full(ROWS, extents[0]))
    if rank == 3:
        return Value((batch, each, extents[0]), name, dims)
    return Value((batch, each, extents[0], extents[1]), name, (*dims, full(COLUMNS, extents[1])))
