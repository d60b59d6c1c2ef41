"""Two runs side by side: their questions and answers, their sizes in one drawing, their plans."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path

from cocco.output.folders.read.run import Run
from cocco.output.folders.written.about import MAX_STEM, PAIR_PAGES
from cocco.output.report.answer import choice_section
from cocco.output.report.chart import Overlay
from cocco.output.report.data import page_data
from cocco.output.report.front import run_chart
from cocco.output.report.page import document, drawing, section
from cocco.output.report.pair import Pair, names_of, read_pair
from cocco.output.report.plans import BUILT_IN, Choice, Networks, answer
from cocco.output.text.plans.hardware import buffers
from workloads.files import write_atomic


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


def html_of_pair(first: Run, second: Run, networks: tuple[Networks, Networks] = (BUILT_IN, BUILT_IN)) -> str:
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
    choices = [
        Choice(f"{name}: {choice.title}", tuple(replace(plan, link="") for plan in choice.plans))
        for name, choice in zip(names, map(answer, runs, networks))
    ]
    drawn = run_chart(first, {})
    if first.metric == second.metric and first.count == second.count:
        other = run_chart(second, {})
        drawn = replace(drawn, overlay=Overlay(names[1], other.x, other.y[0], other.star), title=names[0])
        words = f"Dots and the full line are {names[0]}, squares and the dashed line are {names[1]}."
        body.append(drawing("Their sizes", words))
        data = page_data(drawn, choices)
    else:
        data = page_data(None, choices)
    sections = "".join(
        f"<div><h2>{escape(choice.title)}</h2>{choice_section(at, choice, False)}</div>"
        for at, choice in enumerate(choices)
    )
    body.append(f'<div class="pair">{sections}</div>')
    return document(" beside ".join(names), body, data | {"all": True})


def _sentence(pair: Pair) -> str:
    """Return the memory of each run in words."""
    said = [
        f"{name}: no memory runs it" if run.accelerator is None else f"{name}: {buffers(run.accelerator)}"
        for name, run in zip(pair.names, (pair.first, pair.second))
    ]
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
