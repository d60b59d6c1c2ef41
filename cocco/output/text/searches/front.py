"""What cocco pareto, and cocco explore with limits or --compare, print for people."""

from __future__ import annotations

from collections.abc import Sequence

from cocco.exploration.answers.front import Front, FrontPoint, buffer_bytes
from cocco.exploration.answers.limited import Limited
from cocco.output.text.layout.numbers import buffer_name, capacity, counted, table
from cocco.output.text.plans.evaluation import energy_text, subgraphs_text, totals_text
from cocco.output.text.plans.hardware import buffers, machine
from cocco.output.text.searches.ranges import edges_text
from cocco.output.text.searches.search import among_text, any_schedule_text, no_plan_text, second_text
from cocco.problem.criteria import CRITERIA
from simulator.units import CYCLES, TIME


def front_text(front: Front, exchange: str | None = None) -> str:
    """Return the points of the front, a row each; exchange: with the one that costs least so."""
    if not front.found:
        return no_plan_text(front.lacking, front.status)
    names = ", ".join(front.networks)
    how = "proved, none is missing" if front.status == "optimal" else "found; a longer search may find better ones"
    on = machine(front.found[0].accelerator)
    count = "1 memory" if len(front.found) == 1 else f"{len(front.found)} memories"
    first = f"{count} with partitions for {names}{on}, none better in all of them ({how}):"
    heads = [buffer_name(column) for column in buffer_bytes(front.found[0].accelerator)]
    units = [
        CRITERIA[name].quantity.unit(*values)
        for name, values in zip(front.objectives, zip(*(point.values for point in front.found)))
    ]
    rows = [
        (
            *(capacity(size) for size in buffer_bytes(point.accelerator).values()),
            sum(len(each.subgraphs) for each in point.evaluations),
            *(unit.number(value) for unit, value in zip(units, point.values)),
        )
        for point in front.found
    ]
    heads += ["subgraphs", *(f"{name} ({unit.name})" for name, unit in zip(front.objectives, units))]
    search = f"  search  {front.samples:,} samples, seed {front.seed}"
    among = among_text(front.space, front.found[0].accelerator, 10)
    parts = [first, table(heads, rows, left=0), f"{among}\n{edges_text(front.searched, front.edges, 10)}{search}"]
    parts += [_point(point, front.objectives) + ": " + text for point in front.found for text in placing_text(point)]
    if exchange is not None:
        point = _point(front.cheapest(exchange), front.objectives)
        parts.append(f"Where buffer is worth {exchange}, the cheapest of them is {point}.")
    return "\n\n".join(parts)


def limited_text(limited: Limited) -> str:
    """Return the memory that minimizes the requested criterion, or how close to the limits one comes."""
    if limited.nearest is None:
        return no_plan_text(limited.lacking, limited.status)
    clock = limited.nearest.accelerator.technology.clock_ghz
    limits = " and ".join(f"{name} at most {shown(name, bound, clock)}" for name, bound in limited.limits.items())
    if limited.best is None:
        proved = ", proved" if limited.status == "infeasible" else ", as far as the search went"
        worst = "" if len(limited.limits) == 1 else "worst "
        how = "proved, no plan comes nearer" if limited.is_nearest else "a longer search may find a nearer one"
        found = (
            f"No memory keeps {limits}{proved}. The nearest: {_point(limited.nearest, limited.objectives)}, "
            f"{limited.excess:.4g} times the {worst}limit ({how})."
        )
        return "\n\n".join([found, *([edges] if (edges := edges_text(limited.searched, limited.edges)[:-1]) else [])])
    value = limited.value
    assert value is not None
    if limited.status == "optimal":
        quality = "  optimum       proved: no memory and no partition is better"
    elif limited.lower_bound is None:
        quality = "  lower bound   unknown"
    else:
        gap = 100 * (value - limited.lower_bound) / value
        quality = f"  lower bound   {shown(limited.minimize, limited.lower_bound, clock)}; the gap is {gap:.2f} %"
    quality += "\n" + second_text(limited.second, 16) if limited.second is not None else ""
    quality += "\n" + among_text(limited.space, limited.best.accelerator, 16)
    quality += "".join("\n" + any_schedule_text(each, len(limited.networks) > 1) for each in limited.best.evaluations)
    parts = [
        f"Build {_point(limited.best, limited.objectives)}: the least {limited.minimize} with {limits}.",
        f"{quality}\n{edges_text(limited.searched, limited.edges, 16)}"
        f"  search        {limited.samples:,} samples, seed {limited.seed}",
    ]
    parts += placing_text(limited.best)
    for evaluation in limited.best.evaluations:
        details = [totals_text(evaluation), energy_text(evaluation), subgraphs_text(evaluation)]
        parts += [f"{evaluation.network}:"] * (len(limited.networks) > 1) + details
    return "\n\n".join(parts)


def placing_text(point: FrontPoint) -> list[str]:
    """Return a paragraph on what was changed for the addresses of a point, and one where it has none."""
    found = []
    if point.moved:
        lines = [f"for the addresses {counted(len(point.moved), 'change')} of the plan, priced again:"]
        found.append("\n".join([*lines, *(f"  {each.text}" for each in point.moved)]))
    if point.placed is False:
        found.append("no addresses were found for all that is kept on chip: the bytes fit, the regions do not")
    return found


def shown(name: str, value: float, clock_ghz: float | None = None) -> str:
    """Return a criterion in the unit that people read it in, rounded; with a clock, cycles as time."""
    quantity = CRITERIA[name].quantity
    if quantity is CYCLES and clock_ghz is not None:
        quantity, value = TIME, value / clock_ghz
    unit = quantity.unit(value)
    number = unit.number(value)
    return f"{number.rstrip('0').rstrip('.') if '.' in number else number} {unit.name}"


def _point(point: FrontPoint, objectives: Sequence[str]) -> str:
    clock = point.accelerator.technology.clock_ghz
    values = ", ".join(f"{name} {shown(name, value, clock)}" for name, value in zip(objectives, point.values))
    return f"{buffers(point.accelerator)}{machine(point.accelerator)} ({values})"
