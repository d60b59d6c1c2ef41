"""The ways to run a held subgraph on all cores of a machine: what each takes and moves, and how long it computes.

One core has a single way. Several cores can deal the channels; where columns or samples can be shared there are two
more ways: with rotating weights, or with all weights in every core. A price takes the cheapest
(simulator/model/pricing.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from simulator.mapping.mappers import Mapper, Work
from simulator.model.schemes.bands import Bands, derive_bands, has_border
from simulator.model.schemes.channels import dealt_moves, dealt_weights
from simulator.model.schemes.columns import column_moves, hold_all, rotate
from simulator.model.schemes.dealing import Deal
from simulator.model.schemes.looped import LoopWay
from simulator.model.schemes.moved import CoreScheme, TeamMoves
from simulator.model.subgraph.apart import one_group
from simulator.model.subgraph.regions import Region, Tiling, allocate_regions, derive_tiling
from simulator.model.subgraph.subgraph import COLUMNS, Geometry, Subgraph
from simulator.model.subgraph.tiles import TileShape
from simulator.model.subgraph.tiling import TileRule
from simulator.model.subgraph.traffic import buffer_bytes, weight_buffer_bytes
from simulator.model.subgraph.updates import derive_updates
from workloads.network.layers.layer import Layer

Found = tuple[Tiling, dict[int, Region]]  #: a scheme, and the regions of one sample in the core that has the most


class Crew(NamedTuple):
    """The cores, the samples of a batch, and a mapper."""

    geometry: Geometry
    mapper: Mapper
    tile_rule: TileRule
    cores: int
    batch: int

    @property
    def teams(self) -> int:
        """Samples that run at the same time where columns are shared, each on a team of one or more cores."""
        return min(self.cores, self.batch)

    @property
    def bands(self) -> int:
        """Cores of a team."""
        return self.cores // self.teams

    @property
    def deal(self) -> Deal:
        """How channels are dealt to the cores."""
        return Deal(self.cores, self.geometry.technology.channel_alignment)

    def cycles(self, layer: Layer, samples: int) -> int:
        """Return the cycles of one core that computes all of this layer."""
        return self.mapper.cycles(layer, samples, 1, self.geometry.technology)

    def looped_cycles(self, way: LoopWay) -> int:
        """Return the cycles of the core that computes most of a layer, or of a nest, in a loop order."""
        return sum(self.cycles(part, way.samples) for part in way.parts)


class OneCore:
    """Everything on one core, all channels together or one group after the other (subgraph/apart.py)."""

    scheme: CoreScheme = ""

    def __init__(self, crew: Crew, subgraph: Subgraph, groups: int = 1) -> None:
        self.crew, self.subgraph, self.groups = crew, subgraph, groups
        self.samples = crew.batch  #: of one core
        self.weight_need = subgraph.weight_bytes // groups  #: of one core

    def derive(self, tile: TileShape) -> Found | None:
        """Return the scheme and the regions for this output tile; None where updates cannot be aligned."""
        tiling = derive_tiling(self.subgraph, tile, self.crew.tile_rule)
        return None if tiling is None else (tiling, self.regions(tiling, 1))

    def regions(self, tiling: Tiling, samples: int) -> dict[int, Region]:
        """Return the regions of this many samples at once."""
        return allocate_regions(self.subgraph, tiling, samples, groups=self.groups)

    def row_bytes(self, tensor: int) -> int:
        """Return the bytes of a row of a tensor in one core: one sample, all groups of channels."""
        geometry = self.crew.geometry
        return geometry.extent[COLUMNS][tensor] * geometry.held_bytes(tensor, cores=self.crew.cores)

    def work(self, found: Found) -> Any:
        """Return the part of `moves` that does not depend on how many samples run at once."""
        works = self._works(found[0])
        return (
            buffer_bytes(self.subgraph, *found, works),
            weight_buffer_bytes(self.subgraph, found[0], works),
            sum(self.layer_cycles(found[0]).values()),
        )

    def moves(self, work: Any, at_once: int) -> TeamMoves:
        """Return what all samples move, this many at once."""
        (buffered, written), weighed, cycles = work  # the same whatever the groups: each makes its part of every update
        batch, rounds = self.crew.batch, -(-self.samples // at_once)
        return TeamMoves(batch * buffered, batch * written, self.subgraph.weight_bytes, rounds * weighed, 0, cycles)

    def layer_cycles(self, tiling: Tiling) -> dict[int, int]:
        """Return the cycles of each layer."""
        works, layers = self._works(tiling), self.crew.geometry.network.layers
        if works is None:
            parts = {v: self._part(layers[v]) for v in self.subgraph.layers}
            return {v: self.groups * self.crew.cycles(part, self.samples) for v, part in parts.items()}
        return {v: works[v].cycles for v in self.subgraph.layers}

    def _works(self, tiling: Tiling) -> dict[int, Work] | None:
        """Return what the mapper makes of each layer's updates; None if it does not consider updates."""
        mapper, layers = self.crew.mapper, self.crew.geometry.network.layers
        if mapper.is_flat:
            return None
        return {
            v: mapper.work(self._whole(layers[v]), self.samples, 1, (tiling.merged[v], tiling.columns[v].step))
            for v in self.subgraph.layers
        }

    def _part(self, layer: Layer) -> Layer:
        """Return what one core computes of a layer at a time."""
        return self._whole(layer) if self.groups == 1 else one_group(layer, self.groups)

    def _whole(self, layer: Layer) -> Layer:
        """Return what one core computes of a layer in all."""
        return layer


class DealtChannels(OneCore):
    """Channels dealt to all cores: the plan of one, in n memories."""

    scheme: CoreScheme = "channels"

    def __init__(self, crew: Crew, subgraph: Subgraph) -> None:
        super().__init__(crew, subgraph)
        self.weight_need = dealt_weights(subgraph, crew.deal)

    def regions(self, tiling: Tiling, samples: int) -> dict[int, Region]:
        """Return the regions of core 0, which has the most channels."""
        return allocate_regions(self.subgraph, tiling, samples, None, self.crew.cores)

    def work(self, found: Found) -> Any:
        """Return traffic, crossing, weight reads (all of one sample or round), and cycles."""
        works = self._works(found[0])
        moved, crossing = dealt_moves(self.subgraph, *found, self.crew.deal, works)
        return (
            moved,
            sum(crossing.values()),
            weight_buffer_bytes(self.subgraph, found[0], works),
            sum(self.layer_cycles(found[0]).values()),
        )

    def moves(self, work: Any, at_once: int) -> TeamMoves:
        """Return what all samples move: no weight crosses."""
        moved, crossing, weighed, cycles = work
        alone = super().moves((moved, weighed, cycles), at_once)
        return alone._replace(crossing=self.crew.batch * crossing)

    def _whole(self, layer: Layer) -> Layer:
        return dealt_layer(layer, self.crew.deal)


class MirroredColumns(OneCore):
    """Samples dealt to teams of cores, columns to the cores of a team; weights rotate, or every core holds all."""

    def __init__(self, crew: Crew, subgraph: Subgraph, bands: Bands | None, is_held: bool) -> None:
        super().__init__(crew, subgraph)
        self.bands = bands  #: None where a core has samples of its own
        self.scheme: CoreScheme = "held" if is_held else "rotated"
        self.samples = -(-crew.batch // crew.teams)
        self.weight_need = self.weight_need if is_held else -(-self.weight_need // crew.cores)

    def derive(self, tile: TileShape) -> Found | None:
        """Return the scheme and the regions of a core, for sweeps in either direction."""
        if self.bands is None:
            return super().derive(tile)
        tiling = derive_tiling(self.subgraph, tile, "exact", self.bands.most)
        return None if tiling is None else (tiling, self.regions(tiling, 1))

    def regions(self, tiling: Tiling, samples: int) -> dict[int, Region]:
        """Return the regions of a core with the most columns."""
        return allocate_regions(self.subgraph, tiling, samples, None if self.bands is None else self.bands.most)

    def row_bytes(self, tensor: int) -> int:
        """Return the bytes of a row of a core's columns, one sample."""
        geometry = self.crew.geometry
        columns = geometry.extent[COLUMNS][tensor] if self.bands is None else self.bands.most[tensor]
        return columns * geometry.held_bytes(tensor)

    def work(self, found: Found) -> Any:
        """Return traffic and crossing of one sample, updates by layer and core, cycles."""
        cycles = sum(self.layer_cycles(found[0]).values())
        if self.bands is not None:
            moved, crossing, updates = column_moves(self.subgraph, *found, self.bands, self.crew.bands)
            return moved, sum(crossing.values()), updates, cycles
        rows, columns = derive_updates(self.subgraph, found[0])
        updates = {v: [rows[v].times * columns[v].times] for v in self.subgraph.layers}
        return buffer_bytes(self.subgraph, *found), 0, updates, cycles

    def moves(self, work: Any, at_once: int) -> TeamMoves:
        """Return what all samples move. The samples of a batch are dealt to the teams as evenly as possible."""
        (buffered, written), crossing, updates, cycles = work
        crew = self.crew
        ends = [crew.batch * team // crew.teams for team in range(crew.teams + 1)]
        rounds = [-(-(stop - first) // at_once) for first, stop in zip(ends, ends[1:])]
        if self.scheme == "held":
            weights = hold_all(self.subgraph, updates, rounds)
        else:
            weights = rotate(self.subgraph, updates, crew.cores, rounds)
        return TeamMoves(
            crew.batch * buffered, crew.batch * written, weights.written, weights.reads,
            crew.batch * crossing + weights.crossing, cycles,
        )  # fmt: skip

    def layer_cycles(self, tiling: Tiling) -> dict[int, int]:
        """Return the cycles of each layer on the core that has the most columns of it."""
        layers = self.crew.geometry.network.layers
        if self.bands is None:
            return {v: self.crew.cycles(layers[v], self.samples) for v in self.subgraph.layers}
        found = {}
        for v in self.subgraph.layers:
            part = replace(layers[v], width=self.bands.most[v])
            found[v] = self.crew.cycles(part, self.samples) // part.taps * layers[v].taps  # a resize: of the whole map
        return found


def ways_of(crew: Crew, subgraph: Subgraph, groups: Sequence[int] = (1,)) -> tuple[OneCore, ...]:
    """Return the ways in which a subgraph can run on all cores; the first is always possible.

    groups: the numbers of channel groups in which it may run on one core, ascending.
    Columns and samples are shared only where nothing is kept on chip (kept tensors have their channels dealt), where a
    mapper says nothing about a layer except its cycles, and with the exact rule.
    """
    if crew.cores == 1:
        return tuple(OneCore(crew, subgraph, each) for each in groups)
    ways: list[OneCore] = [DealtChannels(crew, subgraph)]
    if not crew.mapper.is_flat or crew.tile_rule != "exact" or subgraph.on_chip:
        return tuple(ways)
    bands = derive_bands(subgraph, crew.bands) if crew.bands > 1 else None
    is_shared = crew.teams > 1 if bands is None else has_border(subgraph, bands)
    if is_shared and (bands is not None or crew.bands == 1):
        both = (True, False) if subgraph.weight_bytes else (True,)
        ways += [MirroredColumns(crew, subgraph, bands, is_held) for is_held in both]
    return tuple(ways)


def dealt_layer(layer: Layer, deal: Deal) -> Layer:
    """Return the part of a layer with channels dealt that core 0 computes, to count its cycles."""
    channels = deal.most(layer.channels)
    if layer.is_depthwise and layer.groups > 1:
        return replace(layer, channels=channels, in_channels=channels, groups=channels)
    return replace(layer, channels=channels)
