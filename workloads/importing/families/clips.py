"""Windows over the frames of a clip [1, C, T, H, W]: its map is the frames one below the other (network/frames.py)."""

from __future__ import annotations

from collections.abc import Sequence

from workloads.errors import NetworkError
from workloads.importing.families.combining import reduce
from workloads.importing.families.moving import reshape, transpose
from workloads.importing.families.multiplying import linear
from workloads.importing.families.sliding import Sliding, share, slide
from workloads.importing.sketch import Sketch
from workloads.importing.values import Value
from workloads.importing.views import CHANNELS, COLUMNS, ROWS, Atom, full, is_channels, normal
from workloads.network.layers.frames import Frames
from workloads.network.layers.layer import Layer
from workloads.network.layers.shapes import output_extent


def slide_clip(
    sketch: Sketch, op: str, value: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int] = (1, 1, 1), channels: int | None = None, groups: int = 1, weights: Value | None = None,
) -> Value:  # fmt: skip
    """Return a convolution (with channels and weights) or a pool over time, rows and columns."""
    if value.rank != 5 or not all(len(each) == 3 for each in (kernel, stride, padding, dilation)):
        raise NetworkError(f"slides over an array of {value.rank} dimensions; clips have 5, and windows 3")
    if dilation[0] != 1:
        raise NetworkError(f"has frames {dilation[0]} apart in one window; 1 is known")
    if value.is_constant:
        value = sketch.fed(value, [2, 3], [4])
    if channels is not None and groups == 1 and _are_patches(value, kernel, stride, padding, dilation):
        return _embed_patches(sketch, value, kernel, channels, weights)
    still = _still(value, kernel, stride, padding)
    if still is not None:
        return _slide_beside(
            sketch, op, value, still, (kernel, stride, padding, padding, dilation), channels, groups, weights
        )
    value = sketch.conform(value, [2, 3], [4])
    batch, count, rows, columns = value.shape[0], *value.shape[2:]
    in_channels = batch * value.shape[1]
    frames = Frames(count, kernel[0], stride[0], padding[0])
    height, width = (
        output_extent(sketch.at, extent, (kernel[i] - 1) * dilation[i] + 1, stride[i], padding[i], padding[i])
        for i, extent in ((1, rows), (2, columns))
    )
    is_plain = (*kernel, *stride, *padding) == (1,) * 6 + (0,) * 3
    out, made = in_channels if channels is None else channels * batch, max(0, frames.outputs)
    assert value.source is not None
    name = sketch.dense(Layer(
        "", op, (value.source,), made * height, width, out, in_channels, (kernel[1], kernel[2]),
        (stride[1], stride[2]), (padding[1], padding[2], padding[1], padding[2]), (dilation[1], dilation[2]),
        1 if channels is None else groups * batch, frames=None if is_plain else frames,
    ), weights)  # fmt: skip
    share(sketch, name, weights, batch)
    dims = (
        normal([Atom(CHANNELS, out // batch, batch)]), full(CHANNELS, out // batch),
        normal([Atom(ROWS, height, made)]), full(ROWS, height), full(COLUMNS, width),
    )  # fmt: skip
    return Value((batch, out // batch, made, height, width), name, dims)


def _are_patches(
    value: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> bool:
    """Whether windows stand side by side along time, rows and columns, each over elements of its own."""
    tiles = all(extent % size == 0 for extent, size in zip(value.shape[2:], kernel))
    is_alone = list(kernel) == list(stride) or tuple(kernel) == value.shape[2:]
    return tiles and is_alone and not any(padding) and set(dilation) == {1} and max(kernel) > 1


def _embed_patches(sketch: Sketch, value: Value, kernel: Sequence[int], channels: int, weights: Value | None) -> Value:
    """Patches of a clip: its frames are stacked, those of one window as channels; or whole clips, each a row."""
    batch, depth, (count, rows, columns) = value.shape[0], value.shape[1], value.shape[2:]
    if tuple(kernel) == value.shape[2:]:
        made = linear(sketch, reshape(sketch, value, (batch, depth * count * rows * columns)), channels, weights)
        return reshape(sketch, made, (batch, channels, 1, 1, 1))
    times = count // kernel[0]
    apart = reshape(sketch, value, (batch, depth, times, kernel[0], rows, columns))
    beside = transpose(sketch, apart, (0, 1, 3, 2, 4, 5))
    value = sketch.conform(beside, [3, 4], [5])
    made = reshape(sketch, value, (batch, depth * kernel[0], times * rows, columns))
    found = slide(sketch, "conv", made, Sliding(kernel[1:], kernel[1:]), channels, 1, weights)
    return reshape(sketch, found, (batch, channels, times, rows // kernel[1], columns // kernel[2]))


def _still(value: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int]) -> int | None:
    """The dimension that the window does not slide along and that lies along channels; None where there is none."""
    for i, numbers in enumerate(zip(kernel, stride, padding, strict=True)):
        if numbers == (1, 1, 0) and value.shape[0] == 1 and value.shape[2 + i] > 1 and is_channels(value.dims[2 + i]):
            return 2 + i
    return None


def _slide_beside(
    sketch: Sketch, op: str, value: Value, still: int, numbers: Sequence[Sequence[int]], channels: int | None,
    groups: int, weights: Value | None,
) -> Value:  # fmt: skip
    """A window of two dimensions over maps that lie side by side along channels, with the same weights for each."""
    order = [still, 1, *(i for i in (2, 3, 4) if i != still), 0]
    turned = transpose(sketch, value, order)
    kernel, stride, before, after, dilation = ([n for i, n in enumerate(each, 2) if i != still] for each in numbers)
    window = Sliding(kernel, stride, before, after, dilation)
    found = slide(sketch, op, reshape(sketch, turned, turned.shape[:4]), window, channels, groups, weights)
    return transpose(sketch, reshape(sketch, found, (*found.shape, 1)), [order.index(i) for i in range(5)])


def adaptive_pool_clip(sketch: Sketch, op: str, value: Value, out: Sequence[int]) -> Value:
    """Return a pool of a clip to given extents, which must divide its own."""
    if list(out) == [1, 1, 1]:
        return reduce(sketch, value, (2, 3, 4), True, op)
    extents = value.shape[2:]
    if len(out) != 3 or any(size < 1 or extent % size for extent, size in zip(extents, out)):
        raise NetworkError(f"pools a clip of {list(extents)} to {list(out)}, which does not divide it")
    kernel = [extent // size for extent, size in zip(extents, out)]
    return slide_clip(sketch, op, value, kernel, kernel, (0, 0, 0))
