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
from cocco.output.text.plans.evaluation import evaluation_text
from simulator.evaluation import Evaluation, evaluate
from workloads.network.network import Network

NO_PROGRAM = "--verify c builds the program of --c DIR; give that as well"


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_network(parser, or_run=True)
    add_plan(parser)
    parser.add_argument("--c", metavar="DIR", help="write a program into this folder: C11 and a Makefile")
    parser.add_argument(
        "--verify", choices=("c",), metavar="c",
        help="build the program with guards and sanitizers, run it, and compare what it counts and gives (needs gcc)",
    )  # fmt: skip
    add_buffers(parser)
    add_machine(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Write the program, print the data. Exit 1 where the plan does not fit, or --verify c finds a difference."""
    from cocco.output.program.commands import plan_commands

    if options.c is None and (options.verify or not options.json):
        raise UsageError(NO_PROGRAM if options.verify else "export needs --c DIR for a program, or --json for data")
    plan, accelerator, network = plan_of(options), accelerator_of(options), network_of(options)
    partition = read_partition(plan, network, accelerator, options.tile_rule)
    evaluation = evaluate(network, partition, accelerator, options.tile_rule)
    if not evaluation.fits:
        print_answer(options, evaluation.to_json, lambda: evaluation_text(evaluation))
        return 1
    program = _program(options, network, evaluation) if options.c else {}

    def content() -> dict[str, Any]:
        return plan_commands(network, evaluation) | ({"program": program} if program else {})

    print_answer(options, content, lambda: _text(options.c, program), hardware_notes(options, accelerator))
    return 0 if program.get("verified") is not False else 1


def _program(options: Namespace, network: Network, evaluation: Evaluation) -> dict[str, Any]:
    """Write the program; return what it claims, and with --verify what it counted."""
    from cocco.output.program.program import program_of, write_program
    from cocco.output.program.verify import claims_of, run_program

    folder = Path(options.c)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"--c {folder} is a file; name a folder")
    files = program_of(network, evaluation.plan, evaluation.accelerator, options.tile_rule)
    write_program(folder, files)
    found = {"files": sorted(files), "claimed": claims_of(evaluation), "counted": None, "verified": None, "message": ""}
    return found | run_program(network, evaluation, folder).to_json() if options.verify else found


def _text(folder: str, program: dict[str, Any]) -> str:
    from cocco.output.program.verify import ProgramRun

    lines = [f"Written into {folder}: {', '.join(program['files'])}", "", "What crosses DRAM, in bytes:"]
    counted = program["counted"] or {}
    for kind, size in program["claimed"].items():
        lines.append(f"  {kind:<8} {size:>13,} claimed" + (f" {counted[kind]:>13,} counted" if kind in counted else ""))
    if program["verified"] is not None:
        lines += ["", ProgramRun(program["claimed"], counted, program["message"]).summary()]
    return "\n".join(lines)
