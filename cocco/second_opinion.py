"""A second opinion on proofs: uniform-cost search over all plans, which shares nothing with the searches it judges.

A state is what has run and what stays on chip. No bound on what is left, no pattern, no dominance but one: of two ways
to a state the cheaper goes on (Dijkstra, 1959). Prices are the simulator's, equivalent steps once. What stays does so:

    unwritten   nobody reads it in DRAM, and it is no model output: it stays until its last reader
    owed        its maker writes it for a reader that finds it in DRAM: it is dropped before its last reader
    free        DRAM has it anyway, as model input, as model output, or because it was loaded: it goes after any reader

All else that is still read lies in DRAM. A step runs a connected set of layers that lacks no producer, in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from heapq import heappop, heappush
from itertools import product
from operator import or_
from typing import Literal, NamedTuple

from cocco.problem.criteria import CRITERIA
from simulator.accelerator import Accelerator
from simulator.connected import neighbours
from simulator.evaluation import evaluate
from simulator.metrics import Metric
from simulator.model.cost import METRICS, total
from simulator.model.equivalence import Models
from simulator.model.kept import Kept
from simulator.model.price import Price
from simulator.model.rules import PricingRules
from simulator.model.subgraph.subgraph import Geometry
from simulator.model.subgraph.tiling import TileRule
from simulator.partition.intervals import Span
from simulator.partition.partition import Partition
from workloads.network.network import Network

MOST_STEPS = 10_000_000  #: our choice: one to three minutes of a core
PRICE_STEPS, STATE_STEPS = 100, 10  #: of a price and of a state that are new: about their shares of time and memory
ROUNDING = 1e-12  #: sums of the same prices in another order differ by less, relatively
Status = Literal["confirmed", "refuted", "gave_up"]


class OutOfStepsError(Exception):
    """The budget is spent."""


class State(NamedTuple):
    """What has run, and what stays on chip beyond the last step: sets of tensors, bit u for tensor u."""

    run: int = 0
    unwritten: int = 0
    owed: int = 0
    free: int = 0


@dataclass(frozen=True)
class Opinion:
    """Whether a plan costs least of its space: on its memory and, of a range, on any other."""

    status: Status
    keeps: bool  #: whether orders of execution and kept intervals are part of the space, beside partitions
    metric: Metric
    claimed: float  #: what the plan costs in its metric
    least: float | None  #: of all plans on its memory; None where that was not found out
    states: int  #: from which the search went on, in all memories
    steps: int  #: looked at, and PRICE_STEPS and STATE_STEPS for what was new
    confirmed: int  #: memories on which no plan makes a cheaper choice, that of the plan the first
    better: tuple[Partition, Accelerator, float] | None  #: a cheaper plan, the memory that it is for, and its cost


class Prover:
    """All plans of one network on one memory after the other; counts what it looks at."""

    def __init__(
        self, network: Network, accelerator: Accelerator, metric: Metric, tile_rule: TileRule, keeps: bool,
        most_steps: int = MOST_STEPS, progress: Callable[[int, int], object] | None = None,
    ) -> None:  # fmt: skip
        self.network, self.metric, self.keeps, self.machine = network, metric, keeps, accelerator
        self.most_steps, self.progress, self.states, self.steps = most_steps, progress, 0, 0
        self.rules = PricingRules(Geometry(network, accelerator.technology), accelerator, tile_rule, metric)
        self.layers = (1 << len(network.layers)) - 1
        self.reads = [joined(1 << u for u in producers) for producers in network.producers]
        self.readers = [joined(1 << v for v in consumers) for consumers in network.consumers]
        self.near = [joined(1 << w for w in near) for near in neighbours(network, accelerator.connection)]
        self.needs: list[int] = []  # per layer: itself and its ancestors
        for v, reads in enumerate(self.reads):
            self.needs.append(1 << v | joined(self.needs[p] for p in members(reads & self.layers)))
        self.prices: dict[Hashable, float] = {}  # on the memory at hand, as the next
        self.groups_after = lru_cache(None if keeps else 1)(lambda run: tuple(self._groups(run)))
        self.models = Models(self.rules)  # steps whose layers have equal shapes have equal prices

    def judged(self, plan: Partition, machine: Accelerator) -> float:
        """Return what a plan costs in the metric, as the simulator evaluates it."""
        evaluation = evaluate(self.network, plan, machine, self.rules.tile_rule)
        return float(getattr(evaluation, CRITERIA[self.metric].column))

    def least(self, machine: Accelerator, most: float = math.inf) -> Partition | None:
        """Return a plan that costs least of all on a memory; None where none costs at most so much."""
        self.machine, self.prices = machine, {}
        self.groups_after.cache_clear()
        known, queue = {State(): 0.0}, [(0.0, State())]
        came_from: dict[State, tuple[State, int]] = {}
        while queue:
            cost, state = heappop(queue)
            if cost > known[state]:
                continue
            if state.run == self.layers:
                plan = self._plan(state, came_from)
                assert math.isclose(cost, self.judged(plan, machine)), "a plan costs what its steps add up to"
                return plan
            self.states += 1
            for group in self.groups_after(state.run):
                for there, *step in self._steps(state, group):
                    if known.get(there, math.inf) <= cost:
                        continue  # no step costs less than nothing
                    reached = cost + self._price(group, *step)
                    if reached <= most and reached < known.get(there, math.inf):
                        self._spend(0 if there in known else STATE_STEPS)
                        known[there], came_from[there] = reached, (state, group)
                        heappush(queue, (reached, there))
        return None

    def _groups(self, run: int) -> Iterator[int]:
        """Yield every connected set of layers that may run next, each once.

        They are those that grow from a ready layer by one joined with it and what that still needs: a part of a set
        that lacks no producer is joined with another of its layers, whose ancestors are in the set, by edges.
        """
        stack = [1 << v for v in members(self.layers & ~run) if not self.reads[v] & self.layers & ~run]
        seen = set(stack)
        while stack:
            group = stack.pop()
            self._spend(1)
            may_grow = self._may_grow(group)
            if may_grow or group & (group - 1) == 0:  # a layer by itself may always run in pieces
                yield group
            for w in members(joined(self.near[u] for u in members(group)) & ~(group | run) if may_grow else 0):
                grown = group | self.needs[w] & ~run
                if grown not in seen:
                    seen.add(grown)
                    stack.append(grown)

    def _may_grow(self, group: int) -> bool:
        """Whether weights and regions allow several layers, which more only break; groups apart and nests hold less."""
        machine, layers, weights = self.machine, members(group), self.rules.geometry.weight_bytes
        room = machine.activation_capacity if machine.is_shared else machine.weight_capacity
        in_nest = any(not group & ~joined(1 << v for v in nest) for nest in self.rules.nests)
        is_held = any(self.rules.units[v] == 1 for v in layers) and not in_nest
        if is_held and sum(weights[v] for v in layers) > room * machine.cores:
            return False
        return (group | joined(self.reads[v] for v in layers)).bit_count() <= (machine.max_regions or math.inf)

    def _steps(self, state: State, group: int) -> Iterator[tuple[State, int, int, int, int, int]]:
        """Yield the next state of every way to run a subgraph, by what it keeps, writes and drops, and its tensors."""
        run, (_, unwritten, owed, free) = state.run | group, state
        inputs, kept = joined(self.reads[v] for v in members(group)) & ~group, unwritten | owed | free
        # of each tensor: whether it begins to stay, whether it is written, and in which way it stays beyond this step
        choices = [[(0, 0, unwritten & ~inputs, owed & ~inputs, free & ~inputs)]]
        for u in members(group | inputs):
            bit, left, made = 1 << u, self.readers[u] & ~run, group & 1 << u
            if owed & bit and not left:
                return  # written for nobody
            if not left:
                choices.append([(0, made if made and self.network.is_output[u] else 0, 0, 0, 0)])
            elif unwritten & bit:
                choices.append([(0, 0, bit, 0, 0)])
            elif kept & bit:
                choices.append([(0, 0, 0, 0, 0), (0, 0, 0, owed & bit, free & bit)])
            elif not self.keeps:
                choices.append([(0, made, 0, 0, 0)])
            elif not made or self.network.is_output[u]:
                choices.append([(0, made, 0, 0, 0), (bit, made, 0, 0, bit)])
            else:
                choices.append([(0, bit, 0, 0, 0), (bit, 0, bit, 0, 0), (bit, bit, 0, bit, 0)][: 1 + left.bit_count()])
        for chosen in product(*choices):
            self._spend(1)
            begins, written, *beyond = (sum(each) for each in zip(*chosen))
            last = joined(1 << u for u in members(inputs & kept) if not self.readers[u] & ~run)
            yield State(run, *beyond), inputs, kept | begins, inputs & ~kept, written, last

    def _price(self, group: int, inputs: int, here: int, loaded: int, written: int, last: int) -> float:
        """Return what a step costs; here: the tensors that are on chip, whole, meanwhile; last: not read later."""
        machine, touched = self.machine, here & (group | inputs)
        beside = self.rules.reserved(*map(members, (group, here, touched, last)))
        if beside.size_bytes > machine.activation_capacity:
            return math.inf
        step = members(group), Kept(*(frozenset(members(u)) for u in (touched, loaded, written))) if touched else None
        key = self.models.alike.key(*step), beside
        if key not in self.prices:
            self._spend(PRICE_STEPS)
            found = self.models.of(*step).price(machine.activation_capacity, machine.weight_capacity, beside)
            cost = METRICS[self.metric](total([found], machine), machine) if isinstance(found, Price) else math.inf
            self.prices[key] = cost
        return self.prices[key]

    def _plan(self, state: State, came_from: dict[State, tuple[State, int]]) -> Partition:
        """Return the plan that leads to a state: an interval ends with the first step beyond which nothing stays."""
        way = list[tuple[int, int]]()  # subgraphs, and what stays beyond each
        while state in came_from:
            before, group = came_from[state]
            way, state = [(group, joined(state[1:])), *way], before
        spans, since = list[Span](), dict[int, int]()
        for step, (_, kept_here) in enumerate(way):
            spans += [(u, since.pop(u), step) for u in members(joined(1 << u for u in since) & ~kept_here)]
            since |= {u: step for u in members(kept_here) if u not in since}
        return Partition.from_ids(self.network, [members(group) for group, _ in way], self.metric, spans)

    def _spend(self, steps: int) -> None:
        self.steps += steps
        if self.steps > self.most_steps:
            raise OutOfStepsError
        if self.progress and self.steps % 1024 < steps:
            self.progress(self.steps, self.most_steps)


def second_opinion(
    prover: Prover, plan: Partition, on: Accelerator, others: Sequence[Accelerator] = (), alpha: float = 0.0
) -> Opinion:
    """Return whether a plan costs least on its memory, then whether on others bytes + alpha * metric is no less."""
    claimed, least, confirmed = prover.judged(plan, on), None, 0
    better: tuple[Partition, Accelerator, float] | None = None
    for machine in (on, *others):
        most = claimed if machine is on else claimed - (machine.buffer_bytes - on.buffer_bytes) / alpha
        try:
            found = prover.least(machine, most * (1 + ROUNDING)) if most > 0 else None
        except OutOfStepsError:
            break
        value = math.inf if found is None else prover.judged(found, machine)
        least = value if machine is on else least
        if found is not None and value < most * (1 - ROUNDING):
            better = found, machine, value
            break
        assert machine is not on or found is not None, "the plan itself costs no more than it costs"
        confirmed += 1
    status: Status = "refuted" if better else "confirmed" if confirmed else "gave_up"
    return Opinion(status, prover.keeps, prover.metric, claimed, least, prover.states, prover.steps, confirmed, better)


def joined(sets: Iterable[int]) -> int:
    """Return the union of sets."""
    return reduce(or_, sets, 0)


@lru_cache(1 << 17)
def members(tensors: int) -> tuple[int, ...]:
    """Return the tensors of a set, ascending."""
    return tuple(u for u in range(tensors.bit_length()) if tensors >> u & 1)
