"""An attention with its projections, with values: what is made of a head is read while it is there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simulator.execution.count.count import Count
from simulator.execution.count.layer_facts import operations, tensor_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.part import Part
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import plain
from simulator.execution.layer.common.held import LOST
from simulator.execution.layer.common.plan import LayerPlan, cuts
from simulator.execution.layer.common.problem import seen_keys
from simulator.execution.layer.heads.found import Projected, find_heads, steps_of
from simulator.execution.layer.value.running import RESIDUES, begun, finished
from workloads.network.network import Network

Values = np.ndarray  #: int64, rows x channels


def run_heads(
    network: Network, layers: Iterable[int], plan: LayerPlan, rooms: tuple[float, float], batch: int = 1, word: int = 8,
    seed: int = 0, lies: Lies = NOTHING_STAYS,
) -> Count:  # fmt: skip
    """Return what the loops of an attention with its projections take and move when they run with integers.

    rooms: bytes for activations and for weights. Raises Miss where a read finds nothing, a write has no room, a row is
    made twice or never, or a result is not that of the layers run one by one.
    """
    part, rng = Part(plain(network), layers, lies), np.random.default_rng(seed)
    nest = find_heads(part.network, part.layers)
    chip = Chip(*rooms, word, nest.context not in lies.on_chip, nest.context in part.outputs)
    shapes = {each.layer: (tensor_of(network, each.source).channels, each.width * each.heads) for each in nest.made}
    weights = {v: rng.integers(1, 9, shape) for v, shape in shapes.items()}
    work = sum([_Sample(part, nest, plan, chip, weights, rng).run() for _ in range(batch)])
    assert not any(chip.activations.used.values()) and not any(chip.weights.used.values())
    return Count(
        chip.activations.size_bytes, chip.weights.size_bytes, chip.ema_weights, chip.ema_inputs, chip.ema_outputs,
        chip.global_buffer, chip.weight_buffer, 0, work,
        global_written_bytes=chip.global_written, weight_written_bytes=chip.weight_written,
    )  # fmt: skip


class _Region:
    """Rows of a map in a region: each is put there once, read, and dropped with the others."""

    def __init__(self, chip: Chip, name: str, channels: int, has_room: bool = True) -> None:
        self.chip, self.name, self.channels = chip, name, channels
        self.size = chip.rounded(channels) if has_room else 0
        self.rows: dict[int, Values] = {}

    def put(self, first: int, rows: Values) -> None:
        """Put rows there from the first on."""
        for i, row in enumerate(rows, first):
            if i in self.rows:
                raise Miss(f"row {i} of {self.name} is made twice")
            self.rows[i] = row
        self.chip.activations.take(self.name, len(rows) * self.size)

    def read(self, rows: range) -> Values:
        """Return these rows."""
        gone = next((i for i in rows if i not in self.rows), None)
        if gone is not None:
            raise Miss(f"row {gone} of {self.name} is not there")
        self.chip.global_buffer += len(rows) * self.channels
        return np.array([self.rows[i] for i in rows])

    def drop(self) -> None:
        """Drop all rows."""
        self.chip.activations.give(self.name, len(self.rows) * self.size)
        self.rows.clear()


class _Sample:
    """One sample: its sources, what DRAM gets, what lies on chip, and what was made."""

    def __init__(
        self, part: Part, nest: Projected, plan: LayerPlan, chip: Chip, weights: dict[int, Values],
        rng: np.random.Generator,
    ) -> None:  # fmt: skip
        self.part, self.nest, self.chip, self.weights = part, nest, chip, weights
        self.steps = steps_of(nest, part.network, plan)
        tensors = {u: tensor_of(part.network, u) for u in nest.sources}
        self.maps = {u: rng.integers(1, 100, (each.height, each.channels)) for u, each in tensors.items()}
        self.lying = {
            u: _Region(chip, f"source {u}", each.channels, u not in part.lies.on_chip) for u, each in tensors.items()
        }
        self.made = dict.fromkeys(part.layers, 0)
        layers = {v: part.network.layers[v] for v in (*(each.layer for each in nest.made), nest.context)}
        self.stored = {v: np.full((layer.height, layer.channels), LOST) for v, layer in layers.items()}
        self.held: tuple[int, int, int] | None = None  #: which weights: of what, head, first output

    def run(self) -> int:
        """Run the loops and return how many operations that took."""
        steps, nest, kept = self.steps, self.nest, self.part.lies.on_chip
        for u, every in self.maps.items():
            rows = every[: steps.kept] if steps.passing and u not in kept else every
            self.chip.load_input(rows.size if u in self.part.loaded or u not in kept else 0)
            self.lying[u].put(0, rows)
        for groups in steps.groups:
            regions = {
                (i, head): _Region(
                    self.chip, f"{i}.{head - nest.at_once(i, groups.start) if steps.passing else 0}", each.width
                )
                for i, each in enumerate(nest.made)
                for head in range(nest.at_once(i, groups.start), nest.at_once(i, groups.stop))
            }
            for u in nest.sources if steps.passing else ():
                self._pass(u, regions)
            for group in groups:
                keys, values = regions[1, group], regions[2, group]
                if not steps.passing:
                    self._make(1, group, range(nest.keys), keys)
                    self._make(2, group, range(nest.keys), values)
                for head in range(nest.at_once(0, group), nest.at_once(0, group + 1)):
                    for band in steps.bands:
                        if not steps.passing:
                            self._make(0, head, band, regions[0, head])
                        for tile in cuts(len(band), steps.tile):
                            where = range(band.start + tile.start, band.start + tile.stop)
                            self._tile(head, where, regions[0, head], keys, values)
                        if not steps.passing:
                            regions[0, head].drop()
            for region in regions.values():
                region.drop()
        for region in self.lying.values():
            region.drop()
        self._free()
        self._compare()
        return sum(operations(self.part.network, v, count) for v, count in self.made.items())

    def _load(self, place: int, head: int, outputs: range) -> Values:
        """Load weights of a head."""
        each = self.nest.made[place]
        part = self.weights[each.layer][:, head * each.width : (head + 1) * each.width][:, outputs.start : outputs.stop]
        self.chip.load_weights(part.size)
        self.chip.weights.take("weights", part.size)
        return part

    def _free(self) -> None:
        self.chip.weights.give("weights", self.chip.weights.used["weights"])
        self.held = None

    def _make(self, place: int, head: int, band: range, region: _Region) -> None:
        """Make rows of a head from a source that lies there, piece by piece of its outputs."""
        each, pieces = self.nest.made[place], []
        for outputs in cuts(each.width, self.steps.inner):
            if self.held != (place, head, outputs.start):
                self._free()
                self.piece, self.held = self._load(place, head, outputs), (place, head, outputs.start)
            self.chip.weight_buffer += self.piece.size
            pieces.append(self.lying[each.source].read(band) @ self.piece)
        self._put(place, head, band, np.concatenate(pieces, axis=1), region)

    def _pass(self, u: int, regions: dict[tuple[int, int], _Region]) -> None:
        """Let a source pass once, and make all rows of these heads of it."""
        self._free()
        outputs = {
            at: self._load(*at, range(self.nest.made[at[0]].width))
            for at in regions
            if self.nest.made[at[0]].source == u
        }
        for band in self.steps.of_source(len(self.maps[u])):
            lies, stays = self.lying[u], u in self.part.lies.on_chip or band.stop <= self.steps.kept
            if not stays:
                lies, rows = _Region(self.chip, "passing", lies.channels), self.maps[u][band.start : band.stop]
                self.chip.load_input(rows.size)
                lies.put(band.start, rows)
            for place in {place: None for place, _ in outputs}:
                values = lies.read(band)
                for at, part in outputs.items():
                    if at[0] == place:
                        self.chip.weight_buffer += part.size
                        self._put(*at, band, values @ part, regions[at])
            if not stays:
                lies.drop()

    def _put(self, place: int, head: int, band: range, made: Values, region: _Region) -> None:
        """Put rows of a head that were made into their region, and into DRAM if they leave."""
        v = self.nest.made[place].layer
        self.chip.write(made.size)
        region.put(band.start, made)
        leaving = made.size if v in self.part.outputs else 0
        self.chip.ema_outputs += leaving
        self.chip.global_buffer += leaving
        self._store(v, head, band, made)

    def _store(self, v: int, head: int, rows: range, values: Values) -> None:
        width = values.shape[1]
        place = self.stored[v][rows.start : rows.stop, head * width : (head + 1) * width]
        if (place != LOST).any():
            raise Miss(f"rows of {self.part.name(v)!r} are made twice")
        place[...] = values
        self.made[v] += values.size

    def _tile(self, head: int, tile: range, queries: _Region, keys: _Region, values: _Region) -> None:
        """Attend with a tile of queries: scores with their maximum, then outputs with the sum of their powers."""
        every = range(self.nest.keys)
        scores = RESIDUES.score(queries.read(tile) @ keys.read(every).T)
        self.chip.activations.hold("scores", len(tile) * self.chip.rounded(len(every)))
        self.chip.copy(2 * scores.size)
        for v in (self.nest.scores, *self.nest.inner):
            self.made[v] += scores.size
        seen = seen_keys(self.part.network.layers[self.nest.scores], tile)
        found = finished(RESIDUES, begun(RESIDUES, scores, values.read(every), seen))
        self.chip.hold_results(len(tile) * self.chip.rounded(found.shape[1]))
        self._store(self.nest.context, head, tile, found)
        self.chip.store(found.size)

    def _compare(self) -> None:
        """Raise Miss unless everything that was made is what the layers give one by one."""
        parts = []
        for each in self.nest.made:
            direct = self.maps[each.source] @ self.weights[each.layer]
            if (self.stored[each.layer] != direct).any():
                raise Miss(f"{self.part.name(each.layer)!r} differs from the layer run by itself")
            parts.append(np.split(direct, each.heads, axis=1))
        for head, found in enumerate(np.split(self.stored[self.nest.context], len(parts[0]), axis=1)):
            of = head * len(parts[1]) // len(parts[0])
            scores = RESIDUES.score(parts[0][head] @ parts[1][of].T)
            layer = self.part.network.layers[self.nest.scores]
            seen = seen_keys(layer, range(layer.height))
            if (found != finished(RESIDUES, begun(RESIDUES, scores, parts[2][of], seen))).any():
                raise Miss(f"head {head} of the context differs from the layers run one by one")
