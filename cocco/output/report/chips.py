"""The page about a search over machines: the chip, the drawing and the table of all machines, what else would be."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from cocco.chips.question import QUANTITIES
from cocco.chips.sensitivity import Shift, is_firm
from cocco.chips.table import differing, height, panels, values_of
from cocco.output.folders.read.chips import ChipsRun
from cocco.output.report.answer import pairs
from cocco.output.report.chart import Chart, ChartAxis
from cocco.output.report.table import Column, columns_table, kilobytes, unit_column
from cocco.output.report.words import among, costs
from cocco.output.text.layout.numbers import capacity, counted
from cocco.output.text.plans.hardware import buffers, machine
from cocco.output.text.searches.chips import takes
from simulator.units import AREA, ENERGY, TIME

STATUS = {
    "optimal": "proved: no machine, memory or plan costs less",
    "feasible": "not proved",
    "infeasible": "proved: no chip of the axes keeps the limits",
    "gave_up": "not proved: no chip was found that keeps the limits, and some are not ruled out",
    "stopped": "not proved: the user stopped the search, this is the best so far",
}
WORDS = {
    "star": "the answer", "proved": "what the best plans of a machine take",
    "found": "no plan on this machine, with the memory that promises most, takes less",
    "equal": "costs as much as the answer", "front": "no machine, memory or plan is below, proved",
}  # fmt: skip  #: of the legend
DOTS = (
    "Each dot is a machine: a full one was answered, of a hollow one only what all its plans take at least is known; "
    "the colour is {axis}. The line is what no machine undercuts. Point at a dot, or walk from one to the next with "
    "the arrow keys, to see its name."
)


def chip_sentence(run: ChipsRun) -> str:
    """Return which chip to build, and what the networks cost on it."""
    if run.accelerator is None:
        nearest = f" Nearest is {run.nearest}." if run.nearest else ""
        return f"No chip for {', '.join(run.names)}.{nearest}"
    name = ", ".join(f"{axis} {value}" for axis, value in run.axes.items())
    each = "; ".join(
        f"{network.name if len(run.networks) > 1 else ''} {costs(run.accelerator, network)}".strip()
        for network in run.networks
    )
    area = AREA.text(run.accelerator.chip_area.total)
    return f"Build {name}, with {buffers(run.accelerator)}{machine(run.accelerator)}, {area}: {each}."


def chip_answer(run: ChipsRun) -> str:
    """Return the answer as HTML: the chip, how sure that is, what it takes, what decides."""
    sure = "sure" if run.status in ("optimal", "infeasible") else "unsure"
    gap = f"; at most {100 * run.gap:.2g} % of its cost can be saved" if run.gap else ""
    rows = [("how sure", f'<strong class="{sure}">{escape(STATUS.get(run.status, run.status))}</strong>{gap}')]
    rows += [(name, escape(said)) for name, said in among(run)]
    if run.accelerator is not None and run.cost is not None:
        paid = run.machines[0]["paid"] or 0.0
        taken = takes(run.accelerator, run.criterion, run.cost, paid, run.at_rates)
        rows += [(name, escape(said)) for name, said in taken]
    if said := _what_decides(run):
        rows.append(("what decides", escape(said)))
    rows += [("note", escape(f"{remark[0].upper()}{remark[1:]}.")) for remark in run.remarks if remark]
    rows += [("not built", escape(f"{counted(n, 'machine')}: {rule}")) for rule, n in run.left_out.items()]
    return f'<div id="answer"><p id="recommendation">{escape(chip_sentence(run))}</p>{pairs(rows)}</div>'


def _what_decides(run: ChipsRun) -> str:
    """Return which machine comes next, and which numbers, half or twice as large, would change the chip."""
    said = []
    others = [row for row in run.machines[1:] if row["bound"] is not None]
    if others and run.cost:
        near = min(others, key=lambda row: row["bound"])
        more = 100 * max(0.0, near["bound"] / run.cost - 1)
        said.append(f"the next machine, {_name(run, near)}, costs at least {more:.2g} % more")
    if run.shifts:
        least = [each for each in run.shifts if each.regret is None or each.regret > 0]
        said += [
            f"{'half' if each.factor < 1 else 'twice'} the {each.number} would make it {_other(each)}" for each in least
        ]
        firm = "firm, it stays within 3 % of the best" if is_firm(run.shifts) else "not firm"
        count = len({each.number for each in run.shifts})
        said.append(f"the choice is {firm}, were one of {count} numbers half or twice as large")
    return "; ".join(said)


def _other(shift: Shift) -> str:
    """Return what would be built, and what ours costs more then."""
    size = "" if shift.memory_bytes is None else f" with {capacity(shift.memory_bytes)}"
    return f"{shift.chip}{size} ({'ours breaks a limit' if shift.regret is None else f'saves {_saves(shift.regret)}'})"


def _saves(regret: float) -> str:
    return f"{100 * regret / (1 + regret):.2g} %"


def _name(run: ChipsRun, row: dict[str, Any]) -> str:
    names = differing(run.machines) or tuple(row)[: tuple(row).index("verdict")]
    return ", ".join(f"{name} {row[name]}" for name in names)


def _drawn(run: ChipsRun) -> list[dict[str, Any]]:
    """Return the machines of which something is drawn, in the order of the chart."""
    return sorted((row for row in run.machines if row["area_mm2"] is not None), key=lambda row: row["area_mm2"])


def chips_chart(run: ChipsRun) -> Chart | None:
    """Return the machines by mm2 and what they take; None where all are ruled out by limits."""
    rows, names = _drawn(run), panels(run.criterion)
    if not rows:
        return None
    axes, ys, stairs, axis_names = list[ChartAxis](), list[list[float | None]](), [], differing(run.machines)
    for name in names:
        quantity, scale = (TIME, 1e6) if name == "least_ms" else (QUANTITIES[run.criterion], 1.0)
        values = [scale * height(row, name) for row in rows]
        axes.append(ChartAxis.of("latency" if name == "least_ms" else run.criterion, quantity.unit(*values)))
        ys.append(list(values))
        stairs.append([[x, scale * y] for x, y in run.floors[name]])
    star = next((at for at, row in enumerate(rows) if row["verdict"] == "best"), None)
    kinds = values_of(run.machines, axis_names[0]) if axis_names else []
    return Chart(
        ChartAxis.of("chip", AREA[0]), tuple(axes), [row["area_mm2"] for row in rows], ys,
        [_name(run, row) for row in rows], [_lines(run, row) for row in rows],
        [0 if at == star else None for at in range(len(rows))], stairs=False,
        least=[value if row["cost"] is not None else None for row, value in zip(rows, ys[0])], star=star,
        sure=run.status == "optimal", slope=run.worth if names[0] == "least" else 0.0, floors=stairs, log=True,
        kinds=[kinds.index(row[axis_names[0]]) if axis_names else 0 for row in rows],
        kind_names=[f"{axis_names[0]} {each}" for each in kinds] if axis_names else [], words=WORDS,
    )  # fmt: skip


def _lines(run: ChipsRun, row: dict[str, Any]) -> list[str]:
    """Return what hovering over a machine shows."""
    least = "at least " if row["cost"] is None else ""
    said = [_name(run, row), f"{capacity(int(row['memory_bytes']))}, {AREA.text(row['area_mm2'])}"]
    for name in panels(run.criterion):
        quantity, scale = (TIME, 1e6) if name == "least_ms" else (QUANTITIES[run.criterion], 1.0)
        said.append(least + quantity.text(scale * height(row, name)))
    return [*said, row["verdict"]]


def drawn_words(run: ChipsRun) -> str:
    """Return what is seen in the drawing."""
    return DOTS.format(axis=(differing(run.machines) or ("nothing",))[0])


def chips_table(run: ChipsRun) -> str:
    """Return a row for each machine, as HTML, under a choice of the values of each axis."""
    rows, names, quantity = run.machines, differing(run.machines), QUANTITIES[run.criterion]
    columns: list[Column] = [(name, _values([row[name] for row in rows], values_of(rows, name))) for name in names]
    columns += [
        ("memory (KB)", [_size(row["memory_bytes"]) for row in rows]),
        unit_column("chip", AREA, [row["area_mm2"] for row in rows]),
        ("$", [(1e300, "") if row["usd"] is None else (row["usd"], f"{row['usd']:.2f}") for row in rows]),
        unit_column("energy", ENERGY, [row["energy_pj"] for row in rows]),
        unit_column("latency", TIME, [None if row["latency_ms"] is None else 1e6 * row["latency_ms"] for row in rows]),
        ("MACs busy (%)", [_share(row["utilization"]) for row in rows]),
        unit_column("costs at least", quantity, [row["bound"] for row in rows]),
        ("verdict", _values([row["verdict"] for row in rows], list(run.verdicts))),
    ]
    found = {id(row): at for at, row in enumerate(_drawn(run))}
    places = [found.get(id(row), -1) for row in rows]
    return f'{_choices(run, names)}<div class="wide">{columns_table(columns, "machines", places)}</div>'


def _values(values: Sequence[Any], order: Sequence[Any]) -> list[tuple[float, str]]:
    """Return cells that sort in an order of values."""
    return [(order.index(each), escape(str(each))) for each in values]


def _size(value: float | None) -> tuple[float, str]:
    return (1e300, "") if value is None else kilobytes(int(value))


def _share(value: float | None) -> tuple[float, str]:
    return (1e300, "") if value is None else (value, f"{100 * value:.1f}")


def _choices(run: ChipsRun, names: Sequence[str]) -> str:
    """Return a list of values for each axis, by which the page leaves out machines."""
    found = []
    for name in (*names, "verdict"):
        values = run.verdicts if name == "verdict" else values_of(run.machines, name)
        options = "".join(f"<option>{escape(str(each))}</option>" for each in values)
        found.append(f'<label>{escape(name)} <select data-head="{escape(name)}"><option value="">any</option>{options}'
                     "</select></label>")  # fmt: skip
    return f'<p id="choices">{" ".join(found)}</p>'


def shifts_table(run: ChipsRun) -> str:
    """Return what each number, half and twice as large, would change, as HTML."""
    rows = run.shifts
    columns: list[Column] = [
        ("number", [(at, escape(each.number)) for at, each in enumerate(rows)]),
        ("then build", [(at, escape(each.chip)) for at, each in enumerate(rows)]),
        ("were it", [(each.factor, f"x {each.factor:g}") for each in rows]),
        ("memory (KB)", [_size(each.memory_bytes) for each in rows]),
        ("ours costs more (%)", [_regret(each.regret) for each in rows]),
    ]
    return f'<div class="wide">{columns_table(columns, "shifts")}</div>'


def _regret(value: float | None) -> tuple[float, str]:
    return (1e300, "breaks a limit") if value is None else (value, f"{100 * value:.2f}")


def chip_facts(run: ChipsRun) -> list[tuple[str, str]]:
    """Return how it was searched and by what."""
    about = run.about
    return [
        ("search", f"{counted(len(run.machines), 'machine')}, seed {about.seed}, {about.engine} engine"),
        ("command", about.command),
        ("versions", ", ".join(f"{name} {version}" for name, version in about.versions.items())),
    ]
