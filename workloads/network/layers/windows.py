"""Turns user input into windows: pairs, paddings, and how a map is spread or resized.

A window over a spread map sees upsample - 1 empty rows between any two of the map. A transposed convolution of stride
u and padding p is a convolution of stride 1 over the map spread by u, padded by reach - 1 - p (Dumoulin and Visin,
"A guide to convolution arithmetic for deep learning", 2016, Sec. 4). A resize by u / s is a window of stride s there.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, NamedTuple

from workloads.errors import NetworkError, shown
from workloads.network.layers.shapes import MAX_EXTENT, same_padding

Inputs = str | Sequence[str]  #: one producer, or several whose channels are read one after the other
Pair = int | tuple[int, int]  #: one number for rows and columns, or (rows, columns)
Padding = int | tuple[int, int, int, int] | str  #: all sides; (top, left, bottom, right); "same" or "valid"
Method = Literal["nearest", "linear", "cubic"]


class Spread(NamedTuple):
    """The window of a resize on one axis."""

    kernel: int
    stride: int
    before: int
    after: int
    upsample: int


def resize_window(extent: int, out: int, method: Method, align_corners: bool = False) -> Spread:
    """Return the window that makes `out` rows of `extent` rows.

    nearest reads one row for each, linear two, cubic four, at the positions of half-pixel centres, or with the
    corners on each other. A map of one row is repeated.
    """
    if extent == 1:  # without empty rows: the updates of what it is joined with need not come in steps of `out` rows
        return Spread(kernel=out, stride=1, before=out - 1, after=out - 1, upsample=1)
    ratio = Fraction(out, extent)
    if align_corners and out > 1:
        ratio = Fraction(out - 1, extent - 1)
    upsample, stride = ratio.numerator, ratio.denominator
    if method == "nearest":
        kernel = upsample
        before = upsample - 1 - stride // 2
    else:
        shift = 0 if align_corners else stride - upsample  # twice the first position, on the spread map
        further = upsample if method == "cubic" else 0
        kernel = 2 * upsample - 1 + shift % 2 + 2 * further
        before = upsample - 1 - shift // 2 + further
    after = (out - 1) * stride + kernel - before - ((extent - 1) * upsample + 1)
    return Spread(kernel, stride, before, after, upsample)


def transposed_padding(
    padding: tuple[int, int, int, int], extra: tuple[int, int], reach: Sequence[int]
) -> tuple[int, int, int, int]:
    """Return the padding over the spread map of a transposed convolution with output padding `extra`."""
    top, left, bottom, right = padding
    rows, columns = reach
    return rows - 1 - top, columns - 1 - left, rows - 1 - bottom + extra[0], columns - 1 - right + extra[1]


def listed(inputs: Inputs) -> tuple[str, ...]:
    """Return the producers as a tuple."""
    return (inputs,) if isinstance(inputs, str) else tuple(inputs)


def pair_of(name: str, what: str, value: Pair, least: int = 1) -> tuple[int, int]:
    """Return (rows, columns); raises NetworkError if the value is neither a number nor a pair."""
    pair = value if isinstance(value, tuple) else (value, value)
    if len(pair) != 2 or not (_is_within(pair[0], least) and _is_within(pair[1], least)):
        raise NetworkError(
            f"layer {name!r} has {what} {shown(value)}; it must be one or two integers from {least} to 2**20"
        )
    return pair


def _is_within(part: object, least: int) -> bool:
    return type(part) is int and least <= part <= MAX_EXTENT


def sides_of(
    name: str, padding: Padding, extents: Sequence[int], reaches: Sequence[int], strides: Sequence[int]
) -> tuple[int, int, int, int]:
    """Return the padding as (top, left, bottom, right); raises NetworkError if it is not valid."""
    if padding == "same":
        rows, columns = (same_padding(*axis) for axis in zip(extents, reaches, strides, strict=True))
        return rows[0], columns[0], rows[1], columns[1]
    sides = (0 if padding == "valid" else padding,) * 4 if not isinstance(padding, tuple) else padding
    if len(sides) != 4 or not all(type(side) is int for side in sides):
        raise NetworkError(
            f"layer {name!r} has padding {shown(padding)}; it must be an integer, four (top, left, bottom, right), "
            "'same' or 'valid'"
        )
    return sides  # type: ignore[return-value]
