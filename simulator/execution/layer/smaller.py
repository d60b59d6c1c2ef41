"""Loops of fewer and smaller steps, and maps to match: the arithmetic of scaling a layer down (scaled.py).

A loop keeps its number of steps, up to a maximum, and a shorter last step. A length keeps its remainder beyond words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from simulator.execution.layer.common.windows import Line


class Small(NamedTuple):
    """How small lengths become: those up to `least` stay, others keep their remainder beyond whole units."""

    least: int
    unit: int = 1

    def of(self, length: int) -> int:
        """Return a small length.

        Examples
        --------
        >>> [Small(8, 8).of(length) for length in (5, 8, 64, 67)]
        [5, 8, 8, 11]
        """
        return length if length <= self.least else self.least + (length - self.least) % self.unit


class Cut(NamedTuple):
    """Lengths cut into steps, and each step into inner steps."""

    lengths: list[int]
    step: int
    inner: int


def shrink_cut(lengths: Sequence[int], step: int, small: Small, most: int, inner: int | None = None) -> Cut:
    """Return smaller lengths and steps: as many steps as before, up to a maximum, the last still shorter.

    Examples
    --------
    >>> shrink_cut([512, 40], 64, Small(8, 8), 3)
    Cut(lengths=[48, 8], step=16, inner=16)
    >>> shrink_cut([500], 64, Small(8, 8), 3)
    Cut(lengths=[44], step=16, inner=16)
    """
    more, step = int(step > max(lengths)), min(step, max(lengths))
    inner = step if inner is None or inner > step else inner
    rests = [length % step for length in lengths]
    least = small.of(inner)
    while any(0 < rest % inner and small.of(rest % inner) >= least for rest in (step, *rests)):
        least += small.unit
    steps = _several(step, inner, least, small, most)
    found = []
    for length, rest in zip(lengths, rests):
        left = _several(rest, inner, least, small, most)
        left = next((each for each in range(left, 0, -least) if each < steps), min(left, steps - 1))
        found.append(min(length // step, most - (rest > 0)) * steps + left)
    return Cut(found, steps + more, least)


def _several(length: int, step: int, least: int, small: Small, most: int) -> int:
    """Return a length of as many steps of so little, at most so many, and what is left over."""
    full, rest = divmod(length, step)
    return min(full, most - (rest > 0)) * least + small.of(rest)


class Axis(NamedTuple):
    """One axis of a layer: its windows, tiles, and padding after the last row."""

    line: Line
    tile: int
    after: int


def shrink_axis(axis: Axis, tile: int | None, taps: int | None, most: int) -> Axis:
    """Return an axis of at most so many tiles, each of at most so many outputs; of one window, of so many taps.

    tile None: as many as a window reaches without dilation. The map has what its windows meet and did not meet, up to
    2 rows of what was cropped.

    Examples
    --------
    >>> line = Line(extent=56, outputs=56, taps=3, padding=1)
    >>> shrink_axis(Axis(line, 5, 1), 2, None, 3)
    Axis(line=Line(extent=5, outputs=5, taps=3, stride=1, dilation=1, padding=1, upsample=1), tile=2, after=1)
    """
    line = axis.line
    largest = max(2, -(-line.taps // line.stride)) if tile is None else tile
    is_cut = axis.tile < line.outputs
    (outputs,), step, _ = shrink_cut([line.outputs], axis.tile, Small(largest if is_cut else max(largest, 2)), most)
    found = line._replace(outputs=outputs)
    if line.taps > 1 and line.dilation > 1:  # windows have holes that a tile fills, or it does not
        found = found._replace(dilation=min(line.dilation, step + 1 if axis.tile < line.dilation else max(step, 2)))
    if line.outputs == 1 and taps is not None:
        found = found._replace(taps=min(line.taps, taps))
    before, after = (_side(size, line, found) for size in (line.padding, axis.after))
    spread = (line.extent - 1) * line.upsample + 1
    slack = spread + line.padding + axis.after - _span(line)
    wanted = _span(found) + slack - before - after
    extent = -(-(max(wanted, 1) - 1) // line.upsample) + 1
    more = (extent - 1) * line.upsample + 1 - wanted  # than the windows have: of padding so much less
    less = min(more, max(after, 0))
    after, more = after - less, more - less
    less = min(more, max(before, 0))
    before, after = before - less, after - (more - less)
    if min(before, 0) + min(after, 0) < -((extent - 1) * line.upsample + 1):  # nothing is left to meet
        return axis
    return Axis(found._replace(extent=extent, padding=before), step, after)


def _side(size: int, line: Line, found: Line) -> int:
    """Return the padding around a map: as dilated as the windows are; of a crop two rows."""
    return max(size, -2 * line.upsample) if size < 0 else size * found.dilation // line.dilation


def _span(line: Line) -> int:
    return (line.outputs - 1) * line.stride + (line.taps - 1) * line.dilation + 1


class Parts(NamedTuple):
    """The inputs of each operand, and of a group."""

    channels: list[int]
    inputs: int
    groups: int


def shrink_parts(channels: Sequence[int], groups: int, small: Small, most: int, more: int = 0) -> Parts:
    """Return fewer groups of fewer inputs, cut by the operands where they were cut; some words more of the longest.

    Examples
    --------
    >>> shrink_parts([128], 32, Small(8, 8), 3)
    Parts(channels=[12], inputs=4, groups=3)
    >>> shrink_parts([24, 40], 2, Small(8, 8), 3)
    Parts(channels=[8, 24], inputs=16, groups=2)
    """
    ends = [0]
    for each in channels:
        ends.append(ends[-1] + each)
    size = ends[-1] // groups
    places = [divmod(end, size) for end in ends]
    inside = _marks([rest for _, rest in places], size)
    outside = _marks([each for group, rest in places for each in (group, group + (rest > 0))], groups)
    often = max(1, most // (len(outside) - 1))
    lengths = [b - a for a, b in zip(inside, inside[1:])]
    added = small.unit * more
    short = [length if length <= small.of(length) + added else small.of(length) + added for length in lengths]
    new_inside = dict(zip(inside, _ends(short)))
    new_outside = dict(zip(outside, _ends([min(b - a, often) for a, b in zip(outside, outside[1:])])))
    inputs = new_inside[size]
    found = [new_outside[group] * inputs + new_inside[rest] for group, rest in places]
    return Parts([b - a for a, b in zip(found, found[1:])], inputs, new_outside[groups])


def _marks(places: Iterable[int], last: int) -> list[int]:
    return sorted({0, *places, last})


def _ends(lengths: Sequence[int]) -> list[int]:
    found = [0]
    for each in lengths:
        found.append(found[-1] + each)
    return found
