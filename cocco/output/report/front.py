"""What the drawing of a page shows: the samples of a run by capacity and metric, or of a front by two objectives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas

from cocco.exploration.ranges import MARGINS, band_edges
from cocco.output.folders.read_front import FrontRun
from cocco.output.folders.read_run import Run
from cocco.output.report.chart import Chart, Cloud, Column, chart
from cocco.output.text.numbers import buffer_columns, buffer_name
from cocco.problem.criteria import CRITERIA
from cocco.problem.dominance import non_dominated


def run_chart(run: Run) -> Chart:
    """Return the samples of a run, the front as a staircase, the recommendation as a star."""
    assert run.accelerator is not None, "a run without an answer has no front"
    unit, points = CRITERIA[run.metric], run.points
    metric = sum(network.weight * getattr(network, CRITERIA[run.metric].column) for network in run.networks)
    best = {
        **{name: getattr(run.accelerator, name.removesuffix("_bytes")) for name in buffer_columns(points.columns)},
        "capacity": run.accelerator.buffer_bytes,
        "value": metric,
        "cost": run.cost,
        "subgraphs": sum(len(network.subgraphs) for network in run.networks),
    }
    table = pandas.concat([points, pandas.DataFrame([best])], ignore_index=True)
    across, up = table["capacity"].to_numpy(float) / 1024, table["value"].to_numpy(float) * unit.scale
    columns = [
        *_sizes(table), Column(f"{unit.title} ", f" {unit.shown}", up.tolist(), "rounded"), *_subgraphs(table),
        Column("cost ", "", [round(cost) for cost in table["cost"]]),
    ]  # fmt: skip
    titles = [f"sample {i + 1:,}" for i in range(len(points))] + ["recommended"]
    labels = f"capacity of one core ({CRITERIA['capacity'].shown})", f"{unit.title} ({unit.shown})"
    order = np.argsort(table["cost"].to_numpy(float), kind="stable")
    edge = non_dominated(across, up)
    cloud = Cloud(across, up, labels, edge, order, len(points), tuple(columns), titles, _bands(run))
    return chart(cloud, f"{unit.title} against capacity")


def _bands(run: Run) -> list[tuple[float, float, str]]:
    """Return the sizes of one buffer within the margins, the wider one first, and those left open."""
    if run.ranges is None or not run.ranges.is_one_buffer:
        return []
    sizes, found = [each.size_bytes for each in run.ranges.candidates], []
    for margin in reversed(MARGINS):
        for band in run.ranges.bands(margin):
            if band.kind == "within" or (band.kind == "open" and margin == MARGINS[-1]):
                name = "open" if band.kind == "open" else f"within{100 * margin:g}"
                found.append((*band_edges(sizes, band), name))
    return found


def objectives_chart(run: FrontRun) -> Chart:
    """Return the samples of a front by its first two objectives; those of the front are the black dots."""
    across, up = run.axes
    table = pandas.concat([run.points, run.front], ignore_index=True)
    x, y = (table[CRITERIA[name].column].to_numpy(float) * CRITERIA[name].scale for name in (across, up))
    first = len(run.points)
    columns = [*_sizes(table), *_subgraphs(table)]
    for name in run.objectives:
        values = (table[CRITERIA[name].column] * CRITERIA[name].scale).tolist()
        columns.append(Column(f"{name} ", f" {CRITERIA[name].shown}", values, "rounded"))
    titles = [f"sample {sample:,.0f}" for sample in run.points["sample"]]
    titles += ["recommended" if run.is_limited else f"point {i + 1} of the front" for i in range(len(run.front))]
    labels = f"{across} ({CRITERIA[across].shown})", f"{up} ({CRITERIA[up].shown})"
    inside = non_dominated(x, y)
    own = first + non_dominated(x[first:], y[first:])
    edge = inside if run.is_limited else own
    order = np.argsort(y, kind="stable")
    cloud = Cloud(x, y, labels, edge, order, first if run.is_limited else None, tuple(columns), titles)
    return chart(cloud, f"{up} against {across}")


def _sizes(table: pandas.DataFrame) -> list[Column]:
    names = buffer_columns(table.columns)
    return [Column(f"{buffer_name(name)} ", "", _whole(table[name]), "size") for name in names]


def _subgraphs(table: pandas.DataFrame) -> list[Column]:
    if "subgraphs" not in table.columns:
        return []
    return [Column("partition of ", " subgraphs", _whole(table["subgraphs"]))]


def _whole(values: pandas.Series) -> Sequence[int | None]:
    return [None if value != value else int(value) for value in values]
