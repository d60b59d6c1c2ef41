"""The exact search with kept tensors on the simulator's prices, network by network.

The floors are what `least.least_totals` says of all layers together, told apart by layer and by tensor: weights read
once, results written once and what windows meet read once on chip, model outputs written to DRAM; and of each tensor in
DRAM that has readers left, one reading.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from cocco.bounds.buffers import met_bytes
from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.keeping.exact import (
    LOOK_STEPS,
    MAX_SETS,
    MAX_STATES,
    MAX_STEPS,
    PRICE_STEPS,
    ExactPlan,
    exact_plan,
    no_plan,
    plan_of,
)
from cocco.search.keeping.question import Group, KeepQuestion, KeptStep
from cocco.search.keeping.state import members
from cocco.search.kernel.choice import engine_name
from cocco.search.kernel.compiled import Compiled, first_of
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.cost import METRICS, Totals, total
from simulator.model.kept import Kept, Reserved
from simulator.model.pricing import Price, PricingRules, SubgraphModel
from simulator.partition.partition import Partition

MEMO = 2**12  #: our choice: models kept, those not used for longest are forgotten


class KeptOptimum(NamedTuple):
    """The cheapest plan of every network, or why the search gave up."""

    partitions: tuple[Partition, ...] | None
    cost: float  #: Formula 1
    plans: tuple[ExactPlan, ...]  #: of the networks that were searched

    @property
    def is_proven(self) -> bool:
        """Whether every network has its cheapest plan."""
        return self.partitions is not None


def cheapest_plans(
    problem: Problem,
    max_states: int = MAX_STATES,
    max_steps: int = MAX_STEPS,
    may_keep: bool = True,
    engine: EngineName | None = None,
) -> KeptOptimum:
    """Return the cheapest partition, order and kept intervals of each network on given hardware.

    The networks run one after the other and nothing is kept between them, so each is searched by itself; budgets are
    for all together. engine: None for the default.
    """
    plans: list[ExactPlan] = []
    partitions, cost = [], 0.0
    for i, network in enumerate(problem.networks):
        states, steps = (sum(each) for each in zip(*((plan.states, plan.steps) for plan in plans))) if plans else (0, 0)
        question = keep_question(problem, i, may_keep, engine)
        found = _search(problem, i, question, max_states - states, max_steps - steps, engine)
        plans.append(found)
        if found.subgraphs is None:
            return KeptOptimum(None, math.inf, tuple(plans))
        cost += found.cost
        partitions.append(Partition.from_ids(network, found.subgraphs, problem.metric, found.spans))
    return KeptOptimum(tuple(partitions), cost, tuple(plans))


def _part(problem: Problem, i: int) -> Problem:
    """Return the problem of one of its networks."""
    objective = replace(problem.objective, weights=problem.objective.weights[i : i + 1])
    return replace(problem, networks=problem.networks[i : i + 1], objective=objective)


def _search(
    problem: Problem, i: int, question: KeepQuestion, max_states: int, max_steps: int, engine: EngineName | None
) -> ExactPlan:
    """Ask the compiled search, or the readable one: the same plan, costs and counts."""

    def readable() -> ExactPlan:
        return exact_plan(question, max_states, max_steps)

    def compiled() -> ExactPlan:
        part = _part(problem, i)
        why, groups, kept, cost, states, steps = Compiled(part).kept_search(
            part, question.whole, question.layer_floor, question.crossing_floor, question.room, question.may_keep,
            (max_states, MAX_SETS, max_steps, LOOK_STEPS, PRICE_STEPS),
        )  # fmt: skip
        if not why:
            return plan_of(groups, kept, cost, states, steps)
        limits = (f"{max_states} states", f"{max_steps} steps", f"{MAX_SETS} sets of layers")
        if why > len(limits):
            return no_plan("infeasible", states, steps)
        return no_plan("gave_up", states, steps, f"more than {limits[why - 1]}")

    if engine_name(engine, problem) == "reference":
        return readable()
    return first_of(compiled, readable)()


def keep_question(
    problem: Problem, i: int = 0, may_keep: bool = True, engine: EngineName | None = None
) -> KeepQuestion:
    """Return what the exact search asks of one network of a problem on given hardware."""
    part = _part(problem, i)
    (network,), (rules,) = part.networks, part.rules
    layers, crossings = _floors(part)
    return KeepQuestion(
        network, part.accelerator.activation_capacity, tuple(map(rules.whole_bytes, range(len(network.tensors)))),
        _price(part, engine), SubgraphCosts(part).may_fit, layers, crossings, may_keep,
    )  # fmt: skip


def _price(problem: Problem, engine: EngineName | None) -> Callable[[KeptStep], float]:
    """Return what prices a step in the metric of the problem."""
    machine = problem.accelerator
    metric, (weight,) = METRICS[problem.objective.metric], problem.objective.weights
    readable = kept_price(problem)
    ask = readable
    if engine_name(engine, problem) == "fast":
        compiled = Compiled(problem).kept_prices(problem)

        def fast(step: KeptStep) -> Totals | None:
            row = compiled.price(*step)
            return None if row is None else Totals(*row)

        ask = first_of(fast, readable)

    def price(step: KeptStep) -> float:
        found = ask(step)
        return math.inf if found is None else weight * metric(found, machine)

    return price


def kept_price(problem: Problem) -> Callable[[KeptStep], Totals | None]:
    """Return what prices a step of the one network of a problem as the simulator does; None where it does not fit."""
    (rules,), machine = problem.rules, problem.accelerator

    @lru_cache(MEMO)
    def model(layers: Group, kept: Kept | None) -> SubgraphModel:
        return SubgraphModel(rules, layers, kept)

    def price(step: KeptStep) -> Totals | None:
        kept = None
        if step.on_chip:
            kept = Kept(*(frozenset(members(each)) for each in (step.on_chip, step.loaded, step.written)))
        reserved = Reserved(step.kept_bytes, step.elsewhere)
        found = model(step.layers, kept).price(machine.activation_capacity, machine.weight_capacity, reserved)
        return total([found], machine) if isinstance(found, Price) else None

    return price


def _floors(problem: Problem) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the floors of layers and of crossings; of latency either the cycles or what crosses, the larger in all."""
    (rules,), machine = problem.rules, problem.accelerator
    metric, (weight,) = METRICS[problem.objective.metric], problem.objective.weights
    rows = [_least_of_layer(rules, v) for v in range(len(rules.geometry.network.layers))]
    sizes = [rules.batch * size for size in rules.geometry.size_bytes]
    crossings = [Totals(size, size, 0, 0, 0, size) for size in sizes]
    if problem.objective.metric == "latency":
        computing = [cycles * machine.dram_bytes_per_cycle for cycles in rules.cycles]
        if sum(computing) >= sum(row.ema_bytes for row in rows) + sum(sizes[len(rows) :]):
            rows = [row._replace(slots=each) for row, each in zip(rows, computing)]
            crossings = [row._replace(slots=0) for row in crossings]
    return (
        tuple(weight * metric(row, machine) for row in rows),
        tuple(weight * metric(row, machine) for row in crossings),
    )


def _least_of_layer(rules: PricingRules, v: int) -> Totals:
    """Return what a layer adds to the totals at least, wherever it runs; slots are those of what crosses."""
    geometry, batch = rules.geometry, rules.batch
    weights, result = geometry.network.layers[v].weight_bytes, geometry.size_bytes[v]
    output = 0 if geometry.readers[v] else batch * result
    ema = weights + output
    return Totals(
        ema_bytes=ema,
        global_buffer_bytes=output + batch * (result + met_bytes(rules, v)),
        weight_buffer_bytes=2 * weights,
        crossbar_bytes=0,
        operations=batch * geometry.operations[v],
        slots=ema,
    )
