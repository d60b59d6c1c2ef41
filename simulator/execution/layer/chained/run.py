"""A chain of layers with values, in the four orders with middle channels outermost: the loops as they are written.

Rows of maps, pieces of weights and sums are taken, read while they are there, and given up; what is not there is a
Miss. Rows that a tile needs are found tap by tap.
"""

from __future__ import annotations

import numpy as np

from simulator.execution.count.layer_facts import row_bytes
from simulator.execution.count.miss import Miss
from simulator.execution.layer.chained.problem import ChainProblem, RowStore, Values
from simulator.execution.layer.chained.shape import later, needs_of, rows_met
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.plan import LayerPlan, cuts


def run_chain(problem: ChainProblem, chip: Chip, plan: LayerPlan, output: Values, is_there: bool) -> dict[int, int]:
    """Run a chain, reading from the problem and writing to the output; return how many elements each layer makes.

    is_there: x is on chip, whole. Raises Miss if something does not find what it reads, or has no room.
    """
    run = _Chain(problem, chip, plan, output, is_there)
    {"TM": run.tiles_chunks, "TW": run.tiles_layers, "TS": run.tiles_slices, "MT": run.chunks_tiles}[plan.order]()
    if np.isnan(output).any():
        raise Miss("some elements are never made")
    assert not any(chip.activations.used.values()) and not any(chip.weights.used.values())
    return run.made


class _Chain:
    """A chain on a chip."""

    def __init__(self, problem: ChainProblem, chip: Chip, plan: LayerPlan, output: Values, is_there: bool) -> None:
        self.problem, self.chip, self.plan, self.output, self.is_there = problem, chip, plan, output, is_there
        self.links, lined = problem.links, problem.lined
        self.tiles = cuts(lined.closer[0].outputs, plan.tile[0])
        self.chunks = cuts(problem.middle, plan.chunk)
        self.slices = cuts(problem.outputs, plan.slice)
        self.needs = needs_of(lined, self.tiles, plan.order in ("TW", "MT"), self.links.residual is not None)
        self.every, self.outputs = range(problem.middle), range(problem.outputs)
        self.e_width, self.d_width, self.out_width = problem.e_width, problem.d_width, problem.out_width
        self.made = dict.fromkeys(self.links.layers, 0)
        self.partial = np.zeros(output.shape)
        self.stay, self.staying = range(0), 0  #: middle channels whose weights stay, and their bytes
        self.x, self.sample = self._new_x(), 0
        self.later_x, self.later_e, self.later_d = (
            later([getattr(need, name) for need in self.needs]) for name in ("x", "e_read", "d_read")
        )

    # the orders

    def tiles_chunks(self) -> None:
        """TM: samples; tiles; slices; chunks. The weights of the first middle channels stay."""
        kept = min(self.plan.kept, len(self.every))
        self._load(range(kept))
        after = [range(kept + each.start, kept + each.stop) for each in cuts(len(self.every) - kept, self.plan.chunk)]
        self.chunks = cuts(kept, self.plan.chunk) + after
        for sample in range(self.problem.batch):
            self.sample = sample
            for i in range(len(self.tiles)):
                self._fetch(i)
                self._slices(i)
            self.x.keep(())
        self._drop_weights()

    def tiles_slices(self) -> None:
        """TS: samples; tiles; slices; chunks; input slices."""
        for sample in range(self.problem.batch):
            self.sample = sample
            for i in range(len(self.tiles)):
                self._slices(i)

    def tiles_layers(self) -> None:
        """TW: samples; tiles; layer after layer, all middle channels. All weights stay, or none."""
        self._load(range(self.plan.kept))
        for sample in range(self.problem.batch):
            self.sample = sample
            self._pass(self.every)
            self.x.keep(())
        self._drop_weights()

    def chunks_tiles(self) -> None:
        """MT: chunks; samples; tiles. The sums of all samples stay; x, too, if it is whole."""
        size = self._hold_sums(self.problem.batch * self.output.shape[2], self.outputs)
        whole = [self._new_x() for _ in range(self.problem.batch)]
        for chunk in self.chunks:
            self._load(chunk)
            for sample in range(self.problem.batch):
                self.sample = sample
                self.x = whole[self.sample]
                self._pass(chunk)
                if self.plan.mode != "whole" or chunk == self.chunks[-1]:
                    self.x.keep(())
            self._drop_weights()
        self.chip.activations.give("sums", size)

    # their parts

    def _new_x(self) -> RowStore:
        return RowStore(self.chip.activations, "x", self.problem.x.shape[1:], "the input")

    def _fetch(self, i: int) -> None:
        """Bring in the rows of x that a tile needs, and give up those that neither it nor a later one needs."""
        if self.is_there:
            return
        if self.plan.mode != "whole":
            self.x.keep(self.later_x[i])
        rows = sorted(self.needs[i].x - set(self.x.held))
        channels = self.problem.x.shape[1]
        self.chip.load_input(len(rows) * self.problem.width * row_bytes(channels, self.problem.bits_x))
        size = self.problem.width * self.chip.rounded(channels, self.problem.bits_x)
        self.x.put(rows, self.problem.x[self.sample][:, rows], size)

    def _slices(self, i: int) -> None:
        """Make a tile slice by slice, each from chunk after chunk that makes its rows anew."""
        need = self.needs[i]
        for outputs in self.slices:
            size = self._hold_sums(len(self.tiles[i]), outputs)
            for chunk in self.chunks:
                e, d = self._maps(chunk)
                self._open(chunk, e, need.e_made)
                self._apart(chunk, e, d, need.d_made)
                self._close(chunk, d, i, outputs)
                e.keep(())
                d.keep(())
            self.chip.activations.give("sums", size)

    def _pass(self, chunk: range) -> None:
        """Make a chunk of all tiles; rows of the middle maps stay as long as a tile needs them."""
        e, d = self._maps(chunk)
        for i in range(len(self.tiles)):
            self._fetch(i)
            e.keep(self.later_e[i])
            d.keep(self.later_d[i])
            self._open(chunk, e, self.needs[i].e_made)
            self._apart(chunk, e, d, self.needs[i].d_made)
            self._close(chunk, d, i, self.outputs)
        e.keep(())
        d.keep(())

    def _maps(self, chunk: range) -> tuple[RowStore, RowStore]:
        """Return the regions of the middle maps, which may be one."""
        problem, lined = self.problem, self.problem.lined
        e = RowStore(self.chip.activations, "E", (len(chunk), lined.openers[0].outputs, self.e_width), "what is opened")
        if lined.middle is None:
            return e, e
        shape = (len(chunk), lined.middle[0].outputs, self.d_width)
        return e, RowStore(self.chip.activations, "D", shape, problem.name(self.links.middle))

    def _open(self, chunk: range, e: RowStore, rows: list[int]) -> None:
        """Make rows of a chunk of what the openers make together."""
        problem, chip, plan, openers = self.problem, self.chip, self.plan, self.links.openers
        if not rows:
            return
        met, positions = sorted(rows_met(problem.lined.openers, rows)), len(rows) * self.e_width
        inputs = range(problem.x.shape[1])
        cut = cuts(len(inputs), plan.kept) if plan.order == "TS" else [inputs]
        size = max(chip.rounded(len(chunk), bits) for bits in problem.opened_bits)
        if len(cut) > 1:
            size = sum(problem.sum_bytes(v) for v in openers) * chip.rounded(len(chunk))
        e.put(rows, np.zeros((len(chunk), len(rows), self.e_width)), self.e_width * size)
        sums = {v: np.zeros((len(chunk), len(rows), self.e_width)) for v in openers}
        for part in cut:
            values = self._input(part, met)
            for v in openers:
                for at in cuts(len(chunk), plan.apart):
                    self._read_weights(v, range(chunk.start + at.start, chunk.start + at.stop), part)
                    chip.global_buffer += len(met) * problem.width * row_bytes(len(part), problem.bits_x)
                    outputs = range(chunk.start + at.start, chunk.start + at.stop)
                    found = problem.dense(v, values, problem.lined.openers, outputs, part, rows)
                    sums[v][at.start : at.stop] += found
                    self._move_sums(positions * len(at) * problem.sum_bytes(v), part == cut[0], part == cut[-1])
                    if part == cut[-1]:
                        self._opened(v, at, e, rows, sums)
            if plan.order == "TS" and not self.is_there:
                chip.activations.give("slice", chip.activations.used["slice"])

    def _opened(self, v: int, at: range, e: RowStore, rows: list[int], sums: dict[int, Values]) -> None:
        """Write what an opener makes; the second reads what the first made, and their join takes its place."""
        problem, chip, (first, *others) = self.problem, self.chip, self.links.openers
        positions, made = len(rows) * self.e_width, sums[v][at.start : at.stop]
        self.made[v] += positions * len(at)
        if v in others:
            assert self.links.join is not None
            chip.global_buffer += positions * row_bytes(len(at), problem.opened_bits[0])
            made = problem.joined(e.read(rows)[at.start : at.stop][:, rows], made)
            self.made[self.links.join] += positions * len(at)
        e.values[at.start : at.stop, rows] = made
        chip.write(positions * row_bytes(len(at), problem.opened_bits[0 if v == first and others else -1]))

    def _input(self, part: range, met: list[int]) -> Values:
        """Return these rows and channels of x: from its region, or brought in as a slice."""
        problem, chip = self.problem, self.chip
        if self.is_there:
            return problem.x[self.sample][part.start : part.stop]
        if self.plan.order != "TS":
            return self.x.read(met)
        chip.activations.take("slice", len(met) * problem.width * chip.rounded(len(part), problem.bits_x))
        chip.load_input(len(met) * problem.width * row_bytes(len(part), problem.bits_x))
        return problem.x[self.sample][part.start : part.stop]

    def _apart(self, chunk: range, e: RowStore, d: RowStore, rows: list[int]) -> None:
        """Make rows of a chunk of the middle layer."""
        problem, chip, lines = self.problem, self.chip, self.problem.lined.middle
        if self.links.middle is None or lines is None or not rows:
            return
        met = rows_met(lines, rows)
        self._read_weights(self.links.middle, chunk, range(1))
        chip.global_buffer += len(met) * self.e_width * row_bytes(len(chunk), problem.opened_bits[-1])
        size = self.d_width * chip.rounded(len(chunk), problem.bits_d)
        d.put(rows, problem.apart(e.read(met), lines, chunk, rows), size)
        chip.write(len(rows) * self.d_width * row_bytes(len(chunk), problem.bits_d))
        self.made[self.links.middle] += len(rows) * self.d_width * len(chunk)

    def _close(self, chunk: range, d: RowStore, i: int, outputs: range) -> None:
        """Add a chunk to the sums of a slice of a tile, piece by piece; the last makes results."""
        problem, chip, closer, tile = self.problem, self.chip, self.links.closer, self.tiles[i]
        met, positions = self.needs[i].d_read, len(tile) * self.out_width
        is_first, is_last = chunk == self.chunks[0], chunk == self.chunks[-1]
        if is_first and is_last and self.plan.order in ("TM", "MT"):
            chip.hold_results(positions * chip.rounded(len(outputs), problem.bits_out))
        for at in cuts(len(outputs), self.plan.inner):
            piece = range(outputs.start + at.start, outputs.start + at.stop)
            self._read_weights(closer, piece, chunk)
            chip.global_buffer += len(met) * self.d_width * row_bytes(len(chunk), problem.bits_d)
            found = problem.dense(closer, d.read(met), problem.lined.closer, piece, chunk, tile)
            self._move_sums(positions * len(piece) * problem.sum_bytes(closer), is_first, is_last)
            place = (self.sample, slice(piece.start, piece.stop), slice(tile.start, tile.stop))
            self.partial[place] += found
            self.made[closer] += positions * len(piece) * is_last
            if is_last:
                self._deliver(piece, tile, self.partial[place], is_first)

    def _deliver(self, piece: range, tile: range, values: Values, is_only: bool) -> None:
        """Write results, with x added where that is the last layer."""
        problem, chip, order = self.problem, self.chip, self.plan.order
        positions = len(tile) * self.out_width
        if self.links.residual is not None:
            rows, size = sorted(tile), positions * row_bytes(len(piece), problem.bits_x)
            if order == "TS" and not self.is_there:  # a word of a position after the other
                chip.load_input(size)
                chip.activations.hold("slice", chip.rounded(1, problem.bits_x))
            x = problem.x[self.sample] if self.is_there or order == "TS" else self.x.read(rows)
            values = values + x[piece.start : piece.stop, rows]
            chip.global_buffer += size
            self.made[self.links.residual] += positions * len(piece)
        if is_only and order == "TW":
            chip.hold_results(positions * chip.rounded(len(piece), problem.bits_out))
        if is_only and order == "TS" and chip.has_results:
            region = "output" if self.is_there else "slice"
            chip.activations.hold(region, positions * chip.rounded(len(piece), problem.bits_out))
        place = self.output[self.sample, piece.start : piece.stop, tile.start : tile.stop]
        if not np.isnan(place).all():
            raise Miss(f"channels {piece} of rows {tile} are made twice")
        place[...] = values
        chip.store(positions * len(piece), positions * row_bytes(len(piece), problem.bits_out))

    # sums and weights

    def _hold_sums(self, rows: int, outputs: range) -> int:
        """Take the room for sums of these rows; return its bytes, 0 if a single chunk makes results."""
        size = rows * self.out_width * self.chip.rounded(len(outputs)) * self.problem.sum_bytes(self.links.closer)
        size *= len(self.chunks) > 1
        self.chip.activations.take("sums", size)
        return size

    def _move_sums(self, size: int, is_first: bool, is_last: bool) -> None:
        self.chip.global_buffer += 0 if is_first else size
        self.chip.write(0 if is_last else size)

    def _load(self, channels: range) -> None:
        """Load the weights of these middle channels, which stay."""
        self.stay, self.staying = channels, self.problem.stay_bytes(len(channels))
        self.chip.load_weights(self.staying)
        self.chip.weights.take("weights that stay", self.staying)

    def _drop_weights(self) -> None:
        self.chip.weights.give("weights that stay", self.staying)

    def _read_weights(self, v: int, outputs: range, inputs: range) -> None:
        """Read a piece of weights, which is loaded before unless it stays."""
        size, middle = self.problem.weight_bytes(v, len(outputs), len(inputs)), outputs
        if v == self.links.closer:
            middle = inputs
        if not (self.stay.start <= middle.start and middle.stop <= self.stay.stop):
            self.chip.load_weights(size)
            self.chip.weights.hold("slot", size)
        self.chip.weight_buffer += size
