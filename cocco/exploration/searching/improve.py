"""Find first plans with kept tensors for networks too wide for the exact search, and improve them.

Each network is improved by itself, since nothing is kept between networks. The limits count steps of the exact search
in its windows (cocco.search.exact.window), so the same seed gives the same plan on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from cocco.bounds.cheapest import keep_question, searcher
from cocco.candidates.genome import groups_of
from cocco.candidates.stream import Stream
from cocco.effort.budgets import FIRST_PLAN_STEPS, WINDOW_STATES, WINDOW_STEPS
from cocco.effort.work_units import stored
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.exact.neighbourhood import Neighbourhood
from cocco.search.exact.orders import several_orders
from cocco.search.exact.question import Group
from cocco.search.exact.route import Priced, Pricing, route_of
from cocco.search.exact.window import Limits
from simulator.partition.intervals import Span
from simulator.partition.partition import Partition

GAIN = 0.01  #: a sweep that gains a smaller share is the last; our choice
FIRST_CAPS = (1, 3, 0)  #: layers of a subgraph in the first plans, 0 for any number
STEPS_REMEMBERED = 20_000_000  #: as many steps' prices are remembered; our choice, some 100 MB


@stored
class Improved(NamedTuple):
    """The plans of all networks, their cost, and the work it took."""

    partitions: tuple[Partition, ...]
    cost: float  #: Formula 1; inf where a plan does not fit
    steps: int
    is_stopped: bool  #: by Ctrl-C


class _Network:
    """One network of a problem, and the walks that improve its plan."""

    def __init__(self, problem: Problem, i: int, seed: int, engine: EngineName | None) -> None:
        self.network, self.metric, self.seed, self.i = problem.networks[i], problem.metric, seed, i
        self.question = keep_question(problem, i, True, engine)
        self.pricing = Pricing(self.question)
        self.search = searcher(
            problem, i, self.question, Limits(WINDOW_STATES, max(WINDOW_STEPS, STEPS_REMEMBERED)), engine
        )
        self.least = 0.0  # weights, inputs that are read, and outputs, each moved once: no plan costs less
        for each in self.question.layer_floor:
            self.least += each
        for u in range(len(self.network.layers), len(self.network.tensors)):
            self.least += self.question.crossing_floor[u] if self.network.consumers[u] else 0.0

    def walk(self, order: Sequence[Group], spans: Sequence[Span] = (), child: int = 0) -> Neighbourhood:
        """Return a walk that starts from a plan and has its own random numbers."""
        plan = self.pricing.priced(route_of(order, spans))
        return Neighbourhood(self.pricing, self.search, Stream(self.seed, self.i, child), plan, self.least)

    def partition(self, plan: Priced) -> Partition:
        """Return a plan as a `Partition` of the simulator."""
        return Partition.from_ids(self.network, plan.route.subgraphs, self.metric, plan.route.spans)

    def first(self, groups: Sequence[Group] | None, most_steps: int) -> Priced:
        """Return the best of several first plans: these subgraphs in several orders, and plans built layer by layer.

        All are swept once, the cheapest third again.
        """
        whole = self.question.whole
        single = several_orders(self.network, [(v,) for v in range(len(self.network.layers))], whole)
        starts = [(cap, order) for cap in FIRST_CAPS for order in single]
        starts += [] if groups is None else [(0, order) for order in several_orders(self.network, groups, whole)]
        walks = [(cap, self.walk(order)) for cap, order in starts]
        for share in (1, 3):
            if share > 1:
                walks = sorted(walks, key=lambda each: each[1].plan.cost)[: len(walks) // share]
            for cap, walk in walks:
                most, last = walk.steps + most_steps, math.inf
                while walk.plan.cost < (1 - GAIN) * last and walk.steps < most:
                    last = walk.plan.cost
                    walk.sweep(cap, most)
                if walk.plan.cost <= walk.least:
                    return walk.plan
        return min((walk.plan for _, walk in walks), key=lambda plan: plan.cost)


def first_plans(
    problem: Problem,
    labels: Sequence[int] | None = None,
    engine: EngineName | None = None,
    steps: int = FIRST_PLAN_STEPS,
) -> tuple[Partition, ...]:
    """Return a good plan with kept tensors for each network of a problem on given hardware.

    labels: of a partition (a genome's), whose subgraphs are tried in several orders, in addition to plans that begin
    with each layer by itself. steps: for each try.
    """
    local: list[list[Group]] = [[] for _ in problem.networks]
    for group in groups_of(labels) if labels is not None else ():
        i = problem.network_of[group[0]]
        local[i].append(tuple(v - problem.offsets[i] for v in group))
    found = []
    for i, groups in enumerate(local):
        each = _Network(problem, i, 0, engine)
        found.append(each.partition(each.first(groups or None, steps)))
    return tuple(found)


def improve_plans(
    problem: Problem, partitions: Sequence[Partition], steps: int, seed: int = 0, engine: EngineName | None = None
) -> Improved:
    """Return plans that cost no more than these, one for each network of a problem on given hardware.

    steps: the most to take, which one last window may exceed; each network gets a share by its number of layers. Ctrl-C
    returns the best so far.
    """
    found, cost, taken, is_stopped = [], 0.0, 0, False
    for i, (network, partition) in enumerate(zip(problem.networks, partitions, strict=True)):
        each = _Network(problem, i, seed, engine)
        walk = each.walk(partition.subgraphs, [interval.span for interval in partition.keep])
        if not is_stopped:
            try:
                walk.go(steps * len(network.layers) // problem.size)
            except KeyboardInterrupt:
                is_stopped = True
        found.append(each.partition(walk.plan))
        cost, taken = cost + walk.plan.cost, taken + walk.steps
    return Improved(tuple(found), cost, taken, is_stopped)
