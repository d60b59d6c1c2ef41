"""The machine of a literal execution: memories of exactly the claimed bytes, maps by position, weights; all is counted.

Windows are found tap by tap, what is needed next by looking ahead. A read that finds nothing and a byte too many are
errors. It shares nothing with the closed forms of simulator/model/orders.py.
"""

from __future__ import annotations

from collections.abc import Iterator

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
