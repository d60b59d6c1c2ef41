"""What one subgraph takes and moves for given capacities: integers only, so that every engine agrees to the byte.

`SubgraphModel` holds what does not depend on the capacities, so that a search prices the same layers again for
another memory in microseconds. `price` picks what is cheapest in the metric of the question, of what fits: tile and
samples at once of a subgraph whose regions and weights are all on chip (Cocco, Sec. 3.1, stage 1, leaves the tile
open), the loop order of a single layer (cheapest.py). Ties: the least EMA, energy, latency, then the larger tile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from simulator.accelerator import Accelerator, static_pj_per_slot
from simulator.mapping.mappers import Work
from simulator.metrics import DEFAULT_METRIC, Metric, check_metric
from simulator.model.apart import groups_apart, units_of
from simulator.model.cheapest import Goal, Room, cheapest_plan, goal_of
from simulator.model.kept import NOTHING, Kept, Reserved
from simulator.model.least_room import least_room
from simulator.model.loop_regions import loop_regions
from simulator.model.loops import LoopLayer, loop_layer
from simulator.model.orders import LoopPlan
from simulator.model.regions import Region, Tiling, activation_bytes, allocate_regions, derive_tiling
from simulator.model.streaming import Residency, Streaming, residency_of, stream_layer
from simulator.model.subgraph import Geometry, Subgraph
from simulator.model.tiles import Candidates, TileShape
from simulator.model.tiling import TILE_RULES, TileRule
from simulator.model.traffic import buffer_bytes, weight_buffer_bytes

OF_WEIGHTS = ("weights exceed the weight buffer", "no loop order of this layer fits its weights")  #: alone


class Price(NamedTuple):
    """What a feasible subgraph takes and moves, for the whole batch; capacities are bytes of one core."""

    tile: TileShape
    at_once: int  #: samples of one core whose regions are on chip together
    activation_bytes: int
    weight_bytes: int
    loops: LoopPlan | None  #: how a single layer runs on one core
    streaming: Streaming | None  #: how a single layer runs on several cores that does not fit
    is_streamed: bool  #: whether weights or inputs come more than once; on several cores, whether they come in pieces
    ema_weight_bytes: int
    ema_input_bytes: int
    ema_output_bytes: int
    global_buffer_bytes: int  #: read from and written to the global buffer
    weight_buffer_bytes: int
    crossbar_bytes: int
    operations: int  #: MACs and the operations of pools and element-wise layers
    compute_cycles: int
    global_written_bytes: int = 0  #: of global_buffer_bytes, what is written and not read
    kept_bytes: int = 0  #: of one core, of all tensors that are kept whole meanwhile; not in activation_bytes
    operation_extra: int = 0  #: what its operations take beyond INT8 (technology.operation_units)
    channel_groups: int = 1  #: that run one after the other; activation_bytes and weight_bytes are those of one

    @property
    def ema_bytes(self) -> int:
        """External memory access of the subgraph."""
        return self.ema_weight_bytes + self.ema_input_bytes + self.ema_output_bytes


class BufferWork(NamedTuple):
    """Bytes through the global buffer of one sample, what of it is written, through the weight buffer, and cycles."""

    buffered: int
    written: int
    weighed: int
    cycles: int


class Shortage(NamedTuple):
    """Why a subgraph cannot run: an answer, not an error. Bytes of one core, None for a rule."""

    reason: str
    needed_bytes: int | None = None
    available_bytes: int | None = None


class PricingRules:
    """What stays the same while a search varies capacities and partitions: cores, batch, metric, tile rule, regions."""

    def __init__(
        self, geometry: Geometry, accelerator: Accelerator, tile_rule: TileRule, metric: Metric = DEFAULT_METRIC
    ) -> None:
        technology = accelerator.technology
        if tile_rule not in TILE_RULES:
            raise ValueError(f"tile_rule must be one of {', '.join(TILE_RULES)}, got {tile_rule!r}")
        check_metric(metric)
        if geometry.technology != technology:
            raise ValueError("geometry and accelerator have different technologies; they must have the same")
        self.geometry = geometry
        self.tiles = technology.tiles
        self.tile_rule = tile_rule
        self.metric = metric
        self.is_shared = accelerator.is_shared
        self.cores, self.batch = accelerator.cores, accelerator.batch
        self.samples, self.bands = accelerator.samples_per_core, accelerator.bands
        self.max_regions = accelerator.max_regions
        self.mapper = accelerator.mapper
        self.bandwidth = accelerator.dram_bytes_per_cycle
        self.units = units_of(geometry.network) if accelerator.groups_apart else []
        self.cycles = [
            self.mapper.cycles(layer, self.samples, self.bands, technology) for layer in geometry.network.layers
        ]
        self._loop_layers: dict[tuple[int, Kept | None], LoopLayer] = {}
        self._goals: dict[tuple[int, int], Goal] = {}

    def whole_bytes(self, tensor: int) -> int:
        """Return the bytes that a kept tensor takes in a core: all samples, all columns where a layer needs them."""
        geometry = self.geometry
        height, width = (extent[tensor] for extent in geometry.extent)
        bands = 1 if any(reader.whole for reader in geometry.readers[tensor]) else self.bands
        return height * -(-width // bands) * geometry.held_bytes(tensor) * self.samples

    @property
    def has_loop_orders(self) -> bool:
        """Whether single layers run in loop orders: on one core."""
        return self.cores == 1

    def loop_layer(self, v: int, kept: Kept | None = None) -> LoopLayer:
        """Return a layer as its loops see it."""
        if (v, kept) not in self._loop_layers:
            network, technology = self.geometry.network, self.geometry.technology
            self._loop_layers[v, kept] = loop_layer(network, v, self.samples, technology, kept)
        return self._loop_layers[v, kept]

    def goal(self, activation_capacity: int, weight_capacity: int) -> Goal:
        """Return what is to be least in buffers of these bytes, without the cycles of a layer.

        Cycles of a layer do not depend on its tile: where latency is to be least, it is the bytes that decide.
        """
        if self.is_shared:
            weight_capacity = activation_capacity
        key = activation_capacity, weight_capacity
        if key not in self._goals:
            technology = self.geometry.technology
            activation = technology.sram("activation", activation_capacity)
            weights = activation if self.is_shared else technology.sram("weight", weight_capacity)
            static = static_pj_per_slot(technology, self.cores, activation, None if self.is_shared else weights)
            self._goals[key] = goal_of(self.metric, technology.dram_pj_per_byte, activation, weights, static)
        return self._goals[key]


class SubgraphModel:
    """One subgraph under given rules; tilings are derived once and kept.

    Parameters
    ----------
    rules : PricingRules
        Cores, batch, metric, tile rule.
    layers : iterable of int
        Ids of the layers that run together.
    kept : Kept, optional
        Which of its tensors stay on chip, come from DRAM and go there; None where none stays.

    Examples
    --------
    VGG16's conv1_2 fills 6,459,392 bytes of DRAM traffic. If its input has stayed on chip (whole: 3.1 MB), and if its
    output stays, too, only the weights cross:

    >>> import workloads
    >>> from simulator import Accelerator, MiB
    >>> from simulator.model.kept import Kept, Reserved
    >>> chip = Accelerator(shared_buffer=8 * MiB)
    >>> rules = PricingRules(Geometry(workloads.load("vgg16")), chip, "exact")
    >>> SubgraphModel(rules, [1]).price(8 * MiB, 0).ema_bytes
    6459392
    >>> kept = Kept(on_chip=frozenset({0, 1}), loaded=frozenset(), written=frozenset())
    >>> reserved = Reserved(rules.whole_bytes(0) + rules.whole_bytes(1))
    >>> price = SubgraphModel(rules, [1], kept).price(8 * MiB, 0, reserved)
    >>> price.ema_bytes, price.kept_bytes
    (36864, 6422528)
    """

    def __init__(self, rules: PricingRules, layers: Iterable[int], kept: Kept | None = None) -> None:
        self.rules, self.kept = rules, kept
        self.subgraph = subgraph = Subgraph(rules.geometry, layers, kept)
        self.weights = subgraph.weight_bytes
        self.weight_need = -(-self.weights // rules.cores)
        self.inputs, self.outputs = subgraph.input_bytes, subgraph.output_bytes
        self.operations = rules.batch * sum(rules.geometry.operations[v] for v in subgraph.layers)
        self.operation_extra = rules.batch * sum(rules.geometry.operation_extra[v] for v in subgraph.layers)
        self.cycles = sum(rules.cycles[v] for v in subgraph.layers)
        self.is_single = len(subgraph.layers) == 1
        self.candidates = self._candidates()
        self.groups = self._groups()  #: of channels, that may run one after the other; ascending
        self._tilings: dict[TileShape, tuple[Tiling, dict[int, Region]] | None] = {}
        self._moved: dict[TileShape, BufferWork] = {}
        self._rule_broken = None if self.is_single else self._check_rules()

    def price(self, activation_capacity: int, weight_capacity: int, reserved: Reserved = NOTHING) -> Price | Shortage:
        """Return the cheapest price in buffers of these bytes of one core, or what is missing.

        Where activations and weights share one buffer, weight_capacity is not looked at. reserved: what all tensors
        that are kept meanwhile take of the activation buffer, its own among them; the energy of a byte is that of the
        whole buffer.
        """
        broken = self.broken_beside(reserved)
        if broken is not None:
            return broken
        left = activation_capacity - reserved.size_bytes
        if left < 0:
            needed = reserved.size_bytes + self._least_beside()
            return Shortage("kept tensors exceed the buffer", needed, activation_capacity)
        goal = self.rules.goal(activation_capacity, weight_capacity)
        price = self._price(left, weight_capacity, goal)
        if not reserved.size_bytes:
            return price
        if isinstance(price, Price):
            return price._replace(kept_bytes=reserved.size_bytes)
        return self._beside_kept(price, reserved.size_bytes)

    def _price(self, activation_room: int, weight_capacity: int, goal: Goal) -> Price | Shortage:
        """Return the cheapest price in so much room."""
        if self.is_single and self.rules.has_loop_orders and self.rules.mapper.is_flat:
            return self._in_loops(activation_room, weight_capacity, goal)
        prices = []
        for groups in self.groups:
            room, weights = activation_room, self.weight_need // groups
            if self.rules.is_shared:
                room -= weights
            if room >= 0 and (self.rules.is_shared or weights <= weight_capacity):
                prices += [self._held(tile, at_once, groups) for tile, at_once in self._held_plans(room, groups)]
        if prices:
            return min(prices, key=lambda price: self._rank(price, goal))
        if not self.is_single:
            return self._shortage(activation_room, weight_capacity)
        if self.rules.has_loop_orders:
            return self._in_loops(activation_room, weight_capacity, goal)
        return self._streamed(activation_room, weight_capacity)

    def residency(self, price: Price) -> Residency:
        """Return what a price of this subgraph holds in one core: MAIN and SIDE by tensor id, and the tiling.

        A layer in a loop order holds pieces of its tensors (loop_regions.py); its tiling is that of its tile.
        """
        rules = self.rules
        found = self.tiling(price.tile)
        if price.loops is not None:
            assert found is not None, "a single layer has one path to each of its inputs"
            (v,) = self.subgraph.layers
            layer = rules.loop_layer(v, self.kept)
            return Residency(price.tile, found[0], loop_regions(self.subgraph, layer, price.loops))
        if price.streaming is None:
            assert found is not None, "it was priced"
            tiling, _ = found
            held = allocate_regions(self.subgraph, tiling, price.at_once, rules.bands, price.channel_groups)
            return Residency(price.tile, tiling, held)
        return residency_of(self.subgraph, price.tile, price.streaming, rules.tile_rule, rules.samples, rules.bands)

    def layer_cycles(self, price: Price) -> dict[int, int]:
        """Return the cycles of each layer of a price of this subgraph; they add up to its compute_cycles."""
        if price.streaming is not None or price.loops is not None:
            return dict.fromkeys(self.subgraph.layers, price.compute_cycles)
        works = self._works(self.residency(price).tiling)
        return {v: self.rules.cycles[v] if works is None else works[v].cycles for v in self.subgraph.layers}

    @property
    def rule_broken(self) -> Shortage | None:
        """Why it runs in no memory: too many regions, or updates that cannot be aligned; None where it may run."""
        return self._rule_broken

    def broken_beside(self, reserved: Reserved) -> Shortage | None:
        """Why it runs in no memory beside these kept tensors, None where it may."""
        return self._rule_broken or self._too_many_regions(reserved.elsewhere)

    @property
    def least_tile(self) -> TileShape:
        """The output tile that takes the fewest bytes, the largest of equals."""
        tiles = [*((side, side) for side in self.rules.tiles), (1, self.candidates.columns)]
        return min(tiles, key=lambda tile: (self._need(tile), -self.candidates.area(tile)))

    @property
    def least_activation(self) -> int:
        """Bytes of one core that the activations of one sample take at least, whatever the tile."""
        return self._need(self.least_tile)

    @property
    def least_weights(self) -> int:
        """Bytes of one core that the weights take at least where they are held."""
        return self.weight_need // self.groups[-1]

    def tiling(self, tile: TileShape) -> tuple[Tiling, dict[int, Region]] | None:
        """The execution scheme and the regions of one sample for such output tiles, None without a solution."""
        if tile not in self._tilings:
            tiling = derive_tiling(self.subgraph, tile, self.rules.tile_rule)
            if tiling is None:
                self._tilings[tile] = None
            else:
                self._tilings[tile] = (tiling, allocate_regions(self.subgraph, tiling, 1, self.rules.bands))
        return self._tilings[tile]

    def _groups(self) -> tuple[int, ...]:
        """Return in how many groups of channels the layers may run: 1 and, of several layers, others."""
        rules, layers = self.rules, self.subgraph.layers
        if self.is_single or not rules.units:
            return (1,)
        geometry = rules.geometry
        return 1, *groups_apart(geometry.network, layers, rules.units, geometry.technology)

    def _candidates(self) -> Candidates:
        """Return the tiles to try, by the largest map that no layer of the subgraph reads."""
        subgraph = self.subgraph
        last = [v for v in subgraph.layers if not subgraph.readers[v]]
        height, width = subgraph.geometry.extent
        return Candidates(self.rules.tiles, max(height[v] for v in last), max(width[v] for v in last))

    def _check_rules(self) -> Shortage | None:
        tensors, most = len(self.subgraph.tensors), self.rules.max_regions
        if most is not None and tensors > most:
            return Shortage(f"{tensors} tensors (layers and inputs) exceed the {most} regions of the region manager")
        if self.tiling((1, 1)) is None:
            return Shortage("paths between the same tensors differ in total stride, so updates cannot be aligned")
        return None

    def _too_many_regions(self, elsewhere: int) -> Shortage | None:
        """Return why it cannot run beside kept tensors: each that it does not touch is one more region."""
        most, kept = self.rules.max_regions, elsewhere + len(self.subgraph.on_chip)
        tensors = elsewhere + len(self.subgraph.tensors)
        if not kept or most is None or tensors <= most:
            return None
        return Shortage(f"{tensors} tensors (layers, inputs, kept) exceed the {most} regions of the region manager")

    def _least_beside(self) -> int:
        """Return what is needed at least of the activation buffer beside kept tensors."""
        if not self.is_single:
            return self.least_activation + (self.least_weights if self.rules.is_shared else 0)
        if not self.rules.has_loop_orders:
            return 0
        layer = self.rules.loop_layer(self.subgraph.layers[0], self.kept)
        return least_room(layer, self.rules.is_shared).activation

    def _beside_kept(self, shortage: Shortage, kept_bytes: int) -> Shortage:
        """Return what is missing of the whole buffer."""
        needed, available = shortage.needed_bytes, shortage.available_bytes
        if needed is None or available is None or shortage.reason in OF_WEIGHTS:
            return shortage
        return Shortage(f"{shortage.reason}, beside kept tensors", needed + kept_bytes, available + kept_bytes)

    def _need(self, tile: TileShape) -> int:
        """Return the bytes of one sample's regions, in as many groups of channels as there may be."""
        return self._need_in(tile, self.groups[-1])

    def _need_in(self, tile: TileShape, groups: int) -> int:
        """Return the bytes of one sample's regions in so many groups of channels."""
        found = self.tiling(tile)
        assert found is not None
        if groups == 1:
            return activation_bytes(found[1])
        return activation_bytes(allocate_regions(self.subgraph, found[0], 1, self.rules.bands, groups))

    def _held_plans(self, room: int, groups: int) -> list[tuple[TileShape, int]]:
        """Return the tiles that are tried with how many samples at once, by the rounds that these take.

        Weights are on chip, so samples may run one after the other: their regions then take the room of one, and
        weights are read again from their buffer for each round.
        """
        samples = self.rules.samples
        together = sorted({-(-samples // rounds) for rounds in range(1, samples + 1)}, reverse=True)
        return [
            (tile, at_once)
            for at_once in together
            for tile in self.candidates.largest(lambda tile: self._need_in(tile, groups), room // at_once)
        ]

    def _held(self, tile: TileShape, at_once: int, groups: int = 1) -> Price:
        if tile not in self._moved:
            found = self.tiling(tile)
            assert found is not None
            self._moved[tile] = self._work(*found)
        work = self._moved[tile]
        rounds = -(-self.rules.samples // at_once)
        return self._total(
            tile, at_once, at_once * self._need_in(tile, groups), self.weight_need // groups, None, self.weights,
            self.inputs, work._replace(weighed=rounds * work.weighed),
        )._replace(channel_groups=groups)  # fmt: skip

    def _rank(self, price: Price, goal: Goal) -> tuple[float, ...]:
        """Return what to compare: the metric, then EMA, energy, latency, the larger tile."""
        ema, slots = price.ema_bytes, max(price.compute_cycles * self.rules.bandwidth, price.ema_bytes)
        energy = goal.pj(price, slots)
        first = {"ema": ema, "energy": energy, "latency": slots}[self.rules.metric]
        return (first, ema, energy, slots, -self.candidates.area(price.tile))

    def _work(self, tiling: Tiling, regions: dict[int, Region]) -> BufferWork:
        """Return what the buffers move, and the cycles."""
        works = self._works(tiling)
        cycles = self.cycles if works is None else sum(work.cycles for work in works.values())
        moved = buffer_bytes(self.subgraph, tiling, regions, works)
        return BufferWork(*moved, weight_buffer_bytes(self.subgraph, tiling, works), cycles)

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

    def _in_loops(self, activation_capacity: int, weight_capacity: int, goal: Goal) -> Price | Shortage:
        """Return the price of a single layer in its cheapest loop order.

        A mapper says how long its updates take; words then move as often as without one.
        """
        rules, (v,) = self.rules, self.subgraph.layers
        room = Room(activation_capacity, None if rules.is_shared else weight_capacity)
        layer = rules.loop_layer(v, self.kept)
        plan = cheapest_plan(layer, room, goal.of_cycles(self.cycles * rules.bandwidth))
        if plan is None:
            least = least_room(layer, rules.is_shared)
            if room.weights is not None and least.activation <= room.activation:
                return Shortage(OF_WEIGHTS[1], least.weights, weight_capacity)
            return Shortage("no loop order of this layer fits", least.activation, activation_capacity)
        is_streamed = plan.ema_weight_bytes > self.weights or plan.ema_input_bytes > rules.batch * self.inputs
        return Price(
            plan.tile, plan.at_once, plan.activation_bytes, plan.weight_bytes, plan, None, is_streamed,
            plan.ema_weight_bytes, plan.ema_input_bytes, plan.ema_output_bytes,
            plan.global_buffer_bytes, plan.weight_buffer_bytes, 0, self.operations, self._loop_cycles(v, plan),
            plan.global_written_bytes, operation_extra=self.operation_extra,
        )  # fmt: skip

    def _loop_cycles(self, v: int, plan: LoopPlan) -> int:
        rules = self.rules
        if rules.mapper.is_flat:
            return self.cycles
        layer = rules.geometry.network.layers[v]
        return rules.mapper.work(layer, rules.samples, rules.bands, plan.tile).cycles

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
            rules.samples,
            plan.activation_bytes,
            plan.weight_bytes,
            plan.streaming,
            plan.weight_reads,
            plan.input_reads,
            self._work(plan.residency.tiling, plan.residency.regions),
        )

    def _total(
        self, tile: TileShape, at_once: int, activation: int, weights: int, streaming: Streaming | None,
        weight_reads: int, input_reads: int, work: BufferWork,
    ) -> Price:  # fmt: skip
        batch = self.rules.batch
        inputs, outputs = batch * input_reads, batch * self.outputs
        return Price(
            tile, at_once, activation, weights, None, streaming, streaming is not None, weight_reads, inputs, outputs,
            global_buffer_bytes=inputs + outputs + batch * work.buffered,
            weight_buffer_bytes=weight_reads + work.weighed,
            crossbar_bytes=(self.rules.cores - 1) * self.weights,
            operations=self.operations,
            compute_cycles=work.cycles,
            global_written_bytes=inputs + batch * work.written,
            operation_extra=self.operation_extra,
        )  # fmt: skip

    def _shortage(self, activation_capacity: int, weight_capacity: int) -> Shortage:
        least = self.least_activation
        if self.rules.is_shared:
            return Shortage(
                "activations and weights exceed the shared buffer", least + self.least_weights, activation_capacity
            )
        if self.least_weights > weight_capacity:
            return Shortage(OF_WEIGHTS[0], self.least_weights, weight_capacity)
        return Shortage("activations exceed the global buffer", least, activation_capacity)
