"""Small networks and the least memory that any partition of them needs, by the simulator: a byte less, none runs."""

from __future__ import annotations

import random
from dataclasses import dataclass

from cocco.problem.problem import on_hardware
from simulator import Machine, Partition, least_capacity
from tests.helpers.small_problems import all_partitions, small_network
from workloads.errors import NetworkError
from workloads.network.network import Network

ROOM = 2**24  #: bytes that are enough for all of it
CORES = (2, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64)

Memory = dict[str, int]  #: bytes by the name of the buffer


@dataclass(frozen=True)
class Needed:
    """A network and a machine of several cores: some partition runs in each of `runs`, none in any of `lacks`."""

    network: Network
    machine: Machine
    runs: tuple[Memory, ...]
    lacks: tuple[Memory, ...]


def needed(seed: int) -> Needed:
    """Return the least memories of a random small network on a random machine of 2 to 64 cores."""
    rng = random.Random(seed)
    while True:
        network = small_network(rng, 4)
        machine = Machine(cores=rng.choice(CORES), batch=rng.choice((1, 1, 2, 3, 7)))
        try:
            return least_of(network, machine)
        except NetworkError:  # several cores cannot share it
            continue


def least_of(network: Network, machine: Machine) -> Needed:
    """Return the least memories of a network on a machine: of all partitions, shared and as a pair."""
    found = [least_capacity(network, plan, machine=machine) for plan in partitions(network, machine)]
    rows = [(each.shared_buffer, each.global_buffer, each.weight_buffer) for each in found if each.fits]
    shared, activations = min(row[0] for row in rows), min(row[1] for row in rows)
    weights = min(row[2] for row in rows if row[1] == activations)
    lacks: list[Memory] = [
        {"shared_buffer": shared - 1},
        {"global_buffer": activations - 1, "weight_buffer": ROOM},
        {"global_buffer": activations, "weight_buffer": weights - 1},
    ]
    runs: tuple[Memory, ...] = {"shared_buffer": shared}, {"global_buffer": activations, "weight_buffer": weights}
    return Needed(network, machine, runs, tuple(each for each in lacks if min(each.values()) > 0))


def partitions(network: Network, machine: Machine) -> list[Partition]:
    """Return every partition of a network."""
    problem = on_hardware(network, machine.with_buffers(shared_buffer=ROOM))
    return [problem.partitions(groups)[0] for groups in all_partitions(problem)]
