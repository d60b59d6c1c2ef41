"""Two runs of explore side by side: their questions and answers as rows, and the page with their sizes and plans."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from cocco.exploration.answers.front import buffer_bytes
from cocco.output.folders.read.chips import ChipsRun
from cocco.output.folders.read.front import FrontRun, read
from cocco.output.folders.read.run import Run
from cocco.output.folders.written.about import MAX_STEM, PAIR_PAGES
from cocco.output.report.chart import Chart, Overlay
from cocco.output.report.chips import STATUS as CHIPS_STATUS
from cocco.output.report.data import page_data
from cocco.output.report.front import chosen_sizes, run_chart
from cocco.output.report.page import document, drawing, plans, section
from cocco.output.report.plans import BUILT_IN, Networks, ShownMemory, answer, others_of_run
from cocco.output.report.words import STATUS
from cocco.output.text.plans.hardware import buffers
from simulator.units import AREA, ENERGY, TIME, TRAFFIC, Quantity, Unit
from workloads.errors import FileFormatError
from workloads.files import write_atomic

PLAIN = Quantity((Unit("", 1, 0, 0),))  #: counts, and costs, which have no unit
Explored = Run | ChipsRun
Row = tuple[str, str, str, str]  #: of a table: what, the first run, the second, the difference


@dataclass(frozen=True, eq=False)
class Pair:
    """Two runs of `cocco explore -o`, and what tells them apart: the names of their folders, or their paths.

    Both are over machines (--axis), or none is.
    """

    first: Explored
    second: Explored
    names: tuple[str, str]

    @property
    def answers(self) -> list[Row]:
        """A row for each number of both answers."""
        return list(_answers(self.first, self.second))

    @property
    def questions(self) -> list[Row]:
        """A row for each setting in which the runs differ."""
        return [(name, _said(one), _said(two), "") for name, one, two in _questions(self.first, self.second)]

    def to_json(self) -> dict[str, Any]:
        """Return "runs", the answers by the names of their folders, and "asked_differently"."""
        changed = [{"setting": name, "values": [one, two]} for name, one, two in _questions(self.first, self.second)]
        return {"runs": [run_json(run) for run in (self.first, self.second)], "asked_differently": changed}


def read_pair(first: Path, second: Path) -> Pair:
    """Return the pair of two folders.

    Raises FileFormatError, one line, for a folder that is missing, cut off or of something else.
    """
    runs = _run(first), _run(second)
    if isinstance(runs[0], ChipsRun) != isinstance(runs[1], ChipsRun):
        raise FileFormatError(
            f"{second}: both of a comparison must be over machines (--axis), or none; {first} differs"
        )
    return Pair(*runs, names_of(*runs))


def run_json(run: Explored) -> dict[str, Any]:
    """Return the answer of a run as plain data: energy, traffic and latency over the networks by their weights."""
    memory = {} if run.accelerator is None else buffer_bytes(run.accelerator)
    sums = {name: _total(run, name) for name in ("ema_bytes", "energy_pj", "latency_cycles")}
    return {
        "run": run.folder.name,
        "networks": [network.name for network in run.networks],
        "status": run.status,
        **memory,
        **_asked(run),
        **({"axes": run.axes, "machines": len(run.machines)} if isinstance(run, ChipsRun) else {}),
        "cost": run.cost,
        "lower_bound": run.lower_bound,
        "gap": run.gap,
        **(sums if run.networks else {}),
    }


def _asked(run: Explored) -> dict[str, Any]:
    """Return what the cost of a run is."""
    if isinstance(run, ChipsRun):
        return {"minimize": run.criterion, "exchange": run.about.settings.get("exchange")}
    return {"metric": run.metric, "alpha": run.alpha}


def _run(folder: Path) -> Explored:
    found = read(folder)
    if isinstance(found, FrontRun):
        raise FileFormatError(f"{folder}: is no run of 'cocco explore -o', as both of a comparison must be")
    return found


OTHER = "of other networks"  #: in place of a change in percent


def names_of(first: Explored, second: Explored) -> tuple[str, str]:
    """Return the names of the folders, or their paths where these are the same."""
    names = first.folder.name, second.folder.name
    return names if names[0] != names[1] and all(names) else (str(first.folder), str(second.folder))


def _answers(first: Explored, second: Explored) -> Iterator[Row]:
    """Yield a row for each number of both answers."""
    runs = first, second
    if isinstance(first, ChipsRun) and isinstance(second, ChipsRun):
        yield _row("chip", _chip(first), _chip(second))
    yield _row("memory", *("none" if run.accelerator is None else buffers(run.accelerator) for run in runs))
    words = CHIPS_STATUS if isinstance(first, ChipsRun) else STATUS
    yield _row("how sure", *(words.get(run.status, run.status) for run in runs))
    if any(run.accelerator is None for run in runs):
        return
    one, two = (_asked(run) | {"count": getattr(run, "count", None)} for run in runs)
    of = "" if [net.name for net in first.networks] == [net.name for net in second.networks] else OTHER
    yield _numbers(
        "cost", [run.cost or 0.0 for run in runs], PLAIN, of or ("" if one == two else "different questions")
    )
    bounds = ["none known" if run.lower_bound is None else f"{run.lower_bound:,.0f}" for run in runs]
    yield "no answer costs less than", bounds[0], bounds[1], ""
    yield _numbers("energy", [_total(run, "energy_pj") for run in runs], ENERGY, of)
    moved = [_total(run, "ema_bytes") for run in runs]
    yield _numbers("off-chip traffic", moved, TRAFFIC, of)
    least = [sum(net.weight * (net.any_schedule_bound_bytes or 0) for net in run.networks) for run in runs]
    if all(least):
        yield _row("over the least of any schedule", *(f"{a / b:.3f} times" for a, b in zip(moved, least)))
    machines = [run.accelerator for run in runs if run.accelerator is not None]
    at_1_ghz = [_total(run, "latency_cycles") / each.technology.clock_ghz for run, each in zip(runs, machines)]
    yield _numbers("latency", at_1_ghz, TIME, of)
    yield _numbers("buffer area", [each.area_mm2 for each in machines], AREA)
    if isinstance(first, ChipsRun):
        yield _numbers("chip area", [each.chip_area.total for each in machines], AREA)
    counts = [sum(len(net.subgraphs) for net in run.networks) for run in runs]
    yield _numbers("subgraphs", counts, PLAIN, of)
    yield _numbers("tensors kept", [sum(len(net.keep) for net in run.networks) for run in runs], PLAIN, of)


def _chip(run: ChipsRun) -> str:
    return ", ".join(f"{name} {value}" for name, value in run.axes.items()) or "none"


def _total(run: Explored, column: str) -> float:
    return sum(network.weight * getattr(network, column) for network in run.networks)


def _questions(first: Explored, second: Explored) -> Iterator[tuple[str, Any, Any]]:
    """Yield each setting in which the runs differ, with both values."""
    asked = [_flat(run.about.settings) | {"seed": run.about.seed} for run in (first, second)]
    asked = [
        each | {f"version of {name}": text for name, text in run.about.versions.items()}
        for each, run in zip(asked, (first, second))
    ]
    for name in dict.fromkeys([*asked[0], *asked[1]]):
        values = [each.get(name) for each in asked]
        if values[0] != values[1]:
            yield name, values[0], values[1]


# A setting's value in words: the items of a list, or "not said" where the run does not have the setting.
def _said(value: object) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return "not said" if value is None else str(value)


def _flat(content: dict[str, Any], before: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in content.items():
        found |= _flat(value, f"{before}{name}.") if isinstance(value, dict) else {f"{before}{name}": value}
    return found


def _row(name: str, one: str, two: str) -> Row:
    return name, one, two, "the same" if one == two else ""


def _numbers(name: str, values: Sequence[float], shown: Quantity, instead: str = "") -> Row:
    """Return a row with the change in percent, or what is said instead where that means nothing."""
    change = instead or _change(*values)
    one, two = shown.texts(values)
    return name, one.rstrip(), two.rstrip(), change


def _change(one: float, two: float) -> str:
    if one == two:
        return "the same"
    return f"{100 * (two / one - 1):+.2f} %" if one else ""


def write_pair(
    first: Path, second: Path, path: Path | None = None, networks: tuple[Networks, Networks] = (BUILT_IN, BUILT_IN)
) -> Path:
    """Write the page of two folders of `cocco explore -o`, by default FIRST/compare-SECOND.html; return its path.

    networks: by name, those of each run that are not built in.
    Raises FileFormatError for a folder that is missing, cut off or of something else, and OSError.
    """
    pair = read_pair(first, second)
    path = first / page_name(first, second) if path is None else path
    write_atomic(path, html_of_pair(pair.first, pair.second, networks))
    return path


def page_name(first: Path, second: Path) -> str:
    """Return the name of the page of two folders: each second one has its own.

    Examples
    --------
    >>> page_name(Path("runs/one"), Path("runs/two")), page_name(Path("runs/one"), Path("earlier/two"))
    ('compare-two.html', 'compare-earlier_two.html')
    """
    way = os.path.relpath(second.resolve(), first.resolve().parent)
    return PAIR_PAGES.replace("*", "-" + re.sub(r"[^A-Za-z0-9.-]+", "_", way).strip("._")[-MAX_STEM:])


def html_of_pair(first: Explored, second: Explored, networks: tuple[Networks, Networks] = (BUILT_IN, BUILT_IN)) -> str:
    """Return the page of two runs; the same files give the same bytes."""
    runs, names = (first, second), names_of(first, second)
    pair = Pair(first, second, names)
    answered = [run for run in runs if run.accelerator is not None]
    body = [
        f'<div id="answer"><p id="recommendation">{escape(_sentence(pair))}</p></div>',
        section("What they answer", _table(pair.answers, names)),
        section("What was asked differently", _table([row[:3] for row in pair.questions], names)),
    ]
    if len(answered) < 2:
        return document(" beside ".join(names), body)
    choices, shown, charts = list[ShownMemory](), list[str](), list[Chart]()
    for name, run, known in zip(names, runs, networks):
        others = others_of_run(run, known) if isinstance(run, Run) else {}
        found = [  # their files are in another folder than the page
            replace(each, plans=tuple(replace(plan, link="") for plan in each.plans))
            for each in (answer(run, known), *others.values())
        ]
        shown.append("\n".join(plans(found, f"{name}: the plan", len(choices))))
        if isinstance(run, Run):
            charts.append(run_chart(run, dict(zip((chosen_sizes(run), *others), itertools.count(len(choices))))))
        choices += found
    drawn = None
    plain = [run for run in runs if isinstance(run, Run)]
    if len({(run.metric, run.count) for run in plain}) == 1:
        is_same = len({tuple(network.name for network in run.networks) for run in plain}) == 1
        drawn, other = charts if is_same else map(_relative, charts)
        drawn = replace(drawn, overlay=Overlay(names[1], other.x, other.y[0], other.plan, other.star), title=names[0])
        if len({run.alpha for run in plain}) > 1 and drawn.slider is not None:
            drawn = replace(drawn, slider=replace(drawn.slider, reset=f"As {names[0]} asked"))
        words = f"Dots and the full line are {names[0]}, squares and the dashed line are {names[1]}."
        words += "" if is_same else " They are of other networks, so each is shown over its recommendation."
        body.append(drawing("Their sizes", words))
    body.append(f'<div class="pair">{"".join(shown)}</div>')
    return document(" beside ".join(names), body, page_data(drawn, choices))


def _relative(drawn: Chart) -> Chart:
    """Return the sizes of a run by what they take over its recommendation, which can be compared between networks."""
    assert drawn.star is not None
    whole, least = drawn.y[0][drawn.star] or 1.0, drawn.least or [None] * len(drawn.x)
    y, bounds = ([None if each is None else each / whole for each in values] for values in (drawn.y[0], least))
    axis = replace(drawn.up[0], unit="times that of the recommendation", scale=1.0)
    return replace(drawn, up=(axis,), y=[y], least=bounds, slider=None, banded=False, cloud={})


def _sentence(pair: Pair) -> str:
    """Return the memory of each run, and its machine where that was chosen, in words."""
    said = []
    for name, run in zip(pair.names, (pair.first, pair.second)):
        chip = f"{_chip(run)}, " if isinstance(run, ChipsRun) else ""
        nothing = "no chip keeps the limits" if chip else "no memory runs it"
        said.append(f"{name}: {nothing if run.accelerator is None else chip + buffers(run.accelerator)}")
    return "; ".join(said) + "."


def _table(rows: Sequence[Sequence[str]], names: Sequence[str]) -> str:
    if not rows:
        return "<p>Nothing.</p>"
    heads = ("", *names, "second against first")[: len(rows[0])]
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="wide"><table class="compared"><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div>'
    )
