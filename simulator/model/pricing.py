"""What one subgraph takes and moves for given capacities, in integers only, so that all engines agree to the byte.

`SubgraphModel` holds what does not depend on the capacities, so that a search can price the same layers for another
memory in microseconds. Of all that fits, `price` picks what is cheapest in the given metric: the tile and the samples
at once of a subgraph whose regions and weights are all on chip (Cocco, Sec. 3.1, stage 1, leaves the tile open), how
several cores share it (schemes/ways.py), and the loop order of a single layer, or of a nest of several (nests/). Ties
go to the least EMA, then energy, latency, and the larger tile.
"""

from __future__ import annotations

from itertools import accumulate

from simulator.model.holding import Holding
from simulator.model.kept import NOTHING, Reserved
from simulator.model.layer.cheapest import cheapest_plan
from simulator.model.layer.goal import Goal, Room, computing_cycles, energy_of
from simulator.model.layer.least_room import least_room, needs
from simulator.model.layer.orders import LoopPlan
from simulator.model.nests.chain import Links
from simulator.model.nests.epilogue import Followed
from simulator.model.price import OF_LOOPS, OF_WEIGHTS, Price, Shortage
from simulator.model.rules import PricingRules
from simulator.model.schemes.looped import LoopWay
from simulator.model.schemes.ways import OneCore
from simulator.model.subgraph.loop_regions import loop_regions
from simulator.model.subgraph.regions import Residency
from simulator.model.subgraph.tiles import TileShape

__all__ = ["OF_LOOPS", "OF_WEIGHTS", "Price", "PricingRules", "Shortage", "SubgraphModel"]


class SubgraphModel(Holding):
    """One subgraph under given rules; tilings are derived once and kept.

    layers: ids of those that run together. kept: which of its tensors stay on chip, are loaded and are stored; None
    where none stays.

    Examples
    --------
    VGG16's conv1_2 moves 6,459,392 bytes to and from DRAM. If its input has stayed on chip (whole: 3.1 MB) and its
    output stays as well, only the weights cross:

    >>> import workloads
    >>> from simulator import Accelerator, MiB
    >>> from simulator.model.kept import Kept, Reserved
    >>> from simulator.model.subgraph.subgraph import Geometry
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

    def price(self, activation_capacity: int, weight_capacity: int, reserved: Reserved = NOTHING) -> Price | Shortage:
        """Return the cheapest price for these capacities (bytes of one core), or what is missing.

        Where activations and weights share one buffer, weight_capacity is ignored. reserved: what all tensors kept in
        the meantime take of the activation buffer, its own included, and what is left free. The energy of a byte is
        that of the whole buffer.
        """
        broken = self.broken_beside(reserved)
        if broken is not None:
            return broken
        taken = reserved.size_bytes + (reserved.spare if self.rules.is_shared else 0)
        left, weights = activation_capacity - taken, max(0, weight_capacity - reserved.spare)
        if left < 0:
            reason = "kept tensors exceed the buffer" if not reserved.spare else "what is left free exceeds the buffer"
            return Shortage(reason, taken + self._least_beside(reserved.handed), activation_capacity)
        goal = self.rules.goal(activation_capacity, weight_capacity)
        price = self._price(left, weights, goal, reserved.handed)
        if not taken:
            return price
        if isinstance(price, Price):
            return price._replace(kept_bytes=reserved.size_bytes + (0 if price.loops else reserved.handed))
        return self._beside_kept(price, taken)

    def _price(self, activation_room: int, weight_capacity: int, goal: Goal, handed: int) -> Price | Shortage:
        """Return the cheapest price in this room; handed: bytes of it that a result takes if all regions are held."""
        rules = self.rules
        if self.in_loops_only or (self.is_single and rules.has_loop_orders and rules.mapper.is_flat):
            return self._in_loops(activation_room, weight_capacity, goal)
        prices = []
        for way in self.ways:
            room = activation_room - handed - (way.weight_need if rules.is_shared else 0)
            if room >= 0 and (rules.is_shared or way.weight_need <= weight_capacity):
                prices += [self._held(way, *each) for each in self._held_plans(way, room)]
        if self.loop_ways and (rules.cores > 1 or not self.is_single or not prices):
            found = self._in_loops(activation_room, weight_capacity, goal)
            if isinstance(found, Shortage) and not prices:
                held, may_choose = self._shortage(activation_room, weight_capacity, handed), not self.is_single
                may_choose = may_choose or (rules.is_shared and rules.cores > 1)
                is_less = may_choose and (held.needed_bytes or 0) < (found.needed_bytes or 0)
                return held if is_less else found
            prices += [found] if isinstance(found, Price) else []
        if not prices:
            return self._shortage(activation_room, weight_capacity, handed)
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
        """Return the way in which the cores share this subgraph in a price that holds it."""
        asked = price.scheme, price.channel_groups
        return next((way for way in self.ways if (way.scheme, way.groups) == asked), self.ways[0])

    def layer_cycles(self, price: Price) -> dict[int, int]:
        """Return the cycles of each layer in a price of this subgraph; they add up to its compute_cycles.

        Where ports are slower than the array, all layers take longer in proportion.
        """
        found = self._array_cycles(price)
        ends = [0, *accumulate(found.values())]
        whole = [price.compute_cycles * end // ends[-1] for end in ends]
        return {v: end - start for v, start, end in zip(found, whole, whole[1:])}

    def _array_cycles(self, price: Price) -> dict[int, int]:
        """Return the cycles that the array takes for each layer, for a layer by itself all."""
        if price.loops is not None:
            if self.is_single:
                return dict.fromkeys(self.subgraph.layers, price.compute_cycles)
            nest = self.rules.nests[self.subgraph.layers]
            if isinstance(nest, (Links, Followed)):
                return nest.cycles_of(self.loop_way(price).loops, price.loops, self.rules.cycles_of)
            return {v: self.rules.cycles_of(v) for v in self.subgraph.layers}
        way = self.way(price)
        return way.layer_cycles(self._found(way, price.tile)[0])

    def broken_beside(self, reserved: Reserved) -> Shortage | None:
        """Why it can run in no memory together with these kept tensors; None if it may."""
        return self._rule_broken or self._too_many_regions(reserved.elsewhere)

    def _too_many_regions(self, elsewhere: int) -> Shortage | None:
        """Return a shortage if it has too many regions; each kept tensor that it does not use is one more."""
        most, kept = self.rules.max_regions, elsewhere + len(self.subgraph.on_chip)
        tensors = elsewhere + len(self.subgraph.tensors)
        if not kept or most is None or tensors <= most:
            return None
        return Shortage(f"{tensors} tensors (layers, inputs, kept) exceed the {most} regions of the region manager")

    def _least_beside(self, handed: int) -> int:
        """Return the least bytes that it needs in the activation buffer, not counting kept tensors; handed: if held."""
        if self.is_single:
            return self._least_looped().activation if self.rules.has_loop_orders else 0
        held = handed + self.least_activation + (self.least_weights if self.rules.is_shared else 0)
        return min(held, self._least_looped().activation) if self.loop_ways else held

    def _least_looped(self) -> Room:
        """Return the least memory in which one core runs this layer, or nest, in a loop order."""
        layer = self.rules.loops_of(self.subgraph.layers, self.kept)
        assert layer is not None, "it has loop orders"
        return least_room(layer, self.rules.is_shared)

    def _beside_kept(self, shortage: Shortage, kept_bytes: int) -> Shortage:
        """Return the shortage in terms of the whole buffer."""
        needed, available = shortage.needed_bytes, shortage.available_bytes
        if needed is None or available is None or shortage.reason in OF_WEIGHTS:
            return shortage
        return Shortage(f"{shortage.reason}, beside kept tensors", needed + kept_bytes, available + kept_bytes)

    def _held_plans(self, way: OneCore, room: int) -> list[tuple[TileShape, int]]:
        """Return the (tile, samples at once) pairs to try, one set for each number of rounds.

        Weights are on chip, so samples may run one after the other: their regions then take the room of one sample,
        and weights are read from their buffer again in each round.
        """
        samples = way.samples
        together = sorted({-(-samples // rounds) for rounds in range(1, samples + 1)}, reverse=True)

        def need(tile: TileShape) -> int:
            return self._need(tile, way)

        return [(tile, at_once) for at_once in together for tile in self.candidates.largest(need, room // at_once)]

    def _held(self, way: OneCore, tile: TileShape, at_once: int) -> Price:
        key = tile, way is self.ways[0] or way.groups > 1  # groups of channels move the same as all channels together
        if key not in self._work:
            of = self.ways[0] if key[1] else way
            self._work[key] = of.work(self._found(of, tile))
        moves, batch = way.moves(self._work[key], at_once), self.rules.batch
        if way.groups > 1:  # each group fills the array anew
            moves = moves._replace(cycles=sum(way.layer_cycles(self._found(way, tile)[0]).values()))
        inputs, outputs = batch * self.inputs, batch * self.outputs
        activations, weights = inputs + outputs + moves.buffered, moves.weights_written + moves.weights_read
        return Price(
            tile, at_once, at_once * self._need(tile, way), way.weight_need, None, False, self.weights, inputs, outputs,
            global_buffer_bytes=activations,
            weight_buffer_bytes=weights,
            crossbar_bytes=moves.crossing,
            operations=self.operations,
            compute_cycles=computing_cycles(moves.cycles, activations, weights, self.rules.ports),
            global_written_bytes=inputs + moves.written,
            weight_written_bytes=moves.weights_written,
            scheme=way.scheme,
            operation_extra=self.operation_extra,
            channel_groups=way.groups,
        )  # fmt: skip

    def _rank(self, price: Price, goal: Goal) -> tuple[float, ...]:
        """Return the sort key, smaller is better: the metric, then EMA, energy, latency, the larger tile."""
        rules, technology = self.rules, self.rules.geometry.technology
        ema, slots = price.ema_bytes, price.slots(rules.cores, technology)
        energy = energy_of(goal, price, slots, price.idle(goal.macs))
        first = {"ema": ema, "energy": energy, "latency-sum": slots}[rules.metric]
        return (first, ema, energy, slots, -self.candidates.area(price.tile))

    def _in_loops(self, activation_capacity: int, weight_capacity: int, goal: Goal) -> Price | Shortage:
        """Return the price of a single layer, or a nest, in its cheapest loop order and way of sharing it.

        A mapper changes only how long its updates take; words move as often as without one.
        """
        rules = self.rules
        room = Room(activation_capacity, None if rules.is_shared else weight_capacity)
        prices = []
        for way in self.loop_ways:
            cycles = rules.crew.looped_cycles(way)
            plan = cheapest_plan(way.loops, room, goal.of_cycles(cycles, self.operations))
            prices += [] if plan is None else [self.looped(way, plan)]
        if prices:
            return min(prices, key=lambda price: self._rank(price, goal))
        least = self._least_looped()
        if room.weights is not None and least.activation <= room.activation:
            return Shortage(OF_LOOPS[0 if self.is_single else 2], least.weights, weight_capacity)
        return Shortage(OF_LOOPS[1 if self.is_single else 3], least.activation, activation_capacity)

    @property
    def least_needs(self) -> list[tuple[int, int]]:
        """The least bytes of activations and weights in one core, for each way to hold it or each loop order."""
        return self.loop_needs if self.in_loops_only and self.loop_ways else super().least_needs

    @property
    def loop_needs(self) -> list[tuple[int, int]]:
        """The least bytes of activations and weights in one core, for each of its smallest loop orders."""
        return [(need.activation, need.weights) for way in self.loop_ways for need in needs(way.loops)]

    def loop_way(self, price: Price) -> LoopWay:
        """Return the way in which a price of this layer, or nest, runs in a loop order."""
        return next(way for way in self.loop_ways if way.scheme == price.scheme)

    def looped(self, way: LoopWay, plan: LoopPlan) -> Price:
        """Return the price of a single layer, or a nest, in a loop order, as all cores run it."""
        rules = self.rules
        moved = plan.totals
        is_streamed = moved.ema_weight_bytes > self.weights or moved.ema_input_bytes > rules.batch * self.inputs
        cycles = rules.crew.looped_cycles(way) + moved.again_cycles
        if not rules.mapper.is_flat:
            cycles = rules.mapper.work(way.parts[0], way.samples, 1, plan.tile).cycles
        return Price(
            plan.tile, plan.at_once, plan.activation_bytes, plan.weight_bytes, plan, is_streamed,
            moved.ema_weight_bytes, moved.ema_input_bytes, moved.ema_output_bytes,
            moved.global_buffer_bytes, moved.weight_buffer_bytes, moved.crossbar_bytes,
            self.operations + moved.rescalings,
            computing_cycles(cycles, moved.global_buffer_bytes, moved.weight_buffer_bytes, rules.ports),
            moved.global_written_bytes, moved.weight_written_bytes,
            scheme=way.scheme,
            operation_extra=self.operation_extra + moved.again_extra,
            rescalings=moved.rescalings,
            again_extra=moved.again_extra,
        )  # fmt: skip

    def _shortage(self, activation_capacity: int, weight_capacity: int, handed: int) -> Shortage:
        _, activations, weights = self.least_way(None if self.rules.is_shared else weight_capacity)
        activations += handed
        if self.rules.is_shared:
            needed = activations + weights
            return Shortage("activations and weights exceed the shared buffer", needed, activation_capacity)
        if weights > weight_capacity:
            return Shortage(OF_WEIGHTS[0], weights, weight_capacity)
        return Shortage("activations exceed the global buffer", activations, activation_capacity)
