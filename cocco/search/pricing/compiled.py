"""Prices of single subgraphs by the engine that is asked for: what baselines, founders and splits are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.kernel.choice import engine_name
from cocco.search.kernel.compiled import Compiled, first_of
from cocco.search.pricing.genomes import Group, Pricer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.cost import Totals, total
from simulator.model.pricing import Price


class Priced(NamedTuple):
    """What a subgraph adds to the totals, its weights in one core (bytes), and whether they are streamed."""

    totals: Totals
    weight_bytes: int
    is_streamed: bool


PartPrice = Callable[[Group, int, int], Priced | None]  #: (layers, activation bytes, weight bytes); None: does not fit


def part_prices(problem: Problem, engine: EngineName | None = None) -> PartPrice:
    """Return what prices subgraphs in buffers of any capacity. engine: None for the default."""
    pricer, accelerator = Pricer(problem), problem.accelerator

    def readable(group: Group, activations: int, weights: int) -> Priced | None:
        found = pricer.model(group).price(activations, weights)
        if not isinstance(found, Price):
            return None
        return Priced(total([found], accelerator), found.weight_bytes, found.is_streamed)

    if engine_name(engine, problem) == "reference":
        return readable
    price = Compiled(problem).price

    def compiled(group: Group, activations: int, weights: int) -> Priced | None:
        row = price(group, activations, weights)
        return None if row is None else Priced(Totals(*row[:6]), row[6], bool(row[7]))

    return first_of(compiled, readable)


def subgraph_costs(problem: Problem, engine: EngineName | None = None) -> SubgraphCosts:
    """Return the costs of single subgraphs on given hardware. engine: None for the default."""
    if engine_name(engine, problem) == "reference":
        return SubgraphCosts(problem)
    price, pricer = Compiled(problem).price, Pricer(problem)
    activations, weights = problem.accelerator.activation_capacity, problem.accelerator.weight_capacity

    def compiled(group: Group) -> Totals | None:
        row = price(group, activations, weights)
        return None if row is None else Totals(*row[:6])

    return SubgraphCosts(problem, first_of(compiled, lambda group: pricer.price(group, activations, weights)))
