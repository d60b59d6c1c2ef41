"""The tables of a page: the subgraphs of a plan, the points of a front; a script sorts them by column."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from cocco.output.folders.read_front import FrontRun
from cocco.output.folders.read_run import RunNetwork
from cocco.output.text.numbers import buffer_columns, buffer_name, milliseconds
from cocco.problem.criteria import CRITERIA
from simulator.accelerator import Accelerator
from simulator.partition.schemes import CORE_SCHEMES

HEADS = ("#", "layers", "tile", "activations (KB)", "weights (KB)", "off-chip (KB)", "energy (mJ)", "latency (ms)")


def plan_table(machine: Accelerator, network: RunNetwork) -> str:
    """Return a row for each subgraph, as HTML."""
    clock = machine.technology.clock_ghz
    heads = [*HEADS[:4], "kept (KB)", *HEADS[4:]] if network.keep else list(HEADS)
    heads[2:2] = ["cores"] if machine.cores > 1 else []
    rows = []
    for position, cost in enumerate(network.subgraphs):
        names = [escape(name) for name in cost.layers]
        listed = names[0] if len(names) == 1 else f"{names[0]} .. {names[-1]} ({len(names)})"
        if len(names) > 2:
            listed = f"<details><summary>{listed}</summary>{', '.join(names)}</details>"
        cells = [
            (position, str(position)), (len(names), listed), *([_scheme(cost.scheme)] if machine.cores > 1 else []),
            (cost.tile[0] * cost.tile[1], f"{cost.tile[0]} x {cost.tile[1]}"),
            _kilobytes(cost.activation_bytes), *([_kilobytes(cost.kept_bytes)] if network.keep else []),
            _kilobytes(cost.weight_bytes), _kilobytes(cost.ema_bytes),
            (cost.energy_pj, f"{cost.energy_pj * 1e-9:.3f}"),
            (cost.latency_cycles, milliseconds(cost.latency_cycles, clock).removesuffix(" ms")),
        ]  # fmt: skip
        rows.append(cells)
    return _table(heads, rows)


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
    return _table(("#", "kept tensor", "from subgraph", "until subgraph", "takes (KB)"), rows)


def _scheme(scheme: str) -> tuple[int, str]:
    return ("", *CORE_SCHEMES).index(scheme), scheme


def _kilobytes(size: int) -> tuple[int, str]:
    return size, f"{size / 1024:,.1f}"


def front_table(run: FrontRun) -> str:
    """Return a row for each point of a front, as HTML."""
    buffers = buffer_columns(run.front.columns)
    heads = ["#", "partition", *(f"{buffer_name(column)} (KB)" for column in buffers)]
    heads += ["subgraphs"] * ("subgraphs" in run.front.columns)
    heads += [f"{name} ({CRITERIA[name].shown})" for name in run.objectives]
    rows = []
    for position, row in enumerate(run.front.to_dict("records"), 1):
        cells = [(float(position), str(position)), (float(position), escape(str(row["partition"])))]
        cells += [(row[column], f"{row[column] / 1024:,.6g}") for column in buffers]
        if "subgraphs" in row:
            cells.append((row["subgraphs"], f"{row['subgraphs']:,.0f}"))
        for name in run.objectives:
            value = row[CRITERIA[name].column]
            cells.append((value, f"{value * CRITERIA[name].scale:,.6g}"))
        rows.append(cells)
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[tuple[float, str]]]) -> str:
    """Return a table whose columns sort by a number; cells: that number, and what is shown as HTML."""
    lines = [
        "<tr>" + "".join(f'<td data-v="{value!r}">{text}</td>' for value, text in cells) + "</tr>" for cells in rows
    ]
    head = "".join(f'<th><button type="button">{text}</button></th>' for text in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
