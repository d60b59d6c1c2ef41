"""cocco report: a page about a run folder."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from cocco.cli.usage import Parser, UsageError
from cocco.output import report


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument("folder", metavar="DIR", help="of explore -o or pareto -o; DIR/report.html is written")


def run(options: Namespace) -> int:
    """Write DIR/report.html and print its path."""
    if not options.folder:
        raise UsageError("DIR is empty; it must be a path")
    print(report.write(Path(options.folder)))
    return 0
