"""Lower bounds if tensors may stay on chip between subgraphs: no partition, order and kept intervals undercut them.

The bounds of cocco.bounds.floors.forced say what crosses DRAM if nothing is kept, and do not hold here. These do:
weights, the inputs that are read and the model outputs cross DRAM once (`once_bytes`), and what every layer moves in
the buffers (cocco.bounds.floors.buffers) costs the energy of each memory.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from cocco.bounds.floors.buffers import Buffered, in_nests, least_buffered, once_each
from cocco.bounds.floors.forced import Traffic, largest_hulls, least_traffic
from cocco.bounds.floors.least import least_totals
from cocco.bounds.floors.nests import least_of_nests
from cocco.effort.budgets import SHARES, SHARES_KEPT
from cocco.effort.planned import Memory
from cocco.problem.floor import floor_of
from cocco.problem.problem import Problem
from simulator.model.cost import Totals
from simulator.model.pricing import PricingRules


class Floors(NamedTuple):
    """What every plan of a problem moves at least, per network, in any memory, and how bounds of memories climb."""

    traffic: list[Traffic]  #: across DRAM
    buffered: list[Buffered]
    shares: int  #: of the effort: one certificate takes one, where the memory is chosen


def floors_of(problem: Problem) -> Floors:
    """Return the floors of a problem: of what is forced if nothing may be kept, else of what crosses once."""
    if problem.keep == "auto":
        kept = KeptBounds(problem)
        return Floors(kept.once, kept.buffered, SHARES_KEPT)
    hulls = largest_hulls(problem)
    return Floors(least_traffic(problem, hulls), least_buffered(problem, hulls), SHARES)


class KeptBounds:
    """Lower bounds of one problem, memory by memory."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def totals(self, memory: Memory) -> list[Totals]:
        """Return totals per network, none of which any plan with this memory can undercut."""
        machine = self.problem.accelerator_of(memory)
        rows = zip(self.problem.rules, self.once, self.buffered)
        return [least_totals(rules, traffic, buffered, machine) for rules, traffic, buffered in rows]

    def cost(self, memory: Memory) -> float:
        """Return a cost that no plan with this memory undercuts."""
        objective, machine = self.problem.objective, self.problem.accelerator_of(memory)
        return objective.cost(objective.value(self.totals(memory), floor_of(machine)), machine)

    def least(self) -> float:
        """Return a cost that no plan with any memory undercuts."""
        return min(self.cost(memory) for memory in self.problem.memories)

    @cached_property
    def once(self) -> list[Traffic]:
        """Per network what crosses DRAM once in any plan."""
        return [Traffic(rules.geometry.network.weight_bytes, once_bytes(rules)) for rules in self.problem.rules]

    @cached_property
    def buffered(self) -> list[Buffered]:
        """Per network what layers read of the on-chip buffers in any plan."""
        rules = self.problem.rules
        return [in_nests(each, once_each(each), least_of_nests(self.problem, i)) for i, each in enumerate(rules)]


def once_bytes(rules: PricingRules) -> int:
    """Return the bytes of the inputs that are read and of the model outputs, for the whole batch."""
    network, sizes = rules.geometry.network, rules.geometry.size_bytes
    inputs = [u for u in range(len(network.layers), len(network.tensors)) if network.consumers[u]]
    return rules.batch * sum([sizes[u] for u in [*inputs, *network.outputs]])
