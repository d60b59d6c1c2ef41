"""Counts an attention with its projections: steps of heads, what is made for them, tiles of queries."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.execution.count.count import Count, extra_units
from simulator.execution.count.layer_facts import (
    elements,
    loaded_bytes,
    operations,
    output_bits,
    position_bytes,
    row_bytes,
    size_bytes,
    tensor_of,
)
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.plan import LayerPlan, cuts, pieces
from simulator.execution.layer.common.projected import Projected, Rows, Steps, find_heads, source_bands, steps_of
from workloads.network.network import Network


def count_heads(
    network: Network, layers: Iterable[int], plan: LayerPlan, batch: int = 1, word: int = 8, lies: Lies = NOTHING_STAYS
) -> Count:
    """Return what the loops of an attention with its projections take and move, with the real shapes and bits.

    Samples run one after the other. Raises Miss if these are no such layers, or no such loops.
    """
    part = Part(network, layers, lies)
    nest = find_heads(network, part.layers)
    if lies.on_chip & set(part.layers) - {nest.context}:
        raise Miss("a tensor of a nest is on chip whole, where only pieces of it exist")
    one = _Sample(nest, part, plan, Chip(word=word, has_results=nest.context not in lies.on_chip), lies)
    chip = Chip(word=word)
    chip.add(one.count(), batch)
    work = {v: batch * operations(network, v, elements(network.layers[v])) for v in part.layers}
    return Count(
        chip.activations.size_bytes, chip.weights.size_bytes, chip.ema_weights, chip.ema_inputs, chip.ema_outputs,
        chip.global_buffer, chip.weight_buffer, 0, sum(work.values()),
        global_written_bytes=chip.global_written, weight_written_bytes=chip.weight_written,
        operation_extra=sum(extra_units(network, v, count) for v, count in work.items()),
    )  # fmt: skip


class _Sample:
    """The loops of one sample."""

    def __init__(self, nest: Projected, part: Part, plan: LayerPlan, chip: Chip, lies: Lies) -> None:
        self.nest, self.part, self.network, self.plan, self.chip, self.lies = nest, part, part.network, plan, chip, lies
        self.steps: Steps = steps_of(nest, part.network, plan)
        self.scores, self.context = (part.network.layers[v] for v in (nest.scores, nest.context))

    def count(self) -> Chip:
        """Return what one sample moves and holds."""
        arriving = {u for u in self.part.loaded if u in self.lies.on_chip}
        self.chip.load_input(sum(size_bytes(self.network, u) for u in arriving))
        for u in self.nest.sources:
            if u not in self.lies.on_chip:
                stay = min(self._height(u), self.plan.kept) if self.steps.passing else self._height(u)
                self._hold(f"source {u}", stay, u)
                self.chip.load_input(stay * position_bytes(self.network, u))
        keys = self.nest.rows[1]
        for count, times in pieces(keys.heads, self.plan.apart):
            step = self.chip.like()
            if self.steps.passing:
                for u in self.nest.sources:
                    self._pass(step, u, count)
            for place, each in enumerate(self.nest.rows):
                self._rows(step, place, each, count)
            step.add(self._attended(), count * self.nest.rows[0].heads // keys.heads)
            self.chip.add(step, times)
        is_written = self.nest.context in self.part.outputs
        size = size_bytes(self.network, self.nest.context)
        self.chip.write(size)
        if is_written:
            self.chip.ema_outputs += size
            self.chip.global_buffer += size
        return self.chip

    def _height(self, u: int) -> int:
        tensor = tensor_of(self.network, u)
        return tensor.height * tensor.width

    def _hold(self, region: str, rows: int, u: int) -> None:
        tensor = tensor_of(self.network, u)
        self.chip.activations.hold(region, rows * self.chip.rounded(tensor.channels, tensor.bits))

    def _bytes(self, rows: Rows) -> tuple[int, int]:
        """Return the bytes of a row of a head: as it is, and in a region."""
        bits = tensor_of(self.network, rows.inputs[0]).bits
        return row_bytes(rows.width, bits), self.chip.rounded(rows.width, bits)

    def _weight_bytes(self, rows: Rows, outputs: int) -> int:
        assert rows.maker is not None and rows.source is not None
        channels = tensor_of(self.network, rows.source).channels
        return loaded_bytes(self.network.layers[rows.maker], channels * outputs)

    def _pass(self, chip: Chip, u: int, groups: int) -> None:
        """Let a source pass once for some heads of keys: all their weights are there, and each band makes its rows."""
        bands, keys, held = source_bands(self._height(u), self.plan), self.nest.rows[1], 0
        for each in (each for each in self.nest.rows if each.source == u):
            size = groups * each.heads // keys.heads * self._weight_bytes(each, each.width)
            chip.load_weights(size)
            held += size
            for band in bands:
                chip.weight_buffer += size
                chip.global_buffer += len(band) * position_bytes(self.network, u)
        chip.weights.hold("weights", held)
        for band in bands:
            if band.start >= self.plan.kept and u not in self.lies.on_chip:
                self._hold("passing", len(band), u)
                chip.load_input(len(band) * position_bytes(self.network, u))

    def _rows(self, chip: Chip, place: int, rows: Rows, groups: int) -> None:
        """Make or load the rows of some heads of keys."""
        heads = groups * rows.heads // self.nest.rows[1].heads
        size, room = self._bytes(rows)
        loaded, coming = (sum(map(self._height, ids)) for ids in (rows.loaded, set(rows.loaded) - self.lies.on_chip))
        chip.load_input(heads * coming * size)
        lying, together = loaded, 1
        if rows.maker is not None:
            made = self._height(rows.maker)
            chip.write(heads * made * size)
            if rows.maker in self.part.outputs:
                chip.ema_outputs += heads * made * size
                chip.global_buffer += heads * made * size
            if not self.steps.passing:
                self._make(chip, place, rows, heads)
            lying, together = loaded + made, heads if self.steps.passing else 1
        if place == 0:
            lying = len(self.steps.bands[0])
        if coming or rows.maker is not None:  # else they are read where they lie
            chip.activations.hold(f"rows {place}", together * lying * room)

    def _make(self, chip: Chip, place: int, rows: Rows, heads: int) -> None:
        """Make rows of heads one after the other from a source that lies there: by pieces, or band by band."""
        assert rows.source is not None
        made, often = self._height(rows.source), 1
        if place == 0 and len(self.steps.bands) > 1:
            often = len(self.steps.bands)
            chip.weights.hold("weights", self._weight_bytes(rows, rows.width))
        for piece in cuts(rows.width, self.steps.inner):
            size = self._weight_bytes(rows, len(piece))
            chip.weights.hold("weights", size)
            chip.load_weights(heads * size)
            chip.weight_buffer += heads * often * size
            chip.global_buffer += heads * made * position_bytes(self.network, rows.source)

    def _attended(self) -> Chip:
        """Return what a head of queries moves: tile after tile meets all keys and values."""
        chip = self.chip.like()
        count = self.scores.channels // self.scores.groups
        (query, _), (key, _), (value, _) = (self._bytes(rows) for rows in self.nest.rows)
        made = self.context.channels // self.context.groups
        for band in self.steps.bands:
            for size, times in pieces(len(band), self.steps.tile):
                tile = self.chip.like()
                tile.global_buffer += size * query + count * (key + value)
                tile.activations.hold("scores", size * tile.rounded(count, output_bits(self.scores)))
                tile.copy(2 * size * row_bytes(count, output_bits(self.scores)))
                tile.hold_results(size * tile.rounded(made, output_bits(self.context)))
                chip.add(tile, times)
        return chip
