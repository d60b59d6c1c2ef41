"""cocco report: a page about a run folder, or two runs beside each other."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from cocco.cli.usage import Parser, UsageError
from cocco.output import report


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument("folder", metavar="DIR", help="of explore -o or pareto -o; DIR/report.html is written")
    parser.add_argument(
        "other", metavar="OTHER", nargs="?", help="a second run of explore -o beside it, in DIR/compare.html"
    )


def run(options: Namespace) -> int:
    """Write the page and print its path."""
    for name, value in (("DIR", options.folder), ("OTHER", options.other)):
        if value == "":
            raise UsageError(f"{name} is empty; it must be a path")
    if options.other is None:
        print(report.write(Path(options.folder)))
    else:
        print(report.write_pair(Path(options.folder), Path(options.other)))
    return 0
