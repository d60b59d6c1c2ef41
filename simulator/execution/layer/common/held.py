"""What a chip holds of a layer's operands in the run of values: positions of a map, and weights or a second operand.

A read that finds nothing is a Miss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from simulator.execution.count.miss import Miss
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import Rows, rows_within
from simulator.execution.layer.common.plan import Kind, cuts
from simulator.execution.layer.common.problem import Values
from simulator.execution.layer.common.windows import Windows

LOST = -(10**12)  #: what a position holds that was never read, and an output that was never made


def deliver(chip: Chip, output: Values, where: Sequence[range], values: Values) -> None:
    """Write results of these samples, channels, rows and columns to DRAM; raises Miss if they were written before."""
    place = output[at(*where)]
    if (place != LOST).any():
        raise Miss(f"samples, channels, rows and columns {where} are made twice")
    place[...] = values
    chip.store(values.size)


def at(*where: range) -> tuple[slice, ...]:
    """Return these ranges as an array index."""
    return tuple(slice(each.start, each.stop) for each in where)


class Map:
    """Some channels of the input of some samples: which positions are in MAIN and in SIDE, and which stay.

    coming: how many of the channels come from DRAM and take position_bytes; the others are on chip, whole.
    """

    def __init__(
        self, chip: Chip, values: Values, seen: np.ndarray, position_bytes: int, coming: int | None = None
    ) -> None:
        self.chip, self.values, self.seen = chip, values, seen
        self.bytes, self.elements = position_bytes * len(values), values.shape[0] * values.shape[1]
        self.coming = self.elements if coming is None else coming * len(values)
        self.main, self.side, self.stays = (np.zeros(values.shape[2:], dtype=bool) for _ in range(3))

    def load(self, need: np.ndarray, later_rows: np.ndarray | None = None) -> None:
        """Load positions from SIDE or DRAM; rows that are needed later go to SIDE."""
        new = need & ~self.main
        kept, fresh = new & self.side, new & ~self.side
        self.chip.load_input(int(fresh.sum()) * self.coming)
        self.chip.hear("inputs", self.values[:, :, fresh])
        self.chip.global_buffer += int(kept.sum()) * self.coming
        self.seen |= fresh
        self.chip.activations.take("input that stays", int((new & self.stays).sum()) * self.bytes)
        self.chip.activations.take("MAIN", int((new & ~self.stays).sum()) * self.bytes)
        self.main |= new
        if later_rows is not None:
            out = new & later_rows[:, None]
            self.chip.write(int(out.sum()) * self.coming)
            self._set_side((self.side & ~new) | out)

    def keep(self, mask: np.ndarray) -> None:
        """Drop all positions except these and those that stay."""
        gone = self.main & ~(mask | self.stays)
        self.chip.activations.give("MAIN", int(gone.sum()) * self.bytes)
        self.main &= ~gone

    def clear(self) -> None:
        """Drop all positions."""
        self.keep(np.zeros_like(self.main))
        self.chip.activations.give("input that stays", int(self.main.sum()) * self.bytes)
        self.main = np.zeros_like(self.main)
        self._set_side(np.zeros_like(self.side))

    def read(self, need: np.ndarray) -> Values:
        """Return the values of these positions, with all others marked as lost."""
        if (need & ~self.main).any():
            raise Miss(f"position {tuple(np.argwhere(need & ~self.main)[0])} is not in MAIN")
        self.chip.global_buffer += int(need.sum()) * self.elements
        return np.where(need, self.values, LOST)

    def _set_side(self, side: np.ndarray) -> None:
        change = int(side.sum()) - int(self.side.sum())
        (self.chip.activations.take if change > 0 else self.chip.activations.give)("SIDE", abs(change) * self.bytes)
        self.side = side


def sweep(windows: Windows, tile: tuple[int, int], mode: str, source: Map) -> Iterator[tuple[range, range]]:
    """Yield the tiles, row of tiles by row of tiles, each with its input in the buffer."""
    rows, columns = cuts(windows.outputs[0], tile[0]), cuts(windows.outputs[1], tile[1])
    for i, down in enumerate(rows):
        below = windows.meet(0, [r for later in rows[i + 1 :] for r in later])
        for j, across in enumerate(columns):
            need = windows.everything if mode == "whole" else windows.area(down, across)
            source.load(need, below if mode == "side" else None)
            yield down, across
            right = windows.meet(1, [c for later in columns[j + 1 :] for c in later])
            if mode == "ring":
                source.keep(below[:, None] & source.main)
            elif mode in ("side", "slide"):
                source.keep(right[None, :] & source.main)
            elif mode != "whole":
                source.keep(np.zeros_like(source.main))


class Stationary:
    """Weights, or the second operand of a product, of which a part is in its memory.

    there: its rows that are on chip. They are not loaded; if all are there, no part takes a region.
    """

    def __init__(self, chip: Chip, values: Values, kind: Kind, region: str = "weights", there: Rows = ()) -> None:
        self.chip, self.values, self.kind, self.region, self.there = chip, values, kind, region, there
        rows = 0 if kind == "dense" else len(values) if kind == "transposed" else values.shape[1]
        self.is_there = 0 < rows == rows_within(there, range(rows))
        self.held: tuple[range, range] | None = None

    def load(self, outputs: range, inputs: range) -> None:
        """Load a part, unless it is there."""
        if self.held == (outputs, inputs):
            return
        self.clear()
        self.held = outputs, inputs
        if not self.is_there:
            there = rows_within(self.there, outputs if self.kind == "transposed" else inputs)
            load_part(self.chip, self.kind, self._part(outputs, inputs), self.region, there)
            self.chip.hear("weights", self.values[at(outputs, inputs)])

    def read(self, outputs: range) -> Values:
        """Return the weights of some of the outputs in memory."""
        if self.held is None or outputs.start < self.held[0].start or outputs.stop > self.held[0].stop:
            raise Miss(f"weights of outputs {outputs.start} to {outputs.stop} are not in their buffer")
        inputs = self.held[1]
        read_part(self.chip, self.kind, self._part(outputs, inputs))
        return self.values[at(outputs, inputs)]

    def clear(self) -> None:
        """Drop what is there."""
        if self.held is not None:
            memory = self.chip.weights if self.kind == "dense" else self.chip.activations
            memory.give(self.region, memory.used[self.region])
        self.held = None

    def _part(self, outputs: range, inputs: range) -> Sequence[int]:
        return len(outputs), len(inputs), self.values.shape[2] * self.values.shape[3]


def load_part(chip: Chip, kind: Kind, part: Sequence[int], region: str, there: int) -> None:
    """Load (outputs, inputs, taps): weights, or a part of a product's second operand, an activation.

    there: its rows that are on chip.
    """
    outputs, inputs, taps = part
    if kind == "dense":
        chip.load_weights(outputs * inputs * taps)
        chip.weights.take(region, outputs * inputs * taps)
        return
    rows, channels = (outputs, inputs) if kind == "transposed" else (inputs, outputs)
    chip.load_second((rows - there) * channels)
    chip.activations.take(region, rows * chip.rounded(channels))


def read_part(chip: Chip, kind: Kind, part: Sequence[int]) -> None:
    """Read (outputs, inputs, taps)."""
    outputs, inputs, taps = part
    if kind == "dense":
        chip.weight_buffer += outputs * inputs * taps
    else:
        chip.global_buffer += outputs * inputs * taps
