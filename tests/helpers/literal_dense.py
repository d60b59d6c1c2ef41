"""Runs orders of convolutions and products of two activations literally."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tests.helpers.literal_chip import LOST, WORD, Map, Stationary, convolve, cuts, rounded, sweep


def run_convolution(problem, chip, plan, output):
    """Groups of the convolution one after the other, so many together."""
    layer, full = problem.layer, problem.full_weights()
    is_distinct = layer.groups == 1 and plan.order != "BC"
    outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
    if is_distinct:
        distinct = list(dict.fromkeys(problem.ids))
        values = np.concatenate([problem.inputs[problem.ids.index(u)] for u in distinct], axis=1)
        sizes = [problem.tensors[problem.ids.index(u)].channels for u in distinct]
        ends = np.cumsum([0, *sizes])
        places = np.concatenate([np.arange(t.channels) + ends[distinct.index(u)]
                                 for u, t in zip(problem.ids, problem.tensors)])  # fmt: skip
    else:
        values, sizes = np.concatenate(problem.inputs, axis=1), [t.channels for t in problem.tensors]
        ends, places = np.cumsum([0, *sizes]), np.arange(layer.in_channels)
    for together in cuts(layer.groups, plan.apart):
        first, stop = together[0] * inputs, (together[-1] + 1) * inputs
        mine = range(together[0] * outputs, (together[-1] + 1) * outputs)
        span = (first, stop) if not is_distinct else (0, values.shape[1])
        overlaps = [(max(a, span[0]), min(b, span[1])) for a, b in zip(ends, ends[1:]) if a < span[1] and b > span[0]]
        task = SimpleNamespace(
            windows=problem.windows, chip=chip, values=values[:, span[0] : span[1]], seen=problem.seen,
            places=places[first:stop] - span[0], words=[range(a - span[0], b - span[0]) for a, b in overlaps],
            weights=Stationary(chip, full[mine.start : mine.stop, first:stop], "dense", len(together)),
            output=output[:, mine.start : mine.stop],
        )  # fmt: skip
        run_dense(task, plan)


def run_product(problem, chip, plan, sample, output):
    """Heads one after the other, so many together."""
    layer = problem.layer
    outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
    for together in cuts(layer.groups, plan.apart):
        weights = np.zeros((len(together) * outputs, len(together) * inputs, 1, 1), dtype=np.int64)
        for i, head in enumerate(together):
            part = problem.matrix(sample, head)
            weights[i * outputs : (i + 1) * outputs, i * inputs : (i + 1) * inputs, 0, 0] = part
        values = problem.inputs[0][sample : sample + 1, together[0] * inputs : (together[-1] + 1) * inputs]
        kind = "transposed" if problem.is_transposed() else "product"
        task = SimpleNamespace(
            windows=problem.windows, chip=chip, values=values, seen=problem.seen, places=np.arange(values.shape[1]),
            words=[range(values.shape[1])], weights=Stationary(chip, weights, kind, len(together)),
            output=output[sample : sample + 1, together[0] * outputs : (together[-1] + 1) * outputs],
        )  # fmt: skip
        run_dense(task, plan)


def run_dense(task, plan):
    orders = {"TK": run_tk, "KT": run_kt, "WK": run_wk, "KS": run_ks, "TKC": run_tkc, "BC": run_bc,
              "TP": run_tp, "KP": run_kp}  # fmt: skip
    orders[plan.order](task, plan)
    task.weights.clear()


def source_of(task, samples, channels=None):
    channels = range(task.values.shape[1]) if channels is None else channels
    size = sum(rounded(len(range(max(w.start, channels.start), min(w.stop, channels.stop)))) for w in task.words)
    seen = next(iter(task.seen.values()))
    found = Map(task.chip, task.values[samples.start : samples.stop, channels.start : channels.stop], seen, size)
    for each in task.seen:
        task.seen[each] = seen
    return found


def finish(task, samples, outputs, down, across, values):
    """Write a tile of results and bring it to DRAM."""
    place = task.output[samples.start : samples.stop, outputs.start : outputs.stop,
                        down.start : down.stop, across.start : across.stop]  # fmt: skip
    assert (place == LOST).all(), "an element is made twice"
    place[...] = values
    task.chip.store(values.size)


def tile_of(task, source, samples, outputs, down, across, weights=None):
    """Compute a chunk of a tile from what is in the memories."""
    values = source.read(task.windows.area(down, across))[:, task.places]
    room = len(samples) * len(down) * len(across) * rounded(len(outputs))
    task.chip.activations.take(room)
    found = convolve(task.windows, values, (weights or task.weights).read(outputs), down, across)
    finish(task, samples, outputs, down, across, found)
    task.chip.activations.give(room)


def all_inputs(task):
    return range(len(task.places))


def run_tk(task, plan):
    for samples in cuts(len(task.values), plan.at_once):
        source = source_of(task, samples)
        for down, across in sweep(task.windows, plan.tile, plan.mode, source):
            for outputs in cuts(task.output.shape[1], plan.chunk):
                task.weights.load(outputs, all_inputs(task))
                tile_of(task, source, samples, outputs, down, across)
            if plan.chunk < task.output.shape[1]:
                task.weights.clear()


def run_kt(task, plan):
    for outputs in cuts(task.output.shape[1], plan.chunk):
        task.weights.load(outputs, all_inputs(task))
        for samples in cuts(len(task.values), plan.at_once):
            source = source_of(task, samples)
            for down, across in sweep(task.windows, plan.tile, plan.mode, source):
                tile_of(task, source, samples, outputs, down, across)


def run_wk(task, plan):
    for samples in cuts(len(task.values), plan.at_once):
        source = source_of(task, samples)
        for outputs in cuts(task.output.shape[1], plan.chunk):
            task.weights.load(outputs, all_inputs(task))
            for down, across in sweep(task.windows, plan.tile, "whole", source):
                tile_of(task, source, samples, outputs, down, across)
        source.clear()
        if plan.chunk < task.output.shape[1]:
            task.weights.clear()


def run_tp(task, plan):
    kept, others = range(plan.kept), range(plan.kept, task.output.shape[1])
    stay = Stationary(task.chip, task.weights.values, task.weights.kind, task.weights.groups)
    stay.load(kept, all_inputs(task))
    for samples in cuts(len(task.values), plan.at_once):
        source = source_of(task, samples)
        for down, across in sweep(task.windows, plan.tile, plan.mode, source):
            for outputs in cuts(plan.kept, plan.chunk):
                tile_of(task, source, samples, outputs, down, across, stay)
            for chunk in cuts(len(others), plan.chunk):
                outputs = range(plan.kept + chunk.start, plan.kept + chunk.stop)
                task.weights.load(outputs, all_inputs(task))
                tile_of(task, source, samples, outputs, down, across)
                task.weights.clear()
    stay.clear()


def run_kp(task, plan):
    met = np.flatnonzero(task.windows.lines(0, range(task.windows.out[0])))[: plan.kept]
    stays = np.zeros(task.values.shape[2:], dtype=bool)
    stays[met] = True
    kept = {}
    for outputs in cuts(task.output.shape[1], plan.chunk):
        task.weights.load(outputs, all_inputs(task))
        for samples in cuts(len(task.values), plan.at_once):
            source = kept.setdefault(samples, source_of(task, samples))
            source.stays = stays
            for down, across in sweep(task.windows, plan.tile, plan.mode, source):
                tile_of(task, source, samples, outputs, down, across)
    for source in kept.values():
        source.stays = np.zeros_like(stays)
        source.clear()


def run_ks(task, plan):
    for outputs in cuts(task.output.shape[1], plan.chunk):
        task.weights.load(outputs, all_inputs(task))
        for samples in cuts(len(task.values), plan.at_once):
            source = source_of(task, samples)
            for down, across in sweep(task.windows, plan.tile, "whole", source):
                tile_of(task, source, samples, outputs, down, across)
            source.clear()


class Sums:
    """Running sums of a tile in the activation buffer: 4 bytes each, written first, then read and written."""

    def __init__(self, task, samples, outputs, down, across, is_cut=True):
        self.task, self.where = task, (samples, outputs, down, across)
        self.values = None
        self.room = 4 * len(samples) * len(down) * len(across) * rounded(len(outputs))
        task.chip.activations.take(self.room)
        self.values = np.zeros((len(samples), len(outputs), len(down), len(across)), dtype=np.int64)
        self.begun = np.zeros(self.values.shape, dtype=bool)

    def add(self, place, found, is_last):
        begun = self.begun[place]
        assert begun.all() or not begun.any()
        if begun.any():
            self.task.chip.gb += 4 * found.size
        if not is_last:
            self.task.chip.gb += 4 * found.size
        self.values[place] += found
        self.begun[place] = True

    def finish(self):
        finish(self.task, *self.where, self.values)
        self.task.chip.activations.give(self.room)


def run_tkc(task, plan):
    for samples in cuts(len(task.values), plan.at_once):
        source = source_of(task, samples)
        for down, across in sweep(task.windows, plan.tile, plan.mode, source):
            for outputs in cuts(task.output.shape[1], plan.chunk):
                sums = Sums(task, samples, outputs, down, across)
                values = source.read(task.windows.area(down, across))[:, task.places]
                slices = cuts(len(task.places), plan.slice)
                for inputs in slices:
                    task.weights.load(outputs, inputs)
                    found = convolve(
                        task.windows, values[:, inputs.start : inputs.stop], task.weights.read(), down, across
                    )
                    sums.add(np.s_[:], found, inputs is slices[-1])
                    task.weights.clear()
                sums.finish()


def word_slices(task, channels):
    """Return slices of whole words, each of one operand."""
    words = [range(w.start + i.start, w.start + i.stop) for w in task.words for i in cuts(len(w), WORD)]
    groups = [words[i : i + channels // WORD] for i in range(0, len(words), channels // WORD)]
    return [range(group[0].start, group[-1].stop) for group in groups]


def run_bc(task, plan):
    out = task.windows.out
    for samples in cuts(len(task.values), plan.at_once):
        for down in cuts(out[0], plan.tile[0]):
            for across in cuts(out[1], plan.tile[1]):
                for outputs in cuts(task.output.shape[1], plan.chunk):
                    sums = Sums(task, samples, outputs, down, across)
                    slices = word_slices(task, plan.slice)
                    for inputs in slices:
                        run_slice(task, plan, samples, down, across, outputs, inputs, sums, inputs is slices[-1])
                    sums.finish()


def run_slice(task, plan, samples, down, across, outputs, inputs, sums, is_last):
    """Add what a slice of the inputs gives to the sums of a block, all at once or row by row."""
    source = source_of(task, samples, inputs)
    bands = [range(r, r + 1) for r in down] if plan.mode == "block-row" else [down]
    for i, band in enumerate(bands):
        below = task.windows.lines(0, [r for later in bands[i + 1 :] for r in later])
        source.load(task.windows.area(band, across))
        for inner in cuts(len(outputs), plan.inner):
            mine = range(outputs.start + inner.start, outputs.start + inner.stop)
            task.weights.load(mine, inputs)
            values = source.read(task.windows.area(band, across))
            found = convolve(task.windows, values, task.weights.read(), band, across)
            rows = slice(band.start - down.start, band.stop - down.start)
            sums.add(np.s_[:, inner.start : inner.stop, rows], found, is_last)
        source.keep(below[:, None] & source.main)
    source.clear()
    task.weights.clear()
