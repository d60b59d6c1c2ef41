"""Cycles of a layer on the PE array: the closed form over the ways to unroll it (model.md, section 4).

Each of the two axes of the 4 x 4 array unrolls one of K (output channels), C (input channels), P (rows) and
Q (columns) of the layer; both may take the same, which is then 16 wide (Cocco, Sec. 5.1.2: the parallelism of two
dimensions of the PE array is configured by the mapper).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement, product

from simulator.technology import PE_COLUMNS, PE_ROWS, Technology
from workloads.network import Layer

AXES = "KCPQ"


@lru_cache(maxsize=16)
def _unrollings(pe_rows: int, pe_columns: int) -> tuple[dict[str, int], ...]:
    found = []
    pairs = combinations_with_replacement(AXES, 2) if pe_rows == pe_columns else product(AXES, repeat=2)
    for first, second in pairs:
        widths = dict.fromkeys(AXES, 1)
        widths[first] *= pe_rows
        widths[second] *= pe_columns
        found.append(widths)
    return tuple(found)


UNROLLINGS = _unrollings(PE_ROWS, PE_COLUMNS)  #: the 10 choices: axis -> PEs along it


def layer_cycles(layer: Layer, samples: int = 1, bands: int = 1, technology: Technology | None = None) -> int:
    """Return the cycles of one core that computes `samples` samples of its band of columns of this layer.

    Conv and matmul reduce over 8 input channels per PE and cycle; depth-wise convolutions, pools and
    element-wise layers keep 4 channels of a PE busy (technology: other widths than these of the paper).
    """
    array = technology or Technology()
    rows, columns = layer.height, -(-layer.width // bands)
    outputs, inputs = layer.channels, layer.in_channels // layer.groups
    best = min(
        _ceil(rows, width["P"])
        * _ceil(columns, width["Q"])
        * (
            _ceil(outputs, array.pe_light_channels * width["K"])
            if layer.is_depthwise
            else _ceil(outputs, array.pe_outputs * width["K"]) * _ceil(inputs, array.pe_inputs * width["C"])
        )
        for width in _unrollings(array.pe_rows, array.pe_columns)
    )
    return best * layer.taps * samples


def _ceil(value: int, divisor: int) -> int:
    return -(-value // divisor)
