"""Every way to run the steps of a plan with bytes left free, and what the plan costs then."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from cocco.problem.problem import Problem
from simulator.model.cost import total
from simulator.model.kept import NOTHING, Reserved
from simulator.model.priced import models_of, reserved_in
from simulator.model.pricing import Price, SubgraphModel
from simulator.partition.partition import Partition

EACH = 1100  #: bytes: in a memory up to there each number of them is tried, else halves of halves
MOST = 20_000  #: combinations that are looked at, of one plan


class Known(dict[Any, list[tuple[float, int]]]):
    """What is remembered of the steps of a problem."""


def plans_with_spare(
    problem: Problem, plan: Partition, below: float, known: Known
) -> Iterator[tuple[float, Partition]]:
    """Yield a plan of the one network with all bytes left free that change how it runs, where it costs less.

    known: one for all plans of a problem.
    """
    (network,), (rules,) = problem.networks, problem.rules
    models, steps = models_of(rules, plan)
    beside = [reserved_in(rules, step) for step in steps] or [NOTHING] * len(models)
    choices = []
    for model, reserved in zip(models, beside):
        key = model.subgraph.layers, model.kept, reserved
        if key not in known:
            known[key] = list(_ways(problem, model, reserved))
        choices.append(known[key])
    for chosen in islice(product(*choices), MOST):
        if sum(price for price, _ in chosen) < below:
            spans, spare = [each.span for each in plan.keep], [each for _, each in chosen]
            yield Partition.from_ids(network, plan.subgraphs, plan.metric, spans, (), spare)


def _ways(problem: Problem, model: SubgraphModel, reserved: Reserved) -> Iterator[tuple[float, int]]:
    """Yield the cost of a step and the least bytes left free with which it runs so, for each way that it runs."""
    machine, objective = problem.accelerator, problem.objective
    most = machine.activation_capacity if machine.is_shared else machine.weight_capacity

    def at(spare: int) -> Price | None:
        found = model.price(machine.activation_capacity, machine.weight_capacity, reserved._replace(spare=spare))
        return found if isinstance(found, Price) else None

    def changes(low: int, high: int, first: Price | None, last: Price | None) -> Iterator[tuple[int, Price | None]]:
        if high - low == 1 or (most > EACH and first == last):
            if first != last:
                yield high, last
            return
        middle = (low + high) // 2
        there = at(middle)
        yield from changes(low, middle, first, there)
        yield from changes(middle, high, there, last)

    everything = at(0)
    for spare, price in [(0, everything), *changes(0, most, everything, at(most))]:
        if price is not None:
            yield objective.weights[0] * objective.of(total([price], machine), machine), spare
