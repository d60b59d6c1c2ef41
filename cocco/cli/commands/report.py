"""cocco report: a page about a run folder, or about two runs next to each other."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from cocco.cli.options.options import add_json
from cocco.cli.options.output import print_answer
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.runs import believe, networks_of
from cocco.output import report


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument("folder", metavar="DIR", help="the folder of explore -o or pareto -o; writes DIR/report.html")
    parser.add_argument(
        "other",
        metavar="OTHER",
        nargs="?",
        help="a second run of explore -o to compare, in DIR/compare-OTHER.html",
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the page and print its path."""
    for name, value in (("DIR", options.folder), ("OTHER", options.other)):
        if value == "":
            raise UsageError(f"{name} is empty; it must be a path")
    folder = Path(options.folder)
    if options.other is None:
        run = report.read(folder)
        believe(folder)
        page = report.write(folder, networks_of(run))
        print_answer(options, lambda: {"page": page.name, **_to_json(run)}, lambda: str(page))
    else:
        pair = report.read_pair(folder, Path(options.other))
        for each in (folder, Path(options.other)):
            believe(each)
        networks = (networks_of(pair.first), networks_of(pair.second))
        page = report.write_pair(folder, Path(options.other), networks=networks)
        print_answer(options, lambda: {"page": page.name, **pair.to_json()}, lambda: str(page))
    return 0


def _to_json(run: report.Run | report.FrontRun | report.ChipsRun) -> dict[str, Any]:
    """Return what the page is about: the answer of a run, of a search for a front, or of one over machines."""
    if isinstance(run, report.Run):
        return report.run_json(run)
    about = {"run": run.folder.name, "networks": list(run.names), "status": run.status}
    if isinstance(run, report.ChipsRun):
        return about | {"axes": run.axes, "machines": len(run.machines)}
    return {
        **about,
        "objectives": list(run.objectives),
        "points": len(run.front),
    }
