"""A subgraph as its layers' windows define it: what comes in, what goes out, which layer reads which rows.

Derived from the network alone: neither this file nor what counts with it imports the code that prices.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.execution.count.layer_facts import reach
from simulator.execution.count.miss import Span
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from workloads.network.network import Network

ROWS, COLUMNS = 0, 1
AXES = (ROWS, COLUMNS)


class Reading(NamedTuple):
    """A layer that reads a tensor: through its window (`local`), in full (`whole`), or both (matmul(x, x))."""

    tensor: int
    layer: int
    local: bool
    whole: bool


class Part:
    """Layers that run together, by tensor id.

    inputs: the distinct tensors that come from outside. outputs: the layers whose tensor goes to DRAM, because either
    no layer or a layer outside reads it. readings: all reads inside; readers[u] and operands[v] have those of one
    tensor or layer. lies: which of its tensors are on chip whole. loaded: the inputs that come from DRAM.
    """

    def __init__(self, network: Network, layers: Iterable[int], lies: Lies = NOTHING_STAYS) -> None:
        self.network, self.lies = network, lies
        self.layers = tuple(sorted(layers))
        inside = set(self.layers)
        self.operands = {v: [self._reading(u, v) for u in network.producers[v]] for v in self.layers}
        self.inputs = tuple(dict.fromkeys(u for v in self.layers for u in network.producers[v] if u not in inside))
        self.loaded = tuple(u for u in self.inputs if u not in lies.there)
        self.tensors = self.inputs + self.layers  #: producers first
        self.readers: dict[int, list[Reading]] = {u: [] for u in self.tensors}
        for readings in self.operands.values():
            for reading in readings:
                self.readers[reading.tensor].append(reading)
        self.outputs = tuple(v for v in self.layers if network.is_output[v] or set(network.consumers[v]) - inside)
        if lies.written is not None:
            self.outputs = tuple(v for v in self.layers if v in lies.written)
        self.extent = tuple([(t.height, t.width)[axis] for t in network.tensors] for axis in AXES)
        self.needed_whole = {u for u in self.tensors if any(reading.whole for reading in self.readers[u])}

    def _reading(self, tensor: int, layer: int) -> Reading:
        whole = self.network.layers[layer].whole
        positions = [i for i, operand in enumerate(self.network.operands[layer]) if operand == tensor]
        return Reading(tensor, layer, any(i not in whole for i in positions), any(i in whole for i in positions))

    def first(self, layer: int, axis: int, output: int) -> int:
        """Return the first element that the window of this output meets, below 0 if it lies in the padding."""
        of = self.network.layers[layer]
        return -((of.padding[axis] - output * of.stride[axis]) // of.upsample[axis])

    def end(self, layer: int, axis: int, outputs: int) -> int:
        """Return the element after the last that the windows of this many outputs meet, unclipped."""
        of = self.network.layers[layer]
        place = (outputs - 1) * of.stride[axis] - of.padding[axis] + reach(of)[axis]  # with the empty rows of the map
        return -(-place // of.upsample[axis])

    def window(self, reading: Reading, axis: int, outputs: Span) -> Span:
        """Return the elements inside the map that a layer reads along an axis for these outputs."""
        extent = self.extent[axis][reading.tensor]
        first = min(max(self.first(reading.layer, axis, outputs[0]), 0), extent)
        return first, max(first, min(self.end(reading.layer, axis, outputs[1]), extent))

    def name(self, tensor: int) -> str:
        """Return the name of a tensor."""
        return self.network.tensors[tensor].name
