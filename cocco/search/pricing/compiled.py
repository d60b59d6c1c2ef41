"""Prices of single subgraphs by the requested engine: baselines, founders and splits are built from them."""

from __future__ import annotations

from collections.abc import Callable

from cocco.problem.names import EngineName
from cocco.problem.problem import Problem
from cocco.search.kernel.choice import engine_name
from cocco.search.kernel.compiled import Compiled, first_of
from cocco.search.pricing.genomes import Group, Pricer
from cocco.search.pricing.subgraphs import SubgraphCosts
from simulator.model.cost import Totals

PartPrice = Callable[[Group], Totals | None]  #: what layers add to the totals; None: they do not fit


def part_prices(problem: Problem, engine: EngineName | None = None) -> PartPrice:
    """Return a function that prices subgraphs on given hardware. engine: None for the default."""
    pricer = Pricer(problem)
    activations, weights = problem.accelerator.activation_capacity, problem.accelerator.weight_capacity

    def readable(group: Group) -> Totals | None:
        return pricer.price(group, activations, weights)

    if engine_name(engine, problem) == "reference":
        return readable
    price = Compiled(problem).price

    def compiled(group: Group) -> Totals | None:
        row = price(group, activations, weights)
        return None if row is None else Totals(*row)

    return first_of(compiled, readable)


def subgraph_costs(problem: Problem, engine: EngineName | None = None) -> SubgraphCosts:
    """Return the costs of single subgraphs on given hardware. engine: None for the default."""
    if engine_name(engine, problem) == "reference":
        return SubgraphCosts(problem, part_prices(problem, "reference"))
    machine, twin = problem.accelerator, Compiled(problem)
    room = machine.activation_capacity, machine.weight_capacity
    return SubgraphCosts(problem, may_fit=lambda group: twin.may_fit(group, *room), twin=twin.cost)
