"""What stays the same while a search varies capacities and partitions, and what a price minimizes."""

from __future__ import annotations

from collections.abc import Collection, Container
from math import gcd

from simulator.accelerator import Accelerator, static_pj_per_slot
from simulator.metrics import DEFAULT_METRIC, Metric, check_metric
from simulator.model.kept import Kept, Reserved
from simulator.model.layer.goal import Goal, goal_of
from simulator.model.layer.loop_layer import LoopLayer
from simulator.model.layer.loops import loop_layer
from simulator.model.nests.chain import Links
from simulator.model.nests.epilogue import Followed
from simulator.model.nests.places import Pair, places_of
from simulator.model.nests.recognize import nest_of, nests_of
from simulator.model.schemes.cuts import check_cuts
from simulator.model.schemes.looped import LoopWay, loop_ways
from simulator.model.schemes.ways import Crew, dealt_layer
from simulator.model.subgraph.apart import most_groups, units_of
from simulator.model.subgraph.subgraph import Geometry
from simulator.model.subgraph.tiling import TILE_RULES, TileRule
from workloads.errors import NetworkError
from workloads.network.layers.ops import ALONE_OPS
from workloads.network.network import Network

Layers = tuple[int, ...]  #: ids, ascending
ORDERED = {
    "recurrent": "it is recurrent, and each row needs all of the one before",
    "scan": "a scan's state goes from row to row",
}  #: what several cores cannot share


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
        geometry = geometry.in_batch(accelerator.batch)
        if accelerator.cores > 1:
            geometry = geometry.unshared()  # our choice: cores share no weights of several layers
            _check_shared(geometry.network, technology.channel_alignment)
        check_cuts(geometry.network, technology)
        if not accelerator.mapper.is_flat:
            _check_plain(geometry.network)
        self.geometry = geometry
        self.tiles = technology.tiles
        self.tile_rule = tile_rule
        self.metric = metric
        self.is_shared = accelerator.is_shared
        self.cores, self.batch = accelerator.cores, accelerator.batch
        self.samples, self.bands = accelerator.samples_per_core, accelerator.bands
        self.max_regions = accelerator.max_regions
        self.mapper = accelerator.mapper
        self.rate, self.ports = accelerator.rate, accelerator.ports
        self.idle_macs = accelerator.idle_macs
        has_groups = accelerator.machine.has_groups
        self.most_groups = most_groups(geometry.network) if has_groups else [1] * len(geometry.network.layers)
        units = units_of(geometry.network) if has_groups else self.most_groups
        self.units = [1 if most == 1 else unit for unit, most in zip(units, self.most_groups)]
        self.crew = Crew(geometry, self.mapper, tile_rule, self.cores, self.batch)
        has_nests = accelerator.plans == "all" and accelerator.cores == 1 and self.mapper.is_flat
        self.nests = nests_of(geometry.network) if has_nests else {}  #: several layers in one loop nest
        self._places: dict[Layers, tuple[Pair, ...]] = {}
        self._loop_layers: dict[tuple[Layers, Kept | None], LoopLayer | None] = {}
        self._loop_ways: dict[tuple[Layers, Kept | None], tuple[LoopWay, ...]] = {}
        self.cycles = [self._least_cycles(v) for v in range(len(geometry.network.layers))]
        self._goals: dict[tuple[int, int], Goal] = {}

    def whole_bytes(self, tensor: int) -> int:
        """Return the bytes of a kept tensor in one core: all samples, with its channels dealt to all cores."""
        height, width = (extent[tensor] for extent in self.geometry.extent)
        return height * width * self.geometry.held_bytes(tensor, cores=self.cores) * self.batch

    def places(self, layers: Layers) -> tuple[Pair, ...]:
        """Return operands of these layers, each with a result that may take its place (nests/places.py)."""
        if layers not in self._places:
            is_looped = self.cores == 1 and self.mapper.is_flat
            found = places_of(self.geometry.network, layers, self.nests.get(layers)) if is_looped else ()
            self._places[layers] = found
        return self._places[layers]

    def handed(self, layers: Layers, on_chip: Container[int], last: Container[int]) -> Pair | None:
        """Return an operand and the result that takes its place in a step, if it runs in loops; None if none does.

        on_chip: what is kept while it runs; last: of what an earlier step left there, what no later step reads.
        """
        return next(((x, y) for x, y in self.places(layers) if x in last and y in on_chip), None)

    def handed_bytes(self, layers: Layers, on_chip: Container[int], last: Container[int]) -> int:
        """Return the bytes of that result."""
        found = self.handed(layers, on_chip, last)
        return 0 if found is None else self.whole_bytes(found[1])

    def reserved(
        self, layers: Layers, here: Collection[int], touched: Collection[int], last: Container[int]
    ) -> Reserved:
        """Return what all tensors kept during a step take, of which it makes or reads those that it touches."""
        handed = self.handed_bytes(layers, touched, last)
        return Reserved(sum(map(self.whole_bytes, here)) - handed, len(here) - len(touched), handed)

    @property
    def has_loop_orders(self) -> bool:
        """Whether single layers always run in loop orders, held or not: true on one core."""
        return self.cores == 1

    def loop_layer(self, v: int, kept: Kept | None = None) -> LoopLayer:
        """Return a layer as its loops see it."""
        found = self.loops_of((v,), kept)
        assert found is not None, "every layer has a loop order"
        return found

    def loop_ways(self, layers: Layers, kept: Kept | None = None) -> tuple[LoopWay, ...]:
        """Return the ways to run a layer, or a nest, in a loop order; none for other sets of layers.

        On several cores only if none of a layer's tensors is kept; a nest is for one core.
        """
        if (layers, kept) not in self._loop_ways:
            loops = self.loops_of(layers, kept if self.cores == 1 else None)
            parts = tuple(self.geometry.network.layers[v] for v in layers)
            self._loop_ways[layers, kept] = () if loops is None else loop_ways(parts, loops, self.crew.deal)
        return self._loop_ways[layers, kept]

    def loops_of(self, layers: Layers, kept: Kept | None = None) -> LoopLayer | None:
        """Return a layer, or a nest, as its loops see it; None for other sets of layers."""
        if (layers, kept) not in self._loop_layers:
            network, technology = self.geometry.network, self.geometry.technology
            if len(layers) == 1:
                found: LoopLayer | None = loop_layer(network, layers[0], self.batch, technology, kept)
            else:
                found = nest_of(self.nests, network, layers, self.batch, technology, kept)
                nest = self.nests.get(layers)
                links = nest.links if isinstance(nest, Followed) else nest
                if found is not None and isinstance(links, Links):
                    found = links.with_work(found, self.geometry.operation_extra, self.cycles_of)
            self._loop_layers[layers, kept] = found
        return self._loop_layers[layers, kept]

    def cycles_of(self, v: int) -> int:
        """Return the cycles of one core that computes all samples of a layer."""
        return self.crew.cycles(self.geometry.network.layers[v], self.batch)

    def goal(self, activation_capacity: int, weight_capacity: int) -> Goal:
        """Return what to minimize with buffers of these bytes, without the cycles of a layer."""
        if self.is_shared:
            weight_capacity = activation_capacity
        key = activation_capacity, weight_capacity
        if key not in self._goals:
            technology = self.geometry.technology
            activation = technology.sram("activation", activation_capacity)
            weights = activation if self.is_shared else technology.sram("weight", weight_capacity)
            static = static_pj_per_slot(technology, self.cores, activation, None if self.is_shared else weights)
            of_machine = self.cores, self.idle_macs, self.ports
            self._goals[key] = goal_of(self.metric, technology, activation, weights, static, *of_machine)
        return self._goals[key]

    def _least_cycles(self, v: int) -> int:
        """Return a lower bound on the cycles of a layer: those of its fastest way, whatever runs with it."""
        crew, layer = self.crew, self.geometry.network.layers[v]
        if crew.cores == 1:
            return crew.cycles(layer, crew.batch)
        technology, samples = crew.geometry.technology, -(-crew.batch // crew.teams)
        shared = crew.mapper.cycles(layer, samples, crew.bands, technology)
        looped = [crew.looped_cycles(way) for way in self.loop_ways((v,))]
        return min(crew.cycles(dealt_layer(layer, crew.deal), crew.batch), shared, *looped)


def _check_plain(network: Network) -> None:
    """Raise NetworkError for an attention in blocks or rows in order, which are no plain nests of loops."""
    for layer in network.layers:
        if what := (ALONE_OPS | {"recurrent": "recurrent", "scan": "a scan"}).get(layer.op):
            raise NetworkError(f"layer {layer.name!r} has no price on a mapper that looks at every tile: it is {what}")


def _check_shared(network: Network, alignment: int) -> None:
    """Raise NetworkError for what several cores cannot share: rows in order, words that are not whole bytes."""
    for v, layer in enumerate(network.layers):
        if layer.op in ORDERED:
            raise NetworkError(f"layer {layer.name!r} has no price on several cores: {ORDERED[layer.op]}")
        tensors = [network.tensors[u] for u in (v, *network.operands[v])]
        word = gcd(alignment, *(each.channels for each in tensors))
        weights = gcd(alignment, layer.channels) * layer.weight_elements * layer.bits.weights
        if weights % (8 * layer.channels) or any(word * each.bits % 8 for each in tensors):
            raise NetworkError(
                f"layer {layer.name!r} has no price on several cores: words of its channels do not fill whole bytes"
            )
