"""The page: one HTML file with everything in it. Its policy forbids the browser to load anything else."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from cocco.exploration.answers.ranges import MARGINS
from cocco.output.folders.read.chips import ChipsRun
from cocco.output.folders.read.front import FrontRun, read
from cocco.output.folders.read.run import Run
from cocco.output.folders.written.about import PAGE
from cocco.output.report.answer import answer_of, choice_section, front_answer
from cocco.output.report.chart import Chart, below_the_line
from cocco.output.report.chips import chip_answer, chip_facts, chips_chart, chips_table, drawn_words, shifts_table
from cocco.output.report.data import json_in_page, page_data
from cocco.output.report.front import chosen_sizes, objectives_chart, run_chart
from cocco.output.report.plans import BUILT_IN, Networks, ShownMemory, answer, others_of_run, points_of_front
from cocco.output.report.table import front_table, hardware_table, ranges_table
from cocco.output.report.words import FRONT_STATUS, facts, front_facts, front_sentence, recommendation
from cocco.output.text.layout.numbers import counted
from simulator.accelerator import Accelerator
from workloads.files import write_atomic

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
SCRIPTS = (
    "draw.js",
    "map.js",
    "memories.js",
    "steps.js",
    "network.js",
    "page.js",
)  #: in the order in which they build on another
WALK = (
    "Point at a dot, or walk from one to the next with the arrow keys; click, or Enter, shows its plan where the run "
    "has one."
)


def write(folder: Path, networks: Networks = BUILT_IN) -> Path:
    """Write DIR/report.html for what a search wrote into DIR, whole or not at all, and return its path.

    networks: by name, those of the run that are not built in; without them a plan is shown as the folder has it.
    Raises FileFormatError for a folder that is missing, cut off or of something else, and OSError.
    """
    path = folder / PAGE
    write_atomic(path, html_of(read(folder), networks))
    return path


def html_of(run: Run | FrontRun | ChipsRun, networks: Networks = BUILT_IN) -> str:
    """Return the page of what a folder holds; the same files give the same bytes."""
    if isinstance(run, ChipsRun):
        return _chips_page(run, networks)
    return _front_page(run, networks) if isinstance(run, FrontRun) else _run_page(run, networks)


def _run_page(run: Run, networks: Networks) -> str:
    title = ", ".join(network.name for network in run.networks) or "no plan"
    searched = section("How it was searched", _facts(facts(run)))
    if run.accelerator is None:
        body = [f'<div id="answer"><p id="recommendation">{escape(recommendation(run))}</p></div>', searched]
        return document(title, body)
    found = others_of_run(run, networks)
    choices = [answer(run, networks), *found.values()]
    drawn = run_chart(run, {sizes: place for place, sizes in enumerate((chosen_sizes(run), *found))})
    body = [
        answer_of(run, recommendation(run), choices[0]),
        drawing("Which memory", _words(run, drawn)),
        *plans(choices),
    ]
    if run.ranges is not None:
        body.append(section("Sizes that cost as little", f'<div class="wide">{ranges_table(run)}</div>'))
    hardware = (
        f'<details><summary>Every number</summary><div class="wide">{hardware_table(run.accelerator)}</div></details>'
    )
    body += [section("The hardware it was priced on", hardware), searched]
    return document(title, body, page_data(drawn, choices))


def _words(run: Run, drawn: Chart) -> str:
    words = "Each dot is the best plan that the run knows at a size; a full one is proved to be the least. "
    words += f"The star is the recommendation. {_unpriced(run, drawn)}"
    if run.ranges is None:
        return words + WALK
    if drawn.has_bounds:
        words += "Short lines are bounds: no plan at that size takes less. "
    if run.ranges.is_one_buffer:
        widest = 100 * MARGINS[-1]
        words += f"Sizes in the dark band cost at most 1 % more than the cheapest, in the light one {widest:g} %"
        words += "; in the yellow one it is not known. " if run.ranges.count("open", MARGINS[-1]) else ". "
    if drawn.grid is not None:
        words += "The map below has a field for each pair of sizes, by what it costs above the cheapest; "
        words += "pairs far off that cost more than 3 % more at the worth that the slider says are left out. "
    if run.ranges.others:
        words += f"The other {run.ranges.others} sizes cost more than {100 * MARGINS[-1]:g} % more then, proved. "
    return words + WALK


def _unpriced(run: Run, drawn: Chart) -> str:
    """Return at how many sizes there is no plan, and what is known there."""
    without = sum(price is None for price in drawn.y[0])
    if not without:
        return ""
    if drawn.grid is not None and drawn.whole:
        return _unpriced_pairs(drawn, without)
    return (
        f"{without} of {counted(len(drawn.x), 'size')} {'has' if without == 1 else 'have'} no dot: no plan was priced "
        "there, only a bound is known; 'cocco pareto' searches all. "
    )


def _unpriced_pairs(drawn: Chart, without: int) -> str:
    """Return how many pairs were priced, and whether others may be below the line."""
    said = f"{len(drawn.x) - without} of {len(drawn.x)} pairs have one; "
    unknown = len(below_the_line(drawn))
    if not unknown:
        return f"{said}no other pair takes less than the line does with as many bytes, proved. "
    return f"{said}of the others {unknown} may take less than the line does with as many bytes, the rest not, proved. "


def _front_page(run: FrontRun, networks: Networks) -> str:
    status = FRONT_STATUS.get(run.status, run.status)
    body = [front_answer(run, front_sentence(run), status)]
    if run.is_limited:
        choices, found = ([answer(run, networks)], {0: 0}) if run.accelerator is not None else ([], {})
        words = "Dots are the best plans known at their size, full ones are proved to be the least; short lines are "
        words += "bounds: no plan at that size takes less. Grey dots are samples, dotted lines the limits, "
        words += "the star is the recommendation."
        if run.accelerator is None:
            words = words.replace("the star is the recommendation", "the dot is the nearest that was found")
        heading = "Which memory"
    else:
        points = points_of_front(run, networks)
        choices, found = list(points.values()), {position: place for place, position in enumerate(points)}
        words = f"The dots are the front in {' and '.join(run.axes[:2])}; grey ones are samples."
        if len(run.objectives) > 2:
            words = f"The dots are the front in all {len(run.objectives)} objectives, a drawing for each against "
            words += f"{run.axes[0]}; grey ones are samples."
        heading = "The front"
    body.append(drawing(heading, f"{words} {WALK}"))
    if not run.is_limited:
        body.append(section("Its points", f'<div class="wide">{front_table(run)}</div>'))
    body += plans(choices)
    if choices:
        body.append(_hardware(choices[0].plans[0].machine))
    body.append(section("How it was searched", _facts(front_facts(run))))
    return document(", ".join(run.names), body, page_data(objectives_chart(run, found), choices))


def _chips_page(run: ChipsRun, networks: Networks) -> str:
    choices = [answer(run, networks)] if run.accelerator is not None else []
    drawn, body = chips_chart(run), [chip_answer(run)]
    if drawn is not None:
        body.append(drawing("Which machine", drawn_words(run)))
    body.append(section("The machines", chips_table(run)))
    if run.shifts:
        body.append(section("How firm it is", shifts_table(run)))
    body += plans(choices)
    if run.accelerator is not None:
        body.append(_hardware(run.accelerator))
    body.append(section("How it was searched", _facts(chip_facts(run))))
    return document(", ".join(run.names), body, page_data(drawn, choices))


def plans(choices: Sequence[ShownMemory], heading: str = "The plan", first: int = 0) -> list[str]:
    """Return plans of which one is seen, and a list to pick it from; first: the place of these among all of a page."""
    if not choices:
        return []
    options = "".join(f'<option value="{at}">{escape(each.title)}</option>' for at, each in enumerate(choices, first))
    hidden = " hidden" if len(choices) == 1 else ""
    title = f'<h2>{escape(heading)} at <span class="plan-title">{escape(choices[0].title)}</span></h2>'
    picker = f'<label class="picker"{hidden}>Plan at <select>{options}</select></label>'
    seen = [choice_section(at, each, at > first) for at, each in enumerate(choices, first)]
    return ['<div class="plans">' + title + picker, *seen, "</div>"]


def _hardware(machine: Accelerator) -> str:
    inner = f'<details><summary>Every number</summary><div class="wide">{hardware_table(machine)}</div></details>'
    return section("The hardware it was priced on", inner)


def document(title: str, body: Sequence[str], data: dict[str, Any] | None = None) -> str:
    """Return the whole page of these parts, with the script where there is something to draw."""
    script = ""
    if data is not None:
        code = "\n".join(_asset(name) for name in SCRIPTS)
        script = (
            f'<script type="application/json" id="data">{json_in_page(data)}</script>'
            f'<script>"use strict";(() => {{\n{code}}})();</script>'
        )
    head = (
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">'
        f'<meta name="color-scheme" content="light dark"><title>Cocco: {escape(title)}</title>'
        f"<style>{_asset('page.css')}</style>"
    )
    text = "\n".join([f"<h1>Cocco: {escape(title)}</h1>", *body])
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{text}\n{script}</body></html>\n'


def _asset(name: str) -> str:
    return (resources.files("cocco.output.report.script") / name).read_text(encoding="utf-8")


def section(heading: str, inner: str) -> str:
    """Return a part of the page under its heading."""
    return f"<section><h2>{heading}</h2>{inner}</section>"


def _facts(found: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in found)
    return f"<dl>{rows}</dl>"


def drawing(heading: str, words: str) -> str:
    """Return the part of the page into which the script draws the memories; words: what is seen there."""
    return (
        f'<section id="memories"><h2>{heading}</h2>'
        '<div id="slider" hidden><label for="alpha">What a byte of buffer is worth</label>'
        '<input type="range" id="alpha" min="-2" max="2" step="0.01" value="0">'
        '<button type="button" id="reset"></button><output id="said" for="alpha"></output></div>'
        '<div class="chart" tabindex="0" role="group" aria-label="Memories: left and right arrow keys go from one to'
        ' the next, Enter shows its plan"></div><div id="tip" role="status" hidden></div>'
        f'<div class="legend"></div><p class="note">{escape(words)}</p>'
        "<noscript><p>The drawings need the script of this page; the tables say the same.</p></noscript></section>"
    )
