"""An attention with its projections, with values: what is made of a head is read while it is there."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simulator.execution.count.count import Count
from simulator.execution.count.layer_facts import operations, tensor_of
from simulator.execution.count.miss import Miss
from simulator.execution.count.stays import NOTHING_STAYS, Lies
from simulator.execution.layer.common.chip import Chip
from simulator.execution.layer.common.folded import plain
from simulator.execution.layer.common.held import LOST
from simulator.execution.layer.common.plan import LayerPlan, cuts
from simulator.execution.layer.common.projected import Projected, Rows, find_heads, source_bands, steps_of
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
    network = plain(network)
    nest, rng = find_heads(network, layers), np.random.default_rng(seed)
    is_written = lies.written is None or nest.context in lies.written
    chip = Chip(*rooms, word, has_results=nest.context not in lies.on_chip, is_written=is_written)
    weights = {
        each.maker: rng.integers(1, 9, (tensor_of(network, each.source).channels, each.width * each.heads))
        for each in nest.rows if each.maker is not None and each.source is not None
    }  # fmt: skip
    made = 0
    for _ in range(batch):
        made += _Sample(network, nest, plan, chip, weights, rng, lies, set(layers)).run()
    assert not any(chip.activations.used.values()) and not any(chip.weights.used.values())
    return Count(
        chip.activations.size_bytes, chip.weights.size_bytes, chip.ema_weights, chip.ema_inputs, chip.ema_outputs,
        chip.global_buffer, chip.weight_buffer, 0, made,
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
        for i, row in enumerate(rows):
            if first + i in self.rows:
                raise Miss(f"row {first + i} of {self.name} is made twice")
            self.rows[first + i] = row
        self.chip.activations.take(self.name, len(rows) * self.size)

    def read(self, rows: range) -> Values:
        """Return these rows."""
        gone = next((i for i in rows if i not in self.rows), None)
        if gone is not None:
            raise Miss(f"row {gone} of {self.name} is not there")
        self.chip.global_buffer += len(rows) * self.channels
        return np.array([self.rows[i] for i in rows]).reshape(len(rows), self.channels)

    def drop(self, rows: range | None = None) -> None:
        """Drop these rows, or all."""
        gone = list(self.rows) if rows is None else [i for i in rows if i in self.rows]
        for i in gone:
            del self.rows[i]
        self.chip.activations.give(self.name, len(gone) * self.size)


class _Sample:
    """One sample: its maps, what DRAM gets, and the regions of sources, queries, keys and values."""

    def __init__(
        self, network: Network, nest: Projected, plan: LayerPlan, chip: Chip, weights: dict[int, Values],
        rng: np.random.Generator, lies: Lies, layers: set[int],
    ) -> None:  # fmt: skip
        self.network, self.nest, self.plan, self.chip, self.weights = network, nest, plan, chip, weights
        self.steps, self.lies, self.made = steps_of(nest, network, plan), lies, dict.fromkeys(layers, 0)
        ids = [*nest.sources, *(u for each in nest.rows for u in each.loaded)]
        shapes = {u: (tensor_of(network, u).height, tensor_of(network, u).channels) for u in ids}
        self.maps = {u: rng.integers(1, 100, shape) for u, shape in shapes.items()}
        self.sources = {u: _Region(chip, f"source {u}", shapes[u][1], u not in lies.on_chip) for u in nest.sources}
        self.leaving = {
            v for each in nest.rows if (v := each.maker) is not None
            and (v in lies.written if lies.written is not None
                 else network.is_output[v] or bool(set(network.consumers[v]) - layers))
        }  # fmt: skip
        self.stored: dict[int, Values] = {v: np.full(self._shape(v), LOST) for v in (*self.leaving, nest.context)}

    def _shape(self, v: int) -> tuple[int, int]:
        return self.network.layers[v].height, self.network.layers[v].channels

    def run(self) -> int:
        """Run the loops and return how many operations that took."""
        for u in self.maps.keys() & self.lies.on_chip - self.lies.there:  # kept from here on
            self.chip.load_input(self.maps[u].size)
        for u in self.nest.sources:
            rows = len(self.maps[u])
            if u in self.lies.on_chip:
                self.sources[u].put(0, self.maps[u])
            else:
                self._load(u, range(min(self.plan.kept, rows) if self.steps.passing else rows), self.sources[u])
        for groups in self.steps.groups:
            self._groups(groups)
        for u in self.nest.sources:
            self.sources[u].drop()
        self._compare()
        return sum(operations(self.network, v, count) for v, count in self.made.items())

    def _load(self, u: int, rows: range, region: _Region) -> None:
        part = self.maps[u][rows.start : rows.stop]
        self.chip.load_input(part.size)
        region.put(rows.start, part)

    def _groups(self, groups: range) -> None:
        """Run some heads of keys: what sources make, passing by, for all of them; else one head after the other."""
        queries, keys, values = self.nest.rows
        sharing = queries.heads // keys.heads
        regions: dict[tuple[int, int], _Region] = {}
        if self.steps.passing:
            self._pass(groups, regions)
        for group in groups:
            for place, each in ((1, keys), (2, values)):
                region = regions.setdefault((place, group), self._region(place, each, group))
                if not self.steps.passing:
                    self._make(each, region, group, range(self._made_rows(each)))
                self._load_rows(each, region, group)
            for head in range(group * sharing, (group + 1) * sharing):
                region = regions.setdefault((0, head), self._region(0, queries, head))
                self._head(head, region, regions[1, group], regions[2, group])
            for place in (1, 2):
                regions[place, group].drop()

    def _region(self, place: int, rows: Rows, head: int) -> _Region:
        first = rows.maker is not None and self.steps.passing
        of = (head % (self.plan.apart * rows.heads // self.nest.rows[1].heads)) if first else 0
        is_there = rows.maker is None and self.lies.on_chip.issuperset(rows.inputs)
        return _Region(self.chip, f"{('queries', 'keys', 'values')[place]} {of}", rows.width, not is_there)

    def _made_rows(self, rows: Rows) -> int:
        return 0 if rows.source is None else len(self.maps[rows.source])

    def _above(self, rows: Rows) -> int:
        """Return the rows above those that are made."""
        ids = rows.inputs[: rows.inputs.index(rows.maker)] if rows.maker is not None else ()
        return sum(len(self.maps[u]) for u in ids)

    def _load_rows(self, rows: Rows, region: _Region, head: int, band: range | None = None) -> None:
        """Load what comes of a head; of queries a band."""
        first = 0
        for u in rows.inputs:
            if u == rows.maker:
                first += self._made_rows(rows)
                continue
            part = self.maps[u][:, head * rows.width : (head + 1) * rows.width]
            part = part if band is None else part[band.start : band.stop]
            if u not in self.lies.on_chip:
                self.chip.load_input(part.size)
            region.put(first if band is None else band.start, part)
            first += len(part)

    def _weights(self, rows: Rows, outputs: range) -> Values:
        """Load the weights of these outputs."""
        assert rows.maker is not None
        part = self.weights[rows.maker][:, outputs.start : outputs.stop]
        self.chip.load_weights(part.size)
        self.chip.weights.take("weights", part.size)
        return part

    def _free(self) -> None:
        self.chip.weights.give("weights", self.chip.weights.used["weights"])

    def _use(self, rows: Rows, part: Values, source: Values) -> Values:
        self.chip.weight_buffer += part.size
        return source @ part

    def _keep(self, rows: Rows, head: int, region: _Region, first: int, made: Values) -> None:
        """Put rows of a head that were made into their region, and into DRAM if they leave."""
        assert rows.maker is not None
        self.chip.write(made.size)
        region.put(self._above(rows) + first, made)
        self.made[rows.maker] += made.size
        if rows.maker in self.leaving:
            self.chip.ema_outputs += made.size
            self.chip.global_buffer += made.size
            self._store(rows.maker, first, head * rows.width, made)

    def _store(self, v: int, row: int, channel: int, values: Values) -> None:
        place = self.stored[v][row : row + values.shape[0], channel : channel + values.shape[1]]
        if (place != LOST).any():
            raise Miss(f"rows of {self.network.layers[v].name!r} are made twice")
        place[...] = values

    def _make(self, rows: Rows, region: _Region, head: int, band: range) -> None:
        """Make rows of a head from a source that lies there, piece by piece of its outputs."""
        if rows.source is None or not band:
            return
        pieces = []
        for piece in cuts(rows.width, self.steps.inner):
            part = self._weights(rows, range(head * rows.width + piece.start, head * rows.width + piece.stop))
            pieces.append(self._use(rows, part, self.sources[rows.source].read(band)))
            self._free()
        self._keep(rows, head, region, band.start, np.concatenate(pieces, axis=1))

    def _pass(self, groups: range, regions: dict[tuple[int, int], _Region]) -> None:
        """Let each source pass once, and make all rows of these heads of it."""
        for u in self.nest.sources:
            parts = []
            for place, rows in enumerate(self.nest.rows):
                if rows.source == u:
                    sharing = rows.heads // self.nest.rows[1].heads
                    for head in range(groups.start * sharing, groups.stop * sharing):
                        regions[place, head] = self._region(place, rows, head)
                        outputs = range(head * rows.width, (head + 1) * rows.width)
                        parts.append((place, head, self._weights(rows, outputs)))
            for band in source_bands(len(self.maps[u]), self.plan):
                stays = u in self.lies.on_chip or band.stop <= self.plan.kept
                lies = self.sources[u] if stays else _Region(self.chip, "passing", len(self.maps[u][0]))
                if not stays:
                    self._load(u, band, lies)
                for place, rows in enumerate(self.nest.rows):
                    if rows.source == u:
                        values = lies.read(band)
                        for where, head, part in parts:
                            if where == place:
                                found = self._use(rows, part, values)
                                self._keep(rows, head, regions[place, head], band.start, found)
                if not stays:
                    lies.drop()
            self._free()

    def _head(self, head: int, region: _Region, keys: _Region, values: _Region) -> None:
        """Run the tiles of a head of queries, band by band."""
        queries, part = self.nest.rows[0], None
        for band in self.steps.bands:
            if queries.maker is None:
                self._load_rows(queries, region, head, band)
            elif not self.steps.passing and len(self.steps.bands) == 1:
                self._make(queries, region, head, band)
            elif not self.steps.passing:
                assert queries.source is not None
                if part is None:
                    part = self._weights(queries, range(head * queries.width, (head + 1) * queries.width))
                made = self._use(queries, part, self.sources[queries.source].read(band))
                self._keep(queries, head, region, band.start, made)
            for tile in cuts(len(band), self.steps.tile):
                self._tile(head, region, keys, values, range(band.start + tile.start, band.start + tile.stop))
            if queries.maker is None or not self.steps.passing:
                region.drop(band)
        region.drop()
        self._free()

    def _tile(self, head: int, region: _Region, keys: _Region, values: _Region, tile: range) -> None:
        """Attend with a tile of queries: scores with their maximum, then outputs with the sum of their powers."""
        of = self.network.layers[self.nest.scores]
        count = of.channels // of.groups
        scores = RESIDUES.score(region.read(tile) @ keys.read(range(count)).T)
        self.chip.activations.hold("scores", len(tile) * self.chip.rounded(count))
        self.chip.copy(2 * scores.size)
        for v in (self.nest.scores, *self.nest.scales, self.nest.softmax):
            self.made[v] += scores.size
        found = finished(RESIDUES, begun(RESIDUES, scores, values.read(range(count))))
        self.chip.hold_results(len(tile) * self.chip.rounded(found.shape[1]))
        self.made[self.nest.context] += found.size
        self._store(self.nest.context, tile.start, head * found.shape[1], found)
        self.chip.store(found.size)

    def _compare(self) -> None:
        """Raise Miss unless everything that was stored is what the layers give one by one."""
        whole = []
        for each in self.nest.rows:
            parts = []
            for u in each.inputs:
                if u == each.maker and each.source is not None:
                    parts.append(self.maps[each.source] @ self.weights[u])
                    if u in self.leaving and (self.stored[u] != parts[-1]).any():
                        raise Miss(f"{self.network.layers[u].name!r} differs from the layer run by itself")
                else:
                    parts.append(self.maps[u])
            whole.append(np.concatenate(parts))
        queries, keys = self.nest.rows[:2]
        for head in range(queries.heads):
            of = head // (queries.heads // keys.heads)
            parts = [np.split(rows, each.heads, axis=1) for rows, each in zip(whole, self.nest.rows)]
            scores = RESIDUES.score(parts[0][head] @ parts[1][of].T)
            direct = finished(RESIDUES, begun(RESIDUES, scores, parts[2][of]))
            width = direct.shape[1]
            if (self.stored[self.nest.context][:, head * width : (head + 1) * width] != direct).any():
                raise Miss(f"head {head} of the context differs from the layers run one by one")
