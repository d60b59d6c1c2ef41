"""Search with the check of addresses: what has no address is split until everything has one (our choice).

The search itself prices bytes; where addresses ask for more (docs/allocation.md says when that can be), its winner is
repaired rather than sought again: each failing subgraph is cut at the point of its topological order that costs least.
"""

from __future__ import annotations

from dataclasses import replace

from cocco.allocation.address_map import AddressMap, address_map
from cocco.bounds.least import gap
from cocco.exploration.result import Result
from cocco.problem.genome import Genome, connected_parts, groups_of
from cocco.problem.judge import judged
from cocco.problem.problem import Problem
from cocco.problem.stream import Stream
from cocco.search.pricing.genomes import Pricer, Sample
from simulator.accelerator import Accelerator
from simulator.partition.partition import Partition

MAX_CUTS = 256  #: our choice: of one answer; each makes its subgraph smaller, so most plans need a handful
GENERATION = 2**40 + 3  #: names the streams of the splits, which no generation of a search has


def with_addresses(problem: Problem, result: Result) -> Result:
    """Return the result with every failing subgraph split, priced again; `splits` counts them.

    The memory stays. The lower bound stays valid: a split answer is one that the search could have given. What still
    fails after MAX_CUTS, or is a single layer, stays as it is: `address_map` says so.
    """
    accelerator = result.accelerator
    chosen = tuple(sizes.index(getattr(accelerator, name)) for name, sizes in problem.buffers.items())
    pricer, plans, splits = Pricer(problem), list(result.plans), 0
    for i in range(len(plans)):
        while splits < MAX_CUTS:
            failing = _failing(problem, i, plans[i], accelerator)
            if not failing:
                break
            sample = _cheapest_cut(problem, pricer, plans, (i, failing[0]), chosen, result.seed)
            plans = list(problem.partitions(groups_of(sample.genome.labels)))
            splits += 1
    if not splits:
        return replace(result, splits=0)
    winner = judged(problem, sample.genome.labels, chosen, [sample.cost])
    return replace(
        result,
        plans=winner.plans,
        evaluations=winner.evaluations,
        cost=sample.cost,
        status="feasible" if result.status == "optimal" else result.status,
        gap=None if result.lower_bound is None else gap(sample.cost, result.lower_bound),
        splits=splits,
    )


def _failing(problem: Problem, i: int, plan: Partition, accelerator: Accelerator) -> list[int]:
    found: AddressMap | None = address_map(problem.networks[i], plan, accelerator, problem.tile_rule)
    return [] if found is None else found.failing()


def _cheapest_cut(
    problem: Problem,
    pricer: Pricer,
    plans: list[Partition],
    where: tuple[int, int],
    capacities: tuple[int, ...],
    seed: int,
) -> Sample:
    """Return the cheapest of all cuts of one subgraph in two along its topological order, ties to the first."""
    network, position = where
    labels = problem.labels(plans)
    group = [problem.offsets[network] + v for v in plans[network].subgraphs[position]]
    samples = []
    for cut in range(1, len(group)):
        cut_labels = list(labels)
        for part in connected_parts(problem, group[:cut]) + connected_parts(problem, group[cut:]):
            for v in part:
                cut_labels[v] = part[0]
        samples.append(pricer.evaluate(Genome(cut_labels, capacities), Stream(seed, GENERATION, cut)))
    return min(samples, key=lambda sample: sample.cost)
