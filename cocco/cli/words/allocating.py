"""The words of allocate."""

from __future__ import annotations

from typing import Any

from cocco.cli import values
from cocco.cli.usage import Parser
from cocco.cli.words import shared


def add(commands: Any) -> None:
    """Enter the command."""
    purpose = "find an address for every buffer of a table"
    allocate = shared.command(commands, "allocate", "allocating:allocate", purpose)
    _add_options(allocate)
    shared.add_json(allocate)


def _add_options(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE",
        help="a table of buffers (.csv): id, lower, upper (the step after the last), size and, where wanted, "
        "alignment, offset, gaps",
    )  # fmt: skip
    parser.add_argument("--capacity", type=values.size, required=True, metavar="SIZE", help="of the memory")
    parser.add_argument(
        "--method", choices=("auto", "greedy", "search", "telamalloc", "ilp", "cp"), default="auto",
        help="auto: greedy, then search (default); search: complete, in canonical order; telamalloc: the paper's "
        "search; ilp, cp: exact encodings for the solvers of the extra 'solvers'",
    )  # fmt: skip
    parser.add_argument("--minimize", action="store_true", help="the least height within the capacity")
    parser.add_argument(
        "--nodes", type=values.count, metavar="N",
        help="limit of the method, counted; default 200000 (telamalloc: 500000 steps)",
    )  # fmt: skip
    parser.add_argument("--engine", choices=("fast", "reference"), help="compiled or in Python; the same answers")
    parser.add_argument("--inclusive", action="store_true", help="upper is the last live step: add 1")
    parser.add_argument("--ignore-offsets", action="store_true", help="do not fix what the column 'offset' fixes")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the table with the addresses as offsets (.csv)")
    parser.add_argument("--picture", metavar="FILE", help="draw time against address (.png, .svg)")
