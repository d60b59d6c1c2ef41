"""Counts an attention with its projections: steps of heads, what is made for them, tiles of queries."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.execution.count.count import Count, extra_units
from simulator.execution.count.layer_facts import (
    bits_of,
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
from simulator.execution.layer.heads.found import Projected, Projection, Steps, find_heads, steps_of
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
    chip = Chip(word=word)
    chip.add(_Sample(part, nest, steps_of(nest, network, plan), word).count(), batch)
    work = {v: batch * operations(network, v, elements(network.layers[v])) for v in part.layers}
    return chip.total(sum(work.values()), sum(extra_units(network, v, count) for v, count in work.items()))


class _Sample:
    """The loops of one sample."""

    def __init__(self, part: Part, nest: Projected, steps: Steps, word: int) -> None:
        self.part, self.nest, self.steps, self.network = part, nest, steps, part.network
        is_kept = nest.context in part.lies.on_chip
        self.chip = Chip(word=word, has_results=not is_kept, is_written=nest.context in part.outputs)

    def count(self) -> Chip:
        """Return what one sample moves and holds."""
        chip, keys, passing = self.chip, self.nest.made[1], self.steps.passing
        for u in self.nest.sources:
            is_there, rows = u in self.part.lies.on_chip, self._rows(u)
            if is_there and u in self.part.loaded:
                chip.load_input(size_bytes(self.network, u))
            elif not is_there:
                stay = min(self.steps.kept, rows) if passing else rows
                chip.load_input(stay * position_bytes(self.network, u))
                self._hold(chip, f"source {u}", stay, u)
        for groups, times in pieces(keys.heads, len(self.steps.groups[0])):
            step = chip.like()
            for u in self.nest.sources if passing else ():
                self._pass(step, u, groups)
            for place, each in enumerate(self.nest.made):
                self._made(step, place, each, self.nest.at_once(place, groups))
            step.add(self._attended(), self.nest.at_once(0, groups))
            chip.add(step, times)
        chip.store(elements(self.network.layers[self.nest.context]), size_bytes(self.network, self.nest.context))
        return chip

    def _rows(self, u: int) -> int:
        return tensor_of(self.network, u).height

    def _hold(self, chip: Chip, region: str, rows: int, u: int) -> None:
        chip.activations.hold(
            region, rows * chip.rounded(tensor_of(self.network, u).channels, bits_of(self.network, u))
        )

    def _weights(self, each: Projection, outputs: int) -> int:
        return loaded_bytes(self.network.layers[each.layer], tensor_of(self.network, each.source).channels * outputs)

    def _pass(self, chip: Chip, u: int, groups: int) -> None:
        """Let a source pass once for some heads of keys: all their weights are there, and each band makes its rows."""
        bands, held = self.steps.of_source(self._rows(u)), 0
        for place, each in enumerate(self.nest.made):
            if each.source == u:
                size = self.nest.at_once(place, groups) * self._weights(each, each.width)
                chip.load_weights(size)
                chip.weight_buffer += len(bands) * size
                chip.global_buffer += size_bytes(self.network, u)
                held += size
        chip.weights.hold("weights", held)
        for band in bands:
            if band.start >= self.steps.kept and u not in self.part.lies.on_chip:
                self._hold(chip, "passing", len(band), u)
                chip.load_input(len(band) * position_bytes(self.network, u))

    def _made(self, chip: Chip, place: int, each: Projection, heads: int) -> None:
        """Write rows of some heads, and make them one head after the other where their source lies there."""
        rows, bits, often = self._rows(each.layer), bits_of(self.network, each.layer), 1
        size = heads * rows * row_bytes(each.width, bits)
        chip.write(size)
        if each.layer in self.part.outputs:
            chip.ema_outputs += size
            chip.global_buffer += size
        lying, together = len(self.steps.bands[0]) if place == 0 else rows, heads if self.steps.passing else 1
        chip.activations.hold(f"rows {place}", together * lying * chip.rounded(each.width, bits))
        if self.steps.passing:
            return
        if place == 0:
            often = len(self.steps.bands)  # with the same weights
        for outputs in cuts(each.width, self.steps.inner):
            size = self._weights(each, len(outputs))
            chip.weights.hold("weights", size)
            chip.load_weights(heads * size)
            chip.weight_buffer += heads * often * size
            chip.global_buffer += heads * size_bytes(self.network, each.source)

    def _attended(self) -> Chip:
        """Return what a head of queries moves: tile after tile meets all keys and values."""
        chip, bits, keys = self.chip.like(), output_bits(self.network.layers[self.nest.scores]), self.nest.keys
        query, key, value = (row_bytes(each.width, bits_of(self.network, each.layer)) for each in self.nest.made)
        made, result = self.nest.made[2].width, output_bits(self.network.layers[self.nest.context])
        for band in self.steps.bands:
            for size, times in pieces(len(band), self.steps.tile):
                tile = self.chip.like()
                tile.global_buffer += size * query + keys * (key + value)
                tile.activations.hold("scores", size * tile.rounded(keys, bits))
                tile.copy(2 * size * row_bytes(keys, bits))
                tile.hold_results(size * tile.rounded(made, result))
                chip.add(tile, times)
        return chip
