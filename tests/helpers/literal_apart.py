"""Runs orders of layers that do not reduce over channels, literally: channels apart, running sums, joins, copies."""

from __future__ import annotations

import numpy as np

from tests.helpers.literal_chip import LOST, WORD, Map, cuts, reduce_apart, rounded, sweep
from tests.helpers.literal_problem import join


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
