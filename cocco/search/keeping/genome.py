"""What a genome keeps on chip: its subgraphs in execution order, with the intervals that a greedy rule gives them.

A search prices thousands of genomes, so the intervals must come fast: gaps.py chooses them by bytes, with the least
need of every step reserved. Then each step is priced next to the kept tensors; if it loses more than the least valuable
tensor there saves, that one is dropped. If a network then costs no less than with nothing kept, nothing is kept. So a
genome never costs more than without kept tensors (in the metric by which its tiles are chosen).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from cocco.candidates.genome import Genome, groups_of
from cocco.problem.problem import Problem
from cocco.search.keeping.gaps import NO_LIMIT, Kin, Place, Stay, chosen_stays
from simulator.accelerator import Accelerator
from simulator.model.cost import METRICS, Totals, total
from simulator.model.kept import NOTHING, Kept, Reserved
from simulator.model.layer.least_room import least_room
from simulator.model.pricing import Price, SubgraphModel
from simulator.model.subgraph.subgraph import Geometry
from simulator.partition.intervals import Span
from simulator.partition.order import order_subgraphs
from simulator.partition.partition import Partition

Group = tuple[int, ...]  #: layers of a step, ids of its network
Modeller = Callable[[int, Group, Kept | None], SubgraphModel]  #: by the position of the network

MODELS, PRICES = 4096, 65536  #: our choice: remembered, those not used for longest are forgotten


class Floor(NamedTuple):
    """The least room reserved for a step: what it takes of the activation buffer, by tensor of S, then of in(S)."""

    takes: dict[int, int]
    weights: int  #: of the same buffer

    @property
    def bytes(self) -> int:
        """Bytes of one core."""
        return sum(self.takes.values()) + self.weights


class Decoded(NamedTuple):
    """One network of a genome: steps in execution order, the tensors that stay, and the totals."""

    groups: tuple[Group, ...]
    spans: tuple[Span, ...]
    totals: Totals | None  #: None: a step does not fit, whatever is kept


class Decoder:
    """Decodes the genomes of one problem. model: makes or remembers the model of a subgraph."""

    def __init__(self, problem: Problem, models: int = MODELS, prices: int = PRICES, model: Modeller | None = None):
        self.problem = problem
        self.keeps = problem.keep == "auto"  #: else nothing stays
        self._model = lru_cache(models)(model or self._new_model)
        self._price = lru_cache(prices)(self._new_price)
        self._floor = lru_cache(models)(self._new_floor)
        self._metric = METRICS[problem.metric]

    def decode(self, labels: Sequence[int], machine: Accelerator) -> list[Decoded]:
        """Return what the subgraphs of a valid genome keep in this memory, network by network."""
        local: list[list[Group]] = [[] for _ in self.problem.networks]
        for group in groups_of(labels):
            i = self.problem.network_of[group[0]]
            local[i].append(tuple(v - self.problem.offsets[i] for v in group))
        return [self._network(i, groups, machine) for i, groups in enumerate(local)]

    def _network(self, i: int, groups: list[Group], machine: Accelerator) -> Decoded:
        steps = order_subgraphs(self.problem.networks[i], groups)
        alone = [self.price(i, group, None, machine, NOTHING) for group in steps]
        fitting = [row for row in alone if row is not None]
        if len(fitting) < len(alone):
            return Decoded(steps, (), None)
        plain = added(fitting)
        if not self.keeps:
            return Decoded(steps, (), plain)
        run = _Run(self, i, steps, fitting, machine)
        rows = run.settled()
        spans = tuple(sorted(stay.span for stay in run.stays))
        if not spans or None in rows:
            return Decoded(steps, (), plain)
        kept = added([row for row in rows if row is not None])
        if not self._metric(kept, machine) < self._metric(plain, machine):
            return Decoded(steps, (), plain)
        return Decoded(steps, spans, kept)

    def floor(self, i: int, group: Group, machine: Accelerator) -> Floor:
        """Return the least room reserved for a step."""
        return self._floor(i, group, 0 if machine.is_shared else machine.weight_capacity)

    def outputs(self, i: int, group: Group) -> tuple[int, ...]:
        """Return the tensors that a subgraph writes if nothing stays."""
        return self._model(i, group, None).subgraph.outputs

    def cost(self, row: Totals | None, machine: Accelerator) -> float:
        """Return the metric of a step; inf if it does not fit."""
        return math.inf if row is None else self._metric(row, machine)

    def price(self, i: int, group: Group, kept: Kept | None, machine: Accelerator, reserved: Reserved) -> Totals | None:
        """Return what a step adds to the totals; None if it does not fit."""
        weights = 0 if machine.is_shared else machine.weight_capacity
        return self._price(i, group, kept, machine.activation_capacity, weights, reserved)

    def _new_model(self, i: int, group: Group, kept: Kept | None) -> SubgraphModel:
        return SubgraphModel(self.problem.rules[i], group, kept)

    def _new_price(
        self, i: int, group: Group, kept: Kept | None, activations: int, weights: int, reserved: Reserved
    ) -> Totals | None:
        price = self._model(i, group, kept).price(activations, weights, reserved)
        return total([price], self.problem.accelerator) if isinstance(price, Price) else None

    def _new_floor(self, i: int, group: Group, weight_capacity: int) -> Floor:
        """Return the regions of the smallest tile; for a layer alone perhaps whole inputs, with weights streamed.

        Of a nest perhaps the room of its least loops, whatever tensors they are of.
        """
        rules, way = self.problem.rules[i], self._model(i, group, None).ways[0]
        subgraph, weights, side = way.subgraph, way.weight_need, rules.tiles[-1]
        found = way.derive((side, side))
        assert found is not None, "it has a price"
        _, regions = found
        held = Floor({u: regions[u].main_bytes + regions[u].side_bytes for u in subgraph.tensors}, weights)
        if len(group) == 1 and rules.has_loop_orders:
            word = rules.geometry.technology.channel_alignment
            takes = {v: word * rules.samples for v in group} | {u: rules.whole_bytes(u) for u in subgraph.inputs}
            passing = Floor(takes, -(-weights // -(-rules.geometry.channels[group[0]] // word)))
            if held.bytes > passing.bytes if rules.is_shared else weights > weight_capacity:
                held = passing
        elif len(group) > 1 and (nest := rules.loops_of(group)) is not None:
            passing = Floor(
                {u: 0 for u in subgraph.tensors} | {group[0]: least_room(nest, rules.is_shared).activation}, 0
            )
            activations = held.bytes - (0 if rules.is_shared else weights)
            if activations > passing.bytes or not (rules.is_shared or weights <= weight_capacity):
                held = passing
        return held if rules.is_shared else held._replace(weights=0)


def added(rows: Iterable[Totals]) -> Totals:
    """Return the sums of steps."""
    return Totals(*map(sum, zip(*rows)))


def _is_spared(geometry: Geometry, u: int) -> bool:
    """Return whether a tensor need not be written if it stays from its maker to its last reader."""
    return u < geometry.count and not geometry.network.is_output[u]


class _Run:
    """The steps of one network in execution order, and the tensors that stay over them."""

    def __init__(
        self, decoder: Decoder, i: int, steps: Sequence[Group], alone: Sequence[Totals], machine: Accelerator
    ) -> None:
        self.decoder, self.i, self.steps, self.alone, self.machine = decoder, i, steps, alone, machine
        self.rules = decoder.problem.rules[i]
        self.floors = [decoder.floor(i, group, machine) for group in steps]
        self.stays = chosen_stays(self._tensors(), self._free(), self._slots())
        self.here: list[list[Stay]] = [[] for _ in steps]
        for stay in self.stays:
            for step in range(stay.span[1], stay.span[2] + 1):
                self.here[step].append(stay)
        dram, buffer = self.rules.geometry.technology.dram_pj_per_byte, machine.activation_sram
        self.crossing = {
            "ema": 1.0,
            "energy": dram + (buffer.read_pj_per_byte + buffer.write_pj_per_byte) / 2,
            "latency-sum": 1.0 / machine.dram_bytes_per_cycle,
        }[decoder.problem.metric]  #: what a byte across DRAM costs; it is written to the buffer or read

    def settled(self) -> list[Totals | None]:
        """Drop tensors that cost a step more than they save; return what each step then adds to the totals."""
        rows: list[Totals | None] = []
        for step, alone in enumerate(self.alone):
            rows.append(self._priced(step))
            least = self.decoder.cost(alone, self.machine)
            for stay in sorted(self.here[step], key=lambda stay: (stay.worth, stay.saved, -stay.kin.tensor)):
                loss = self.decoder.cost(rows[step], self.machine) - least
                if not loss > float(stay.saved) * self.crossing:
                    break
                self._drop(stay)
                for each in range(stay.span[1], step + 1):
                    rows[each] = self._priced(each)
        return rows

    def _drop(self, stay: Stay) -> None:
        self.stays.remove(stay)
        for step in range(stay.span[1], stay.span[2] + 1):
            self.here[step].remove(stay)

    def _priced(self, step: int) -> Totals | None:
        """Return what a step adds to the totals next to the tensors that stay there."""
        if not self.here[step]:
            return self.alone[step]
        group, takes = self.steps[step], self.floors[step].takes
        stays = {stay.kin.tensor: stay for stay in self.here[step]}
        touched = frozenset(u for u in stays if u in takes)
        kept = None
        if touched:
            loaded = frozenset(u for u in takes if u not in group and (u not in stays or stays[u].span[1] == step))
            outputs = self.decoder.outputs(self.i, group)
            written = frozenset(v for v in outputs if v not in stays or not stays[v].is_unwritten)
            kept = Kept(touched, loaded, written)
        last = [u for u, stay in stays.items() if stay.span[1] < step == stay.kin.places[-1].step]
        reserved = self.rules.reserved(group, stays, touched, last)
        return self.decoder.price(self.i, group, kept, self.machine, reserved)

    def _tensors(self) -> list[Kin]:
        """Return the tensors that a step reads from another step, or that several steps read."""
        rules, geometry = self.rules, self.rules.geometry
        places: list[list[Place]] = [[] for _ in geometry.channels]
        for step, floor in enumerate(self.floors):
            for u, takes in floor.takes.items():
                places[u].append(Place(step, takes))
        return [
            Kin(u, _is_spared(geometry, u), rules.whole_bytes(u), rules.batch * geometry.size_bytes[u], tuple(each))
            for u, each in enumerate(places)
            if len(each) > 1
        ]

    def _free(self) -> list[int]:
        return [self.machine.activation_capacity - floor.bytes for floor in self.floors]

    def _slots(self) -> list[int]:
        most = self.rules.max_regions
        return [NO_LIMIT if most is None else most - len(floor.takes) for floor in self.floors]


def decoded(problem: Problem, genome: Genome) -> tuple[Partition, ...]:
    """Return the plan of each network, with its order and kept intervals, that the searches price for a genome.

    The genome is that of a sample: after in-situ split.
    """
    found = Decoder(problem).decode(genome.labels, problem.accelerator_of(genome.capacities))
    return tuple(
        Partition.from_ids(network, each.groups, problem.metric, each.spans)
        for network, each in zip(problem.networks, found)
    )
