"""Both engines on all connected runs of layers of one network: the same totals to the bit."""

from __future__ import annotations

from cocco.problem.problem import Problem
from cocco.search.pricing.genomes import Pricer
from simulator.partition.partition import connected_parts


def assert_same_prices(problem: Problem) -> None:
    """Compare the compiled engine's prices on the hardware of a problem with those of the simulator."""
    from cocco.search.kernel._kernel import Kernel, Scratch

    network, machine = problem.networks[0], problem.accelerator
    kernel, pricer = Kernel(problem), Pricer(problem)
    scratch = Scratch(kernel)
    for start in range(len(network.layers)):
        for stop in range(start + 1, len(network.layers) + 1):
            group = tuple(range(start, stop))
            if len(connected_parts(network, group)) > 1:
                continue
            row = kernel.price(scratch, group, machine.activation_capacity, machine.weight_capacity)
            expected = pricer.price(group, machine.activation_capacity, machine.weight_capacity)
            assert row == (None if expected is None else tuple(expected)), group
