"""The least memory in which each layer of some networks has a loop order: what a search refuses to go below."""

from __future__ import annotations

from cocco.exploration.question import check_layers_run
from cocco.problem.problem import Problem, on_hardware
from simulator.accelerator import Accelerator
from simulator.model.least_room import least_room
from workloads.network.network import Network


def least_shared(network: Network) -> int:
    """Return the bytes of the least shared buffer in which every layer runs by itself."""
    (rules,) = on_hardware(network, Accelerator(shared_buffer=2**30)).rules
    return max(least_room(rules.loop_layer(v), True).activation for v in range(len(network.layers)))


def is_refused(problem: Problem) -> bool:
    """Return whether some layer has no loop order in the smallest memory of the problem."""
    try:
        check_layers_run(problem)
    except ValueError:
        return True
    return False
