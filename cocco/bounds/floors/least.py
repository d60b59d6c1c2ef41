"""A lower bound of every partition's cost, computed in milliseconds (a result's gap is measured against it)."""

from __future__ import annotations

from cocco.bounds.floors.buffers import Buffered, least_buffered
from cocco.bounds.floors.forced import Hulls, Traffic, largest_hulls, least_traffic
from cocco.problem.floor import floor_of_all
from cocco.problem.problem import Problem
from simulator.accelerator import Accelerator
from simulator.model.cost import Totals
from simulator.model.layer.goal import computing_cycles, idle_cycles
from simulator.model.pricing import PricingRules


def lower_bound(problem: Problem) -> float:
    """Return a cost that no partition and no choice of capacities can undercut.

    Where the capacities are chosen, the smallest candidates bound both terms of Formula 2: BUF_SIZE, and the
    energy, because a byte of a larger buffer never costs less (of tables: floor_of_all), while the traffic is that of
    the largest. The metrics grow with each total, and rounding does not turn the order around, so the bound holds for
    the floats too.
    """
    machine = floor_of_all(problem)
    totals = totals_of(problem, largest_hulls(problem), machine)
    return problem.objective.cost(problem.objective.value(totals, machine), machine)


def gap(cost: float, bound: float) -> float:
    """Return the share of the cost that the bound leaves open, from 0 (proved optimal) to 1."""
    return (cost - bound) / cost if cost > bound else 0.0


def totals_of(problem: Problem, hulls: Hulls, accelerator: Accelerator) -> list[Totals]:
    """Return totals per network that no partition and no capacities can undercut."""
    each = zip(problem.rules, least_traffic(problem, hulls), least_buffered(problem, hulls))
    return [least_totals(*network, accelerator) for network in each]


def least_totals(rules: PricingRules, traffic: Traffic, buffered: Buffered, accelerator: Accelerator) -> Totals:
    """Return totals that no partition can undercut (docs/model.md, sections 4 and 5).

    traffic: what crosses to DRAM at least. Global buffer: the maps again, each result written once, and the operands
    read. Weight buffer: each weight written as often as it is read from DRAM, and read. Crossbar: nothing, for a layer
    may read its own channels only. Operations are the same for every partition; cycles are those of the fastest way to
    share a layer, or those of ports for what buffers move at least. MACs are idle for all cycles but one for each
    operation; another operation takes no less energy than an idle MAC. Cycles, slots: a sum of the larger of two terms
    is at least the larger of their sums.
    """
    geometry, batch = rules.geometry, rules.batch
    results = sum(layer.size_bytes for layer in geometry.network.layers)
    ema = traffic.weights + traffic.maps
    activations, weights = traffic.maps + batch * results + buffered.operands, traffic.weights + buffered.weights
    cycles = computing_cycles(sum(rules.cycles), activations, weights, rules.ports)
    return Totals(
        ema_bytes=ema,
        global_buffer_bytes=activations,
        weight_buffer_bytes=weights,
        crossbar_bytes=0,
        operations=batch * sum(geometry.operations),
        slots=max(rules.rate.slots(cycles), ema),
        operation_extra=batch * sum(geometry.operation_extra),
        idle=idle_cycles(rules.idle_macs, cycles, batch * sum(geometry.operations)),
    )
