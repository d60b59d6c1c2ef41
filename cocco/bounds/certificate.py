"""From bounds of what crosses DRAM to a certificate: a lower bound in the objective's metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cocco.bounds.buffers import least_buffered
from cocco.bounds.components import components
from cocco.bounds.forced import Hulls, Traffic, extras_alone, largest_hulls, least_traffic
from cocco.bounds.least import least_totals, lower_bound
from cocco.bounds.oracle import crossings, tensors_of
from cocco.bounds.partition_bound import PartitionBound
from cocco.problem.floor import floor_of_all
from cocco.problem.genome import groups_of
from cocco.problem.problem import Problem, in_memory
from cocco.search.pricing.subgraphs import SubgraphCosts

EFFORT = 120.0  #: deterministic time of the solver for one memory; our choice: some two minutes of one core
MOST_BYTES = 2**50  #: of all tensors and weights; our choice: sums stay far below 64 bits and exact as floats


class Certificate(NamedTuple):
    """A lower bound of the objective, in its unit, with the method that gave it and its effort."""

    lower_bound: float
    method: str  #: "partition" where column generation proved more than what is forced, else "forced"
    components: int  #: sets of layers that no subgraph connects
    steps: int  #: of the level method, all together
    deterministic_time: float  #: of the solver


def certify(problem: Problem, labels: Sequence[int], effort: float = EFFORT) -> Certificate:
    """Return a lower bound of the cost of every partition, by the set-partition bound (docs/bounds.md).

    labels: a good partition (per layer the smallest layer of its subgraph); the better, the sooner the bound is good,
    but it is valid for any. effort: deterministic time of the solver, so the answer does not depend on the machine.
    Where the memory is chosen, the bound holds for all candidates. Raises ValueError where a solver is not installed.
    """
    check_solvers()
    floor = lower_bound(problem)
    largest = in_memory(problem, [len(sizes) - 1 for sizes in problem.candidates])
    hulls = largest_hulls(problem)
    least, buffered = least_traffic(problem, hulls), least_buffered(problem, hulls)
    if _bytes_of(problem) > MOST_BYTES:
        return Certificate(floor, "forced", 0, 0, 0.0)
    traffic, count, steps, spent = _proven_traffic(largest, hulls, labels, effort)
    extras = extras_alone(problem, hulls)
    totals = []
    smallest = floor_of_all(problem)
    for i, rules in enumerate(problem.rules):
        extra = sum(extras[v].maps for v in range(problem.offsets[i], problem.offsets[i + 1]))
        maps = max(least[i].maps, problem.accelerator.batch * traffic[i] + extra)
        totals.append(least_totals(rules, Traffic(least[i].weights, maps), buffered[i], smallest))
    bound = problem.objective.cost(problem.objective.value(totals, smallest), smallest)
    return Certificate(max(bound, floor), "partition" if bound > floor else "forced", count, steps, spent)


def _proven_traffic(
    problem: Problem, hulls: Hulls, labels: Sequence[int], effort: float
) -> tuple[list[int], int, int, float]:
    """Return per network the bytes of one sample that cross at least; and components, steps, deterministic time."""
    costs, tensors = SubgraphCosts(problem), tensors_of(problem)
    traffic = [0] * len(problem.networks)
    groups = [tuple(group) for group in groups_of(labels)]
    steps, spent, left = 0, 0.0, problem.size
    parts = components(problem, hulls)
    for layers in parts:  # the smallest first: what they leave is for the others
        inside = set(layers)
        known = [group for group in groups if inside.issuperset(group) and costs.may_fit(group)]
        if len(layers) == 1:
            crossing = crossings(tensors, layers)
        else:
            bound = PartitionBound(problem, costs, hulls, tensors, layers, known).run(
                (effort - spent) * len(layers) / left
            )
            crossing, steps, spent = bound.crossings, steps + bound.steps, spent + bound.deterministic_time
        traffic[problem.network_of[layers[0]]] += crossing
        left -= len(layers)
    return traffic, len(parts), steps, spent


def _bytes_of(problem: Problem) -> int:
    sizes = [tensor.size_bytes for network in problem.networks for tensor in network.tensors]
    return problem.accelerator.cores * problem.accelerator.batch * (sum(sizes) + sum(problem.weight_bytes))


def check_solvers() -> None:
    """Raise ValueError that names the extra where a solver is not installed."""
    try:
        import ortools.sat.python.cp_model  # noqa: F401
        import scipy.optimize  # noqa: F401
    except ImportError as error:
        raise ValueError(f"a proof by solvers needs {error.name}; pip install 'cocco[solvers]'") from error
