"""The same network on smaller maps, so that it can be executed in reasonable time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import get_args

from workloads.errors import NetworkError, shown
from workloads.network.layers.attention import keys_and_values, positions_of
from workloads.network.layers.layer import Layer
from workloads.network.layers.ops import WINDOW_OPS
from workloads.network.layers.shapes import (
    Shape,
    joined_shape,
    matmul_forms,
    output_extent,
    same_padding,
    spread_extent,
    text,
    whole_operands,
    window_extents,
)
from workloads.network.layers.windows import Method, Spread, resize_window
from workloads.network.network import Network, check_network


def shrink(network: Network, factor: int) -> Network:
    """Return the network on smaller maps: height and width of its model inputs divided by `factor`, rounded up.

    Every other map follows from its layer's own kernel, stride, padding and dilation, with the same rounding. A window
    that spans the whole map still does (a flattening fc, a global pool). A resize makes its extents divided by
    `factor`, rounded up, with the same method. A map cropped to one window keeps that window (a class token).
    Asymmetric "same" padding is computed again. Channels stay, except where they count positions (attention scores).

    Parameters
    ----------
    network : Network
        Left unchanged.
    factor : int
        At least 1.

    Returns
    -------
    Network
        With the same layers and weights.

    Raises
    ------
    NetworkError
        A kernel no longer fits its map, or two branches no longer meet in equal maps (a smaller factor may work); or a
        layer works on the frames of a clip.

    Examples
    --------
    >>> import workloads
    >>> small = workloads.shrink(workloads.load("resnet50"), 4)
    >>> small.inputs
    (Tensor(name='image', height=56, width=56, channels=3),)
    """
    check_network(network)
    if type(factor) is not int or factor < 1:
        raise NetworkError(f"a network shrinks by a factor of {shown(factor)}; it must be an integer of at least 1")
    inputs = tuple(
        replace(tensor, height=-(-tensor.height // factor), width=-(-tensor.width // factor))
        for tensor in network.inputs
    )
    before = {tensor.name: (tensor.height, tensor.width, tensor.channels) for tensor in network.tensors}
    after = {tensor.name: (tensor.height, tensor.width, tensor.channels) for tensor in inputs}
    timed = next((layer.name for layer in network.layers if layer.frames), None)
    if timed:
        raise NetworkError(f"network {network.name!r} does not shrink: {timed!r} works on the frames of a clip")
    layers = []
    try:
        for layer in network.layers:
            old, new = ([known[name] for name in layer.inputs] for known in (before, after))
            resized = _follow(layer, old, new, factor)
            after[layer.name] = (resized.height, resized.width, resized.channels)
            layers.append(resized)
        return Network(network.name, inputs, tuple(layers), network.concats)
    except NetworkError as error:
        raise NetworkError(
            f"network {network.name!r} does not shrink by {factor}: {error}; use a smaller factor"
        ) from None


def _follow(layer: Layer, before: Sequence[Shape], after: Sequence[Shape], factor: int) -> Layer:
    """The layer on operands of new shapes."""
    if layer.op == "resize":
        return _follow_resize(layer, before[0], after, factor)
    if layer.op in WINDOW_OPS:
        return _follow_window(layer, before[0], after)
    if layer.op == "matmul":
        layer, before_it = _with_blocks(layer, before, after), layer.operand_heads
        old = matmul_forms(before, layer.groups, before_it)
        new = matmul_forms(after, layer.groups, layer.operand_heads)
        found = [new[form] for form, channels in old.items() if channels == layer.channels and form in new]
        if not found:
            raise NetworkError(f"layer {layer.name!r} (matmul) cannot multiply {text(after[0])} with {text(after[1])}")
        (height, width, inner), keys = after[0], 0 if layer.mask is None else positions_of(after[1:])
        return replace(layer, height=height, width=width, channels=found[0], in_channels=inner, keys=keys)
    if layer.op == "attention":
        (height, width, _), keys = after[0], positions_of([after[i] for i in keys_and_values(range(len(after)))[0]])
        return replace(layer, height=height, width=width, keys=keys)
    if layer.op == "scan":
        return replace(layer, height=after[0][0])
    if layer.op == "rearrange":
        return _follow_rearrange(layer, before, after)
    height, width, channels = joined_shape(after)
    whole, keys = whole_operands(layer.op, after, height, width), 0
    if layer.mask is not None:
        keys = channels * layer.keys // layer.channels
    return replace(layer, height=height, width=width, channels=channels, in_channels=channels, whole=whole, keys=keys)


def _with_blocks(layer: Layer, before: Sequence[Shape], after: Sequence[Shape]) -> Layer:
    """The product with blocks of positions that divide the new ones: no more of them, or as the scores have them."""
    if layer.blocks == 1:
        return layer
    positions = [rows * columns for rows, columns, _ in after]
    if after[0][2] != before[0][2]:  # scores: their channels are the positions of a block
        blocks = positions[1] * layer.groups // after[0][2]
    else:
        blocks = max(n for n in range(1, layer.blocks + 1) if not any(each % n for each in positions))
    return replace(layer, operand_heads=blocks * layer.groups if blocks > 1 else 0)


def _follow_rearrange(layer: Layer, before: Sequence[Shape], after: Sequence[Shape]) -> Layer:
    """Lose as many rows as its operands lost elements; width and channels stay."""
    row = layer.width * layer.channels
    rows, rest = divmod(layer.elements + sum(map(prod, after)) - sum(map(prod, before)), row)
    if rest or rows < 1:
        raise NetworkError(f"layer {layer.name!r} (rearrange) has no whole rows of {row} elements any more")
    return replace(layer, height=rows)


def _follow_resize(layer: Layer, before: Shape, after: Sequence[Shape], factor: int) -> Layer:
    """A resize to its extents divided by the factor, by the same method; by an unknown method, treated as a window."""
    extents = -(-layer.height // factor), -(-layer.width // factor)
    axes = [_resized(layer, axis, before[axis], after[0][axis], extents[axis]) for axis in (0, 1)]
    if None in axes:
        return _follow_window(layer, before, after)
    kernel, stride, first, last, upsample = zip(*axes, strict=True)
    channels = sum(shape[2] for shape in after)
    return replace(
        layer,
        height=extents[0], width=extents[1], channels=channels, in_channels=channels,
        kernel=kernel, stride=stride, padding=(*first, *last), upsample=upsample,
    )  # fmt: skip


def _resized(layer: Layer, axis: int, before: int, after: int, wanted: int) -> Spread | None:
    """The window that makes `wanted` rows (or columns) of `after` as the layer's makes its own of `before`."""
    old = layer.kernel, layer.stride, layer.padding[:2], layer.padding[2:], layer.upsample
    window, extent = Spread(*(fields[axis] for fields in old)), (layer.height, layer.width)[axis]
    methods = ((method, corners) for method in get_args(Method) for corners in (False, True))
    found = next((each for each in methods if resize_window(before, extent, *each) == window), None)
    return resize_window(after, wanted, *found) if found else None


def _follow_window(layer: Layer, before: Shape, after: Sequence[Shape]) -> Layer:
    spans = layer.kernel == before[:2] and layer.padding == (0, 0, 0, 0) and layer.dilation == layer.upsample == (1, 1)
    kernel = after[0][:2] if spans else layer.kernel
    sides, extents = [], []
    rounds_up = any(_axis(layer, axis, before)[0] != (layer.height, layer.width)[axis] for axis in (0, 1))
    for axis in (0, 1):
        stride = layer.stride[axis]
        reach = (kernel[axis] - 1) * layer.dilation[axis] + 1
        side = layer.padding[axis], layer.padding[axis + 2]
        if layer.upsample == (1, 1) and side[0] != side[1] and side == same_padding(before[axis], reach, stride):
            side = same_padding(after[0][axis], reach, stride)
        elif side[1] < 0 and before[axis] + sum(side) == reach:  # cropped to one window
            side = side[0], reach - side[0] - after[0][axis]
        elif side[0] < 0 and before[axis] + sum(side) == reach:  # the same, of the last
            side = reach - side[1] - after[0][axis], side[1]
        sides.append(side)
        extent = spread_extent(after[0][axis], layer.upsample[axis])
        extents.append(output_extent(layer.name, extent, reach, stride, *side, rounds_up))
    in_channels = sum(shape[2] for shape in after)
    channels = in_channels if layer.is_depthwise and layer.op != "slice" else layer.channels
    groups = in_channels if layer.is_depthwise and layer.has_weights else layer.groups
    return replace(
        layer,
        height=extents[0], width=extents[1], channels=channels, in_channels=in_channels,
        kernel=kernel, padding=(sides[0][0], sides[1][0], sides[0][1], sides[1][1]), groups=groups,
    )  # fmt: skip


def _axis(layer: Layer, axis: int, before: Shape) -> tuple[int, int]:
    """Output extents that floor and ceil mode give on an axis of the original."""
    sides = layer.padding[axis], layer.padding[axis + 2]
    extent = spread_extent(before[axis], layer.upsample[axis])
    return window_extents(extent, layer.reach[axis], layer.stride[axis], *sides)
