"""Turn bounds on the bytes that cross DRAM into a certificate: a lower bound in the objective's metric."""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from cocco.bounds.floors.forced import Hulls, Traffic, extras_alone, least_traffic
from cocco.bounds.floors.least_kept import Floors
from cocco.bounds.parts.components import components
from cocco.bounds.parts.crossings import Tensors, crossings, tensors_of
from cocco.bounds.prices.kept_bound import KeptPrices
from cocco.bounds.prices.partition_bound import plain_bound
from cocco.bounds.prices.tolls import Taken
from cocco.bounds.staircase import Staircase, Step
from cocco.candidates.genome import groups_of
from cocco.candidates.rounding import SAME
from cocco.effort.budgets import EFFORT, MOST_CERTIFICATES, MOST_KNOWN, QUICK_EFFORT, QUICK_SAMPLES
from cocco.effort.planned import Memory
from cocco.problem.problem import Problem, in_memory
from cocco.search.pricing.subgraphs import SubgraphCosts

MOST_BYTES = 2**50  #: of all tensors and weights; our choice: sums stay far below 64 bits and exact as floats


class Certificate(NamedTuple):
    """A lower bound of the objective, in its unit, with the method that gave it and the effort it took."""

    lower_bound: float
    method: str  #: "partition" where column generation proved more than what is forced, else "forced"
    components: int  #: sets of layers that no subgraph connects, of the last memory
    steps: int  #: of the level method, all together
    deterministic_time: float  #: of the solver


def certify(problem: Problem, labels: Sequence[int], effort: float = EFFORT, best: float = math.inf) -> Certificate:
    """Return a lower bound of the cost of every plan, by the set-partition bound (docs/bounds.md).

    If tensors may stay on chip (`Problem.keep`), a plan is a partition, an order and kept intervals. labels: a good
    partition (per layer the smallest layer of its subgraph); with a better one the bound is good sooner, but it is
    valid for any. effort: deterministic time of the solver, so the answer does not depend on the machine. best: the
    bound need not be higher. If the memory is chosen, each candidate has a bound, and the least of them is returned.
    Raises ValueError if a solver is not installed.
    """
    check_solvers()
    stairs = Staircase(problem)
    floor = stairs.least
    if _bytes_of(problem) > MOST_BYTES:
        return Certificate(floor, "forced", 0, 0, 0.0)
    solver = _Solver(problem, labels)
    stairs.climb(best, lambda: effort - solver.spent, solver.certify, MOST_CERTIFICATES)
    bound = max(stairs.least, floor)
    method = "partition" if bound > floor else "forced"
    return Certificate(bound, method, solver.components, solver.steps, solver.spent)


def unless_refuted(bound: float, cost: float, floor: float) -> float:
    """Return a lower bound; if a plan costs less, the bound is wrong: then return the floor, with a warning.

    Cutting the bound to the cost of the best plan instead would call that plan optimal.
    """
    if bound <= cost * (1 + SAME):
        return min(bound, cost)
    warnings.warn(
        f"a plan costs {cost:,.0f}, less than a lower bound of {bound:,.0f}: that bound is wrong and left out, please "
        "report it",
        RuntimeWarning,
        stacklevel=2,
    )
    return floor


class _Solver:
    """Gets certificates from the solvers, and counts the effort they take."""

    def __init__(self, problem: Problem, labels: Sequence[int]) -> None:
        self.problem = problem
        self.groups = dict.fromkeys(tuple(group) for group in groups_of(labels))  # and what oracles met in any memory
        self.kept_steps: list[Taken] = []
        self.narrow: Collection[int] | None = None  # layers where much is live, in the first memory that was asked for
        self.components = self.steps = 0
        self.spent = 0.0

    def certify(self, memory: Memory, prices: Sequence[float], effort: float) -> Step:
        """Return the least that crosses DRAM in a memory."""
        given = in_memory(self.problem, memory)
        costs = SubgraphCosts(given)
        hulls = Hulls(given, costs)
        if self.problem.keep == "auto":
            return self._certify_kept(given, costs, hulls, effort)
        problem, tensors = self.problem, tensors_of(given)
        crossing, found, is_open = self._crossing(given, costs, hulls, tensors, prices, effort)
        least, alone = least_traffic(problem, hulls), extras_alone(problem, hulls)
        traffic = []
        for i, (row, crosses) in enumerate(zip(least, crossing)):
            extra = sum([alone[v].maps for v in range(problem.offsets[i], problem.offsets[i + 1])])
            traffic.append(Traffic(row.weights, max(row.maps, problem.accelerator.batch * crosses + extra)))
        return Step(tuple(traffic), tuple(found), is_open)

    def _certify_kept(self, given: Problem, costs: SubgraphCosts, hulls: Hulls, effort: float) -> Step:
        """Return the least that crosses DRAM in a memory if tensors may be kept."""
        solver = KeptPrices(given, costs, hulls, tensors_of(given, may_keep=True), self.narrow)
        self.narrow = solver.narrow
        known = [step for step in self.kept_steps if costs.may_fit(step.layers) and solver.may_keep(step.kept)]
        known += [solver.plain_step(group) for group in self.groups if costs.may_fit(group)]
        bound = solver.run(effort, known)
        self.components, self.steps = bound.components, self.steps + bound.steps
        self.spent += bound.deterministic_time
        self.kept_steps = list(solver.program.known.values())[-MOST_KNOWN:]
        maps, weights = list[Traffic](), list[Traffic]()
        for row, crosses in zip(Floors(self.problem).traffic, bound.crossings):
            more = given.accelerator.batch * crosses
            maps.append(Traffic(row.weights, row.maps + more))
            weights.append(Traffic(row.weights + more, row.maps))
        is_open = bound.is_open and bool(self.problem.buffers)
        return Step(tuple(maps), (), is_open, tuple(weights) if solver.moves_weights else ())

    def _crossing(
        self, given: Problem, costs: SubgraphCosts, hulls: Hulls, tensors: Tensors, prices: Sequence[float],
        effort: float,
    ) -> tuple[list[int], list[float], bool]:  # fmt: skip
        """Return per network the least bytes of one sample that cross, prices that prove it, and if more may follow."""
        crossing = [sum([each.layers[v].size_bytes for v in each.outputs]) for each in given.networks]  # in every plan
        found, is_open = [0.0] * given.size, False
        spent, left, parts = 0.0, given.size, components(given, hulls)
        for layers in parts:  # the smallest first: the others get the time they leave
            inside = set(layers)
            known = [group for group in self.groups if inside.issuperset(group) and costs.may_fit(group)]
            if len(layers) == 1:
                (v,) = layers
                least = crossings(tensors, (v,))
                found[v] = least
            else:
                start = [prices[v] for v in layers] if prices else None
                solver = plain_bound(given, costs, hulls, tensors, layers, known, start)
                bound = solver.run((effort - spent) * len(layers) / left)
                least, spent = bound.crossings, spent + bound.deterministic_time
                self.steps, is_open = self.steps + bound.steps, is_open or bound.is_open
                self.groups |= dict.fromkeys(solver.columns.groups)
                for v, price in zip(layers, bound.prices):
                    found[v] = price
            crossing[given.network_of[layers[0]]] += least
            left -= len(layers)
        self.components, self.spent = len(parts), self.spent + spent
        return crossing, found, is_open


def _bytes_of(problem: Problem) -> int:
    sizes = [tensor.size_bytes for network in problem.networks for tensor in network.tensors]
    return problem.accelerator.cores * problem.accelerator.batch * (sum(sizes) + sum(problem.weight_bytes))


def check_solvers() -> None:
    """Raise a ValueError that names the missing extra if a solver is not installed."""
    for name in ("ortools", "scipy"):  # looked for, not imported: that takes longer than many a search
        if find_spec(name) is None:
            raise ValueError(f"a proof by solvers needs {name}; pip install 'cocco[solvers]'")


def quick_effort(samples: int) -> float:
    """Return the most deterministic time for the certificate of a default search."""
    return min(QUICK_EFFORT, samples / QUICK_SAMPLES)


def has_solvers() -> bool:
    """Return whether the solvers are installed."""
    try:
        check_solvers()
    except ValueError:
        return False
    return True
