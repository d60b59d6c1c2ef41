"""What one subgraph takes and moves for given capacities: integers only, so that every engine agrees to the byte.

`SubgraphModel` holds what does not depend on the capacities, so that a search prices the same layers again for
another memory in microseconds. `price` picks what is cheapest in the metric of the question, of what fits: tile and
samples at once of a subgraph whose regions and weights are all on chip (Cocco, Sec. 3.1, stage 1, leaves the tile
open), how several cores share it (schemes/ways.py), the loop order of a single layer (cheapest.py). Ties: the least
EMA, energy, latency, then the larger tile.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from simulator.accelerator import Accelerator, static_pj_per_slot
from simulator.metrics import DEFAULT_METRIC, Metric, check_metric
from simulator.model.apart import groups_apart, units_of
from simulator.model.cheapest import Goal, Room, cheapest_plan, goal_of
from simulator.model.kept import NOTHING, Kept, Reserved
from simulator.model.least_room import least_room, needs
from simulator.model.loop_regions import loop_regions
from simulator.model.loops import LoopLayer, loop_layer
from simulator.model.orders import LoopPlan
from simulator.model.regions import Region, Residency, Tiling, activation_bytes
from simulator.model.schemes.looped import LoopWay, loop_ways
from simulator.model.schemes.moved import CoreScheme
from simulator.model.schemes.ways import Crew, OneCore, dealt_layer, ways_of
from simulator.model.subgraph import Geometry, Subgraph
from simulator.model.tiles import Candidates, TileShape
from simulator.model.tiling import TILE_RULES, TileRule
from simulator.technology import Technology
from workloads.errors import NetworkError
from workloads.network.network import Network

OF_WEIGHTS = ("weights exceed the weight buffer", "no loop order of this layer fits its weights")  #: alone
OF_LOOPS = (OF_WEIGHTS[1], "no loop order of this layer fits")  #: what a single layer lacks


class Price(NamedTuple):
    """What a feasible subgraph takes and moves, for the whole batch; capacities are bytes of one core."""

    tile: TileShape
    at_once: int  #: samples of one core whose regions are on chip together
    activation_bytes: int
    weight_bytes: int
    loops: LoopPlan | None  #: how a single layer runs on one core
    is_streamed: bool  #: whether weights or inputs come more than once
    ema_weight_bytes: int
    ema_input_bytes: int
    ema_output_bytes: int
    global_buffer_bytes: int  #: read from and written to the global buffer
    weight_buffer_bytes: int
    crossbar_bytes: int
    operations: int  #: MACs and the operations of pools and element-wise layers
    compute_cycles: int
    global_written_bytes: int = 0  #: of global_buffer_bytes, what is written and not read
    weight_written_bytes: int = 0  #: of weight_buffer_bytes
    kept_bytes: int = 0  #: of one core, of all tensors that are kept whole meanwhile; not in activation_bytes
    scheme: CoreScheme = ""  #: how several cores share it
    operation_extra: int = 0  #: what its operations take beyond INT8 (technology.operation_units)
    channel_groups: int = 1  #: that run one after the other; activation_bytes and weight_bytes are those of one

    @property
    def ema_bytes(self) -> int:
        """External memory access of the subgraph."""
        return self.ema_weight_bytes + self.ema_input_bytes + self.ema_output_bytes

    def slots(self, cores: int, technology: Technology) -> int:
        """Return the time in cycles times DRAM bytes per cycle of all cores: computing, DRAM or the crossbar."""
        port = technology.dram_bytes_per_cycle
        crossing = -(-self.crossbar_bytes * port // technology.crossbar_bytes_per_cycle)
        return max(self.compute_cycles * port * cores, self.ema_bytes, crossing)


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
        if accelerator.cores > 1:
            _check_shared(geometry.network)
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
        self.crew = Crew(geometry, self.mapper, tile_rule, self.cores, self.batch)
        self._loop_layers: dict[tuple[int, Kept | None], LoopLayer] = {}
        self._loop_ways: dict[tuple[int, Kept | None], tuple[LoopWay, ...]] = {}
        self.cycles = [self._least_cycles(v) for v in range(len(geometry.network.layers))]
        self._goals: dict[tuple[int, int], Goal] = {}

    def whole_bytes(self, tensor: int) -> int:
        """Return the bytes that a kept tensor takes in a core: all samples, its channels dealt to all cores."""
        height, width = (extent[tensor] for extent in self.geometry.extent)
        return height * width * self.geometry.held_bytes(tensor, cores=self.cores) * self.batch

    @property
    def has_loop_orders(self) -> bool:
        """Whether single layers always run in loop orders, held or not: on one core."""
        return self.cores == 1

    def loop_layer(self, v: int, kept: Kept | None = None) -> LoopLayer:
        """Return a layer as its loops see it."""
        if (v, kept) not in self._loop_layers:
            network, technology = self.geometry.network, self.geometry.technology
            self._loop_layers[v, kept] = loop_layer(network, v, self.batch, technology, kept)
        return self._loop_layers[v, kept]

    def loop_ways(self, v: int, kept: Kept | None = None) -> tuple[LoopWay, ...]:
        """Return the ways in which a layer runs in a loop order; of several cores where none of its tensors is kept."""
        if (v, kept) not in self._loop_ways:
            loops = self.loop_layer(v, kept if self.cores == 1 else None)
            self._loop_ways[v, kept] = loop_ways(self.geometry.network.layers[v], loops, self.crew.deal)
        return self._loop_ways[v, kept]

    def goal(self, activation_capacity: int, weight_capacity: int) -> Goal:
        """Return what is to be least in buffers of these bytes, without the cycles of a layer."""
        if self.is_shared:
            weight_capacity = activation_capacity
        key = activation_capacity, weight_capacity
        if key not in self._goals:
            technology = self.geometry.technology
            activation = technology.sram("activation", activation_capacity)
            weights = activation if self.is_shared else technology.sram("weight", weight_capacity)
            static = static_pj_per_slot(technology, self.cores, activation, None if self.is_shared else weights)
            self._goals[key] = goal_of(self.metric, technology, activation, weights, static)
        return self._goals[key]

    def _least_cycles(self, v: int) -> int:
        """Return the cycles of a layer in the way that takes fewest, whatever runs beside it; no tile takes fewer."""
        crew, layer = self.crew, self.geometry.network.layers[v]
        if crew.cores == 1:
            return crew.cycles(layer, crew.batch)
        technology, samples = crew.geometry.technology, -(-crew.batch // crew.teams)
        shared = crew.mapper.cycles(layer, samples, crew.bands, technology)
        looped = [crew.cycles(way.part, way.samples) for way in self.loop_ways(v)]
        return min(crew.cycles(dealt_layer(layer, crew.deal), crew.batch), shared, *looped)


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
        rules = self.rules
        if self.is_single and rules.has_loop_orders and rules.mapper.is_flat:
            return self._in_loops(activation_room, weight_capacity, goal)
        prices = []
        for way in self.ways:
            room = activation_room - way.weight_need if rules.is_shared else activation_room
            if room >= 0 and (rules.is_shared or way.weight_need <= weight_capacity):
                prices += [self._held(way, *each) for each in self._held_plans(way, room)]
        if self.loop_ways and (rules.cores > 1 or not prices):
            found = self._in_loops(activation_room, weight_capacity, goal)
            if isinstance(found, Shortage) and not prices:
                held = self._shortage(activation_room, weight_capacity)
                is_less = rules.is_shared and rules.cores > 1 and (held.needed_bytes or 0) < (found.needed_bytes or 0)
                return held if is_less else found
            prices += [found] if isinstance(found, Price) else []
        if not prices:
            return self._shortage(activation_room, weight_capacity)
        return min(prices, key=lambda price: self._rank(price, goal))

    def residency(self, price: Price) -> Residency:
        """Return what a price of this subgraph holds in one core: MAIN and SIDE by tensor id, and the tiling.

        A layer in a loop order holds pieces of its tensors (loop_regions.py); its tiling is that of its tile.
        """
        if price.loops is not None:
            found = self.tiling(price.tile)
            assert found is not None, "a single layer has one path to each of its inputs"
            layer = self.loop_way(price).loops
            return Residency(price.tile, found[0], loop_regions(self.subgraph, layer, price.loops))
        way = self.way(price)
        found = self._found(way, price.tile)
        return Residency(price.tile, found[0], way.regions(found[0], price.at_once))

    def way(self, price: Price) -> OneCore:
        """Return the way in which the cores share a price of this subgraph that is held."""
        asked = price.scheme, price.channel_groups
        return next((way for way in self.ways if (way.scheme, way.groups) == asked), self.ways[0])

    def layer_cycles(self, price: Price) -> dict[int, int]:
        """Return the cycles of each layer of a price of this subgraph; they add up to its compute_cycles."""
        if price.loops is not None:
            return dict.fromkeys(self.subgraph.layers, price.compute_cycles)
        way = self.way(price)
        return way.layer_cycles(self._found(way, price.tile)[0])

    @property
    def rule_broken(self) -> Shortage | None:
        """Why it runs in no memory: too many regions, or updates that cannot be aligned; None where it may run."""
        return self._rule_broken

    def broken_beside(self, reserved: Reserved) -> Shortage | None:
        """Why it runs in no memory beside these kept tensors, None where it may."""
        return self._rule_broken or self._too_many_regions(reserved.elsewhere)

    def least_way(self, weight_capacity: int | None = None) -> tuple[OneCore, int, int]:
        """Return the way in which all is held in the fewest bytes, and its bytes of activations and weights.

        weight_capacity: that of a buffer for weights alone, which counts first; None where they share one.
        """

        def size(found: tuple[OneCore, int, int]) -> tuple[int, ...]:
            _, activations, weights = found
            if weight_capacity is None:
                return (activations + weights,)
            return max(0, weights - weight_capacity), activations

        return min(((way, *need) for way, need in zip(self.ways, self.least_needs)), key=size)

    @property
    def least_needs(self) -> list[tuple[int, int]]:
        """Bytes of one core of activations and weights, for each way to hold it."""
        return [(self._need(self.least_tile(way), way), way.weight_need) for way in self.ways]

    def least_tile(self, way: OneCore) -> TileShape:
        """Return the output tile that takes the fewest bytes in a way to hold it, the largest of equals."""
        tiles = [*((side, side) for side in self.rules.tiles), (1, self.candidates.columns)]
        return min(tiles, key=lambda tile: (self._need(tile, way), -self.candidates.area(tile)))

    def least_regions(self, way: OneCore) -> dict[int, Region]:
        """Return the regions of this tile."""
        return self._found(way, self.least_tile(way))[1]

    @property
    def least_activation(self) -> int:
        """Bytes of one core that the activations of one sample take at least, whatever the tile.

        On several cores of the first way, channels dealt; on one in as many groups of channels as there may be.
        """
        way = self._least_held
        return self._need(self.least_tile(way), way)

    @property
    def least_weights(self) -> int:
        """Bytes of one core that the weights take at least where they are held that way."""
        return self._least_held.weight_need

    @property
    def _least_held(self) -> OneCore:
        return self.ways[-1] if self.rules.cores == 1 else self.ways[0]

    def tiling(self, tile: TileShape) -> tuple[Tiling, dict[int, Region]] | None:
        """The execution scheme and the regions of one sample for such output tiles, None without a solution.

        On several cores of the first way, channels dealt.
        """
        if tile not in self._tilings:
            self._tilings[tile] = self.ways[0].derive(tile)
        return self._tilings[tile]

    def _found(self, way: OneCore, tile: TileShape) -> tuple[Tiling, dict[int, Region]]:
        """Return scheme and regions of one sample in one of the ways."""
        found = self.tiling(tile) if way is self.ways[0] or way.groups > 1 else way.derive(tile)
        assert found is not None, "its updates can be aligned"
        return found if way.groups == 1 else (found[0], way.regions(found[0], 1))

    def _groups(self) -> tuple[int, ...]:
        """Return in how many groups of channels the layers may run: 1 and, of several layers, others; ascending."""
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

    def _need(self, tile: TileShape, way: OneCore | None = None) -> int:
        """Return the bytes of one sample's regions; both ways to share columns have the same."""
        way = way or self.ways[0]
        key = tile, way is self.ways[0], way.groups
        if key not in self._needs:
            self._needs[key] = activation_bytes(self._found(way, tile)[1])
        return self._needs[key]

    def _held_plans(self, way: OneCore, room: int) -> list[tuple[TileShape, int]]:
        """Return the tiles that are tried with how many samples at once, by the rounds that these take.

        Weights are on chip, so samples may run one after the other: their regions then take the room of one, and
        weights are read again from their buffer for each round.
        """
        samples = way.samples
        together = sorted({-(-samples // rounds) for rounds in range(1, samples + 1)}, reverse=True)

        def need(tile: TileShape) -> int:
            return self._need(tile, way)

        return [(tile, at_once) for at_once in together for tile in self.candidates.largest(need, room // at_once)]

    def _held(self, way: OneCore, tile: TileShape, at_once: int) -> Price:
        key = tile, way is self.ways[0] or way.groups > 1  # groups of channels move what all do together
        if key not in self._work:
            of = self.ways[0] if key[1] else way
            self._work[key] = of.work(self._found(of, tile))
        moves, batch = way.moves(self._work[key], at_once), self.rules.batch
        inputs, outputs = batch * self.inputs, batch * self.outputs
        return Price(
            tile, at_once, at_once * self._need(tile, way), way.weight_need, None, False, self.weights, inputs, outputs,
            global_buffer_bytes=inputs + outputs + moves.buffered,
            weight_buffer_bytes=moves.weights_written + moves.weights_read,
            crossbar_bytes=moves.crossing,
            operations=self.operations,
            compute_cycles=moves.cycles,
            global_written_bytes=inputs + moves.written,
            weight_written_bytes=moves.weights_written,
            scheme=way.scheme,
            operation_extra=self.operation_extra,
            channel_groups=way.groups,
        )  # fmt: skip

    def _rank(self, price: Price, goal: Goal) -> tuple[float, ...]:
        """Return what to compare: the metric, then EMA, energy, latency, the larger tile."""
        rules, technology = self.rules, self.rules.geometry.technology
        ema, slots = price.ema_bytes, price.slots(rules.cores, technology)
        energy = goal.pj(price, slots)
        first = {"ema": ema, "energy": energy, "latency": slots}[rules.metric]
        return (first, ema, energy, slots, -self.candidates.area(price.tile))

    def _in_loops(self, activation_capacity: int, weight_capacity: int, goal: Goal) -> Price | Shortage:
        """Return the price of a single layer in its cheapest loop order and way to share it.

        A mapper says how long its updates take; words then move as often as without one.
        """
        rules, (v,) = self.rules, self.subgraph.layers
        room = Room(activation_capacity, None if rules.is_shared else weight_capacity)
        prices = []
        for way in self.loop_ways:
            cycles = rules.crew.cycles(way.part, way.samples)
            plan = cheapest_plan(way.loops, room, goal.of_cycles(cycles * rules.bandwidth))
            prices += [] if plan is None else [self.looped(way, plan)]
        if prices:
            return min(prices, key=lambda price: self._rank(price, goal))
        least = least_room(rules.loop_layer(v, self.kept), rules.is_shared)
        if room.weights is not None and least.activation <= room.activation:
            return Shortage(OF_WEIGHTS[1], least.weights, weight_capacity)
        return Shortage(OF_LOOPS[1], least.activation, activation_capacity)

    @property
    def loop_ways(self) -> tuple[LoopWay, ...]:
        """The ways to run a single layer in a loop order; none on several cores beside a tensor of it that is kept."""
        if not self.is_single or (self.rules.cores > 1 and self.subgraph.on_chip):
            return ()
        return self.rules.loop_ways(self.subgraph.layers[0], self.kept)

    @property
    def loop_needs(self) -> list[tuple[int, int]]:
        """Bytes of one core of activations and weights at least, for each of its smallest loop orders."""
        return [(need.activation, need.weights) for way in self.loop_ways for need in needs(way.loops)]

    def loop_way(self, price: Price) -> LoopWay:
        """Return the way in which a price of this layer runs in a loop order."""
        return next(way for way in self.loop_ways if way.scheme == price.scheme)

    def looped(self, way: LoopWay, plan: LoopPlan) -> Price:
        """Return the price of a single layer in a loop order, as all cores run it."""
        rules = self.rules
        is_streamed = plan.ema_weight_bytes > self.weights or plan.ema_input_bytes > rules.batch * self.inputs
        cycles = rules.crew.cycles(way.part, way.samples)
        if not rules.mapper.is_flat:
            cycles = rules.mapper.work(way.part, way.samples, 1, plan.tile).cycles
        return Price(
            plan.tile, plan.at_once, plan.activation_bytes, plan.weight_bytes, plan, is_streamed,
            plan.ema_weight_bytes, plan.ema_input_bytes, plan.ema_output_bytes,
            plan.global_buffer_bytes, plan.weight_buffer_bytes, plan.crossbar_bytes,
            self.operations, cycles,
            plan.global_written_bytes, plan.weight_written_bytes,
            scheme=way.scheme,
            operation_extra=self.operation_extra,
        )  # fmt: skip

    def _shortage(self, activation_capacity: int, weight_capacity: int) -> Shortage:
        _, activations, weights = self.least_way(None if self.rules.is_shared else weight_capacity)
        if self.rules.is_shared:
            needed = activations + weights
            return Shortage("activations and weights exceed the shared buffer", needed, activation_capacity)
        if weights > weight_capacity:
            return Shortage(OF_WEIGHTS[0], weights, weight_capacity)
        return Shortage("activations exceed the global buffer", activations, activation_capacity)


def _check_shared(network: Network) -> None:
    """Raise NetworkError for what several cores have no scheme for: other than 8 bits, experts that pass by."""
    for layer in network.layers:
        if layer.experts is not None and layer.experts.used > layer.experts.active:
            raise NetworkError(f"layer {layer.name!r} has no price on several cores: more experts are used than active")
    if not network.has_paper_types:
        raise NetworkError(f"network {network.name!r} has no price on several cores: not all its numbers are INT8")
