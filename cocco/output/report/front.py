"""The drawing of a page: every size of a run by its price and its bound, or the points of a front."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas

from cocco.exploration.answers.ranges import MARGINS
from cocco.output.folders.read.front import FrontRun
from cocco.output.folders.read.parts import Placing
from cocco.output.folders.read.run import Run
from cocco.output.report.chart import SAME, Chart, ChartAxis, Limit, SizeGrid, Slider, cloud, is_proved
from cocco.output.report.words import work_of
from cocco.output.text.layout.numbers import buffer_columns, buffer_name, capacity, counted
from cocco.output.text.searches.front import shown
from cocco.problem.criteria import CRITERIA, METRICS
from simulator.units import SIZE, Unit

Sizes = tuple[int, ...]  #: bytes of each buffer of one core
RECOMMENDED = "recommended"
SAMPLE, NO_PLAN = -1, -2  #: in place of a position in the front


def run_chart(run: Run, plans: Mapping[Sizes, int]) -> Chart:
    """Return every size that the run knows something of; plans: which plans of the page are for these sizes."""
    assert run.accelerator is not None, "a run without an answer has no front"
    criterion, names = CRITERIA[run.metric], buffer_columns(run.points.columns)
    best = chosen_sizes(run)
    counted = run.accelerator.cores if run.count == "all" else 1
    known = _known(run, names, best, counted)
    known[best] = (sum(net.weight * getattr(net, criterion.column) for net in run.networks), known[best][1])
    unit = criterion.quantity.unit(known[best][0] or 0.0)
    sizes = sorted(known, key=lambda each: (sum(each), each))
    lines = []
    for each in sizes:
        price, least = known[each]
        said = [f"{buffer_name(name)} {capacity(size)}" for name, size in zip(names, each)]
        said.append("no plan priced at this size" if price is None else f"{criterion.title} {_shown(price, unit)}")
        if is_proved(price, least):
            said.append("proved: no plan takes less")
        elif least is not None:
            said.append(f"proved: at least {_shown(least, unit)}")
        if each == best:
            said.append(RECOMMENDED)
        lines.append(said)
    is_one = len(names) == 1
    return Chart(
        ChartAxis.of("capacity of all cores" if counted > 1 else "capacity of one core", SIZE[1]),
        (ChartAxis.of(criterion.title, unit),),
        [sum(each) * counted for each in sizes],
        [[known[each][0] for each in sizes]],
        [" + ".join(capacity(size) for size in each) for each in sizes],
        lines,
        [plans.get(each) for each in sizes],
        stairs=True,
        least=[known[each][1] for each in sizes],
        star=sizes.index(best),
        whole=run.ranges is not None and not run.ranges.others,
        others=_others(run),
        banded=is_one,
        sure=run.status == "optimal",
        slider=None if not run.alpha else Slider(run.alpha, _worth(run.metric)),
        margins=MARGINS,
        cloud=_cloud(run, counted),
        grid=_grid(names, sizes),
    )  # fmt: skip


def chosen_sizes(run: Run) -> Sizes:
    """Return the size of each buffer of the recommendation."""
    names = buffer_columns(run.points.columns)
    return tuple(int(getattr(run.accelerator, name.removesuffix("_bytes"))) for name in names)


def _grid(names: Sequence[str], sizes: Sequence[Sizes]) -> SizeGrid | None:
    """Return the sizes of two buffers; one needs no map."""
    if len(names) != 2:
        return None
    across, up = (buffer_name(name) for name in names)
    return SizeGrid((across, up), [each[0] for each in sizes], [each[1] for each in sizes])


def _known(run: Run, names: Sequence[str], best: Sizes, counted: int) -> dict[Sizes, tuple[float | None, float | None]]:
    """Return for each size the metric of the best plan known, and what no plan there takes less than.

    The least metric at a size does not depend on alpha, so a bound of the cost is one of the metric, whatever alpha is.
    """
    found: dict[Sizes, tuple[float | None, float | None]] = {best: (None, None)}
    samples = run.points[run.points["cost"] < float("inf")]
    for row in samples.groupby(list(names))["value"].min().reset_index().to_dict("records"):
        found[tuple(int(row[name]) for name in names)] = float(row["value"]), None
    for each in run.ranges.candidates if run.ranges is not None else ():
        sizes = tuple(size for _, size in each.buffers)
        before = found.get(sizes, (None, None))[0]
        price = min((value for value in (before, each.value) if value is not None), default=None)
        if each.cost is not None and each.value is not None and each.bound >= each.cost * (1 - SAME):
            least: float | None = price
        else:
            least = max(0.0, each.bound - each.size_bytes * counted) / run.alpha if run.alpha else None
        found[sizes] = price, least
    return found | _outside(run, found, counted)


def _outside(
    run: Run, found: Mapping[Sizes, tuple[float | None, float | None]], counted: int
) -> dict[Sizes, tuple[float | None, float | None]]:
    """Return the sampled sizes that the ranges do not list, because they are proved to cost more than any margin."""
    if run.ranges is None or not run.ranges.others or not run.alpha:
        return {}
    listed = {tuple(size for _, size in each.buffers) for each in run.ranges.candidates}
    most = _others(run) or 0.0
    return {
        sizes: (price, max(0.0, most - sum(sizes) * counted) / run.alpha)
        for sizes, (price, _) in found.items()
        if sizes not in listed
    }


def _others(run: Run) -> float | None:
    """Return a bound that all sizes not in the ranges exceed: 0 without ranges, None if all are listed."""
    if run.ranges is None:
        return 0.0
    return run.ranges.most(MARGINS[-1]) * (1 + SAME) if run.ranges.others else None  # whatever rounding does


def _cloud(run: Run, counted: int) -> dict[str, Any]:
    if work_of(run) == "steps":  # each is the best plan of a size, which is a point already
        return {}
    samples = run.points[run.points["cost"] < float("inf")]
    return cloud(samples["capacity"].to_numpy(float) * counted, [samples["value"].to_numpy(float)])


def _worth(metric: str) -> str:
    return CRITERIA[metric].unit


def _shown(value: float, unit: Unit) -> str:
    number = value / unit.size
    return f"{number:,.4g} {unit.name}" if number < 1000 else f"{number:,.0f} {unit.name}"


def objectives_chart(run: FrontRun, plans: Mapping[int, int]) -> Chart:
    """Return the points of a front by their objectives, a drawing for each but the one across; limits are lines.

    plans: which plans of the page are those of these points, by position.
    """
    across, *up = run.axes
    columns = [CRITERIA[name].column for name in (across, *up)]
    told = run.front.assign(at=range(len(run.front)))
    if run.is_limited:
        told = _with_sizes(told, run, columns)
    table = told.sort_values(columns, kind="stable")
    rows, buffers = (
        [{str(name): value for name, value in row.items()} for row in table.to_dict("records")],
        buffer_columns(table.columns),
    )
    units = _units(run)
    lines = [_lines(run, row, units) for row in rows]
    names = [[row[name] for name in buffers] if row["at"] != NO_PLAN else [row[columns[0]]] for row in rows]
    limits = [
        Limit((across, *up).index(name) - 1, value, f"{name} at most {shown(name, value)}")
        for name, value in run.limits.items()
        if name in (across, *up)
    ]
    x, *values = (table[column].astype(object).where(table[column].notna(), None).tolist() for column in columns)
    return Chart(
        ChartAxis.of(CRITERIA[across].title, units[across]),
        tuple(ChartAxis.of(CRITERIA[name].title, units[name]) for name in up),
        x,
        values,
        [" + ".join(capacity(int(size)) for size in sizes) for sizes in names],
        lines,
        [plans.get(int(at)) for at in table["at"]],
        stairs=len(up) == 1,
        least=_proved(run, columns, x, values),
        whole=bool(run.floors),
        star=table["at"].tolist().index(0) if run.is_limited and run.accelerator is not None else None,
        limits=limits,
        ruled_out=_ruled_out(run, across),
        slider=_front_slider(across, up, x, values[0], run.is_limited),
        cloud=cloud(run.points[columns[0]].to_numpy(float), [run.points[each].to_numpy(float) for each in columns[1:]]),
    )  # fmt: skip


def _with_sizes(told: pandas.DataFrame, run: FrontRun, columns: Sequence[str]) -> pandas.DataFrame:
    """Return the answer under limits, at each other size the plan that takes the least there, and sizes without one."""
    others = run.points[~run.points[columns[0]].isin(told[columns[0]])]
    best = others.sort_values(columns, kind="stable").drop_duplicates(columns[0])
    told = pandas.concat([told, best.reindex(columns=told.columns).assign(at=SAMPLE)], ignore_index=True)
    rest = sorted({row[columns[0]] or 0.0 for row in run.floors} - {*told[columns[0]]})
    return pandas.concat([told, pandas.DataFrame({columns[0]: rest, "at": NO_PLAN})], ignore_index=True)


def _proved(
    run: FrontRun, columns: Sequence[str], x: Sequence[float], values: Sequence[Sequence[float | None]]
) -> Sequence[float | None] | None:
    """Return what no plan undercuts at each point: of a front that is proved all, under limits the floors."""
    if run.is_limited:
        least = {row[columns[0]]: row[columns[1]] for row in run.floors}
        return [least.get(each) for each in x]
    return values[0] if run.status == "optimal" and len(values) == 1 else None


def _ruled_out(run: FrontRun, across: str) -> float | None:
    """Return the size below which nothing keeps the limits, proved; None where another criterion is minimized."""
    bound = run.about.result.get("lower_bound") if run.minimize == across else None
    return float(bound) if isinstance(bound, (int, float)) else None


def _front_slider(across: str, up: Sequence[str], x: Sequence[float], y: Sequence[Any], limited: bool) -> Slider | None:
    """Return a slider that starts where both ends of the front cost the same."""
    if limited or len(up) != 1 or across != "capacity" or up[0] not in METRICS or len(x) < 2:
        return None
    rise = float(max(y) - min(y))
    return Slider(float(f"{(max(x) - min(x)) / rise:.1g}"), _worth(up[0]), "Where it began") if rise else None


def _units(run: FrontRun) -> dict[str, Unit]:
    """Return the unit of each objective, for the largest number of the front."""
    found = [(name, CRITERIA[name]) for name in {*run.objectives, *run.axes}]
    return {name: each.quantity.unit(float(run.front[each.column].max())) for name, each in found}


def _lines(run: FrontRun, row: Mapping[str, Any], units: Mapping[str, Unit]) -> list[str]:
    if row["at"] == NO_PLAN:
        return [capacity(int(row[CRITERIA[run.axes[0]].column])), "no plan priced at this size"]
    said = [f"{buffer_name(name)} {capacity(int(row[name]))}" for name in buffer_columns(row)]
    if "subgraphs" in row:
        said.append(f"partition of {row['subgraphs']} subgraphs")
    for name in run.objectives:
        said.append(f"{CRITERIA[name].title} {_shown(float(row[CRITERIA[name].column]), units[name])}")
    if row["at"] == SAMPLE:
        return [*said, "the best known at this size"]
    placing = run.placing[int(row["at"])]
    if placing is not None:
        said.append(_placed(placing))
    if not run.is_limited:
        said.append(f"point {int(row['at']) + 1} of the front")
    return [*said, RECOMMENDED if run.accelerator is not None else "nearest that was found"] if run.is_limited else said


def _placed(placing: Placing) -> str:
    if not placing.is_placed:
        return "no addresses found for all that is kept"
    if not placing.changes:
        return "has its addresses as it was found"
    return f"{counted(len(placing.changes), 'change')} of the plan for its addresses"
