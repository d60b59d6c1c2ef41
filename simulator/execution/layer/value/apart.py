"""Layers with independent channels, with values: pools, resizes, depth-wise convolutions, running sums, copies."""

from __future__ import annotations

import numpy as np

from simulator.execution.count.layer_facts import has_weights
from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.held import LOST, Map, at, deliver, sweep
from simulator.execution.layer.common.plan import LayerPlan, cuts
from simulator.execution.layer.common.problem import Problem, Values, reduce_apart
from simulator.technology import SUM_BYTES


def run_apart(problem: Problem, chip: Chip, plan: LayerPlan, output: Values) -> None:
    """CT: channels of one input at a time; samples; tiles. An input that is several operands is read once."""
    layer, factors = problem.layer, problem.factors()
    for u, values in problem.maps.items():
        often = problem.places(u)
        for channels in cuts(values.shape[1], plan.apart):
            weights = len(often) * len(channels) * layer.kernel[0] * layer.kernel[1] if has_weights(layer) else 0
            chip.weights.hold("weights", weights)
            chip.load_weights(weights)
            for samples in cuts(problem.batch, plan.at_once):
                coming = 0 if u in problem.on_chip else len(channels)
                source = Map(chip, values[at(samples, channels)], problem.seen, chip.rounded(coming), coming)
                for tile in sweep(problem.windows, plan.tile, plan.mode, source):
                    window = source.read(problem.windows.area(*tile))
                    chip.weight_buffer += weights
                    size = len(samples) * len(tile[0]) * len(tile[1]) * chip.rounded(len(channels))
                    chip.hold_results(size * len(often))
                    for i in often:
                        first = int(problem.starts[i]) + channels.start
                        mine = factors[first : first + len(channels)]
                        found = reduce_apart(problem.windows.taps, window, mine, *tile, layer.op)
                        _write(problem, chip, output, samples, first, tile, found)
                source.clear()


def run_sums(problem: Problem, chip: Chip, output: Values) -> None:
    """RS: a word of channels at a time; each input row comes once and is added to all output rows that meet it."""
    for sample in range(problem.batch):
        for u, values in problem.maps.items():
            for channels in cuts(values.shape[1], chip.word):
                part = values[sample][at(channels)]
                run = _RunningSums(problem, chip, output, sample, channels, problem.places(u), u in problem.on_chip)
                run.run(part)


class _RunningSums:
    """A word of channels of one input: the sums of the output rows that are begun but not finished."""

    def __init__(
        self, problem: Problem, chip: Chip, output: Values, sample: int, channels: range, often: list[int],
        is_there: bool,
    ) -> None:  # fmt: skip
        self.problem, self.chip, self.output = problem, chip, output
        self.sample, self.channels, self.often, self.is_there = sample, channels, often, is_there
        self.columns = problem.windows.meet(1, range(problem.windows.outputs[1]))
        self.reach = [[row for _, row in met] for met in problem.windows.taps[0]]
        self.sums: dict[tuple[int, int], Values] = {}
        self.size = chip.word * SUM_BYTES * problem.layer.width

    def run(self, values: Values) -> None:
        """Run all input rows; an output row that meets none is an empty sum."""
        met = int(self.columns.sum())
        for row in sorted({row for each in self.reach for row in each}):
            if not self.is_there:
                self.chip.activations.hold("row", met * self.chip.word)
                self.chip.load_input(met * len(self.channels))
            self.problem.seen[row] |= self.columns
            added = [(r, i) for r, each in enumerate(self.reach) if row in each for i in self.often]
            self.chip.global_buffer += met * len(self.channels) * (len(added) // len(self.often))
            self.chip.activations.take("sums", self.size * len(set(added) - set(self.sums)))
            for r, i in added:
                self._add(i, row, r, values)
            for r, i in added:
                if row == max(self.reach[r]):
                    self._finish(i, r, self.sums.pop((r, i)))
                    self.chip.activations.give("sums", self.size)
        for r in [r for r, each in enumerate(self.reach) if not each]:
            self.chip.activations.take("sums", self.size * len(self.often))
            for i in self.often:
                self._finish(i, r, np.zeros((len(self.channels), self.problem.layer.width), dtype=np.int64))
            self.chip.activations.give("sums", self.size * len(self.often))

    def _add(self, i: int, row: int, r: int, values: Values) -> None:
        layer, first = self.problem.layer, int(self.problem.starts[i]) + self.channels.start
        found = self._row(values, row, r, self.problem.factors()[first : first + len(self.channels)])
        if (r, i) not in self.sums:
            self.sums[r, i] = found
            return
        made = max(0, min(first + len(self.channels), layer.channels) - first)
        self.chip.copy(2 * SUM_BYTES * layer.width * made)
        self.sums[r, i] = np.maximum(self.sums[r, i], found) if layer.op == "maxpool" else self.sums[r, i] + found

    def _finish(self, i: int, r: int, values: Values) -> None:
        first, samples = int(self.problem.starts[i]) + self.channels.start, range(self.sample, self.sample + 1)
        tile = range(r, r + 1), range(self.problem.layer.width)
        _write(self.problem, self.chip, self.output, samples, first, tile, values[None, :, None])

    def _row(self, values: Values, row: int, r: int, factors: Values) -> Values:
        """Return what one input row adds to an output row, as channels x columns."""
        taps = [[[(f, 0) for f, met in self.problem.windows.taps[0][r] if met == row]], self.problem.windows.taps[1]]
        line = values[None, :, row : row + 1]
        across = range(self.problem.layer.width)
        return reduce_apart(taps, line, factors, range(1), across, self.problem.layer.op)[0, :, 0]


def run_copy(problem: Problem, chip: Chip, output: Values) -> None:
    """A word at a time: read, and written wherever it belongs."""
    origins, elements, comes = problem.origins(), problem.elements(), problem.coming_elements()
    for sample, flat in enumerate(elements):
        target = output[sample].reshape(-1)
        for word in cuts(len(flat), chip.word):
            chip.activations.hold("word", chip.word)
            chip.load_input(int(comes[word.start : word.stop].sum()))
            chip.global_buffer += len(word)
            for element in word:
                places = np.flatnonzero(origins == element)
                if (target[places] != LOST).any():
                    raise Miss(f"element {places} is made twice")
                target[places] = flat[element]
                chip.store(len(places))


def _write(
    problem: Problem, chip: Chip, output: Values, samples: range, first: int, tile: tuple[range, range], found: Values
) -> None:
    """Write channels that the layer has (a slice has fewer than its input)."""
    count = max(0, min(first + found.shape[1], problem.layer.channels) - first)
    deliver(chip, output, (samples, range(first, first + count), *tile), found[:, :count])
