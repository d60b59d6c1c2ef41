"""The page: one HTML file with everything in it. Its policy forbids the browser to load anything else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path

from cocco.exploration.ranges import MARGINS
from cocco.output.folders.read import read
from cocco.output.folders.read_front import FrontRun
from cocco.output.folders.read_run import Run
from cocco.output.report.chart import Chart
from cocco.output.report.front import objectives_chart, run_chart
from cocco.output.report.plan import plan_section
from cocco.output.report.table import front_table, ranges_table
from cocco.output.report.words import facts, front_facts, front_sentence, recommendation, work_of
from workloads.files import write_atomic

NAME = "report.html"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
HOVER = "Point at a dot, or walk along the line with the arrow keys."


def write(folder: Path) -> Path:
    """Write DIR/report.html for what a search wrote into DIR, whole or not at all, and return its path.

    Raises FileFormatError for a folder that is missing, cut off or of something else, and OSError.
    """
    path = folder / NAME
    write_atomic(path, html_of(read(folder)))
    return path


def html_of(run: Run | FrontRun) -> str:
    """Return the page of what a folder holds; the same files give the same bytes."""
    return _front_page(run) if isinstance(run, FrontRun) else _run_page(run)


def _run_page(run: Run) -> str:
    title = ", ".join(network.name for network in run.networks) or "no plan"
    body = [_recommendation(recommendation(run)), _facts(facts(run))]
    drawn = None
    if run.accelerator is not None:
        drawn = run_chart(run)
        which, one = f"memory with a partition for it that the search priced ({len(run.points):,} samples)", "sample"
        if work_of(run) == "steps":
            which, one = "memory that was solved, with its cheapest plan", "dot"
        words = (
            f"Each dot is a {which}. "
            f"No {one} beats one on the black line in both; the star is the recommendation. {HOVER}"
        )
        if run.ranges is not None and run.ranges.is_one_buffer:
            words += (
                " Sizes in the dark band cost at most 1 % more than the recommendation, in the light one 3 %, proved"
            )
            is_open = run.ranges.of_kind("open", MARGINS[-1])
            words += "; of those in the yellow one it is not known." if is_open else "."
        body.append(_chart(drawn, "What else there is", words))
        body += [plan_section(run.accelerator, run.tile_rule, network) for network in run.networks]
        if run.ranges is not None:
            body.append(f"<section><h2>Sizes that cost as little</h2>{ranges_table(run)}</section>")
    return _document(title, body, drawn)


def _front_page(run: FrontRun) -> str:
    drawn = objectives_chart(run)
    body = [_recommendation(front_sentence(run)), _facts(front_facts(run))]
    across, up = run.axes
    if run.is_limited:
        heading = "What else there is"
        line = f"No sample beats one on the black line in both {across} and {up}; the star is the recommendation."
        if run.accelerator is None:
            line = line.replace("the recommendation", "the nearest that was found")
    else:
        heading, line = "The front", "The black dots are the front."
        if len(run.objectives) > 2:
            count = len(run.objectives)
            line = f"The black dots are the front in {across} and {up}; the table has all {count} objectives."
    words = f"Each dot is a memory with a partition for it that the search priced. {line} {HOVER}"
    body.append(_chart(drawn, heading, words))
    if run.accelerator is not None:
        body += [plan_section(run.accelerator, run.tile_rule, network) for network in run.networks]
    elif not run.is_limited:
        body.append(f"<section><h2>Its points</h2>{front_table(run)}</section>")
    return _document(", ".join(run.names), body, drawn)


def _document(title: str, body: Sequence[str], drawn: Chart | None) -> str:
    script = ""
    if drawn is not None:
        data = json.dumps(drawn.data, allow_nan=False).replace("<", "\\u003c")
        script = f'<script type="application/json" id="points">{data}</script><script>{_asset("page.js")}</script>'
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f"<title>Cocco: {escape(title)}</title><style>{_asset('page.css')}</style>"
    )
    text = "\n".join([f"<h1>Cocco: {escape(title)}</h1>", *body])
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{text}\n{script}</body></html>\n'


def _asset(name: str) -> str:
    return (resources.files("cocco.output.report") / name).read_text(encoding="utf-8")


def _recommendation(text: str) -> str:
    return f'<p id="recommendation">{escape(text)}</p>'


def _facts(found: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in found)
    return f"<dl>{rows}</dl>"


def _chart(drawn: Chart, heading: str, words: str) -> str:
    return (
        f'<section><h2>{heading}</h2><p>{words}</p><div class="chart" tabindex="0">'
        f'{drawn.svg}<div id="tip" role="status" hidden></div></div></section>'
    )
