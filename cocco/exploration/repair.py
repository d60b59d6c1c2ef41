"""A plan whose bytes fit but which finds no addresses is changed, the cheapest change first, until it has them.

Our choice: bytes are what the search prices, and with kept tensors over several steps they do not suffice
(docs/allocation.md says how often). The first few steps are found that lack addresses though all steps before have
them. Every plan that differs by one move in these is priced by the simulator; in the order of their cost they are asked
for addresses up to there. Where none has them, the one goes on whose lowest packing is least too high. Where no plan
with addresses is found, the plan stays as it was.
"""

from __future__ import annotations

from cocco.allocation.address_map import AddressMap, address_map
from cocco.allocation.windows import Windows, clip
from cocco.exploration.moves import Change, Moved, changes
from cocco.problem.names import Metric
from simulator.accelerator import Accelerator
from simulator.model.cost import METRICS, total
from simulator.model.held import BufferPlan, Memory, make_plan
from simulator.model.kept import NOTHING, Kept, Reserved, kept_of
from simulator.model.priced import PricedPartition, reserved_in
from simulator.model.pricing import Price, PricingRules, Shortage, SubgraphModel
from simulator.model.subgraph import Geometry
from simulator.model.tiling import TileRule
from simulator.partition.intervals import KeptInterval
from simulator.partition.partition import Partition
from simulator.partition.steps import steps_of
from workloads.network.network import Network

MOVES = 256  #: our choice: of one plan; each takes bytes out of the steps that lack addresses
TRIES = 64  #: plans that are asked for addresses before the next move; our choice
LOOKS = 150_000  #: at steps of changed plans; our choice: 2 moves of NASNet, 20 of GoogleNet, some 10 seconds each
TRY_NODES = 2_000  #: of the allocator, for each; our choice

Key = tuple[tuple[tuple[int, ...], ...], tuple[KeptInterval, ...]]  #: what tells plans apart


class Repair:
    """One network on given hardware, and what is known of its steps and of their addresses.

    needs_pairs: whether a subgraph may not have more (start, end) pairs than the region manager.
    """

    def __init__(
        self, network: Network, accelerator: Accelerator, metric: Metric, tile_rule: TileRule, needs_pairs: bool
    ) -> None:
        self.network, self.accelerator, self.needs_pairs = network, accelerator, needs_pairs
        self.tile_rule, self.metric = tile_rule, metric
        self.geometry = Geometry(network, accelerator.technology)
        self.rules: dict[Metric, PricingRules] = {}
        self.prices: dict[
            tuple[Metric, tuple[int, ...], Kept | None, Reserved], tuple[SubgraphModel, Price | Shortage]
        ] = {}
        self.windows: dict[Memory, Windows] = {}
        self.looks = 0

    def repaired(self, plan: Partition) -> tuple[Partition, tuple[Moved, ...], AddressMap | None]:
        """Return a plan with addresses, the moves to it, and its map; the map does not fit where none was found."""
        found, moves = self._map(plan), list[Moved]()
        if found is None or self._is_placed(found):
            return plan, (), found
        first, seen, done = (plan, found), {_key(plan)}, dict[Memory, int]()
        while len(moves) < MOVES and self.looks < LOOKS:
            held = make_plan(self.priced(plan))
            open_ = self._first_open(held, done)
            if open_ is None:
                break
            memory, where = open_
            chosen = self._next(plan, memory, where, seen)
            if chosen is None:
                break
            change, end = chosen
            done = done | {memory: end} if end else {}
            moves.append(change.moved)
            plan = change.plan
            seen.add(_key(plan))
        found = self._map(plan) if moves else found
        assert found is not None
        return (plan, tuple(moves), found) if self._is_placed(found) else (first[0], (), first[1])

    def _map(self, plan: Partition) -> AddressMap | None:
        return address_map(self.network, plan, self.accelerator, self.tile_rule)

    def _is_placed(self, found: AddressMap) -> bool:
        return found.fits and not (self.needs_pairs and found.crowded)

    def _first_open(self, held: BufferPlan, done: dict[Memory, int]) -> tuple[Memory, range] | None:
        """Return the first steps that lack addresses, or pairs; in each memory the first so many steps have them."""
        for memory, buffers in held.buffers.items():
            found = self._windows(held, memory).first_open(buffers, done.get(memory, 0))
            if found is not None:
                return memory, found
            for i in range(len(held.holdings)):
                if self._pairs_missing(held, memory, range(i, i + 1)):
                    return memory, range(i, i + 1)
        return None

    def _next(self, plan: Partition, memory: Memory, where: range, seen: set[Key]) -> tuple[Change, int] | None:
        """Return the cheapest change after which all have addresses up to a step, and this; else the nearest, and 0.

        None where no change fits by its bytes, or all were seen.
        """
        fitting: list[tuple[float, int, Change, PricedPartition]] = []
        for change in changes(self.network, plan, where):
            if _key(change.plan) in seen:
                continue
            priced = self.priced(change.plan)
            if priced.fits:
                prices = [price for price in priced.prices if isinstance(price, Price)]
                cost = METRICS[self.metric](total(prices, self.accelerator), self.accelerator)
                fitting.append((cost, len(fitting), change, priced))
        fitting.sort(key=lambda each: each[:2])
        nearest: list[tuple[int, int, Change]] = []
        for rank, (_, _, change, priced) in enumerate(fitting):
            if rank >= TRIES and nearest:
                break
            held, end = make_plan(priced), where.stop + len(change.plan) - len(plan)
            missing = self._missing(held, memory, range(where.start, end)) or self._missing(held, memory, range(end))
            if not missing:
                return change, end
            if change.moved.what != "reordered":  # each of the others takes something out: there is an end
                nearest.append((missing, rank, change))
        return (min(nearest, key=lambda each: each[:2])[2], 0) if nearest else None

    def priced(self, plan: Partition) -> PricedPartition:
        """Return a plan priced as `price_partition` does; a step that was seen before is not priced again."""
        if plan.metric not in self.rules:
            self.rules[plan.metric] = PricingRules(self.geometry, self.accelerator, self.tile_rule, plan.metric)
        self.looks += len(plan)
        rules = self.rules[plan.metric]
        steps = steps_of(self.network, plan) if plan.keep else ()
        models, prices = [], []
        for i, layers in enumerate(plan.subgraphs):
            kept, reserved = (kept_of(steps[i]), reserved_in(rules, steps[i])) if steps else (None, NOTHING)
            key = plan.metric, layers, kept, reserved
            if key not in self.prices:
                model = SubgraphModel(rules, layers, kept)
                price = model.price(self.accelerator.activation_capacity, self.accelerator.weight_capacity, reserved)
                self.prices[key] = model, price
            models.append(self.prices[key][0])
            prices.append(self.prices[key][1])
        return PricedPartition(self.network, plan, self.accelerator, rules, tuple(models), tuple(prices), steps)

    def _missing(self, held: BufferPlan, memory: Memory, steps: range) -> int:
        """Return 0 where all have addresses in these steps, and pairs where they must, else how far that is away."""
        missing = self._windows(held, memory).missing(clip(held.buffers[memory], steps))
        return missing + self._pairs_missing(held, memory, steps)

    def _pairs_missing(self, held: BufferPlan, memory: Memory, steps: range) -> int:
        most = self.accelerator.max_regions
        if not (self.needs_pairs and most):
            return 0
        several = (i for i in steps if len(held.holdings[i].names) > 1)
        return sum(max(0, len(held.live(memory, i)) - most) for i in several)

    def _windows(self, held: BufferPlan, memory: Memory) -> Windows:
        if memory not in self.windows:
            self.windows[memory] = Windows(held.capacity(memory), TRY_NODES)
        return self.windows[memory]


def _key(plan: Partition) -> Key:
    return plan.subgraphs, plan.keep
