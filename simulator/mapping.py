"""Cycles of a layer on the PE array: the closed form over the ways to unroll it (model.md, section 4).

Each of the two axes of the 4 x 4 array unrolls one of K (output channels), C (input channels), P (rows) and
Q (columns) of the layer; both may take the same, which is then 16 wide (Cocco, Sec. 5.1.2: the parallelism of two
dimensions of the PE array is configured by the mapper).
"""

from __future__ import annotations

from itertools import combinations_with_replacement

from simulator.technology import PE_COLUMNS, PE_INPUTS, PE_LIGHT_CHANNELS, PE_OUTPUTS, PE_ROWS
from workloads.network import Layer

AXES = "KCPQ"


def _unrollings() -> tuple[dict[str, int], ...]:
    found = []
    for first, second in combinations_with_replacement(AXES, 2):
        widths = dict.fromkeys(AXES, 1)
        widths[first] *= PE_ROWS
        widths[second] *= PE_COLUMNS
        found.append(widths)
    return tuple(found)


UNROLLINGS = _unrollings()  #: the 10 choices: axis -> PEs along it


def layer_cycles(layer: Layer, samples: int = 1, bands: int = 1) -> int:
    """Return the cycles of one core that computes `samples` samples of its band of columns of this layer.

    Conv and matmul reduce over 8 input channels per PE and cycle; depth-wise convolutions, pools and
    element-wise layers keep 4 channels of a PE busy.
    """
    rows, columns = layer.height, -(-layer.width // bands)
    outputs, inputs = layer.channels, layer.in_channels // layer.groups
    best = min(
        _ceil(rows, width["P"])
        * _ceil(columns, width["Q"])
        * (
            _ceil(outputs, PE_LIGHT_CHANNELS * width["K"])
            if layer.is_depthwise
            else _ceil(outputs, PE_OUTPUTS * width["K"]) * _ceil(inputs, PE_INPUTS * width["C"])
        )
        for width in UNROLLINGS
    )
    return best * layer.taps * samples


def _ceil(value: int, divisor: int) -> int:
    return -(-value // divisor)
