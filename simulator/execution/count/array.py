"""The cycles of a core's PE array, turn by turn: which outputs, inputs, rows and columns its lanes take in each turn.

The code that prices has a closed form for it (simulator/mapping/closed.py), none of which is called here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

from simulator.execution.count.layer_facts import has_weights, is_depthwise, keys_of, sees, state_of, taps
from simulator.execution.count.part import Part
from simulator.technology import LANE_BITS, Technology
from workloads.network.layers.layer import Layer
from workloads.network.network import Network

LOOPS = ("outputs", "inputs", "rows", "columns")  #: of a layer; each axis of the array takes one
IN_ORDER = ("recurrent", "scan")  #: layers whose rows wait for each other


class Work(NamedTuple):
    """What one core computes of a layer for one sample: a box of its output, each element with its inputs and taps."""

    layer: Layer
    channels: int
    columns: int
    taps: int

    def extents(self, seen: int | None = None) -> dict[str, int]:
        """Return the extent of each loop; a layer without a sum over channels has one input.

        seen: of the keys that a mask is over, how many the rows of a turn see at most: whole heads have so many outputs
        each, and what weights values has so many inputs.
        """
        layer, outputs = self.layer, self.channels
        inputs = 1 if is_depthwise(layer) else layer.in_channels // layer.groups
        if seen is not None and layer.op == "matmul" and inputs == layer.keys:
            inputs = seen
        elif seen is not None and outputs % layer.keys == 0:
            outputs = outputs // layer.keys * seen
        return {"outputs": outputs, "inputs": inputs, "rows": layer.height, "columns": self.columns}


def part_cycles(part: Part, samples: int, technology: Technology) -> int:
    """Return the cycles of one core that computes this many samples of all layers of a part."""
    works = (work for v in part.layers for work in works_of(part.network, v))
    return samples * sum(array_cycles(work, technology) for work in works)


def works_of(network: Network, v: int) -> tuple[Work, ...]:
    """Return what a layer computes, in sequence: for an attention scores, softmax and context.

    For a scan what each number of its state takes, as if it were a channel, and what its weights do.
    """
    layer = network.layers[v]
    if layer.op == "scan":
        size, weights = state_of(layer)
        return (Work(layer, size * layer.channels, 1, 3), Work(layer, weights, 1, 1))
    if layer.op != "attention":
        return (Work(layer, layer.channels, layer.width, taps(network, v)),)
    scores = layer.groups * keys_of(network, v)
    product = replace(layer, op="matmul")
    return (
        Work(product, scores, layer.width, 1),
        Work(replace(product, op="softmax"), scores, layer.width, 1),
        Work(replace(product, in_channels=scores), layer.channels, layer.width, 1),
    )


def array_cycles(work: Work, technology: Technology) -> int:
    """Return the cycles of the array for one sample, with the best assignment of one loop to each of its two axes."""
    loops = [each for each in LOOPS if each != "rows" or work.layer.op not in IN_ORDER]
    ways = product(loops, repeat=2)
    return passes_of(work.layer) * work.taps * min(_turns(work, lanes_of(work.layer, way, technology)) for way in ways)


def passes_of(layer: Layer) -> int:
    """Return the passes that the 8-bit lanes of a PE need for the numbers of a layer, by the widest ones.

    Examples
    --------
    >>> import workloads
    >>> passes_of(workloads.load("vgg16").layers[0])
    1
    """
    meet = [layer.bits.activations]
    meet += [layer.bits.weights] if has_weights(layer) else []
    meet += [layer.bits.cache] if layer.op == "matmul" else []
    return len(range(0, max(meet), LANE_BITS))


def lanes_of(layer: Layer, way: Sequence[str], technology: Technology) -> dict[str, int]:
    """Return how much of each loop runs in parallel: in the lanes of a PE, and in the PEs along the axes.

    Examples
    --------
    >>> import workloads
    >>> lanes_of(workloads.load("vgg16").layers[1], ("outputs", "rows"), Technology())
    {'outputs': 32, 'inputs': 8, 'rows': 4, 'columns': 1}
    """
    light = is_depthwise(layer)
    lanes = {
        "outputs": technology.pe_light_channels if light else technology.pe_outputs,
        "inputs": 1 if light else technology.pe_inputs, "rows": 1, "columns": 1,
    }  # fmt: skip
    for loop, width in zip(way, (technology.pe_rows, technology.pe_columns)):
        lanes[loop] *= width
    return lanes


def _turns(work: Work, lanes: dict[str, int]) -> int:
    """Return the number of turns in all: each loop starts anew whenever its lanes are full.

    Rows that see different keys take turns of their own, each as long as its row that sees the most.
    """
    if work.layer.mask is None:
        return _full(work.extents(), lanes)
    every = [len(keys) for keys in sees(work.layer)]
    turns = Counter(max(every[row : row + lanes["rows"]]) for row in range(0, len(every), lanes["rows"]))
    return sum(times * _full(work.extents(seen) | {"rows": 1}, lanes) for seen, times in turns.items())


def _full(extents: Mapping[str, int], lanes: Mapping[str, int]) -> int:
    found = 1
    for loop, extent in extents.items():
        found *= len(range(0, extent, lanes[loop]))
    return found
