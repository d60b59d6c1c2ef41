"""What one subgraph takes and moves for given capacities: integers only, so that every engine agrees to the byte.

`SubgraphModel` holds what does not depend on the capacities, so that a search prices the same layers again for
another memory in microseconds; `price` picks the tile (Cocco, Sec. 3.1, stage 1).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.accelerator import Accelerator
from simulator.mapping.mappers import Work
from simulator.model.regions import Region, Tiling, activation_bytes, allocate_regions, derive_tiling
from simulator.model.streaming import Residency, Streaming, residency_of, stream_layer
from simulator.model.subgraph import Geometry, Subgraph
from simulator.model.tiling import TILE_RULES, TileRule
from simulator.model.traffic import buffer_bytes, weight_buffer_bytes


class Price(NamedTuple):
    """What a feasible subgraph takes and moves, for the whole batch; capacities are bytes of one core."""

    tile: tuple[int, int]
    activation_bytes: int
    weight_bytes: int
    streaming: Streaming | None  #: how a single layer is streamed that does not fit, None where all is held
    ema_weight_bytes: int
    ema_input_bytes: int
    ema_output_bytes: int
    global_buffer_bytes: int  #: read from and written to the global buffer
    weight_buffer_bytes: int
    crossbar_bytes: int
    operations: int  #: MACs and the operations of pools and element-wise layers
    compute_cycles: int

    @property
    def is_streamed(self) -> bool:
        """Whether weights or maps pass through the buffers in pieces."""
        return self.streaming is not None

    @property
    def ema_bytes(self) -> int:
        """External memory access of the subgraph."""
        return self.ema_weight_bytes + self.ema_input_bytes + self.ema_output_bytes


class Shortage(NamedTuple):
    """Why a subgraph of several layers cannot run: an answer, not an error. Bytes of one core, None for a rule."""

    reason: str
    needed_bytes: int | None = None
    available_bytes: int | None = None


class PricingRules:
    """What stays the same while a search varies capacities and partitions: cores, batch, tile rule, regions."""

    def __init__(self, geometry: Geometry, accelerator: Accelerator, tile_rule: TileRule) -> None:
        technology = accelerator.technology
        if tile_rule not in TILE_RULES:
            raise ValueError(f"tile_rule must be one of {', '.join(TILE_RULES)}, got {tile_rule!r}")
        if geometry.technology != technology:
            raise ValueError("geometry and accelerator have different technologies; they must have the same")
        self.geometry = geometry
        self.tiles = technology.tiles
        self.tile_rule = tile_rule
        self.is_shared = accelerator.is_shared
        self.cores, self.batch = accelerator.cores, accelerator.batch
        self.samples, self.bands = accelerator.samples_per_core, accelerator.bands
        self.max_regions = accelerator.max_regions
        self.mapper = accelerator.mapper
        self.cycles = [
            self.mapper.cycles(layer, self.samples, self.bands, technology) for layer in geometry.network.layers
        ]


class SubgraphModel:
    """One subgraph under given rules; tilings are derived once and kept."""

    def __init__(self, rules: PricingRules, layers: Iterable[int]) -> None:
        self.rules = rules
        self.subgraph = subgraph = Subgraph(rules.geometry, layers)
        self.weights = subgraph.weight_bytes
        self.weight_need = -(-self.weights // rules.cores)
        self.inputs, self.outputs = subgraph.input_bytes, subgraph.output_bytes
        self.operations = rules.batch * sum(rules.geometry.operations[v] for v in subgraph.layers)
        self.cycles = sum(rules.cycles[v] for v in subgraph.layers)
        self.is_single = len(subgraph.layers) == 1
        self._tilings: dict[int, tuple[Tiling, dict[int, Region]] | None] = {}
        self._needs: list[int | None] = [None] * len(rules.tiles)
        self._moved: dict[int, tuple[int, int, int]] = {}
        self._rule_broken = None if self.is_single else self._check_rules()

    def price(self, activation_capacity: int, weight_capacity: int) -> Price | Shortage:
        """Return the price in buffers of these bytes of one core, or what is missing.

        Where activations and weights share one buffer, weight_capacity is not looked at.
        """
        if self._rule_broken is not None:
            return self._rule_broken
        room = activation_capacity
        if self.rules.is_shared:
            room -= self.weight_need
        if room >= 0 and (self.rules.is_shared or self.weight_need <= weight_capacity):
            for position, tile in enumerate(self.rules.tiles):
                need = self._needs[position]
                if need is None:
                    need = self._needs[position] = self._activation_need(tile)
                if need <= room:
                    return self._held(tile, need)
        if self.is_single:
            return self._streamed(activation_capacity, weight_capacity)
        return self._shortage(activation_capacity, weight_capacity)

    def residency(self, price: Price) -> Residency:
        """Return what a price of this subgraph holds in one core: MAIN and SIDE by tensor id, and the tiling."""
        rules = self.rules
        if price.streaming is None:
            found = self.tiling(price.tile[0])
            assert found is not None, "it was priced"
            return Residency(price.tile, *found)
        return residency_of(self.subgraph, price.tile, price.streaming, rules.tile_rule, rules.samples, rules.bands)

    def layer_cycles(self, price: Price) -> dict[int, int]:
        """Return the cycles of each layer of a price of this subgraph; they add up to its compute_cycles."""
        if price.streaming is not None:
            return dict.fromkeys(self.subgraph.layers, price.compute_cycles)
        works = self._works(self.residency(price).tiling)
        return {v: self.rules.cycles[v] if works is None else works[v].cycles for v in self.subgraph.layers}

    @property
    def rule_broken(self) -> Shortage | None:
        """Why it runs in no memory: too many regions, or updates that cannot be aligned; None where it may run."""
        return self._rule_broken

    @property
    def least_tile(self) -> int:
        """The output tile that takes the fewest bytes, the largest of equals."""
        return min(self.rules.tiles, key=lambda tile: (self._activation_need(tile), -tile))

    @property
    def least_activation(self) -> int:
        """Bytes of one core that its activations take at least, whatever the tile."""
        return self._activation_need(self.least_tile)

    def tiling(self, tile: int) -> tuple[Tiling, dict[int, Region]] | None:
        """The execution scheme and the regions for square output tiles, None where stage 3 has no solution."""
        if tile not in self._tilings:
            rules = self.rules
            tiling = derive_tiling(self.subgraph, (tile, tile), rules.tile_rule)
            if tiling is None:
                self._tilings[tile] = None
            else:
                self._tilings[tile] = (tiling, allocate_regions(self.subgraph, tiling, rules.samples, rules.bands))
        return self._tilings[tile]

    def _check_rules(self) -> Shortage | None:
        tensors, most = len(self.subgraph.tensors), self.rules.max_regions
        if most is not None and tensors > most:
            return Shortage(f"{tensors} tensors (layers and inputs) exceed the {most} regions of the region manager")
        if self.tiling(self.rules.tiles[-1]) is None:
            return Shortage("paths between the same tensors differ in total stride, so updates cannot be aligned")
        return None

    def _activation_need(self, tile: int) -> int:
        found = self.tiling(tile)
        assert found is not None
        return activation_bytes(found[1])

    def _held(self, tile: int, need: int) -> Price:
        if tile not in self._moved:
            found = self.tiling(tile)
            assert found is not None
            tiling, regions = found
            self._moved[tile] = self._work(tiling, regions)
        return self._total((tile, tile), need, self.weight_need, None, self.weights, self.inputs, self._moved[tile])

    def _work(self, tiling: Tiling, regions: dict[int, Region]) -> tuple[int, int, int]:
        """Return the traffic of both buffers, one sample, and the cycles of computing."""
        works = self._works(tiling)
        cycles = self.cycles if works is None else sum(work.cycles for work in works.values())
        return (
            buffer_bytes(self.subgraph, tiling, regions, works),
            weight_buffer_bytes(self.subgraph, tiling, works),
            cycles,
        )

    def _works(self, tiling: Tiling) -> dict[int, Work] | None:
        """Return what the mapper makes of each layer's updates, None where it does not look at them."""
        rules = self.rules
        if rules.mapper.is_flat:
            return None
        layers = rules.geometry.network.layers
        return {
            v: rules.mapper.work(layers[v], rules.samples, rules.bands, (tiling.merged[v], tiling.columns[v].step))
            for v in self.subgraph.layers
        }

    def _streamed(self, activation_capacity: int, weight_capacity: int) -> Price:
        rules = self.rules
        plan = stream_layer(
            self.subgraph,
            activation_capacity,
            None if rules.is_shared else weight_capacity,
            rules.tile_rule,
            rules.cores,
            rules.samples,
            rules.bands,
        )
        return self._total(
            plan.residency.tile,
            plan.activation_bytes,
            plan.weight_bytes,
            plan.streaming,
            plan.weight_reads,
            plan.input_reads,
            self._work(plan.residency.tiling, plan.residency.regions),
        )

    def _total(
        self, tile: tuple[int, int], activation: int, weights: int, streaming: Streaming | None,
        weight_reads: int, input_reads: int, work: tuple[int, int, int],
    ) -> Price:  # fmt: skip
        buffered, weighed, cycles = work
        batch = self.rules.batch
        inputs, outputs = batch * input_reads, batch * self.outputs
        return Price(
            tile, activation, weights, streaming, weight_reads, inputs, outputs,
            global_buffer_bytes=inputs + outputs + batch * buffered,
            weight_buffer_bytes=weight_reads + weighed,
            crossbar_bytes=(self.rules.cores - 1) * self.weights,
            operations=self.operations,
            compute_cycles=cycles,
        )  # fmt: skip

    def _shortage(self, activation_capacity: int, weight_capacity: int) -> Shortage:
        least = self.least_activation
        if self.rules.is_shared:
            return Shortage(
                "activations and weights exceed the shared buffer", least + self.weight_need, activation_capacity
            )
        if self.weight_need > weight_capacity:
            return Shortage("weights exceed the weight buffer", self.weight_need, weight_capacity)
        return Shortage("activations exceed the global buffer", least, activation_capacity)
