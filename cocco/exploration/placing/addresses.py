"""Give answers and points of fronts their addresses: a plan without them is changed, cheapest change first.

The search itself prices bytes. Where addresses need more room (docs/allocation.md says when), its winner is repaired
instead of searching again (our choice). Without kept tensors, each failing subgraph is cut at the point of its
topological order that costs least; with kept tensors see repair.py. A changed point of a front may cost more. Then
others may be better, and these get their addresses in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from cocco.allocation.address_map import AddressMap, address_map
from cocco.candidates.genome import Genome, connected_parts, groups_of
from cocco.candidates.judge import Judged, judged
from cocco.candidates.stream import CUTS, Stream
from cocco.exploration.answers.front import FrontPoint, best_points
from cocco.exploration.answers.result import Result
from cocco.exploration.placing.repair import repaired_plans
from cocco.problem.plane import Plane
from cocco.problem.problem import Problem
from cocco.search.pricing.genomes import Pricer, Sample
from simulator.accelerator import Accelerator
from simulator.partition.partition import Partition

Key = Callable[[tuple[float, ...]], tuple[float, ...]]
MAX_CUTS = 256  #: our choice: of one answer; each makes its subgraph smaller, so most plans need a handful


def placed_point(plane: Plane, point: FrontPoint) -> FrontPoint:
    """Return a point changed until all kept tensors have addresses (`placed`, if found); `moved` lists the changes."""
    if point.placed is not None or not any(plan.keep for plan in point.plans):
        return point
    problem = plane.problem
    plans, moved, placed = repaired_plans(problem, point.accelerator, point.plans, needs_pairs=False)
    point = replace(point, moved=moved, placed=placed)
    if not moved:
        return point
    evaluations = problem.evaluations(plans, point.accelerator)
    return replace(
        point, values=plane.judged(evaluations), plans=tuple(each.plan for each in evaluations), evaluations=evaluations
    )


def placed_front(plane: Plane, points: Sequence[FrontPoint]) -> tuple[tuple[FrontPoint, ...], bool]:
    """Return the points that no other beats once all have addresses, and whether none became worse by that."""
    pool, is_same = list(points), True
    while True:
        best, is_done = best_points(pool), True
        for point in best:
            found = placed_point(plane, point)
            if found is not point:
                is_same &= found.values == point.values and bool(found.placed)
                is_done &= found.values == point.values
                pool = [found if each is point else each for each in pool]
        if is_done:
            return best_points(pool), is_same


def best_placed(plane: Plane, points: Sequence[FrontPoint], key: Key) -> FrontPoint:
    """Return the best point that has addresses; one without only if no other is left."""
    pool = list(points)
    while True:
        point = min(pool, key=lambda each: (each.placed is False, key(each.values)))
        found = placed_point(plane, point)
        if found is point:
            return point
        pool = [found if each is point else each for each in pool]


def with_addresses(problem: Problem, result: Result, needs_pairs: bool = True) -> Result:
    """Return the result changed until all regions have addresses, priced again; `moved` and `splits` say how.

    The memory stays the same. The lower bound stays valid: the search could have given the changed answer. "optimal"
    stays where the answer still costs no more than the bound. A plan for which no addresses are found stays as it is:
    `address_map` says so. needs_pairs: whether plans with kept tensors, too, must need no more (start, end) pairs than
    the region manager has; plans without kept tensors always must.
    """
    if any(plan.keep for plan in result.plans):
        return _repaired(problem, result, needs_pairs)
    return _split(problem, result)


def _repaired(problem: Problem, result: Result, needs_pairs: bool) -> Result:
    """Return a result with every plan repaired (repair.py); some plan of it keeps tensors."""
    plans, moved, placed = repaired_plans(problem, result.accelerator, result.plans, needs_pairs)
    splits = sum(each.what == "split" for each in moved)
    result = replace(result, moved=moved, placed=placed, splits=splits)
    if not moved:
        return result
    evaluations = problem.evaluations(plans, result.accelerator)
    cost = problem.cost(evaluations)
    return result.of(Judged(result.accelerator, tuple(each.plan for each in evaluations), evaluations, (cost,)), cost)


def _split(problem: Problem, result: Result) -> Result:
    """Return a result without kept tensors with every failing subgraph split."""
    accelerator = result.accelerator
    chosen = problem.memory_of(accelerator)
    pricer, plans, splits = Pricer(problem.plain), list(result.plans), 0  # none of them keeps any
    for i in range(len(plans)):
        while splits < MAX_CUTS:
            failing = _failing(problem, i, plans[i], accelerator)
            if not failing:
                break
            sample = _cheapest_cut(problem, pricer, plans, (i, failing[0]), chosen, result.seed)
            plans = list(problem.partitions(groups_of(sample.genome.labels)))
            splits += 1
    if not splits or not all(_has_addresses(problem, i, plan, accelerator) for i, plan in enumerate(plans)):
        return replace(result, splits=0)
    winner = judged(problem, sample.genome.labels, chosen, [sample.cost])
    status = "feasible" if result.status == "optimal" else result.status
    return result.of(winner, sample.cost, splits=splits, status=status)


def _failing(problem: Problem, i: int, plan: Partition, accelerator: Accelerator) -> list[int]:
    found: AddressMap | None = address_map(problem.networks[i], plan, accelerator, problem.tile_rule)
    return [] if found is None else found.failing()


def _has_addresses(problem: Problem, i: int, plan: Partition, accelerator: Accelerator) -> bool:
    found = address_map(problem.networks[i], plan, accelerator, problem.tile_rule)
    return found is None or found.fits


def _cheapest_cut(
    problem: Problem,
    pricer: Pricer,
    plans: list[Partition],
    where: tuple[int, int],
    capacities: tuple[int, ...],
    seed: int,
) -> Sample:
    """Return the cheapest cut of one subgraph in two along its topological order; of equal ones the first."""
    network, position = where
    labels = problem.labels(plans)
    group = [problem.offsets[network] + v for v in plans[network].subgraphs[position]]
    samples = []
    for cut in range(1, len(group)):
        cut_labels = list(labels)
        for part in connected_parts(problem, group[:cut]) + connected_parts(problem, group[cut:]):
            for v in part:
                cut_labels[v] = part[0]
        samples.append(pricer.evaluate(Genome(cut_labels, capacities), Stream(seed, CUTS, cut)))
    return min(samples, key=lambda sample: sample.cost)
