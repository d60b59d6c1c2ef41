"""cocco export: a plan as a C program that runs in exactly its buffers, or as data for a compiler."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from cocco.cli.options.hardware import accelerator_of
from cocco.cli.options.options import add_buffers, add_json, add_machine, add_network
from cocco.cli.options.output import print_answer
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.plans import add_plan, read_partition
from cocco.cli.running.runs import hardware_notes, network_of, plan_of
from simulator.evaluation import evaluate


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_network(parser, or_run=True)
    add_plan(parser)
    parser.add_argument(
        "--c", metavar="DIR", required=True, help="write the program into this folder: C11 and a Makefile"
    )
    parser.add_argument(
        "--verify", choices=("c",), metavar="c",
        help="build the program with guards and sanitizers, run it, and compare what it counts and gives (needs gcc)",
    )  # fmt: skip
    add_buffers(parser)
    add_machine(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the program. Exit 1 where the plan does not fit, or --verify c finds a difference."""
    from cocco.export.program import program_of, write_program
    from cocco.export.verify import claims_of, run_program

    plan, accelerator, network = plan_of(options), accelerator_of(options), network_of(options)
    partition = read_partition(plan, network, accelerator, options.tile_rule)
    evaluation, folder = evaluate(network, partition, accelerator, options.tile_rule), Path(options.c)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--c {folder} is a file; name a folder")
    write_program(folder, program := program_of(network, partition, accelerator, options.tile_rule))
    found = run_program(network, evaluation, folder) if options.verify else None
    claimed = claims_of(evaluation)

    def content() -> dict[str, Any]:
        return {"network": network.name, "files": sorted(program), "claimed": claimed, "verified": None} | (
            found.to_json() if found else {}
        )

    def text() -> str:
        lines = [f"The plan of {network.name} as a C program, {len(partition)} steps: {folder}", ""]
        lines += [f"  {kind:<8} {size:>13,} bytes" for kind, size in claimed.items()]
        if found:
            lines += [
                "",
                "It ran: counters and outputs are equal." if found.verified else f"It differs: {found.message}.",
            ]
        return "\n".join(lines)

    print_answer(options, content, text, hardware_notes(options, accelerator))
    return 0 if found is None or found.verified else 1
