"""Lower bounds if tensors may stay on chip between subgraphs: no partition, order and kept intervals undercut them.

The bounds of cocco.bounds.floors.forced say what crosses DRAM if nothing is kept, and do not hold here. These do:
weights, the inputs that are read and the model outputs cross DRAM once (`once_bytes`), and what every layer moves in
the buffers (cocco.bounds.floors.buffers) costs the energy of each memory.
"""

from __future__ import annotations

from collections.abc import Sequence

from cocco.bounds.floors.buffers import in_nests, least_buffered, once_each
from cocco.bounds.floors.forced import Traffic, largest_hulls, least_traffic
from cocco.bounds.floors.least import least_totals
from cocco.bounds.floors.nests import least_of_nests
from cocco.effort.budgets import SHARES, SHARES_KEPT
from cocco.effort.planned import Memory
from cocco.problem.floor import floor_of
from cocco.problem.problem import Problem
from simulator.model.cost import Totals
from simulator.model.pricing import PricingRules


class Floors:
    """What every plan of a problem moves at least, and what that costs in a memory.

    traffic: per network, across DRAM: what is forced if nothing may be kept, else what crosses once. buffered: what
    layers read of the on-chip buffers. shares: of the effort; a certificate takes one, where the memory is chosen.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        if problem.keep == "auto":
            self.traffic = [Traffic(sum(each.geometry.brought_bytes), once_bytes(each)) for each in problem.rules]
            rules = enumerate(problem.rules)
            self.buffered = [in_nests(each, once_each(each), least_of_nests(problem, i)) for i, each in rules]
            self.shares = SHARES_KEPT
        else:
            hulls = largest_hulls(problem)
            self.traffic, self.buffered = least_traffic(problem, hulls), least_buffered(problem, hulls)
            self.shares = SHARES

    def totals(self, memory: Memory, traffic: Sequence[Traffic] = ()) -> list[Totals]:
        """Return totals per network that no plan with this memory undercuts; traffic: more that it moves at least."""
        machine = self.problem.accelerator_of(memory)
        rows = zip(self.problem.rules, traffic or self.traffic, self.buffered)
        return [least_totals(*row, machine) for row in rows]

    def cost(self, memory: Memory, traffic: Sequence[Traffic] = ()) -> float:
        """Return a cost that no plan with this memory undercuts."""
        objective, machine = self.problem.objective, self.problem.accelerator_of(memory)
        return objective.cost(objective.value(self.totals(memory, traffic), floor_of(machine)), machine)

    def least(self) -> float:
        """Return a cost that no plan with any memory undercuts."""
        return min(self.cost(memory) for memory in self.problem.memories)


def once_bytes(rules: PricingRules) -> int:
    """Return the bytes of the inputs that are read and of the model outputs, for the whole batch."""
    network, sizes = rules.geometry.network, rules.geometry.size_bytes
    inputs = [u for u in range(len(network.layers), len(network.tensors)) if network.consumers[u]]
    return rules.batch * sum([sizes[u] for u in [*inputs, *network.outputs]])
