"""How shapes follow: the operators, the limits, and the rules that every layer obeys.

Pure functions of integers, used by Network (the check), Builder (the inference) and shrink (the inference again).
A shape is (height, width, channels). A window reads `reach` = (F - 1) d + 1 positions of the padded map.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING

from workloads.errors import NetworkError, shown
from workloads.network.layers.attention import check_attention
from workloads.network.layers.frames import check_frames, rows_of_a_frame
from workloads.network.layers.kinds import check_kind, check_recurrent, check_scan, check_state
from workloads.network.layers.ops import ELEMENTWISE_OPS, JOIN_OPS, POOL_OPS, PRODUCT_OPS, SPREAD_OPS, WINDOW_OPS
from workloads.network.layers.types import INT8

if TYPE_CHECKING:
    from workloads.network.layers.layer import Layer


# Limits, our choice: far above any network we know, low enough that products of them stay exact in 64 bits.
MAX_EXTENT = 2**20  #: height, width, channels, kernel, stride, dilation, groups, padding
MAX_SCORES = 2**26  #: channels of products of activations and of element-wise layers: positions of all heads
MAX_BYTES = 2**40  #: one tensor, or the weights of one layer
MAX_ROWS_OF = 3  #: inputs of a matmul: the first operand, a cache and new rows
MAX_OPERANDS = 4096  #: producers of one layer
MAX_EDGES = 2**20  #: operands of all layers together
MAX_NAME = 256  #: characters of a name

Shape = tuple[int, int, int]
_PLAIN = ((1, 1), (1, 1), (0, 0, 0, 0), (1, 1), (1, 1))  #: kernel, stride, padding, dilation, upsample without window


def text(shape: Sequence[int]) -> str:
    """Return a shape as 56x56x64."""
    return "x".join(map(str, shape))


def spread_extent(extent: int, upsample: int) -> int:
    """Return the extent of a map with upsample - 1 empty rows (or columns) between any two of its own."""
    return (extent - 1) * upsample + 1


def window_extents(extent: int, reach: int, stride: int, before: int, after: int) -> tuple[int, int]:
    """Return how many windows fit on an axis, in floor and in ceil mode; below 1 if none fits."""
    room = extent + before + after - reach
    return room // stride + 1, -(-room // stride) + 1


def output_extent(
    name: str, extent: int, reach: int, stride: int, before: int, after: int, ceil_mode: bool = False
) -> int:
    """Return the output extent on an axis; raises NetworkError if no window fits.

    In ceil mode the last window may reach past the padded map, but must start inside the map or its leading padding
    (the rule of Caffe and PyTorch).
    """
    floor, found = window_extents(extent, reach, stride, before, after)
    if not ceil_mode or (found - 1) * stride >= extent + before:
        found = floor
    if found < 1:
        raise NetworkError(
            f"layer {name!r} has a window of {reach}, which does not fit on an extent of {extent} "
            f"with padding {before} and {after}"
        )
    return found


def same_padding(extent: int, reach: int, stride: int) -> tuple[int, int]:
    """Return the padding before and after for ceil(extent / stride) windows; the odd one goes after."""
    total = max(0, (-(-extent // stride) - 1) * stride + reach - extent)
    return total // 2, total - total // 2


def joined_shape(operands: Sequence[Shape]) -> Shape:
    """Return the shape of element-wise operands, each extent equal or broadcast from 1."""
    heights, widths, channels = zip(*operands, strict=True)
    return max(heights), max(widths), max(channels)


def whole_operands(op: str, operands: Sequence[Shape], height: int, width: int) -> tuple[int, ...]:
    """Return the operands that every output row needs in full.

    These are a matmul's second operand, the keys and values of an attention, all operands of a rearrangement, and those
    that are broadcast over the map.
    """
    if op in PRODUCT_OPS:
        return tuple(range(1, len(operands)))
    if op == "rearrange":
        return tuple(range(len(operands)))
    if op in WINDOW_OPS or op == "scan":
        return ()
    return tuple(i for i, (rows, columns, _) in enumerate(operands) if (rows, columns) != (height, width))


def matmul_forms(operands: Sequence[Shape], heads: int, operand_heads: int = 0) -> dict[bool, int]:
    """Return the possible output channels of a matmul: {transposed: channels}.

    Operand 0 is L x (heads R). The second operand is M x (heads R) if transposed (scores: the product of rows with
    rows), R x (heads M) if not (context). Each head multiplies its own slice of the channels. With fewer operand heads
    that is how many the second operand has. Of several inputs it has the rows of each. With b times the heads both
    operands are in b blocks of positions, and L and M are the positions of a block.
    """
    inner, (_, _, channels) = operands[0][2], operands[1]
    positions, forms = [rows * columns for rows, columns, _ in operands], {}
    blocks = max(1, operand_heads // heads)
    own = min(operand_heads or heads, heads)
    is_apart = blocks * heads == operand_heads and len(operands) == 2 and not any(each % blocks for each in positions)
    if blocks > 1 and not is_apart:
        return {}
    rows = sum(positions[1:]) // blocks
    if inner % heads == 0 and channels % own == 0 and heads % own == 0:
        if channels // own == inner // heads:
            forms[True] = rows * heads
        if rows == inner // heads:
            forms[False] = channels // own * heads
    return forms


def check_name(what: str, name: object) -> None:
    """Raise NetworkError unless the name is printable text of a sane length."""
    if type(name) is not str or not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise NetworkError(
            f"{what} has the name {shown(name)}; it must be printable text of 1 to {MAX_NAME} characters"
        )


def check_tensor(name: str, shape: Shape) -> None:
    """Raise NetworkError unless the extents of a tensor are whole, positive and of a sane size."""
    for what, value in zip(("height", "width", "channels"), shape, strict=True):
        _check_number(name, what, value)
    if prod(shape) > MAX_BYTES:
        raise NetworkError(f"{name!r} has {text(shape)} elements; a tensor must be of at most 2**40 bytes")


def check_layer(layer: Layer, operands: Sequence[Shape]) -> None:
    """Raise NetworkError unless the layer's fields are sane and its shape follows from its operands' shapes.

    A layer never changes, so what a builder has checked is not checked again in the networks made of it.
    """
    if vars(layer).get("_checked") == operands:
        return
    _check_fields(layer)
    if len(operands) > MAX_OPERANDS:
        raise NetworkError(f"layer {layer.name!r} has {len(operands)} inputs; it must have at most {MAX_OPERANDS}")
    if layer.op in WINDOW_OPS:
        _check_window(layer, operands)
    else:
        if (layer.kernel, layer.stride, layer.padding, layer.dilation, layer.upsample) != _PLAIN:
            raise _broken(layer, "must have kernel, stride and dilation 1 and no padding", layer.kernel)
        if layer.op == "matmul":
            _check_matmul(layer, operands)
        elif layer.op == "attention":
            check_attention(layer, operands)
        elif layer.op == "scan":
            check_scan(layer, operands)
        elif layer.op == "rearrange":
            if (layer.groups, layer.in_channels) != (1, layer.channels):
                raise _broken(layer, f"must have groups 1 and in_channels {layer.channels}, its channels", layer.groups)
        else:
            _check_elementwise(layer, operands)
    whole = whole_operands(layer.op, operands, layer.height, layer.width)
    if layer.whole != whole:
        raise _broken(layer, f"needs the operands {whole} in full", layer.whole)
    object.__setattr__(layer, "_checked", operands)  # no field: neither compared nor copied by `replace`


def _check_fields(layer: Layer) -> None:
    for what, pair, count in (
        ("kernel", layer.kernel, 2), ("stride", layer.stride, 2), ("dilation", layer.dilation, 2),
        ("upsample", layer.upsample, 2), ("padding", layer.padding, 4),
    ):  # fmt: skip
        if type(pair) is not tuple or len(pair) != count:
            raise NetworkError(f"layer {layer.name!r} has {what} {shown(pair)}; it must be a tuple of {count} integers")
    numbers = [
        layer.height, layer.width, layer.groups, *layer.kernel, *layer.stride, *layer.dilation, *layer.upsample,
    ]  # fmt: skip
    if layer.op == "matmul" or layer.op in ELEMENTWISE_OPS:  # channels may be positions of all heads
        _check_number(layer.name, "channels", layer.channels, MAX_SCORES)
        _check_number(layer.name, "in_channels", layer.in_channels, MAX_SCORES)
    else:
        numbers += [layer.channels, layer.in_channels]
    for value in numbers:
        if type(value) is not int or not 0 < value <= MAX_EXTENT:
            for what in ("height", "width", "channels", "in_channels", "groups"):
                _check_number(layer.name, what, getattr(layer, what))
            for what in ("kernel", "stride", "dilation", "upsample"):
                for part in getattr(layer, what):
                    _check_number(layer.name, what, part)
    for value in layer.padding:
        if type(value) is not int or not -MAX_EXTENT <= value <= MAX_EXTENT:
            raise NetworkError(
                f"layer {layer.name!r} has padding {shown(value)}; it must be an integer from -2**20 to 2**20"
            )
    is_plain = layer.bits is INT8 and layer.operand_heads == layer.keys == 0 and layer.mask is None
    if not is_plain or layer.experts is not None or layer.appended is not False:
        check_kind(layer)
    if layer.frames is not None:
        check_frames(layer.name, layer.frames)
        if layer.op not in ("conv", "maxpool", "avgpool"):
            raise _broken(layer, "must have no frames; a conv or pool may", layer.frames)
    if layer.state is not None or layer.op == "scan":
        check_state(layer)
    if layer.size_bytes > MAX_BYTES or layer.elements > MAX_BYTES or layer.weight_bytes > MAX_BYTES:
        raise NetworkError(
            f"layer {layer.name!r} has {layer.size_bytes} bytes of output and {layer.weight_bytes} of weights; "
            "each must be of at most 2**40 bytes"
        )


def _check_number(name: str, what: str, value: object, most: int = MAX_EXTENT) -> None:
    if type(value) is not int or not 0 < value <= most:
        limit = most.bit_length() - 1
        raise NetworkError(f"{name!r} has {what} {shown(value)}; it must be an integer from 1 to 2**{limit}")


def _check_window(layer: Layer, operands: Sequence[Shape]) -> None:
    height, width, in_channels = operands[0]
    for other in operands[1:]:
        if other[:2] != (height, width):
            raise NetworkError(
                f"layer {layer.name!r} ({layer.op}) joins the channels of maps of {text((height, width))} and "
                f"{text(other[:2])}; they must be equal"
            )
        in_channels += other[2]
    if layer.in_channels != in_channels:
        raise NetworkError(
            f"layer {layer.name!r} ({layer.op}) has in_channels {layer.in_channels}; its inputs have {in_channels}"
        )
    if layer.op in POOL_OPS:
        if layer.channels != in_channels or layer.groups != 1:
            raise _broken(layer, f"must have groups 1 and the {in_channels} channels of its inputs", layer.channels)
    elif layer.op == "slice":
        if layer.kernel != (1, 1) or layer.groups != 1 or layer.channels > in_channels:
            raise _broken(layer, f"must have kernel 1, groups 1 and at most {in_channels} channels", layer.channels)
    elif in_channels % layer.groups or layer.channels % layer.groups:
        raise _broken(layer, f"must have in_channels {in_channels} and channels {layer.channels} divisible by groups",
                      layer.groups)  # fmt: skip
    if layer.op == "concat" and (layer.kernel, layer.stride, layer.padding) != ((1, 1), (1, 1), (0, 0, 0, 0)):
        raise _broken(layer, "must have kernel 1, stride 1 and no padding", layer.kernel)
    if layer.upsample != (1, 1) and layer.op not in SPREAD_OPS:
        raise _broken(layer, f"must have upsample 1; only {' and '.join(sorted(SPREAD_OPS))} have more", layer.upsample)
    if layer.op == "conv_transpose" and layer.stride != (1, 1):
        raise _broken(layer, "must have stride 1 over the spread map", layer.stride)
    if layer.op == "recurrent":
        check_recurrent(layer)
    if layer.op == "fc" and layer.kernel not in ((1, 1), (height, width)):
        raise _broken(layer, f"must have kernel 1x1 or that of its map, {text((height, width))}", layer.kernel)
    rows = layer.height
    if layer.frames is not None:
        height, rows = (
            rows_of_a_frame(layer.name, extent, count)
            for extent, count in ((height, layer.frames.count), (rows, layer.frames.outputs))
        )
    for axis, (what, extent, found) in enumerate((("height", height, rows), ("width", width, layer.width))):
        before, after = layer.padding[axis], layer.padding[axis + 2]
        extent = spread_extent(extent, layer.upsample[axis])
        if before < 0 or after < 0:
            if min(before, 0) + min(after, 0) < -extent:
                raise _broken(layer, f"crops more than the {what} {extent} of its input", layer.padding)
        stride = layer.stride[axis]
        floor, ceil = window_extents(extent, (layer.kernel[axis] - 1) * layer.dilation[axis] + 1, stride, before, after)
        if found != floor and (found != ceil or layer.op not in POOL_OPS):
            possible = [n for n in (floor, ceil) if n > 0 and (n == floor or layer.op in POOL_OPS)]
            raise NetworkError(
                f"layer {layer.name!r} ({layer.op}) has {what} {found}; from {what} {extent}, kernel "
                f"{layer.kernel[axis]}, stride {stride}, dilation {layer.dilation[axis]}, padding {before} and "
                f"{after} follows {' or '.join(map(str, dict.fromkeys(possible))) or 'that it does not fit'}"
            )


def _check_matmul(layer: Layer, operands: Sequence[Shape]) -> None:
    if not 2 <= len(operands) <= MAX_ROWS_OF:
        raise _broken(layer, "must have 2 inputs, or a cache and new rows for the second", len(operands))
    height, width, inner = operands[0]
    if any(each[1:] != operands[1][1:] for each in operands[2:]):
        joined = " and ".join(text(each) for each in operands[1:])
        raise NetworkError(f"layer {layer.name!r} (matmul) joins the rows of {joined}; they must be as wide")
    if layer.in_channels != inner:
        raise _broken(layer, f"must have in_channels {inner}, the channels of its first input", layer.in_channels)
    if layer.in_channels % layer.groups:
        raise _broken(layer, f"must have in_channels {inner} divisible by its heads", layer.groups)
    if layer.second_heads not in (layer.blocks * layer.groups, layer.groups // layer.sharing):
        rule = f"must have operand heads that divide its {layer.groups} heads, or a multiple of them"
        raise _broken(layer, rule, layer.operand_heads)
    forms = matmul_forms(operands, layer.groups, layer.operand_heads)
    if (layer.height, layer.width) != (height, width) or layer.channels not in forms.values():
        possible = " or ".join(text((height, width, channels)) for channels in sorted(set(forms.values())))
        second = " over ".join(text(each) for each in operands[1:])
        raise NetworkError(
            f"layer {layer.name!r} (matmul) has shape {text((layer.height, layer.width, layer.channels))}; from "
            f"{text(operands[0])} and {second} with {layer.groups} heads follows {possible or 'no product'}"
        )


def _check_elementwise(layer: Layer, operands: Sequence[Shape]) -> None:
    shape = (layer.height, layer.width, layer.channels)
    if layer.op not in JOIN_OPS and len(operands) != 1:
        raise _broken(layer, "must have 1 input", len(operands))
    if layer.groups != 1 or layer.in_channels != layer.channels:
        raise _broken(layer, f"must have groups 1 and in_channels {layer.channels}, its channels", layer.in_channels)
    if any(operand != shape for operand in operands):
        fits = all(have in (want, 1) for operand in operands for have, want in zip(operand, shape, strict=True))
        if not fits or shape not in operands:
            raise NetworkError(
                f"layer {layer.name!r} ({layer.op}) has shape {text(shape)} and inputs of "
                f"{', '.join(text(operand) for operand in operands[:8])}; one must have its shape and the others the "
                "same or extents of 1"
            )


def _broken(layer: Layer, rule: str, value: object) -> NetworkError:
    return NetworkError(f"layer {layer.name!r} ({layer.op}) {rule}; found {shown(value)}")
