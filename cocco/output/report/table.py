"""The tables of a page: the subgraphs of a plan, the points of a front; a script sorts them by column."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cocco.exploration.answers.ranges import MARGINS
from cocco.output.folders.read.front import FrontRun
from cocco.output.folders.read.parts import Placing
from cocco.output.folders.read.run import Run, RunNetwork
from cocco.output.report.plans import ShownPlan, is_link
from cocco.output.text.layout.numbers import buffer_columns, buffer_name, counted, milliseconds
from cocco.problem.criteria import CRITERIA
from simulator.accelerator import Accelerator
from simulator.hardware_files import WORDS
from simulator.partition.schemes import CORE_SCHEMES
from simulator.technology import MAX_REGIONS, Technology
from simulator.views.least_capacity import Need

TERMS = {"dram": "DRAM", "sram": "SRAM", "leakage": "leakage", "compute": "computing"}
HEADS = ("#", "layers", "tile", "activations (KB)", "weights (KB)", "off-chip (KB)", "energy (mJ)", "latency (ms)")


def plan_table(plan: ShownPlan) -> str:
    """Return a row for each subgraph, as HTML."""
    machine, network = plan.machine, plan.network
    clock = machine.technology.clock_ghz
    heads = [*HEADS[:4], "kept (KB)", *HEADS[4:]] if network.keep else list(HEADS)
    if plan.needs is not None:
        heads.insert(heads.index("off-chip (KB)"), "needs at least (KB)")
    heads[2:2] = ["cores"] if machine.cores > 1 else []
    rows = []
    for position, cost in enumerate(network.subgraphs):
        names = [escape(name) for name in cost.layers]
        listed = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names)})"
        if len(names) > 2:
            listed = f"<details><summary>{listed}</summary>{', '.join(names)}</details>"
        needs = [_need(plan.needs[position])] if plan.needs is not None else []
        cells = [
            (position, str(position)), (len(names), listed), *([_scheme(cost.scheme)] if machine.cores > 1 else []),
            (cost.tile[0] * cost.tile[1], f"{cost.tile[0]} x {cost.tile[1]}"),
            _kilobytes(cost.activation_bytes), *([_kilobytes(cost.kept_bytes)] if network.keep else []),
            _kilobytes(cost.weight_bytes), *needs, _kilobytes(cost.ema_bytes),
            (cost.energy_pj, f"{cost.energy_pj * 1e-9:.3f}"),
            (cost.latency_cycles, milliseconds(cost.latency_cycles, clock).removesuffix(" ms")),
        ]  # fmt: skip
        rows.append(cells)
    return _table(heads, rows, "subgraphs")


def _need(need: Need) -> tuple[int, str]:
    """Return what a subgraph needs to be held; of a layer that may pass in pieces instead in brackets."""
    size, shown = _kilobytes(need.activation_bytes + need.weight_bytes)
    return size, f"({shown})" if need.may_stream else shown


def kept_table(network: RunNetwork) -> str:
    """Return a row for each tensor that stays on chip between subgraphs, as HTML."""
    rows = [
        [
            (place, str(place)), (place, escape(each.tensor)),
            (each.from_step, f"{each.from_step} ({escape(each.from_layer)})"),
            (each.until_step, f"{each.until_step} ({escape(each.until_layer)})"), _kilobytes(each.size_bytes),
        ]
        for place, each in enumerate(network.keep)
    ]  # fmt: skip
    return _table(("#", "kept tensor", "from subgraph", "until subgraph", "takes (KB)"), rows, "kept")


def _scheme(scheme: str) -> tuple[int, str]:
    return ("", *CORE_SCHEMES).index(scheme), scheme


def _kilobytes(size: int) -> tuple[int, str]:
    return size, f"{size / 1024:,.1f}"


def ranges_table(run: Run) -> str:
    """Return a row for each size that is not outside the widest margin: bound, cost and what decides, as HTML."""
    assert run.ranges is not None
    most, ranges = run.ranges.most(MARGINS[-1]), run.ranges
    found = [each for each in ranges.candidates if each.kind(most) != "outside"]
    has_terms = run.metric == "energy"
    heads = [f"{buffer_name(name)} (KB)" for name, _ in found[0].buffers]
    heads += ["costs at least (%)", "at most (%)", *(f"{each} (mJ)" for each in TERMS.values() if has_terms)]
    heads += ["area (mm2)", "leakage (mW)"]
    rows = []
    for each in found:
        cells = [(float(size), f"{size / 1024:,.6g}") for _, size in each.buffers]
        cells += [_percent(value, ranges.cost) for value in (each.bound, each.cost)]
        if has_terms:
            cells += [_number(value, 1e-9) for value in each.terms or [None] * len(TERMS)]
        cells += [_number(each.area_mm2), _number(each.leakage_mw)]
        rows.append(cells)
    return _table(heads, rows, "sizes")


def _percent(value: float | None, cost: float) -> tuple[float, str]:
    return (1e300, "") if value is None else (value, f"{100 * (value / cost - 1):+.2f}")


def _number(value: float | None, scale: float = 1.0) -> tuple[float, str]:
    return (1e300, "") if value is None else (value, f"{value * scale:,.4g}")


def front_table(run: FrontRun) -> str:
    """Return a row for each point of a front, as HTML."""
    buffers = buffer_columns(run.front.columns)
    heads = ["#", "partition", *(f"{buffer_name(column)} (KB)" for column in buffers)]
    heads += ["subgraphs"] * ("subgraphs" in run.front.columns)
    heads += [f"{name} ({CRITERIA[name].shown})" for name in run.objectives]
    is_placed = any(run.placing)
    heads += ["for addresses"] * is_placed
    rows = []
    for position, row in enumerate(run.front.to_dict("records"), 1):
        files = [
            f'<a href="{escape(file)}">{escape(file)}</a>' for file in str(row["partition"]).split() if is_link(file)
        ]
        cells = [(float(position), str(position)), (float(position), " ".join(files) or escape(str(row["partition"])))]
        cells += [(row[column], f"{row[column] / 1024:,.6g}") for column in buffers]
        if "subgraphs" in row:
            cells.append((row["subgraphs"], f"{row['subgraphs']:,.0f}"))
        for name in run.objectives:
            value = row[CRITERIA[name].column]
            cells.append((value, f"{value * CRITERIA[name].scale:,.6g}"))
        if is_placed:
            cells.append(_placing(run.placing[position - 1]))
        rows.append(cells)
    return _table(heads, rows, "points")


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


def _table(heads: Sequence[str], rows: Sequence[Sequence[tuple[float, str]]], name: str = "") -> str:
    """Return a table whose columns sort by a number; cells: that number, and what is shown as HTML."""
    lines = [
        f'<tr data-row="{place}">' + "".join(f'<td data-v="{value!r}">{text}</td>' for value, text in cells) + "</tr>"
        for place, cells in enumerate(rows)
    ]
    head = "".join(f'<th><button type="button">{text}</button></th>' for text in heads)
    said = f' class="{name}"' if name else ""
    return f"<table{said}><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
