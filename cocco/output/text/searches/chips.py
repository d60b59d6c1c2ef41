"""What `cocco explore --axis` prints for people: the chip, what decides, and the table of machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cocco.chips.answer import ChipsAnswer
from cocco.chips.front import ChipsFront
from cocco.chips.question import QUANTITIES
from cocco.chips.sensitivity import is_firm
from cocco.exploration.answers.front import buffer_bytes
from cocco.output.text.layout.numbers import buffer_name, capacity, counted, table
from cocco.output.text.plans.evaluation import totals_text
from cocco.output.text.plans.hardware import CHIP_PARTS, buffers, machine
from cocco.output.text.searches.search import among_text
from simulator.accelerator import Accelerator
from simulator.units import AREA, ENERGY, POWER, TIME

SHOWN = 20  #: machines of the table; the others are counted


def chips_text(found: ChipsAnswer) -> str:
    """Return which chip to build, how good it is, and why none of the others."""
    parts = [_chip(found)] if found.chip is not None else [_none(found)]
    parts += [f"{remark[0].upper()}{remark[1:]}." for remark in found.remarks]
    parts.append(_machines(found))
    parts += _left_out(found.left_out)
    if found.shifts:
        parts.append(_shifts(found))
    parts += [f"{each.network}:\n\n{totals_text(each)}" for each in found.evaluations]
    return "\n\n".join(parts)


def chips_front_text(found: ChipsFront) -> str:
    """Return the points of a front, a row each."""
    if not found.found:
        return "Gave up: no plan was found that runs on any of the machines."
    units = [
        QUANTITIES[name].unit(*values)
        for name, values in zip(found.objectives, zip(*(each.values for each in found.found)))
    ]
    axes, sizes = list(found.found[0].chip.texts), list(buffer_bytes(found.found[0].accelerator))
    rows = [
        (
            *(point.chip.texts[name] for name in axes), *map(capacity, buffer_bytes(point.accelerator).values()),
            sum(map(len, point.plans)), *(unit.number(value) for unit, value in zip(units, point.values)),
        )
        for point in found.found
    ]  # fmt: skip
    heads = [*axes, *map(buffer_name, sizes), "subgraphs"]
    heads += [f"{name} ({unit.name})" for name, unit in zip(found.objectives, units)]
    first = (
        f"{counted(len(rows), 'chip')} of {counted(found.machines, 'machine')} with partitions for "
        f"{', '.join(found.networks)}, none better in all of them (found; a longer search may find better ones):"
    )
    search = f"  search  {found.samples:,} samples, seed {found.seed}"
    among = among_text(found.kinds, found.found[0].accelerator, 10)
    return "\n\n".join([first, table(heads, rows, left=0), f"{among}\n{search}", *_left_out(found.left_out)])


def _left_out(rules: Mapping[str, int]) -> list[str]:
    """Return a paragraph on the machines that cannot be built, where there are any."""
    lines = [f"{counted(count, 'machine')} of the product cannot be built: {rule}" for rule, count in rules.items()]
    return ["\n".join(lines)] * bool(lines)


def _chip(found: ChipsAnswer) -> str:
    chip, accelerator, question = found.chip, found.accelerator, found.question
    assert chip is not None and accelerator is not None, "there is a chip"
    lines = [f"Build {chip.name}, with {buffers(accelerator)}{machine(accelerator)}."]
    for network, each in zip(question.networks, found.evaluations):
        time = TIME.text(each.latency_cycles / accelerator.technology.clock_ghz)
        lines.append(f"  {network.name:<16}{ENERGY.text(each.energy_pj)}, {time}")
    content = found.to_json()
    rates = None if question.rates is None else (content["power_mw"], content["load"], question.idle)
    taken = takes(accelerator, question.criterion, found.cost, question.paid(accelerator), rates)
    lines += [f"  {name:<16}{said}" for name, said in taken]
    if found.status == "optimal":
        lines.append("  optimum         proved: no machine, memory or plan costs less")
    else:
        least = QUANTITIES[question.criterion].text(found.lower_bound)
        lines.append(f"  lower bound     {least}; the gap is {100 * found.gap:.2f} %")
    return "\n".join([*lines, among_text(found.kinds, accelerator, 18)])


def takes(
    accelerator: Accelerator, criterion: str, cost: float, paid: float, rates: tuple[float, float, float] | None
) -> list[tuple[str, str]]:
    """Return what a chip takes, each with its name; rates: power in mW, load, and what leaks while nothing runs."""
    area, money = accelerator.chip_area, accelerator.chip_money
    shares = ", ".join(f"{name} {value:.2f}" for name, value in zip(CHIP_PARTS, area) if value)
    found = [("chip", f"{area.total:.2f} mm2: {shares}")]
    if accelerator.technology.logic is not None:
        total = "that of its DRAM is not known" if money.total is None else f"with DRAM ${money.total:.2f}"
        found.append(("price", f"${money.chip:.2f}, {total}"))
    if rates is not None:
        power, load, idle = rates
        rest = f", in the rest {100 * idle:g} % of all that leaks" if idle else ", off in the rest"
        how = f"busy {100 * load:.1f} % of the time{rest if idle < 1 else ''}"
        found.append(("at the rates", f"{POWER.text(power)} on average, {how}"))
    quantity = QUANTITIES[criterion]
    worth = f" = {quantity.text(cost - paid)} + {quantity.text(paid)} for the chip" if paid else ""
    return [*found, ("cost", quantity.text(cost) + worth)]


def _none(found: ChipsAnswer) -> str:
    text = {
        "infeasible": "Infeasible: no chip of the axes keeps the limits", "stopped": "Stopped before a chip was found",
    }.get(found.status, "Gave up: no chip was found that keeps the limits, and some are not ruled out")  # fmt: skip
    if found.nearest is None:
        return f"{text}."
    near = found.nearest
    what = f"it exceeds the limit of {near.limit} {near.factor:.3g} times at least"
    return f"{text}. Nearest is {near.chip} with {capacity(near.memory_bytes)}: {what}, and no other comes nearer."


def _machines(found: ChipsAnswer) -> str:
    rows = found.machines[:SHOWN]
    names = found.question_axes
    columns: dict[str, Sequence[Any]] = {name: [row[name] for row in rows] for name in names}
    energy, energies = ENERGY.column([row["energy_pj"] for row in rows])
    unit, bounds = QUANTITIES[found.question.criterion].column([row["bound"] for row in rows])
    columns |= {
        "memory": [_text(row["memory_bytes"], capacity) for row in rows],
        "mm2": AREA.column([row["area_mm2"] for row in rows])[1], energy: energies,
        "ms": [_text(row["latency_ms"], "{:.3f}".format) for row in rows],
        f"least {unit}": bounds,
        "": [row["verdict"] for row in rows],
    }  # fmt: skip
    lines = [table(list(columns), list(zip(*columns.values())), left=0)]
    if len(found.machines) > SHOWN:
        lines.append(f"and {len(found.machines) - SHOWN} more; of all {len(found.machines)}:")
    lines.append(", ".join(f"{count} {verdict}" for verdict, count in found.verdicts.most_common()))
    return "\n".join(lines)


def _shifts(found: ChipsAnswer) -> str:
    rows = [
        (
            each.number,
            f"x {each.factor:g}",
            each.chip,
            _text(each.memory_bytes, capacity),
            "breaks a limit" if each.regret is None else f"{100 * each.regret:.2f} %",
        )
        for each in found.shifts
    ]
    how = "firm: it stays within 3 %" if is_firm(found.shifts) else "not firm: it would cost more than 3 % more"
    heads = ("if it were", "", "then build", "memory", "ours costs more")
    return f"The chip is {how} of the best, were a number half or twice as large.\n\n{table(heads, rows, left=5)}"


def _text(value: Any, shown: Any) -> str:
    return "-" if value is None else str(shown(value))
