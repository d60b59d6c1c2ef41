"""A lower bound on every partition's cost, in milliseconds (what a result's gap is measured against)."""

from __future__ import annotations

from cocco.bounds.forced import Traffic, least_traffic
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.model.cost import Totals
from simulator.model.pricing import PricingRules
from simulator.model.subgraph import COLUMNS, ROWS, Geometry
from simulator.model.traffic import window_elements
from simulator.model.updates import Updates


def lower_bound(problem: Problem) -> float:
    """Return a cost that no partition and no choice of capacities can undercut.

    Where the capacities are chosen, the smallest candidates bound both terms of Formula 2: BUF_SIZE, and the
    energy, because a byte of a larger buffer never costs less, while the traffic is that of the largest. The
    metrics grow with each total, and rounding does not turn the order around, so the bound holds for the floats too.
    """
    machine = problem.accelerator_of([0] * len(problem.buffers))
    totals = [least_totals(*each, machine) for each in zip(problem.rules, least_traffic(problem))]
    return problem.objective.cost(problem.objective.value(totals, machine), machine)


def gap(cost: float, bound: float) -> float:
    """Return the share of the cost that the bound leaves open, from 0 (proved optimal) to 1."""
    return (cost - bound) / cost if cost > bound else 0.0


def least_totals(rules: PricingRules, traffic: Traffic, accelerator: Accelerator) -> Totals:
    """Return totals of which none can be undercut, by whatever partition (docs/model.md, sections 4 and 5).

    traffic: what crosses to DRAM at least. Global buffer: the maps again, each result written once, and each operand
    read once: a whole one in full, a window in the updates that read least. Weight buffer: each weight written as often
    as it is read from DRAM, and read once, because every layer is advanced once at least. Crossbar, operations and
    cycles are the same for every partition.
    Slots: a sum of the larger of two terms is at least the larger of their sums.
    """
    geometry, batch = rules.geometry, rules.batch
    weights = geometry.network.weight_bytes
    results = sum(layer.size_bytes for layer in geometry.network.layers)
    ema = traffic.weights + traffic.maps
    return Totals(
        ema_bytes=ema,
        global_buffer_bytes=traffic.maps + batch * (results + _least_read(geometry)),
        weight_buffer_bytes=traffic.weights + weights,
        crossbar_bytes=(rules.cores - 1) * weights,
        operations=batch * sum(geometry.operations),
        slots=max(sum(rules.cycles) * accelerator.dram_bytes_per_cycle, ema),
    )


def _least_read(geometry: Geometry) -> int:
    """Return the bytes of one sample that all layers together read from the global buffer at least."""
    total = 0
    for u, readers in enumerate(geometry.readers):
        for v, local, whole in readers:
            total += whole * geometry.size_bytes[u]
            if local:
                rows, columns = (least_window(geometry, axis, v, u) for axis in (ROWS, COLUMNS))
                total += rows * columns * geometry.channels[u]
    return total


def least_window(geometry: Geometry, axis: int, v: int, u: int) -> int:
    """Return the least of `traffic.window_elements` over all updates: all at once, or one by one.

    Windows of neighbours overlap or meet (F >= s): all read what lies in any of them. Else they lie apart, and what is
    read of several at once has all of each.
    """
    extent = geometry.extent[axis][v]
    return min(window_elements(geometry, axis, v, u, Updates(step, step, extent)) for step in (1, extent))
