"""The least memory in which each layer of some networks has a loop order: below it hardly anything runs."""

from __future__ import annotations

from cocco.problem.problem import Problem, on_hardware
from simulator.accelerator import Accelerator
from simulator.model.layer.goal import Room
from simulator.model.layer.least_room import can_run, least_room
from workloads.network.network import Network


def least_shared(network: Network) -> int:
    """Return the bytes of the least shared buffer in which every layer runs by itself."""
    (rules,) = on_hardware(network, Accelerator(shared_buffer=2**30)).rules
    return max(least_room(rules.loop_layer(v), True).activation for v in range(len(network.layers)))


def is_refused(problem: Problem) -> bool:
    """Return whether some layer has no loop order in the smallest memory of a problem on one core."""
    smallest = problem.accelerator_of([0] * len(problem.candidates))
    room = Room(smallest.activation_capacity, None if smallest.is_shared else smallest.weight_capacity)
    return smallest.cores == 1 and not all(
        can_run(rules.loop_layer(v), room)
        for network, rules in zip(problem.networks, problem.rules)
        for v in range(len(network.layers))
    )
