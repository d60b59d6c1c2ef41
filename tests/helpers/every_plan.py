"""Brute force: every partition of a tiny network in every memory, priced by the simulator."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from cocco.problem.space import Space
from simulator.accelerator import Accelerator
from simulator.evaluation import Evaluation, evaluate
from simulator.partition.partition import Partition, PartitionError
from workloads.network.network import Network


class Plan(NamedTuple):
    """What one partition of each network costs in one memory."""

    machine: Accelerator
    evaluations: tuple[Evaluation, ...]


def set_partitions(count: int) -> Iterator[list[list[int]]]:
    """Yield every way to share out 0 .. count - 1 among groups."""
    if not count:
        yield []
        return
    for groups in set_partitions(count - 1):
        for i in range(len(groups)):
            yield [[*group, count - 1] if i == j else group for j, group in enumerate(groups)]
        yield [*groups, [count - 1]]


def plans(network: Network) -> list[Partition]:
    """Return every valid partition."""
    found = []
    for groups in set_partitions(len(network.layers)):
        try:
            found.append(Partition.from_ids(network, groups))
        except ValueError:
            continue
    return found


def everything(networks: list[Network], space: Space) -> list[Plan]:
    """Return every combination that fits."""
    found = []
    names = list(space.buffers)
    for sizes in product(*space.buffers.values()):
        machine = Accelerator(**dict(zip(names, sizes)))
        fitting = [
            [priced for plan in plans(network) if (priced := evaluate(network, plan, machine)).fits]
            for network in networks
        ]
        found += [Plan(machine, evaluations) for evaluations in product(*fitting)]
    return found


def optimum(problem, capacities):
    """Return the least cost of all partitions of the only network on these capacities, by the simulator."""
    (network,) = problem.networks
    best = float("inf")
    for groups in set_partitions(len(network.layers)):
        try:
            plan = Partition.from_ids(network, groups, problem.metric)
        except PartitionError:
            continue
        machine = problem.accelerator_of(capacities)
        evaluation = evaluate(network, plan, machine)
        if evaluation.fits:
            best = min(best, problem.objective.cost(problem.objective.judged([evaluation]), machine))
    return best
