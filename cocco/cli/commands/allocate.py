"""cocco allocate: where the buffers of a file live in one memory."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from cocco.allocation.allocate import allocate
from cocco.allocation.answer import AllocationResult
from cocco.allocation.exact.complete import NODES
from cocco.cli.options import values
from cocco.cli.options.effort import add_effort, scaled
from cocco.cli.options.options import add_engine, add_json, add_output, add_picture
from cocco.cli.options.output import CODES, file_path, output_path, print_answer, say_written, searched
from cocco.cli.options.usage import Old, Parser
from cocco.cli.running.interrupts import STOPPED
from cocco.output.folders.written.ready import ready_files
from cocco.output.pictures.saving import PICTURE_FORMATS
from cocco.output.text.plans.allocation import allocation_text
from simulator.allocation.buffers import Buffer
from simulator.allocation.files import read_buffers, write_buffers


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "file", metavar="FILE",
        help="a table of buffers (.csv): id, lower, upper (the step after the last), size and, where wanted, "
        "alignment, offset, gaps",
    )  # fmt: skip
    parser.add_argument("--capacity", type=values.size, required=True, metavar="SIZE", help="of the memory")
    parser.add_argument(
        "--method", choices=("auto", "greedy", "search", "ilp", "cp"), default="auto",
        help="the algorithm. auto: greedy, then search (default); search: complete, canonical order; ilp, cp: exact "
        "encodings for the solvers of the extra 'solvers'",
    )  # fmt: skip
    parser.add_argument("--least", action="store_true", help="find the least height within the capacity")
    parser.add_argument("--minimize", action=Old, instead="--least", dest="least", nargs=0, const=True, default=False)
    parser.add_argument(
        "--nodes", type=values.count, metavar="N",
        help="counted limit of the work; default: that of the effort, 200000",
    )  # fmt: skip
    add_effort(parser, "--nodes (1/8, 1, 8 times 200000)")
    add_engine(parser)
    parser.add_argument("--inclusive", action="store_true", help="upper is the last live step: add 1")
    parser.add_argument("--ignore-offsets", action="store_true", help="do not fix what the column 'offset' fixes")
    add_output(parser, "the table with the addresses as offsets (.csv)")
    add_picture(parser, "time against address")
    add_json(parser)


def run(options: Namespace) -> int:
    """Read, allocate, write what was requested, print the answer."""
    picture = file_path(options.picture, "--picture", PICTURE_FORMATS)
    output = output_path(options.output)
    buffers = read_buffers(options.file, options.inclusive, options.ignore_offsets)
    with ready_files(output, picture):
        start = time.monotonic()
        nodes = int(scaled(options, options.nodes, NODES))
        asked = (options.capacity, options.method, options.least, nodes, options.engine)
        result, is_stopped = searched(lambda: allocate(buffers, *asked))
        print(f"cocco: {result.status} after {time.monotonic() - start:.2f} s", file=sys.stderr)
        try:
            _save(buffers, result, output, picture)
        finally:
            name = Path(options.file).name
            print_answer(options, lambda: {"file": name, **result.to_json()}, lambda: allocation_text(buffers, result))
    return STOPPED if is_stopped else CODES.get(result.status, 0)


def _save(buffers: Sequence[Buffer], result: AllocationResult, output: Path | None, picture: Path | None) -> None:
    if result.allocation is None:
        return
    if output:
        write_buffers(output, buffers, result.allocation)
    if picture:
        from cocco.output.pictures.allocation import save_picture

        save_picture(picture, buffers, result)
    say_written(output, picture)
