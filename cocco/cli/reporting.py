"""cocco report: a page about a run folder."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from cocco.cli.usage import UsageError
from cocco.output import report


def write_report(options: Namespace, _: Sequence[str]) -> int:
    """Write DIR/report.html and print its path."""
    if not options.folder:
        raise UsageError("DIR is empty; it must be a path")
    print(report.write(Path(options.folder)))
    return 0
