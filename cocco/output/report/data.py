"""What the script of a page draws from, as plain data: the plans by subgraphs, the places of the layers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cocco.output.layout import layout
from cocco.output.report.chart import Chart
from cocco.output.report.plans import ShownMemory, ShownPlan, shown_tile
from simulator.model.cost import EnergyBreakdown
from simulator.units import ENERGY, SIZE, TIME
from workloads.network.network import Network


def page_data(chart: Chart | None, choices: Sequence[ShownMemory]) -> dict[str, Any]:
    """Return everything that is drawn."""
    networks: dict[tuple[str, ...], dict[str, Any]] = {}
    listed = [[_plan(plan, networks) for plan in choice.plans] for choice in choices]
    return {
        "chart": None if chart is None else chart.to_json(),
        "networks": list(networks.values()),
        "choices": [{"title": choice.title, "plans": plans} for choice, plans in zip(choices, listed)],
    }


def json_in_page(data: dict[str, Any]) -> str:
    """Return data as it may stand in an element of the page, whatever names it has."""
    return json.dumps(data, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _plan(plan: ShownPlan, networks: dict[tuple[str, ...], dict[str, Any]]) -> dict[str, Any]:
    costs, machine = plan.network.subgraphs, plan.machine
    names = [name for cost in costs for name in cost.layers]
    order = [layer.name for layer in plan.loaded.layers] if plan.loaded is not None and plan.partition else names
    key = plan.network.name, *order  # two runs may call two networks alike
    if key not in networks:
        drawn = _geometry(plan.loaded) if plan.loaded is not None and plan.partition is not None else None
        places = {"at": len(networks), "name": plan.network.name, "layers": order, "drawn": drawn}
        networks[key] = places
    owner = {name: step for step, cost in enumerate(costs) for name in cost.layers}
    clock = machine.technology.clock_ghz
    time = TIME.unit(*(cost.latency_cycles / clock for cost in costs))
    energy, moved = ENERGY.unit(*(cost.energy_pj for cost in costs)), SIZE.unit(*(cost.ema_bytes for cost in costs))
    capacities = [machine.activation_capacity] if machine.is_shared else _both(machine)
    return {
        "network": networks[key]["at"],
        "owner": [owner.get(name, -1) for name in order],
        "shared": machine.is_shared,
        "capacity": capacities,
        "weights": [each.weight_bytes for each in plan.occupied],
        "main": [each.main_bytes for each in plan.occupied],
        "side": [each.side_bytes for each in plan.occupied],
        "kept": [each.kept_bytes for each in plan.occupied],
        "needs": None if plan.needs is None else [list(each) for each in plan.needs],
        "ema": [cost.ema_bytes for cost in costs],
        "energy": _energies([cost.energy_breakdown for cost in costs]),
        "compute": [min(cost.compute_cycles, cost.latency_cycles) / clock for cost in costs],
        "time": [cost.latency_cycles / clock for cost in costs],
        "units": {"time": time[:2], "energy": energy[:2], "ema": moved[:2]},
        "busy": [cost.utilization for cost in costs],
        "tile": [list(shown_tile(plan, cost)) for cost in costs],
        "order": [cost.order for cost in costs],
        "scheme": [cost.scheme for cost in costs],
        "keep": [[each.tensor, each.from_step, each.until_step, each.size_bytes] for each in plan.network.keep],
    }  # fmt: skip


def _both(machine: Any) -> list[int]:
    return [machine.activation_capacity, machine.weight_capacity]


def _energies(parts: Sequence[EnergyBreakdown]) -> dict[str, list[float]]:
    """Return the parts of the energy by subgraph, those that are there."""
    found = {name: [float(getattr(each, name) or 0.0) for each in parts] for name in EnergyBreakdown._fields}
    return {name: values for name, values in found.items() if any(values)}


def _geometry(network: Network) -> dict[str, Any]:
    """Return the layered drawing: nodes 0 .. layers - 1 are layers, the others lanes of the tensor of `owner`."""
    count = len(network.layers)
    drawn = layout([[u for u in inputs if u < count] for inputs in network.producers])
    return {
        "level": drawn.level,
        "x": [round(each, 2) for each in drawn.x],
        "owner": drawn.owner[count:],
        "lines": [list(line) for line in drawn.lines],
    }
