"""Layers to map: the rows of a CSV file, or the distinct shapes of a network, each with its count."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import NamedTuple

from simulator.mapping import DIMENSIONS, LayerShape
from workloads.errors import FileFormatError, one_line, shown
from workloads.files import read_bytes
from workloads.network.network import Network

MAX_BYTES = 4 * 2**20  #: of a file; our choice: 87 layers have 6 KB
REQUIRED = (*DIMENSIONS, "stride_w", "stride_h")
OPTIONAL = ("groups", "dilation_w", "dilation_h", "count", "macs")
NAMES = ("layer", "name")

DIGITS = 15  #: of a number, at most; our choice
_WHOLE = re.compile(rf"-?[0-9]{{1,{DIGITS}}}")


class Row(NamedTuple):
    """A layer of a list; one that is malformed has no shape but an error."""

    name: str
    times: int
    shape: LayerShape | None
    error: str | None = None


def read_layers(path: str | PathLike[str]) -> list[Row]:
    """Return the layers of a CSV file, in its order.

    Columns in any order: R, S, P, Q, C, K, N, stride_w, stride_h, and where wanted groups, dilation_w, dilation_h (0
    means 1), count, macs (checked against the extents), layer or name; others are not used. A malformed row is
    returned with its error. Raises FileFormatError for a file that is no such table: it names the column.
    """
    rows = csv.reader(io.StringIO(_text(path), newline=""), strict=True)
    try:
        heads = [cell.strip() for cell in next(rows)]
        _check_heads(heads)
        found = [_row(heads, cells, rows.line_num) for cells in rows if cells]
    except csv.Error as error:
        raise FileFormatError(f"{path}: line {rows.line_num}: is not CSV: {one_line(error)}") from None
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None
    if not found:
        raise FileFormatError(f"{path}: has no layers below its line of column names")
    return found


def layers_of(network: Network) -> list[Row]:
    """Return the distinct shapes of the layers with multiply-accumulates, named after the first that has each.

    Last come layers that are no nest of seven loops, each with its error.
    """
    found: dict[LayerShape, tuple[str, int]] = {}
    refused = []
    for layer in network.layers:
        if layer.macs:
            try:
                shape = LayerShape.of_layer(layer)
            except ValueError as error:
                refused.append(Row(layer.name, 1, None, one_line(error)))
                continue
            name, count = found.get(shape, (layer.name, 0))
            found[shape] = (name, count + 1)
    return [Row(name, count, shape) for shape, (name, count) in found.items()] + refused


def _text(path: str | PathLike[str]) -> str:
    data = read_bytes(path, MAX_BYTES)
    if not data.strip():
        raise FileFormatError(f"{path}: is empty; its first line names the columns {', '.join(REQUIRED)}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: is not text: byte {error.start} is not UTF-8") from None


def _check_heads(heads: Sequence[str]) -> None:
    for name in REQUIRED:
        if name not in heads:
            raise FileFormatError(f"line 1: the column {name} is missing; needed are {', '.join(REQUIRED)}")
    for name in (*REQUIRED, *OPTIONAL, *NAMES):
        if heads.count(name) > 1:
            raise FileFormatError(f"line 1: the column {name} stands there twice")


def _row(heads: Sequence[str], cells: Sequence[str], line: int) -> Row:
    row = dict(zip(heads, (cell.strip() for cell in cells)))
    named = next((row[head] for head in NAMES if row.get(head)), None)
    name = named or f"line {line}"
    try:
        if len(cells) != len(heads):
            raise ValueError(f"has {len(cells)} cells, the line of column names {len(heads)}")
        numbers = {head: _whole(head, row[head]) for head in (*REQUIRED, *OPTIONAL) if row.get(head)}
        return Row(name, _count(numbers), _shape(numbers))
    except ValueError as error:
        return Row(name, 1, None, f"line {line}: {one_line(error)}" if named else one_line(error))


def _count(numbers: Mapping[str, int]) -> int:
    if not 1 <= numbers.get("count", 1) <= 10**6:
        raise ValueError(f"count must be from 1 to 1000000, got {numbers['count']}")
    return numbers.get("count", 1)


def _shape(numbers: Mapping[str, int]) -> LayerShape:
    for head in REQUIRED:
        if head not in numbers:
            raise ValueError(f"the cell of {head} is empty")
    r, s, p, q, c, k, n = (numbers[d] for d in DIMENSIONS)
    stride = (numbers["stride_w"], numbers["stride_h"])
    dilation = (numbers.get("dilation_w", 1) or 1, numbers.get("dilation_h", 1) or 1)
    shape = LayerShape(r, s, p, q, c, k, n, stride, numbers.get("groups", 1), dilation)
    if numbers.get("macs", shape.macs) != shape.macs:
        raise ValueError(f"macs is {numbers['macs']}, the extents come to {shape.macs}")
    return shape


def _whole(head: str, text: str) -> int:
    if not _WHOLE.fullmatch(text):
        most = f" of at most {DIGITS} digits" if len(text) > DIGITS else ""
        raise ValueError(f"{head} must be a whole number{most}, got {shown(text)}")
    return int(text)
