"""Convolutions and products of two activations with values, in every order: the loops as they are written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.held import Map, Stationary, at, deliver, sweep
from simulator.execution.layer.common.plan import LayerPlan, cuts
from simulator.execution.layer.common.problem import Problem, Values, convolve, repeated
from simulator.execution.layer.common.windows import Windows
from simulator.execution.layer.value.epilogue import Epilogue
from simulator.technology import SUM_BYTES


@dataclass
class Task:
    """A group of a convolution, or a head of one sample: what is computed together, and where the result goes."""

    windows: Windows
    chip: Chip
    seen: np.ndarray  #: positions that came from DRAM
    values: Values  #: of the inputs, each once
    places: Values  #: which of them each channel of the reduction is
    words: list[range]  #: channels of each input, rounded up each on its own
    comes: list[bool]  #: whether each comes from DRAM; else it is on chip, whole
    weights: Stationary
    output: Values
    epilogue: Epilogue | None = None  #: what results pass through
    first: int = 0  #: channel of the layer that is output 0
    state: State | None = None  #: of a recurrent layer
    hide: Callable[[Values, range, range], Values] | None = None  #: of scores, what a mask leaves of some rows and keys

    @property
    def outputs(self) -> int:
        """How many the part has."""
        return self.output.shape[1]

    @property
    def inputs(self) -> range:
        """All of its reduction."""
        return range(len(self.places))

    def source(self, samples: range, channels: range | None = None) -> Map:
        """Return an empty region for the input of these samples."""
        channels = channels or range(self.values.shape[1])
        overlaps = [min(w.stop, channels.stop) - max(w.start, channels.start) for w in self.words]
        found = [max(0, overlap) for overlap, comes in zip(overlaps, self.comes) if comes]
        size = sum(map(self.chip.rounded, found))
        return Map(self.chip, self.values[at(samples, channels)], self.seen, size, sum(found))

    def compute(
        self, source: Map, samples: range, outputs: range, tile: tuple[range, range], weights: Stationary | None = None
    ) -> None:
        """Compute a chunk of a tile from the contents of the memories."""
        values = source.read(self.windows.area(*tile))[:, self.places]
        together = outputs if self.epilogue is None else self.epilogue.together(outputs)
        together = together if self.state is None else range(self.outputs)
        self.chip.hold_results(_tile_bytes(self.chip, samples, together, tile))
        if self.state is not None:
            values += repeated(self.state.read(samples, tile[0]), values.shape[1])[:, :, None, None]
        found = convolve(self.windows.taps, values, (weights or self.weights).read(outputs), *tile)
        self.finish(samples, outputs, tile, found)

    def finish(self, samples: range, outputs: range, tile: tuple[range, range], values: Values) -> None:
        """Deliver results, or pass them through what follows."""
        if self.state is not None:
            self.state.write(samples, outputs, values[:, :, 0, 0])
        values = values if self.hide is None else self.hide(values, tile[0], outputs)
        if self.epilogue is None:
            deliver(self.chip, self.output, (samples, outputs, *tile), values)
            return
        channels = range(self.first + outputs.start, self.first + outputs.stop)
        self.epilogue.finish(self.chip, (samples, channels, *tile), values)


class State:
    """The row before of each sample, and as much as is made of the next: it takes its place when all of it is there."""

    def __init__(self, chip: Chip, batch: int, channels: int) -> None:
        chip.activations.take("state", batch * chip.rounded(channels))
        self.rows, self.next = (np.zeros((batch, channels), dtype=np.int64) for _ in range(2))
        self.at = [0] * batch  #: which row is made next

    def read(self, samples: range, rows: range) -> Values:
        """Return the row before these; raises Miss if it is not there."""
        if any(range(self.at[n], self.at[n] + 1) != rows for n in samples):
            raise Miss(f"rows {rows.start} to {rows.stop} are made before the row above them")
        return self.rows[samples.start : samples.stop]

    def write(self, samples: range, outputs: range, values: Values) -> None:
        """Put down outputs of a row."""
        self.next[at(samples, outputs)] = values
        if outputs.stop == self.next.shape[1]:
            for n in samples:
                self.rows[n], self.at[n] = self.next[n], self.at[n] + 1


def run_convolution(
    problem: Problem, chip: Chip, plan: LayerPlan, output: Values, epilogue: Epilogue | None = None
) -> None:
    """Run groups of the convolution one after the other.

    An input that is several operands is read once, except by groups and by slices of the inputs.
    """
    layer, full = problem.layer, problem.full_weights()
    outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
    ids = list(dict.fromkeys(problem.ids)) if layer.groups == 1 and plan.order != "BC" else list(problem.ids)
    is_distinct = len(ids) < len(problem.ids)
    values, ends = problem.maps[ids[0]], [0]
    if len(ids) > 1:
        values = np.concatenate([problem.maps[u] for u in ids], axis=1)
    for u in ids:
        ends.append(ends[-1] + problem.network.tensors[u].channels)
    places = np.arange(layer.in_channels)
    if is_distinct:
        first = [ends[ids.index(u)] for u in problem.ids]
        places = np.concatenate([np.arange(t.channels) + a for a, t in zip(first, problem.tensors)])
    for group in range(layer.groups):
        low, high = (0, values.shape[1]) if is_distinct else (group * inputs, (group + 1) * inputs)
        found = [(u, a, b) for u, a, b in zip(ids, ends, ends[1:]) if a < high and b > low]
        words = [range(max(a, low) - low, min(b, high) - low) for _, a, b in found]
        comes = [u not in problem.on_chip for u, _, _ in found]
        mine, reduction = slice(group * outputs, (group + 1) * outputs), slice(group * inputs, (group + 1) * inputs)
        weights = Stationary(chip, full[mine, reduction], "dense")
        is_recurrent = layer.op == "recurrent"
        run = Task(
            problem.windows, chip, problem.seen, values[:, low:high], places[reduction] - low, words, comes,
            weights, output[:, mine], epilogue, mine.start,
            State(chip, problem.batch, outputs) if is_recurrent else None,
        )  # fmt: skip
        run_dense(run, plan)
        chip.activations.give("state", chip.activations.used["state"])


def run_product(problem: Problem, chip: Chip, plan: LayerPlan, output: Values) -> None:
    """Run samples, and heads, one after the other: each has its own second operand."""
    layer, first = problem.layer, problem.ids[0] in problem.on_chip
    outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
    for sample in range(problem.batch):
        for head in range(layer.groups):
            matrix = np.ascontiguousarray(problem.matrix(sample, head))[:, :, None, None]
            values = problem.maps[problem.ids[0]][sample : sample + 1, head * inputs : (head + 1) * inputs]
            run = Task(
                problem.windows, chip, problem.seen, values, np.arange(inputs), [range(inputs)],
                [not first], Stationary(chip, matrix, problem.kind, there=problem.there),
                output[sample : sample + 1, head * outputs : (head + 1) * outputs], hide=problem.hide,
            )  # fmt: skip
            run_dense(run, plan)


def run_dense(run: Task, plan: LayerPlan) -> None:
    """Run a part in the order of its plan."""
    ORDERS[plan.order](run, plan)
    run.weights.clear()


def tiles_chunks(run: Task, plan: LayerPlan) -> None:
    """TK: tiles; chunks. Weights stay if there is one chunk."""
    for samples in cuts(len(run.values), plan.at_once):
        source = run.source(samples)
        for tile in sweep(run.windows, plan.tile, plan.mode, source):
            for outputs in cuts(run.outputs, plan.chunk):
                run.weights.load(outputs, run.inputs)
                run.compute(source, samples, outputs, tile)
        source.clear()


def chunks_tiles(run: Task, plan: LayerPlan) -> None:
    """KT: chunks; samples; tiles. KS: the same with the input whole."""
    for outputs in cuts(run.outputs, plan.chunk):
        run.weights.load(outputs, run.inputs)
        for samples in cuts(len(run.values), plan.at_once):
            source = run.source(samples)
            for tile in sweep(run.windows, plan.tile, plan.mode, source):
                run.compute(source, samples, outputs, tile)
            source.clear()


def whole_chunks(run: Task, plan: LayerPlan) -> None:
    """WK: samples; the input whole; chunks; tiles."""
    for samples in cuts(len(run.values), plan.at_once):
        source = run.source(samples)
        for outputs in cuts(run.outputs, plan.chunk):
            run.weights.load(outputs, run.inputs)
            for tile in sweep(run.windows, plan.tile, "whole", source):
                run.compute(source, samples, outputs, tile)
        source.clear()


def tiles_partly(run: Task, plan: LayerPlan) -> None:
    """TP: as TK, but the weights of some outputs stay."""
    stay = Stationary(run.chip, run.weights.values, run.weights.kind, "weights that stay", run.weights.there)
    stay.load(range(plan.kept), run.inputs)
    for samples in cuts(len(run.values), plan.at_once):
        source = run.source(samples)
        for tile in sweep(run.windows, plan.tile, plan.mode, source):
            for outputs in cuts(plan.kept, plan.chunk):
                run.compute(source, samples, outputs, tile, stay)
            for chunk in cuts(run.outputs - plan.kept, plan.chunk):
                outputs = range(plan.kept + chunk.start, plan.kept + chunk.stop)
                run.weights.load(outputs, run.inputs)
                run.compute(source, samples, outputs, tile)
                run.weights.clear()
        source.clear()
    stay.clear()


def chunks_partly(run: Task, plan: LayerPlan) -> None:
    """KP: as KT, but the first input rows of all samples stay over the chunks."""
    met = np.flatnonzero(run.windows.meet(0, range(run.windows.outputs[0])))[: plan.kept]
    sources = {samples: run.source(samples) for samples in cuts(len(run.values), plan.at_once)}
    for source in sources.values():
        source.stays[met] = True
    for outputs in cuts(run.outputs, plan.chunk):
        run.weights.load(outputs, run.inputs)
        for samples, source in sources.items():
            for tile in sweep(run.windows, plan.tile, plan.mode, source):
                run.compute(source, samples, outputs, tile)
    for source in sources.values():
        source.clear()


def tiles_slices(run: Task, plan: LayerPlan) -> None:
    """TKC: tiles; chunks; slices of the inputs, with sums of the tile's chunk."""
    for samples in cuts(len(run.values), plan.at_once):
        source = run.source(samples)
        for tile in sweep(run.windows, plan.tile, plan.mode, source):
            for outputs in cuts(run.outputs, plan.chunk):
                sums = _Sums(run, samples, outputs, tile)
                values = source.read(run.windows.area(*tile))[:, run.places]
                slices = cuts(len(run.places), plan.slice)
                for inputs in slices:
                    run.weights.load(outputs, inputs)
                    part = values[:, inputs.start : inputs.stop]
                    found = convolve(run.windows.taps, part, run.weights.read(outputs), *tile)
                    sums.add(np.s_[:], found, inputs is slices[-1])
                    run.weights.clear()
                sums.finish()
        source.clear()


def block_slices(run: Task, plan: LayerPlan) -> None:
    """BC: blocks; chunks; slices of the inputs; inner chunks, with sums of the block's chunk."""
    for samples in cuts(len(run.values), plan.at_once):
        for down in cuts(run.windows.outputs[0], plan.tile[0]):
            for across in cuts(run.windows.outputs[1], plan.tile[1]):
                for outputs in cuts(run.outputs, plan.chunk):
                    sums = _Sums(run, samples, outputs, (down, across))
                    slices = slices_of_words([len(each) for each in run.words], run.chip.word, plan.slice)
                    for inputs in slices:
                        _run_slice(run, plan, sums, inputs, inputs is slices[-1])
                    sums.finish()


ORDERS: dict[str, Callable[[Task, LayerPlan], None]] = {
    "TK": tiles_chunks,
    "KT": chunks_tiles,
    "WK": whole_chunks,
    "KS": chunks_tiles,
    "TP": tiles_partly,
    "KP": chunks_partly,
    "TKC": tiles_slices,
    "BC": block_slices,
}


def slices_of_words(channels: list[int], word: int, size: int) -> list[range]:
    """Return slices of whole words, each of one input.

    Examples
    --------
    >>> slices_of_words([12, 8], 8, 16)
    [range(0, 12), range(12, 20)]
    """
    words, first = [], 0
    for count in channels:
        words += [range(first + each.start, first + each.stop) for each in cuts(count, word)]
        first += count
    together = [words[each.start : each.stop] for each in cuts(len(words), max(1, size // word))]
    return [range(each[0].start, each[-1].stop) for each in together]


class _Sums:
    """Running sums of a tile in the activation buffer: written first, then read and written."""

    def __init__(self, run: Task, samples: range, outputs: range, tile: tuple[range, range]) -> None:
        self.run, self.samples, self.outputs, self.tile = run, samples, outputs, tile
        run.chip.activations.hold("sums", SUM_BYTES * _tile_bytes(run.chip, samples, outputs, tile))
        self.values = np.zeros((len(samples), len(outputs), *map(len, tile)), dtype=np.int64)
        self.begun = np.zeros(self.values.shape, dtype=bool)

    def add(self, place: slice | tuple[slice, ...], found: Values, is_last: bool) -> None:
        """Add to some of the sums; the last slice does not write them back."""
        moved = SUM_BYTES * found.size
        self.run.chip.global_buffer += moved * bool(self.begun[place].all())
        self.run.chip.write(moved * (not is_last))
        self.values[place] += found
        self.begun[place] = True

    def finish(self) -> None:
        """Write the results."""
        self.run.finish(self.samples, self.outputs, self.tile, self.values)


def _run_slice(run: Task, plan: LayerPlan, sums: _Sums, inputs: range, is_last: bool) -> None:
    """Add the contribution of a slice of the inputs to the sums of a block, all at once or row by row."""
    source, (down, across) = run.source(sums.samples, inputs), sums.tile
    bands = [range(r, r + 1) for r in down] if plan.mode == "block-row" else [down]
    for i, band in enumerate(bands):
        below = run.windows.meet(0, [r for later in bands[i + 1 :] for r in later])
        source.load(run.windows.area(band, across))
        for inner in cuts(len(sums.outputs), plan.inner):
            outputs = range(sums.outputs.start + inner.start, sums.outputs.start + inner.stop)
            run.weights.load(outputs, inputs)
            values = source.read(run.windows.area(band, across))
            found = convolve(run.windows.taps, values, run.weights.read(outputs), band, across)
            rows = slice(band.start - down.start, band.stop - down.start)
            sums.add(np.s_[:, inner.start : inner.stop, rows], found, is_last)
        source.keep(below[:, None] & source.main)
    source.clear()
    run.weights.clear()


def _tile_bytes(chip: Chip, samples: range, outputs: range, tile: tuple[range, range]) -> int:
    return len(samples) * len(tile[0]) * len(tile[1]) * chip.rounded(len(outputs))
