"""cocco sram: an SRAM table from CACTI where it is installed, or from what a memory compiler wrote."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from pathlib import Path

from cocco.cli.options import values
from cocco.cli.options.options import add_json, add_output
from cocco.cli.options.output import file_path, print_answer
from cocco.cli.options.usage import Parser, UsageError
from cocco.memory.cacti import CELL_TYPES, PROCESS_NODES, find_cacti, table_from_cacti
from cocco.output.text.plans.hardware import table_text
from simulator.memory.reading import read_table
from simulator.memory.reading import table_text as file_text
from simulator.memory.table import MAX_ROWS, SramTable
from simulator.technology import KiB
from workloads.files import write_atomic

MACRO_SIZES = tuple(each * KiB for each in (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192))


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "--from", dest="source", metavar="cacti|FILE", required=True,
        help="cacti: run it; FILE: a .csv of a memory compiler or OpenRAM, its columns known by name",
    )  # fmt: skip
    add_output(parser, "the table (.csv)")
    parser.add_argument("--node", choices=sorted(PROCESS_NODES), help="technology of CACTI (default: 22nm)")
    parser.add_argument("--cells", choices=CELL_TYPES, help="cells of CACTI (default: hp, high performance)")
    parser.add_argument("--sizes", nargs="+", metavar="SIZE", type=values.size, help="default: 32KB to 8MB")
    parser.add_argument("--cacti", metavar="PROGRAM", help="the program (default: cacti on the PATH)")
    add_json(parser)


def run(options: Namespace) -> int:
    """Make the table, save it, and print it."""
    output = file_path(options.output, "-o", (".csv",))
    table = _from_cacti(options) if options.source == "cacti" else _from_file(options)
    if output is not None:
        table = replace(table, name=output.name)
        write_atomic(output, file_text(table))
    content = {"name": table.name, "source": table.source, "rows": [row._asdict() for row in table.rows]}
    print_answer(options, lambda: content, lambda: table_text(table))
    return 0


def _from_cacti(options: Namespace) -> SramTable:
    sizes = options.sizes or MACRO_SIZES
    if not 2 <= len(set(sizes)) <= MAX_ROWS:
        raise UsageError(f"--sizes needs 2 to {MAX_ROWS} different capacities, got {len(set(sizes))}")
    program = find_cacti(options.cacti)
    return table_from_cacti(sizes, options.node or "22nm", options.cells or "hp", program)


def _from_file(options: Namespace) -> SramTable:
    """Return the table of a file, in ascending order of capacity, with where it comes from."""
    for name in ("node", "cells", "sizes", "cacti"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} not allowed with --from {options.source!r}: it is for --from cacti")
    table = read_table(options.source)
    return table if table.source else replace(table, source=f"from {Path(options.source).name}")
