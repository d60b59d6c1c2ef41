"""The tables of a page: the subgraphs of a plan, the points of a front; a script sorts them by column."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cocco.exploration.answers.ranges import MARGINS
from cocco.output.folders.read.front import FrontRun
from cocco.output.folders.read.parts import Placing
from cocco.output.folders.read.run import Run, RunNetwork, RunSubgraph
from cocco.output.report.plans import ShownPlan, is_link, shown_tile
from cocco.output.text.layout.numbers import buffer_columns, buffer_name, counted
from cocco.problem.criteria import CRITERIA
from simulator.accelerator import Accelerator
from simulator.hardware_files import WORDS
from simulator.partition.schemes import CORE_SCHEMES
from simulator.technology import MAX_REGIONS, Technology
from simulator.units import AREA, ENERGY, KB, POWER, SIZE, TIME, Quantity

TERMS = {"dram": "DRAM", "sram": "SRAM", "leakage": "leakage", "compute": "computing"}
Column = tuple[str, list[tuple[float, str]]]  #: its head; by row a number to sort by, and what is shown as HTML


def plan_table(plan: ShownPlan) -> str:
    """Return a row for each subgraph, as HTML."""
    machine, network, costs = plan.machine, plan.network, plan.network.subgraphs
    clock = machine.technology.clock_ghz
    columns: list[Column] = [
        ("#", [(position, str(position)) for position in range(len(costs))]),
        ("layers", [(len(cost.layers), _layers(cost.layers)) for cost in costs]),
    ]
    if machine.cores > 1:
        columns.append(("cores", [_scheme(cost.scheme) for cost in costs]))
    columns += [("tile", [_tile(plan, cost) for cost in costs])]
    columns += [unit_column("activations", SIZE, [cost.activation_bytes for cost in costs])]
    if network.keep:
        columns.append(unit_column("kept", SIZE, [cost.kept_bytes for cost in costs]))
    columns.append(unit_column("weights", SIZE, [cost.weight_bytes for cost in costs]))
    if plan.needs is not None:
        head, cells = unit_column("needs at least", SIZE, [n.activation_bytes + n.weight_bytes for n in plan.needs])
        pieces = [(size, f"({said})" if need.may_stream else said) for need, (size, said) in zip(plan.needs, cells)]
        columns.append((head, pieces))  # in brackets: of a layer that may pass in pieces instead
    columns += [
        unit_column("off-chip", SIZE, [cost.ema_bytes for cost in costs]),
        unit_column("energy", ENERGY, [cost.energy_pj for cost in costs]),
        unit_column("latency", TIME, [cost.latency_cycles / clock for cost in costs]),
    ]
    if all(cost.utilization is not None for cost in costs):
        busy = [cost.utilization or 0.0 for cost in costs]
        columns.append(("MACs busy (%)", [(each, f"{100 * each:.1f}") for each in busy]))
    return columns_table(columns, "subgraphs")


def unit_column(name: str, quantity: Quantity, values: Sequence[float | None]) -> Column:
    """Return a column in one unit; what is not known is empty, and sorts last."""
    unit, cells = quantity.column(values)
    found = [(1e300, "") if value is None else (value, cell) for value, cell in zip(values, cells)]
    return f"{name} ({unit})", found


def _layers(layers: Sequence[str]) -> str:
    names = [escape(name) for name in layers]
    listed = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names)})"
    return f"<details><summary>{listed}</summary>{', '.join(names)}</details>" if len(names) > 2 else listed


def _tile(plan: ShownPlan, cost: RunSubgraph) -> tuple[int, str]:
    rows, columns = shown_tile(plan, cost)
    return rows * columns, f"{rows} x {columns}"


def kept_table(network: RunNetwork) -> str:
    """Return a row for each tensor that stays on chip between subgraphs, as HTML."""
    takes, sizes = unit_column("takes", SIZE, [each.size_bytes for each in network.keep])
    rows = [
        [
            (place, str(place)), (place, escape(each.tensor)),
            (each.from_step, f"{each.from_step} ({escape(each.from_layer)})"),
            (each.until_step, f"{each.until_step} ({escape(each.until_layer)})"), size,
        ]
        for place, (each, size) in enumerate(zip(network.keep, sizes))
    ]  # fmt: skip
    return _table(("#", "kept tensor", "from subgraph", "until subgraph", takes), rows, "kept")


def _scheme(scheme: str) -> tuple[int, str]:
    return ("", *CORE_SCHEMES).index(scheme), scheme


def ranges_table(run: Run) -> str:
    """Return a row for each size that is not outside the widest margin: bound, cost and what decides, as HTML."""
    assert run.ranges is not None
    most, ranges = run.ranges.most(MARGINS[-1]), run.ranges
    found = [each for each in ranges.candidates if each.kind(most) != "outside"]
    columns: list[Column] = [
        (f"{buffer_name(name)} (KB)", [kilobytes(each.buffers[i][1]) for each in found])
        for i, (name, _) in enumerate(found[0].buffers)
    ]
    columns += [
        ("costs at least (%)", [_percent(each.bound, ranges.cost) for each in found]),
        ("at most (%)", [_percent(each.cost, ranges.cost) for each in found]),
    ]
    if run.metric == "energy":
        terms = [each.terms or (None,) * len(TERMS) for each in found]
        columns += [unit_column(name, ENERGY, values) for name, values in zip(TERMS.values(), zip(*terms))]
    columns += [
        unit_column("area", AREA, [each.area_mm2 for each in found]),
        unit_column("leakage", POWER, [each.leakage_mw for each in found]),
    ]
    return columns_table(columns, "sizes")


def kilobytes(size: int) -> tuple[float, str]:
    """Return a capacity, exactly."""
    return size, f"{size / KB:,.6g}"


def _percent(value: float | None, cost: float) -> tuple[float, str]:
    return (1e300, "") if value is None else (value, f"{100 * (value / cost - 1):+.2f}")


def front_table(run: FrontRun) -> str:
    """Return a row for each point of a front, as HTML."""
    front, buffers = run.front.to_dict("records"), buffer_columns(run.front.columns)
    columns: list[Column] = [
        ("#", [(position, str(position)) for position in range(1, len(front) + 1)]),
        ("partition", [(position, _links(str(row["partition"]))) for position, row in enumerate(front, 1)]),
        *((f"{buffer_name(name)} (KB)", [kilobytes(row[name]) for row in front]) for name in buffers),
    ]
    if "subgraphs" in run.front.columns:
        columns.append(("subgraphs", [(row["subgraphs"], f"{row['subgraphs']:,.0f}") for row in front]))
    columns += [
        unit_column(name, CRITERIA[name].quantity, [row[CRITERIA[name].column] for row in front])
        for name in run.objectives
        if name != "capacity" or [row[CRITERIA[name].column] for row in front] != [row[buffers[0]] for row in front]
    ]
    if any(run.placing):
        columns.append(("for addresses", [_placing(each) for each in run.placing]))
    return columns_table(columns, "points")


def _links(partition: str) -> str:
    files = [f'<a href="{escape(file)}">{escape(file)}</a>' for file in partition.split() if is_link(file)]
    return " ".join(files) or escape(partition)


def _placing(placing: Placing | None) -> tuple[float, str]:
    """Return how much a plan was changed for its addresses; most of all where it has none."""
    if placing is None:  # nothing stays on chip between its subgraphs
        return -1.0, ""
    if not placing.is_placed:
        return 1e300, "<strong>none found</strong>"
    if not placing.changes:
        return 0.0, "nothing changed"
    listed = "".join(f"<li>{escape(each)}</li>" for each in placing.changes)
    said = counted(len(placing.changes), "change")
    return len(placing.changes), f"<details><summary>{said}</summary><ol>{listed}</ol></details>"


def hardware_table(machine: Accelerator) -> str:
    """Return every number of the hardware with unit and source, as HTML; those that are not the default say so."""
    content = {name: getattr(machine, name) for name in ("cores", "batch", "max_regions")}
    content |= machine.technology.to_json()
    usual = {"cores": 1, "batch": 1, "max_regions": MAX_REGIONS} | Technology().to_json()
    rows = []
    for name, value in content.items():
        changed = "" if name in usual and usual[name] == value else " <strong>(given, not the default)</strong>"
        text = escape(str(value) if not isinstance(value, (list, tuple)) else ", ".join(map(str, value)))
        rows.append(f"<tr><td>{name}</td><td>{text}</td><td>{escape(WORDS.get(name, ''))}{changed}</td></tr>")
    head = "<tr><th>number</th><th>value</th><th>unit, meaning, source</th></tr>"
    return f'<table class="hardware"><thead>{head}</thead><tbody>{"".join(rows)}</tbody></table>'


def columns_table(columns: Sequence[Column], name: str, places: Sequence[int] | None = None) -> str:
    """Return a table of columns; places: what each row stands for, by default its position."""
    heads, cells = zip(*columns)
    return _table(heads, list(zip(*cells)), name, places)


def _table(
    heads: Sequence[str],
    rows: Sequence[Sequence[tuple[float, str]]],
    name: str = "",
    places: Sequence[int] | None = None,
) -> str:
    """Return a table whose columns sort by a number; cells: that number, and what is shown as HTML."""
    lines = [
        f'<tr data-row="{place}">' + "".join(f'<td data-v="{value!r}">{text}</td>' for value, text in cells) + "</tr>"
        for place, cells in zip(places or range(len(rows)), rows)
    ]
    head = "".join(f'<th><button type="button">{text}</button></th>' for text in heads)
    said = f' class="{name}"' if name else ""
    return f"<table{said}><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
