"""How a subgraph is held on chip, independent of capacities: its ways, tilings, regions and least needs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simulator.model.kept import Kept
from simulator.model.price import Shortage
from simulator.model.rules import PricingRules
from simulator.model.schemes.looped import LoopWay
from simulator.model.schemes.ways import OneCore, ways_of
from simulator.model.subgraph.apart import groups_apart
from simulator.model.subgraph.regions import Region, Tiling, activation_bytes
from simulator.model.subgraph.subgraph import Subgraph
from simulator.model.subgraph.tiles import Candidates, TileShape
from workloads.network.layers.ops import ALONE_OPS


class Holding:
    """One subgraph under given rules; tilings are derived once and kept."""

    def __init__(self, rules: PricingRules, layers: Iterable[int], kept: Kept | None = None) -> None:
        self.rules, self.kept = rules, kept
        self.subgraph = subgraph = Subgraph(rules.geometry, layers, kept)
        self.weights = subgraph.weight_bytes
        self.is_single = len(subgraph.layers) == 1
        self.ways = ways_of(rules.crew, subgraph, self._groups())
        self.weight_need = self.ways[0].weight_need
        self.inputs, self.outputs = subgraph.input_bytes, subgraph.output_bytes
        self.operations = rules.batch * sum(rules.geometry.operations[v] for v in subgraph.layers)
        self.operation_extra = rules.batch * sum(rules.geometry.operation_extra[v] for v in subgraph.layers)
        self.candidates = self._candidates()
        self._tilings: dict[TileShape, tuple[Tiling, dict[int, Region]] | None] = {}
        self._needs: dict[tuple[TileShape, bool, int], int] = {}
        self._work: dict[tuple[TileShape, bool], Any] = {}
        self.in_loops_only = rules.cores > 1 and self._alone != ""  #: no way holds it
        self._rule_broken = self._check_alone() if self.is_single else self._check_rules()

    @property
    def loop_ways(self) -> tuple[LoopWay, ...]:
        """The ways to run a single layer, or a nest, in a loop order; none on several cores with a kept tensor."""
        if self.rules.cores > 1 and self.subgraph.on_chip:
            return ()
        return self.rules.loop_ways(self.subgraph.layers, self.kept)

    @property
    def rule_broken(self) -> Shortage | None:
        """Why it can run in no memory: too many regions, or updates that cannot be aligned. None if it may run."""
        return self._rule_broken

    def least_way(self, weight_capacity: int | None = None) -> tuple[OneCore, int, int]:
        """Return the way that holds everything in the fewest bytes, with its bytes of activations and weights.

        weight_capacity: of a separate weight buffer, which counts first; None where they share one.
        """

        def size(found: tuple[OneCore, int, int]) -> tuple[int, ...]:
            _, activations, weights = found
            if weight_capacity is None:
                return (activations + weights,)
            return max(0, weights - weight_capacity), activations

        return min(((way, *need) for way, need in zip(self.ways, self.least_needs)), key=size)

    @property
    def least_needs(self) -> list[tuple[int, int]]:
        """Bytes of activations and weights in one core, for each way to hold it."""
        return [(self._need(self.least_tile(way), way), way.weight_need) for way in self.ways]

    def least_tile(self, way: OneCore) -> TileShape:
        """Return the output tile that takes the fewest bytes in this way; of equal ones the largest."""
        tiles = [*((side, side) for side in self.rules.tiles), (1, self.candidates.columns)]
        return min(tiles, key=lambda tile: (self._need(tile, way), -self.candidates.area(tile)))

    def least_regions(self, way: OneCore) -> dict[int, Region]:
        """Return the regions of this tile."""
        return self._found(way, self.least_tile(way))[1]

    @property
    def least_activation(self) -> int:
        """The least bytes in one core for the activations of one sample, over all tiles.

        On several cores with channels dealt, the first way; on one core with as many groups of channels as possible.
        """
        way = self._least_held
        return self._need(self.least_tile(way), way)

    @property
    def least_weights(self) -> int:
        """The least bytes in one core for the weights, held in the same way."""
        return self._least_held.weight_need

    @property
    def _least_held(self) -> OneCore:
        return self.ways[-1] if self.rules.cores == 1 else self.ways[0]

    def tiling(self, tile: TileShape) -> tuple[Tiling, dict[int, Region]] | None:
        """The execution scheme and the regions of one sample for this output tile; None without a solution.

        On several cores with channels dealt, the first way.
        """
        if tile not in self._tilings:
            self._tilings[tile] = self.ways[0].derive(tile)
        return self._tilings[tile]

    def _found(self, way: OneCore, tile: TileShape) -> tuple[Tiling, dict[int, Region]]:
        """Return the scheme and the regions of one sample in this way."""
        found = self.tiling(tile) if way is self.ways[0] or way.groups > 1 else way.derive(tile)
        assert found is not None, "its updates can be aligned"
        return found if way.groups == 1 else (found[0], way.regions(found[0], 1))

    def _groups(self) -> tuple[int, ...]:
        """Return the numbers of channel groups in which the layers may run, ascending; a single layer: 1."""
        rules, layers = self.rules, self.subgraph.layers
        if self.is_single or rules.cores > 1:
            return (1,)
        geometry = rules.geometry
        return 1, *groups_apart(geometry.network, layers, rules.units, geometry.technology)

    def _candidates(self) -> Candidates:
        """Return the tiles to try for the largest map that no layer of the subgraph reads."""
        subgraph = self.subgraph
        last = [v for v in subgraph.layers if not subgraph.readers[v]]
        height, width = subgraph.geometry.extent
        return Candidates(self.rules.tiles, max(height[v] for v in last), max(width[v] for v in last))

    @property
    def _alone(self) -> str:
        """What of the subgraph runs in none of several layers, "" if nothing."""
        layers = self.rules.geometry.network.layers
        return next((ALONE_OPS[op] for v in self.subgraph.layers if (op := layers[v].op) in ALONE_OPS), "")

    def _check_alone(self) -> Shortage | None:
        if self.in_loops_only and self.subgraph.on_chip:
            return Shortage("an attention in blocks keeps none of its tensors on several cores")
        return None

    def _check_rules(self) -> Shortage | None:
        tensors, most = len(self.subgraph.tensors), self.rules.max_regions
        if most is not None and tensors > most:
            return Shortage(f"{tensors} tensors (layers and inputs) exceed the {most} regions of the region manager")
        if self._alone:
            return Shortage(f"{self._alone} runs alone")
        if self.tiling((1, 1)) is None:
            return Shortage("paths between the same tensors differ in total stride, so updates cannot be aligned")
        return None

    def _need(self, tile: TileShape, way: OneCore | None = None) -> int:
        """Return the bytes of one sample's regions; both ways of sharing columns need the same."""
        way = way or self.ways[0]
        key = tile, way is self.ways[0], way.groups
        if key not in self._needs:
            self._needs[key] = activation_bytes(self._found(way, tile)[1])
        return self._needs[key]
