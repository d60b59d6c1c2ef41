"""Runs the loops of one layer literally: memories of exactly the claimed bytes, windows found tap by tap, integers.

It shares nothing with the closed forms: what is needed next is found by looking ahead, what is held is counted by
position, a read that finds nothing and a byte too many are errors. The answer has every count and the output.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np

WORD = 8
LOST = -(10**12)  #: what a position holds that was never read


class Memory:
    """So many bytes; more is an error."""

    def __init__(self, capacity):
        self.capacity, self.used, self.most = capacity, 0, 0

    def take(self, size):
        self.used += size
        self.most = max(self.most, self.used)
        assert self.used <= self.capacity, f"{self.used} bytes in a memory of {self.capacity}"

    def give(self, size):
        self.used -= size
        assert self.used >= 0


class Chip:
    """Both memories and all counts."""

    def __init__(self, plan):
        self.activations, self.weights = Memory(plan.activation_bytes), Memory(plan.weight_bytes)
        self.ema_weights = self.ema_inputs = self.ema_outputs = self.gb = self.wb = 0

    def read_input(self, size):
        self.ema_inputs += size
        self.gb += size

    def store(self, size):
        self.ema_outputs += size
        self.gb += 2 * size


def rounded(channels):
    return -(-channels // WORD) * WORD


class Windows:
    """Which rows and columns of the input an output meets, with the tap that meets each."""

    def __init__(self, layer, source):
        self.out, self.extent = (layer.height, layer.width), source
        self.taps = [
            [self._met(layer, axis, i, source[axis]) for i in range(self.out[axis])] for axis in (0, 1)
        ]  # axis, output: list of (tap, row)

    @staticmethod
    def _met(layer, axis, i, extent):
        found = []
        for tap in range(layer.kernel[axis]):
            position = i * layer.stride[axis] - layer.padding[axis] + tap * layer.dilation[axis]
            if position % layer.upsample[axis] == 0 and 0 <= position // layer.upsample[axis] < extent:
                found.append((tap, position // layer.upsample[axis]))
        return found

    def lines(self, axis, outputs):
        """Return the rows (or columns) that some of these outputs meet, as a mask."""
        mask = np.zeros(self.extent[axis], dtype=bool)
        for i in outputs:
            for _, line in self.taps[axis][i]:
                mask[line] = True
        return mask

    def area(self, rows, columns):
        return np.outer(self.lines(0, rows), self.lines(1, columns))


def cuts(extent, size):
    return [range(first, min(first + size, extent)) for first in range(0, extent, size)]


class Map:
    """Some channels of the input of some samples, of which positions are in the buffer; SIDE too."""

    def __init__(self, chip, values, seen, position_bytes):
        self.chip, self.values, self.seen = chip, values, seen
        self.bytes, self.elements = position_bytes * len(values), values.shape[0] * values.shape[1]
        self.main, self.side, self.stays = (np.zeros(values.shape[2:], dtype=bool) for _ in range(3))

    def load(self, need, later_rows=None):
        """Bring positions in, from SIDE or DRAM; rows that are needed later go to SIDE."""
        new = need & ~self.main
        kept = new & self.side
        fresh = new & ~self.side
        self.chip.read_input(int(fresh.sum()) * self.elements)
        self.chip.gb += int(kept.sum()) * self.elements
        self.seen |= fresh
        self.chip.activations.take(int(new.sum()) * self.bytes)
        self.main |= new
        if later_rows is not None:
            out = new & later_rows[:, None]
            self.chip.gb += int(out.sum()) * self.elements
            self._set_side((self.side & ~new) | out)

    def _set_side(self, side):
        change = int(side.sum()) - int(self.side.sum())
        (self.chip.activations.take if change > 0 else self.chip.activations.give)(abs(change) * self.bytes)
        self.side = side

    def keep(self, mask):
        """Give up all positions but these."""
        gone = self.main & ~(mask | self.stays)
        self.chip.activations.give(int(gone.sum()) * self.bytes)
        self.main &= ~gone

    def clear(self):
        self.keep(np.zeros_like(self.main))
        self._set_side(np.zeros_like(self.side))

    def read(self, need):
        assert (self.main | ~need).all(), "a read finds nothing"
        self.chip.gb += int(need.sum()) * self.elements
        return np.where(need, self.values, LOST)


def sweep(windows, tile, mode, source) -> Iterator[tuple[range, range]]:
    """Yield the tiles, row of tiles by row of tiles, each with its input in the buffer."""
    rows, columns = cuts(windows.out[0], tile[0]), cuts(windows.out[1], tile[1])
    everything = windows.area(range(windows.out[0]), range(windows.out[1]))
    for i, down in enumerate(rows):
        below = windows.lines(0, [r for later in rows[i + 1 :] for r in later])
        for j, across in enumerate(columns):
            if mode == "whole":
                source.load(everything)
            elif mode == "side":
                source.load(windows.area(down, across), below)
            else:
                source.load(windows.area(down, across))
            yield down, across
            right = windows.lines(1, [c for later in columns[j + 1 :] for c in later])
            if mode == "ring":
                source.keep(below[:, None] & source.main)
            elif mode in ("side", "slide"):
                source.keep(right[None, :] & source.main)
            elif mode != "whole":
                source.keep(np.zeros_like(source.main))
    if mode != "whole":
        source.clear()


def convolve(windows, values, weights, down, across):
    """Return the sums of a tile: samples x outputs x rows x columns."""
    result = np.zeros((len(values), len(weights), len(down), len(across)), dtype=np.int64)
    for i, r in enumerate(down):
        for j, c in enumerate(across):
            for f, row in windows.taps[0][r]:
                for g, column in windows.taps[1][c]:
                    result[:, :, i, j] += values[:, :, row, column] @ weights[:, :, f, g].T
    return result


def reduce_apart(windows, values, factors, down, across, op):
    """Return a tile of channels that are apart."""
    result = np.zeros((*values.shape[:2], len(down), len(across)), dtype=np.int64)
    for i, r in enumerate(down):
        for j, c in enumerate(across):
            for f, row in windows.taps[0][r]:
                for g, column in windows.taps[1][c]:
                    value = values[:, :, row, column]
                    if op == "maxpool":
                        result[:, :, i, j] = np.maximum(result[:, :, i, j], value)
                    else:
                        result[:, :, i, j] += value * factors[:, f, g]
    return result


class Problem:
    """One layer with values: its inputs, weights, and the output computed directly."""

    def __init__(self, network, batch, seed):
        rng = np.random.default_rng(seed)
        self.layer, self.batch, self.network = network.layers[0], batch, network
        self.tensors = [network.tensors[u] for u in network.operands[0]]
        self.ids = network.operands[0]
        data = {u: rng.integers(1, 100, (batch, t.channels, t.height, t.width)) for u, t in zip(self.ids, self.tensors)}
        self.inputs = [data[u] for u in self.ids]
        layer = self.layer
        sizes = (layer.channels, layer.in_channels // layer.groups, *layer.kernel)
        self.weights = rng.integers(1, 9, sizes) if layer.has_weights else None
        if layer.op in ("maxpool", "avgpool", "resize", "slice", "concat") or layer.has_weights:
            self.windows = Windows(layer, (self.tensors[0].height, self.tensors[0].width))
        else:
            self.windows = Windows(layer, (layer.height, layer.width))
        self.seen = {u: np.zeros((t.height, t.width), dtype=bool) for u, t in zip(self.ids, self.tensors)}

    def full_weights(self):
        """Return the weights with zeros between groups."""
        layer = self.layer
        outputs, inputs = layer.channels // layer.groups, layer.in_channels // layer.groups
        full = np.zeros((layer.channels, layer.in_channels, *layer.kernel), dtype=np.int64)
        for k in range(layer.channels):
            group = k // outputs
            full[k, group * inputs : (group + 1) * inputs] = self.weights[k]
        return full

    def matrix(self, sample, head):
        """Return outputs x inputs of a head: the second operand."""
        layer, second = self.layer, self.inputs[1][sample]
        flat = second.reshape(len(second), -1)  # channels x positions
        inner = layer.in_channels // layer.groups
        if self.is_transposed():
            return flat[head * inner : (head + 1) * inner].T
        size = layer.channels // layer.groups
        return flat[head * size : (head + 1) * size]

    def is_transposed(self):
        layer, second = self.layer, self.tensors[1]
        has_rows = second.channels == layer.in_channels
        return has_rows and second.height * second.width * layer.groups == layer.channels

    def order_of_elements(self):
        """Return for each element of a rearranged output which input element it is."""
        count = sum(t.size_bytes for t in dict(zip(self.ids, self.tensors)).values())
        return np.random.default_rng(7).permutation(np.resize(np.arange(count), self.layer.size_bytes))

    def direct(self):
        """Return the output, samples x channels x rows x columns."""
        layer, everything = self.layer, [range(extent) for extent in self.windows.out]
        if layer.op == "matmul":
            inner = layer.in_channels // layer.groups
            parts = [
                np.stack([
                    np.tensordot(self.matrix(n, h), self.inputs[0][n, h * inner : (h + 1) * inner], axes=1)
                    for n in range(self.batch)
                ])
                for h in range(layer.groups)
            ]  # fmt: skip
            return np.concatenate(parts, axis=1)
        if layer.op == "rearrange":
            distinct = dict(zip(self.ids, self.inputs)).values()
            flat = np.concatenate([x.reshape(self.batch, -1) for x in distinct], axis=1)
            return flat[:, self.order_of_elements()].reshape(self.batch, layer.channels, layer.height, layer.width)
        if layer.op in ("add", "mul", "softmax", "layernorm", "lrn"):
            shape = (self.batch, layer.channels, layer.height, layer.width)
            return join(layer.op, [np.broadcast_to(x, shape) for x in self.inputs])
        stacked = np.concatenate(self.inputs, axis=1)
        if layer.is_depthwise:
            found = reduce_apart(self.windows, stacked, self.factors(), *everything, layer.op)
            return found[:, : layer.channels]
        return convolve(self.windows, stacked, self.full_weights(), *everything)

    def factors(self):
        """Return a factor for each channel and tap."""
        layer = self.layer
        if layer.has_weights:
            return self.weights[:, 0]
        taps = np.arange(1, layer.kernel[0] * layer.kernel[1] + 1).reshape(layer.kernel)
        return np.broadcast_to(taps, (layer.in_channels, *layer.kernel))


def join(op, parts):
    if op == "mul":
        result = np.ones_like(parts[0])
        for part in parts:
            result = result * part
        return result
    total = sum(parts[1:], parts[0])
    return total if op == "add" else total * total.sum(axis=1, keepdims=True)


def run(network, plan, batch, seed=0):
    """Return the chip and the output of a plan, and the output computed directly."""
    problem, chip = Problem(network, batch, seed), Chip(plan)
    layer = problem.layer
    output = np.full((batch, layer.channels, layer.height, layer.width), LOST)
    if layer.op == "matmul":
        for sample in range(batch):
            run_product(problem, chip, plan, sample, output)
    elif layer.op == "rearrange":
        run_copy(problem, chip, output)
    elif layer.op in ("add", "mul", "softmax", "layernorm", "lrn"):
        for sample in range(batch):
            run_joined(problem, chip, plan, sample, output)
    elif plan.order == "RS":
        run_sums(problem, chip, output)
    elif layer.is_depthwise:
        run_apart(problem, chip, plan, output)
    else:
        run_convolution(problem, chip, plan, output)
    for u, tensor in dict(zip(problem.ids, problem.tensors)).items():
        left = int((~problem.seen[u]).sum()) * tensor.channels * batch
        if layer.op not in ("matmul", "rearrange") and problem.ids.index(u) not in layer.whole:
            chip.read_input(left)  # what nobody reads passes by once
    assert chip.activations.used == chip.weights.used == 0
    return chip, output, problem.direct()


class Stationary:
    """Weights, or the second operand of a product, of which a part is in its memory."""

    def __init__(self, chip, values, kind, groups):
        self.chip, self.values, self.kind, self.groups = chip, values, kind, groups
        self.held = None

    def sizes(self, outputs, inputs):
        """Return elements and bytes of a part; inputs are those of all groups together."""
        inner = len(inputs) // self.groups
        if self.kind == "transposed":
            return len(outputs) * inner, len(outputs) * rounded(inner)
        if self.kind == "product":
            return len(outputs) * inner, inner * rounded(len(outputs))
        size = len(outputs) * inner * self.values.shape[2] * self.values.shape[3]
        return size, size

    def load(self, outputs, inputs):
        if self.held == (outputs, inputs):
            return
        self.clear()
        size, room = self.sizes(outputs, inputs)
        self.held = outputs, inputs
        if self.kind == "dense":
            self.chip.ema_weights += size
            self.chip.wb += size
            self.chip.weights.take(room)
        else:
            self.chip.read_input(size)
            self.chip.activations.take(room)

    def read(self, part=None):
        outputs, inputs = self.held
        assert part is None or outputs.start <= part.start and part.stop <= outputs.stop
        outputs = part or outputs
        size, _ = self.sizes(outputs, inputs)
        if self.kind == "dense":
            self.chip.wb += size
        else:
            self.chip.gb += size
        return self.values[outputs.start : outputs.stop][:, inputs.start : inputs.stop]

    def clear(self):
        if self.held is not None:
            (self.chip.weights if self.kind == "dense" else self.chip.activations).give(self.sizes(*self.held)[1])
        self.held = None


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


def run_apart(problem, chip, plan, output):
    """Channels of one producer at a time; an input that is several operands is read once."""
    layer, ids = problem.layer, problem.ids
    starts = np.cumsum([0, *(t.channels for t in problem.tensors)])
    factors = problem.factors()
    for u in dict.fromkeys(ids):
        often = [i for i, each in enumerate(ids) if each == u]
        values = problem.inputs[often[0]]
        for channels in cuts(values.shape[1], plan.apart):
            weights = len(often) * len(channels) * layer.kernel[0] * layer.kernel[1] if layer.has_weights else 0
            chip.weights.take(weights)
            chip.ema_weights += weights
            chip.wb += weights
            for samples in cuts(problem.batch, plan.at_once):
                part = values[samples.start : samples.stop, channels.start : channels.stop]
                source = Map(chip, part, problem.seen[u], rounded(len(channels)))
                for down, across in sweep(problem.windows, plan.tile, plan.mode, source):
                    window = source.read(problem.windows.area(down, across))
                    chip.wb += weights
                    room = len(samples) * len(down) * len(across) * rounded(len(channels)) * len(often)
                    chip.activations.take(room)
                    for i in often:
                        first = starts[i] + channels.start
                        mine = factors[first : first + len(channels)]
                        found = reduce_apart(problem.windows, window, mine, down, across, layer.op)
                        write_apart(problem, chip, output, samples, first, down, across, found)
                    chip.activations.give(room)
            chip.weights.give(weights)


def write_apart(problem, chip, output, samples, first, down, across, found):
    """Write channels that the layer has (a slice has fewer than its input)."""
    count = max(0, min(first + found.shape[1], problem.layer.channels) - first)
    place = output[samples.start : samples.stop, first : first + count,
                   down.start : down.stop, across.start : across.stop]  # fmt: skip
    assert (place == LOST).all(), "an element is made twice"
    place[...] = found[:, :count]
    chip.store(place.size)


def run_sums(problem, chip, output):
    """A word of channels at a time: each input row once, added to all output rows that meet it."""
    layer, windows, ids = problem.layer, problem.windows, problem.ids
    starts = np.cumsum([0, *(t.channels for t in problem.tensors)])
    factors, columns = problem.factors(), windows.lines(1, range(layer.width))
    reach = [[row for _, row in met] for met in windows.taps[0]]
    for sample in range(problem.batch):
        for u in dict.fromkeys(ids):
            often = [i for i, each in enumerate(ids) if each == u]
            values = problem.inputs[often[0]]
            for channels in cuts(values.shape[1], WORD):
                sums, size = {}, WORD * 4 * layer.width
                for row in sorted({row for met in reach for row in met}):
                    chip.activations.take(int(columns.sum()) * WORD)
                    chip.read_input(int(columns.sum()) * len(channels))
                    problem.seen[u][row] |= columns
                    for r in [r for r, met in enumerate(reach) if row in met]:
                        chip.gb += int(columns.sum()) * len(channels)
                        for i in often:
                            first = starts[i] + channels.start
                            count = max(0, min(first + len(channels), layer.channels) - first)
                            if (r, i) not in sums:
                                chip.activations.take(size)
                            elif count:
                                chip.gb += 8 * layer.width * count
                            found = one_row(windows, values[sample, channels.start : channels.stop], row, r,
                                            factors[first : first + len(channels)], layer.op)  # fmt: skip
                            known = sums.get((r, i), np.zeros_like(found))
                            sums[r, i] = np.maximum(known, found) if layer.op == "maxpool" else known + found
                            if row == max(reach[r]):
                                done = sums.pop((r, i))
                                write_apart(problem, chip, output, range(sample, sample + 1), first,
                                            range(r, r + 1), range(layer.width), done[None, :, None])  # fmt: skip
                                chip.activations.give(size)
                    chip.activations.give(int(columns.sum()) * WORD)
                for r in [r for r, met in enumerate(reach) if not met]:
                    for i in often:
                        nothing = np.zeros((1, len(channels), 1, layer.width), dtype=np.int64)
                        write_apart(problem, chip, output, range(sample, sample + 1), starts[i] + channels.start,
                                    range(r, r + 1), range(layer.width), nothing)  # fmt: skip


def one_row(windows, values, row, r, factors, op):
    """Return what one input row adds to an output row: channels x columns."""
    result = np.zeros((len(values), windows.out[1]), dtype=np.int64)
    for f, met in windows.taps[0][r]:
        if met == row:
            for c in range(windows.out[1]):
                for g, column in windows.taps[1][c]:
                    value = values[:, row, column]
                    if op == "maxpool":
                        result[:, c] = np.maximum(result[:, c], value)
                    else:
                        result[:, c] += value * factors[:, f, g]
    return result


def run_joined(problem, chip, plan, sample, output):
    """Element-wise: channels outermost (CT) or tiles outermost (TC)."""
    layer, memory = problem.layer, chip.activations
    distinct = dict.fromkeys(problem.ids)
    values = {u: problem.inputs[problem.ids.index(u)][sample] for u in distinct}
    whole = [u for u in distinct if problem.ids.index(u) in layer.whole]
    held = {}

    def fetch(u, channels, area):
        """Read channels of an operand (its one channel, if it has one) at some positions."""
        wanted = range(min(channels.start, values[u].shape[0] - 1), min(channels.stop, values[u].shape[0]))
        key = (u, wanted, area)
        if key not in held:
            size = len(area[0]) * len(area[1])
            memory.take(size * rounded(len(wanted)))
            chip.read_input(size * len(wanted))
            held[key] = values[u][wanted.start : wanted.stop][:, area[0]][:, :, area[1]]

    def drop(is_gone):
        for u, wanted, area in [key for key in held if is_gone(key)]:
            memory.give(len(area[0]) * len(area[1]) * rounded(len(wanted)))
            del held[u, wanted, area]

    def at(u, down, across):
        """Return the rows and columns of an operand that a tile needs."""
        _, rows, columns = values[u].shape
        return (down if rows == layer.height else range(1)), (across if columns == layer.width else range(1))

    def value_of(u, channels, down, across):
        rows, columns = at(u, down, across)
        for (other, wanted, area), found in held.items():
            inside = set(rows) <= set(area[0]) and set(columns) <= set(area[1])
            if other == u and inside and (len(values[u]) == 1 or set(channels) <= set(wanted)):
                first = channels.start - wanted.start if len(values[u]) > 1 else 0
                part = found[first : first + (len(channels) if len(values[u]) > 1 else 1)]
                part = part[:, [r - area[0].start for r in rows]][:, :, [c - area[1].start for c in columns]]
                chip.gb += part.size
                return np.broadcast_to(part, (len(channels), len(down), len(across)))
        raise AssertionError("a read finds nothing")

    def everything(u):
        return range(values[u].shape[1]), range(values[u].shape[2])

    def make(channels, down, across):
        for u in distinct:
            if u not in whole:
                fetch(u, channels, (down, across))
        parts = {u: value_of(u, channels, down, across) for u in distinct}
        room = len(down) * len(across) * rounded(len(channels))
        memory.take(room)
        place = output[sample, channels.start : channels.stop, down.start : down.stop, across.start : across.stop]
        assert (place == LOST).all(), "an element is made twice"
        place[...] = join(layer.op, [parts[u][None] for u in problem.ids])[0]
        chip.store(place.size)
        memory.give(room)
        drop(lambda key: key[0] not in whole and (len(values[key[0]]) > 1 or layer.channels == 1))

    steps = cuts(layer.channels, plan.apart)
    tiles = [(d, a) for d in cuts(layer.height, plan.tile[0]) for a in cuts(layer.width, plan.tile[1])]
    if plan.order == "CT":
        for channels in steps:
            for u in whole:
                fetch(u, channels, everything(u))
            for down, across in tiles:
                make(channels, down, across)
                drop(lambda key: key[0] not in whole)
            drop(lambda key: len(values[key[0]]) > 1 or layer.channels == 1)
    else:
        for u in whole:
            fetch(u, range(layer.channels), everything(u))
        for down, across in tiles:
            for channels in steps:
                make(channels, down, across)
            drop(lambda key: key[0] not in whole)
    drop(lambda key: True)
    for u in distinct:
        problem.seen[u][...] = True


def run_copy(problem, chip, output):
    """A word at a time: read, and written wherever it belongs."""
    order = problem.order_of_elements()
    distinct = dict(zip(problem.ids, problem.inputs)).values()
    for sample in range(problem.batch):
        flat = np.concatenate([x[sample].reshape(-1) for x in distinct])
        target = output[sample].reshape(-1)
        for word in cuts(len(flat), WORD):
            chip.activations.take(WORD)
            chip.read_input(len(word))
            chip.gb += len(word)
            for element in word:
                places = np.flatnonzero(order == element)
                assert (target[places] == LOST).all(), "an element is made twice"
                target[places] = flat[element]
                chip.store(len(places))
            chip.activations.give(WORD)
