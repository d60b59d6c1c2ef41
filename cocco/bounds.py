"""A lower bound on every partition's cost, in time linear in the layers (what a result's gap is measured against)."""

from __future__ import annotations

from cocco.search.problem import Problem
from simulator.accelerator import Accelerator
from simulator.cost import Totals
from simulator.pricing import PricingRules


def lower_bound(problem: Problem) -> float:
    """Return a cost that no partition and no choice of capacities can undercut.

    Where the capacities are chosen, the smallest candidates bound both terms of Formula 2: BUF_SIZE, and the
    energy, because a byte of a larger buffer never costs less while `least_totals` holds for any capacity. The
    metrics grow with each total, and rounding does not turn the order around, so the bound holds for the floats too.
    """
    machine = problem.machine([0] * len(problem.buffers))
    totals = [least_totals(rules, machine) for rules in problem.rules]
    return problem.objective.cost(problem.objective.value(totals, machine), machine)


def gap(cost: float, bound: float) -> float:
    """Return the share of the cost that the bound leaves open, from 0 (proved optimal) to 1."""
    return (cost - bound) / cost if cost > bound else 0.0


def least_totals(rules: PricingRules, accelerator: Accelerator) -> Totals:
    """Return totals of which none can be undercut, by whatever partition (docs/model.md, sections 4 and 5).

    EMA: each weight is read once at least, by the one subgraph that has the layer; each model input that is read
    comes in once, each model output goes out once, for every sample. Global buffer: these inputs and outputs
    again, and each result written once. Weight buffer: each weight written once (it is part of EMA) and read
    once, because every layer is advanced once at least. Crossbar, operations and cycles are the same for every
    partition. Slots: a sum of the larger of two terms is at least the larger of their sums.
    """
    network, batch = rules.geometry.network, rules.batch
    weights = network.weight_bytes
    read = {u for producers in network.producers for u in producers if u >= len(network.layers)}
    inputs = sum(network.tensors[u].size_bytes for u in sorted(read))
    outputs = sum(network.layers[v].size_bytes for v in network.outputs)
    results = sum(layer.size_bytes for layer in network.layers)
    ema = weights + batch * (inputs + outputs)
    return Totals(
        ema_bytes=ema,
        global_buffer_bytes=batch * (inputs + outputs + results),
        weight_buffer_bytes=2 * weights,
        crossbar_bytes=(rules.cores - 1) * weights,
        operations=batch * sum(rules.geometry.operations),
        slots=max(sum(rules.cycles) * accelerator.dram_bytes_per_cycle, ema),
    )
