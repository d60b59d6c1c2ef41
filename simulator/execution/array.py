"""The cycles of a core's PE array, turn by turn: which outputs, inputs, rows and columns its lanes take in each.

Whoever prices has a closed form for it (simulator/mapping/closed.py), of which nothing is called here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from simulator.execution.part import Part
from simulator.technology import LANE_BITS, Technology
from workloads.network.attention import steps_of
from workloads.network.layer import Layer

LOOPS = ("outputs", "inputs", "rows", "columns")  #: of a layer; each axis of the array takes one


class Work(NamedTuple):
    """What one core makes of a layer, of one sample: a box of its output, each element with its inputs and taps."""

    layer: Layer
    channels: int
    columns: int

    def extents(self) -> dict[str, int]:
        """Return how much there is of each loop; a layer without a sum over channels has one input."""
        layer = self.layer
        inputs = 1 if layer.is_depthwise else layer.in_channels // layer.groups
        return {"outputs": self.channels, "inputs": inputs, "rows": layer.height, "columns": self.columns}


def part_cycles(part: Part, samples: int, technology: Technology) -> int:
    """Return the cycles of one core that computes so many samples of all layers of a part."""
    layers = (step for v in part.layers for step in _steps(part.network.layers[v]))
    return samples * sum(array_cycles(Work(each, each.channels, each.width), technology) for each in layers)


def _steps(layer: Layer) -> tuple[Layer, ...]:
    """Return what a layer computes, one after the other: of an attention scores, softmax and context."""
    return steps_of(layer) if layer.op == "attention" else (layer,)


def array_cycles(work: Work, technology: Technology) -> int:
    """Return the cycles of the array for one sample, in the best of the ways to give its two axes a loop each."""
    ways = product(LOOPS, repeat=2)
    return (
        passes_of(work.layer)
        * work.layer.taps
        * min(_turns(work, lanes_of(work.layer, way, technology)) for way in ways)
    )


def passes_of(layer: Layer) -> int:
    """Return how often the lanes of a PE, of 8 bits each, take a number of a layer: the widest that meet in it.

    Examples
    --------
    >>> import workloads
    >>> passes_of(workloads.load("vgg16").layers[0])
    1
    """
    meet = [layer.bits.activations]
    meet += [layer.bits.weights] if layer.has_weights else []
    meet += [layer.bits.cache] if layer.op == "matmul" else []
    return len(range(0, max(meet), LANE_BITS))


def lanes_of(layer: Layer, way: Sequence[str], technology: Technology) -> dict[str, int]:
    """Return how much of each loop runs at the same time: in the lanes of a PE, and in the PEs along the axes.

    Examples
    --------
    >>> import workloads
    >>> lanes_of(workloads.load("vgg16").layers[1], ("outputs", "rows"), Technology())
    {'outputs': 32, 'inputs': 8, 'rows': 4, 'columns': 1}
    """
    light = layer.is_depthwise
    lanes = {
        "outputs": technology.pe_light_channels if light else technology.pe_outputs,
        "inputs": 1 if light else technology.pe_inputs, "rows": 1, "columns": 1,
    }  # fmt: skip
    for loop, width in zip(way, (technology.pe_rows, technology.pe_columns)):
        lanes[loop] *= width
    return lanes


def _turns(work: Work, lanes: dict[str, int]) -> int:
    """Return in how many turns all is made: each loop starts anew wherever its lanes are full."""
    found = 1
    for loop, extent in work.extents().items():
        found *= len(range(0, extent, lanes[loop]))
    return found
