"""A chain of layers counted: its loops with the real shapes, equal steps once for each length, without arithmetic.

The tiles run one by one on sets of rows, found tap by tap; a chunk or a slice does the same with them as any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simulator.execution.count.layer_facts import row_bytes
from simulator.execution.layer.chained.links import Links
from simulator.execution.layer.chained.shape import ChainShape, Need, later, needs_of, rows_met
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.plan import LayerPlan, cuts, pieces
from workloads.network.network import Network


class Swept(NamedTuple):
    """What one pass over the tiles makes, reads and holds, in rows."""

    x_loads: int
    x_most: int
    x_met: int  #: read for each piece of the openers
    x_tile: int  #: of these, in a tile, at most
    e_made: int
    e_read: int
    e_most: int
    e_tiles: int  #: that make any
    d_made: int
    d_read: int
    d_most: int
    d_tiles: int


def count_chain(
    network: Network, links: Links, chip: Chip, plan: LayerPlan, batch: int, is_there: bool
) -> dict[int, int]:
    """Count a chain; return how many elements each layer makes. is_there: x is on chip, whole."""
    return _Count(ChainShape(network, links), chip, plan, batch, is_there).run()


class _Count:
    def __init__(self, shape: ChainShape, chip: Chip, plan: LayerPlan, batch: int, is_there: bool) -> None:
        self.shape, self.links, self.lined, self.chip, self.plan = shape, shape.links, shape.lined, chip, plan
        self.batch, self.is_there = batch, is_there
        self.tiles = cuts(self.lined.closer[0].outputs, plan.tile[0])
        self.is_ring = plan.order in ("TW", "MT")
        self.swept = self._sweep(needs_of(self.lined, self.tiles, self.is_ring, self.links.residual is not None))
        self.made = dict.fromkeys(self.links.layers, 0)

    def run(self) -> dict[int, int]:
        """Run slices and chunks, each length once with its number."""
        chip, plan = self.chip, self.plan
        kept = plan.kept if plan.order in ("TM", "TW") else 0
        chunks = [(size, often, True) for size, often in pieces(kept, plan.chunk)]
        chunks += [(size, often, plan.order == "MT") for size, often in pieces(self.shape.middle - kept, plan.chunk)]
        count = sum(often for _, often, _ in chunks)
        self._stay(kept or (plan.chunk if plan.order == "MT" else 0), self.shape.middle if plan.order == "MT" else kept)
        self._bring_x(count)
        for outputs, slices in pieces(self.shape.outputs, plan.slice):
            self._hold_results(outputs, count)
            for chunk, often, stays in chunks:
                self._open(chunk, slices * often, stays)
                self._apart(chunk, slices * often, stays)
                self._close(chunk, outputs, slices * often, stays)
            size = slices * self._positions() * outputs * self.shape.sum_bytes(self.links.closer)
            chip.copy(2 * self.batch * size * (count - 1))
        positions = self.batch * self._positions()
        chip.store(positions * self.shape.outputs, positions * row_bytes(self.shape.outputs, self.shape.bits_out))
        self.made[self.links.closer] = positions * self.shape.outputs
        if self.links.residual is not None:
            self.made[self.links.residual] = positions * self.shape.outputs
            size = positions * row_bytes(self.shape.outputs, self.shape.bits_x)
            chip.global_buffer += size
            if plan.order == "TS" and not self.is_there:  # once more from DRAM, word by word
                chip.load_input(size)
        return self.made

    def _sweep(self, needs: Sequence[Need]) -> Swept:
        """Run the tiles once."""
        wanted = [later([getattr(need, name) for need in needs]) for name in ("x", "e_read", "d_read")]
        x, e, d = set[int](), set[int](), set[int]()
        loads = x_most = x_met = x_tile = e_most = d_most = 0
        for i, need in enumerate(needs):
            x &= wanted[0][i]
            loads += len(need.x - x)
            x |= need.x
            e, d = ((e & wanted[1][i], d & wanted[2][i])) if self.is_ring else (set(), set())
            e, d = e | set(need.e_made), d | set(need.d_made)
            met = len(rows_met(self.lined.openers, need.e_made))
            x_most, x_met, x_tile = max(x_most, len(x)), x_met + met, max(x_tile, met)
            e_most, d_most = max(e_most, len(e)), max(d_most, len(d))
        made, read = [len(need.e_made) for need in needs], [len(need.e_read) for need in needs]
        d_made, d_read = [len(need.d_made) for need in needs], [len(need.d_read) for need in needs]
        return Swept(
            loads, x_most, x_met, x_tile, sum(made), sum(read), e_most, sum(map(bool, made)), sum(d_made), sum(d_read),
            d_most, sum(map(bool, d_made)),
        )  # fmt: skip

    def _positions(self) -> int:
        """Positions of the output, one sample."""
        return self.lined.closer[0].outputs * self.shape.out_width

    def _stay(self, at_once: int, total: int) -> None:
        """Load the weights of so many middle channels, of which so many are there at once."""
        for channels, is_room in ((at_once, True), (total, False)):
            size = self.shape.stay_bytes(channels)
            if is_room:
                self.chip.weights.hold("weights that stay", size)
            else:
                self.chip.load_weights(size)

    def _weights(self, v: int, outputs: int, inputs: int, times: int, stays: bool) -> None:
        """Read a piece of weights so often, each time from DRAM unless it stays."""
        size = self.shape.weight_bytes(v, outputs, inputs)
        if not stays:
            self.chip.weights.hold("slot", size)
            self.chip.load_weights(self.batch * times * size)
        self.chip.weight_buffer += self.batch * times * size

    def _bring_x(self, chunks: int) -> None:
        """Bring in rows of x: whole, or in a ring, for each chunk in MT."""
        order, swept = self.plan.order, self.swept
        if self.is_there or order == "TS":
            return
        is_whole = self.plan.mode == "whole"
        loads = swept.x_loads * (chunks if order == "MT" and not is_whole else 1)
        self.chip.load_input(self.batch * loads * self.shape.width * row_bytes(self.shape.inputs, self.shape.bits_x))
        rows = self.batch * swept.x_loads if is_whole else swept.x_most
        self.chip.activations.hold(
            "x", rows * self.shape.width * self.chip.rounded(self.shape.inputs, self.shape.bits_x)
        )

    def _hold_results(self, outputs: int, chunks: int) -> None:
        """Hold sums of several chunks, or results of the only one."""
        chip, plan, tall = self.chip, self.plan, len(self.tiles[0]) * self.shape.out_width
        if chunks > 1:
            rows = self.batch * self._positions() if plan.order == "MT" else tall
            chip.activations.hold("sums", rows * chip.rounded(outputs) * self.shape.sum_bytes(self.links.closer))
            return
        size = tall * chip.rounded(
            min(plan.inner, outputs) if plan.order in ("TW", "TS") else outputs, self.shape.bits_out
        )
        if plan.order == "TS" and chip.has_results and not self.is_there:
            chip.activations.hold("slice", size)
        else:
            chip.hold_results(size)

    def _open(self, chunk: int, times: int, stays: bool) -> None:
        """Make a chunk of all tiles of what the openers make together."""
        chip, swept = self.chip, self.swept
        is_cut = self.plan.order == "TS"
        slices = list(pieces(self.shape.inputs, self.plan.kept)) if is_cut else [(self.shape.inputs, 1)]
        count, elements = sum(often for _, often in slices), times * swept.e_made * self.shape.e_width
        for size, often in slices:
            if is_cut and not self.is_there:
                rows = self.batch * times * often * swept.x_met * self.shape.width
                chip.load_input(rows * row_bytes(size, self.shape.bits_x))
                chip.activations.hold("slice", swept.x_tile * self.shape.width * chip.rounded(size, self.shape.bits_x))
            for v in self.links.openers:
                for made, several in pieces(chunk, self.plan.apart):
                    self._weights(v, made, size, times * often * several * swept.e_tiles, stays)
                    reads = self.batch * times * often * several * swept.x_met * self.shape.width
                    chip.global_buffer += reads * row_bytes(size, self.shape.bits_x)
        room = max(chip.rounded(chunk, bits) for bits in self.shape.opened_bits)
        if count > 1:
            sums = sum(map(self.shape.sum_bytes, self.links.openers))
            chip.copy(2 * self.batch * elements * chunk * sums * (count - 1))
            room = sums * chip.rounded(chunk)
        chip.activations.hold("E", swept.e_most * self.shape.e_width * room)
        chip.write(self.batch * elements * row_bytes(chunk, self.shape.opened_bits[-1]))
        if self.links.join is not None:
            chip.write(self.batch * elements * row_bytes(chunk, self.shape.opened_bits[0]))
            chip.global_buffer += self.batch * elements * row_bytes(chunk, self.shape.opened_bits[0])
        for v in {*self.links.openers, *self.links.opened}:
            self.made[v] += self.batch * elements * chunk

    def _apart(self, chunk: int, times: int, stays: bool) -> None:
        """Make a chunk of all tiles of the middle layer."""
        chip, swept = self.chip, self.swept
        if self.links.middle is None:
            return
        self._weights(self.links.middle, chunk, 1, times * swept.d_tiles, stays)
        chip.global_buffer += (
            self.batch * times * swept.e_read * self.shape.e_width * row_bytes(chunk, self.shape.opened_bits[-1])
        )
        elements = self.batch * times * swept.d_made * self.shape.d_width
        chip.write(elements * row_bytes(chunk, self.shape.bits_d))
        chip.activations.hold("D", swept.d_most * self.shape.d_width * chip.rounded(chunk, self.shape.bits_d))
        self.made[self.links.middle] += elements * chunk

    def _close(self, chunk: int, outputs: int, times: int, stays: bool) -> None:
        """Add a chunk to all sums of a slice, piece by piece."""
        for made, several in pieces(outputs, self.plan.inner):
            self._weights(self.links.closer, made, chunk, times * several * len(self.tiles), stays)
            reads = self.batch * times * several * self.swept.d_read * self.shape.d_width
            self.chip.global_buffer += reads * row_bytes(chunk, self.shape.bits_d)
