"""A chain of layers with values, small integers in floating point, which are exact; and rows of a map in a region."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from simulator.execution.count.layer_facts import has_weights
from simulator.execution.count.miss import Miss
from simulator.execution.layer.chained.links import Lines, Links
from simulator.execution.layer.chained.shape import ChainShape
from simulator.execution.layer.common.chip import Memory
from workloads.network.network import Network

Values = np.ndarray  #: float64: channels x rows x columns


class ChainProblem(ChainShape):
    """The input and weights of a chain, and its output computed directly."""

    def __init__(self, network: Network, links: Links, batch: int, seed: int) -> None:
        super().__init__(network, links)
        rng, tensor, self.batch = np.random.default_rng(seed), network.tensors[links.x], batch
        self.x = rng.integers(1, 4, (batch, tensor.channels, tensor.height, tensor.width)).astype(float)
        self.weights: dict[int, Values] = {}
        for v in (*links.openers, links.middle, links.closer):
            if v is not None and has_weights(network.layers[v]):
                layer = network.layers[v]
                sizes = (layer.channels, layer.in_channels // layer.groups, *layer.kernel)
                self.weights[v] = rng.integers(1, 4, sizes).astype(float)

    def direct(self) -> Values:
        """Return the output of all samples, layer by layer."""
        return np.stack([self._one(sample) for sample in range(self.batch)])

    def _one(self, sample: int) -> Values:
        x, links = self.x[sample], self.links
        every, outputs = range(self.middle), range(self.outputs)
        opened = [self.dense(v, x, self.lined.openers, every, range(len(x))) for v in links.openers]
        made = opened[0] if links.join is None else self.joined(*opened)
        if links.middle is not None:
            assert self.lined.middle is not None
            made = self.apart(made, self.lined.middle, every)
        made = self.dense(links.closer, made, self.lined.closer, outputs, every)
        return made if links.residual is None else made + x

    def joined(self, first: Values, second: Values) -> Values:
        """Return the result of the join of both openers."""
        assert self.links.join is not None
        return first * second if self.layer(self.links.join).op == "mul" else first + 2 * second

    def dense(
        self, v: int, values: Values, lines: Lines, outputs: range, inputs: range, rows: Iterable[int] | None = None
    ) -> Values:
        """Return these output rows (all) from these inputs; values: of the inputs, all rows."""
        weights = self.weights[v][outputs.start : outputs.stop, inputs.start : inputs.stop]
        wanted = range(lines[0].outputs) if rows is None else list(rows)
        found = np.zeros((len(outputs), len(wanted), lines[1].outputs))
        columns = _columns(lines)
        for i, r in enumerate(wanted):
            for f, row in lines[0].met(r):
                for g, (to, come) in columns.items():
                    found[:, i, to] += weights[:, :, f, g] @ values[:, row, come]
        return found

    def apart(self, values: Values, lines: Lines, channels: range, rows: Iterable[int] | None = None) -> Values:
        """Return these output rows of the middle layer; values: of these channels, all rows."""
        assert self.links.middle is not None
        layer = self.layer(self.links.middle)
        taps = np.arange(1.0, 1 + layer.kernel[0] * layer.kernel[1]).reshape(layer.kernel)
        weights = np.broadcast_to(taps, (self.middle, *layer.kernel))
        if has_weights(layer):
            weights = self.weights[self.links.middle][:, 0]
        wanted = range(lines[0].outputs) if rows is None else list(rows)
        found = np.zeros((len(channels), len(wanted), lines[1].outputs))
        for i, r in enumerate(wanted):
            for f, row in lines[0].met(r):
                for g, (to, come) in _columns(lines).items():
                    part = values[:, row, come]
                    if layer.op == "maxpool":
                        found[:, i, to] = np.maximum(found[:, i, to], part)
                    else:
                        found[:, i, to] += weights[channels.start : channels.stop, f, g, None] * part
        return found


def _columns(lines: Lines) -> dict[int, tuple[list[int], list[int]]]:
    """Return for each tap the output columns that it reaches, and the columns that they read."""
    found: dict[int, tuple[list[int], list[int]]] = {}
    for c in range(lines[1].outputs):
        for g, column in lines[1].met(c):
            to, come = found.setdefault(g, ([], []))
            to.append(c)
            come.append(column)
    return found


class RowStore:
    """A region with rows of some channels of a map."""

    def __init__(self, memory: Memory, region: str, shape: Sequence[int], name: str) -> None:
        self.memory, self.region, self.name = memory, region, name
        self.values = np.full(tuple(shape), np.nan)  #: channels x rows x columns; NaN where nothing is
        self.held: dict[int, int] = {}  #: row -> bytes

    def put(self, rows: Sequence[int], values: Values, size: int, first: int = 0) -> None:
        """Take rows with these values; size: of a row, in the region. Channels of rows that are there join them."""
        for i, row in enumerate(rows):
            if row not in self.held:
                self.memory.take(self.region, size)
                self.held[row] = size
            self.values[first : first + len(values), row] = values[:, i]

    def read(self, rows: Iterable[int]) -> Values:
        """Return the map; raises Miss unless these rows are there."""
        for row in rows:
            if row not in self.held:
                raise Miss(f"row {row} of {self.name} is not in its region")
        return self.values

    def keep(self, rows: Iterable[int]) -> None:
        """Give up all other rows."""
        for row in set(self.held) - set(rows):
            self.memory.give(self.region, self.held.pop(row))
            self.values[:, row] = np.nan
