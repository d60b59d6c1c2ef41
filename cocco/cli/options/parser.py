"""Reads a command line. Each command is a file of cocco/cli/commands with its `add_options` and its `run`."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Sequence
from importlib import import_module
from typing import NamedTuple

from cocco.cli.options.completion import SHELLS, Completion
from cocco.cli.options.effort import settle_samples
from cocco.cli.options.usage import Parser, UsageError, Version

PURPOSE = "Which on-chip memory to build for your networks, and how to run them on it."
SIZE_HELP = (
    "A SIZE is a whole number of bytes, or a number with KB, MB or GB: 1 KB = 1 KiB = 1024 bytes, 1 MB = 1024 KB."
)
MORE = "'cocco COMMAND --help' has two examples of a command and its most used options, --help-all all of them."
EXIT = (
    "exit status: 0 done; 1 no answer (infeasible, or a verification failed); 2 malformed input; 130 stopped by Ctrl-C"
)
HARDWARE = "Without a buffer option: the paper's 1MB global buffer and 1152KB weight buffer."
OFFCHIP = "Off-chip bytes are those of spilling and retrieving; loading inputs and storing results is the same for all."


class Command(NamedTuple):
    """What --help says of a command before its options."""

    purpose: str
    examples: tuple[str, str]
    more: str = ""
    sizes: bool = True  #: whether one of its options is a SIZE


#: by name, which is that of its file too, in the order of --help; a new command is a file and a line here
COMMANDS = {
    "networks": Command(
        "list the built-in networks", ("cocco networks", "cocco networks --json"), sizes=False,
    ),
    "show": Command(
        "list the layers of a network, or the numbers of the hardware",
        ("cocco show resnet50", "cocco show model.onnx --bits weights=4"), sizes=False,
    ),
    "hardware": Command(
        "show every number of the hardware, with unit and source",
        ("cocco hardware", "cocco hardware chip.yaml"), sizes=False,
    ),
    "sram": Command(
        "make an SRAM table with CACTI, or from that of a memory compiler",
        ("cocco sram --from compiler.csv -o sram.csv", "cocco sram --from cacti --node 22nm -o sram.csv"),
    ),
    "evaluate": Command(
        "price a partition on given hardware",
        ("cocco evaluate resnet50 layerwise --shared-buffer 896KB", "cocco evaluate results/resnet50 --verify"),
        HARDWARE,
    ),
    "export": Command(
        "write a plan as a C program, or as data with every transfer",
        ("cocco export results/resnet50 --c program", "cocco export resnet50 plan.json --c program --verify c"),
        HARDWARE,
    ),
    "compare": Command(
        "show partitions of a network side by side",
        ("cocco compare resnet50 plan.json layerwise", "cocco compare results/one results/other"), HARDWARE,
    ),
    "capacity": Command(
        "find the least memory on which a partition runs",
        ("cocco capacity resnet50 layerwise", "cocco capacity results/resnet50"), sizes=False,
    ),
    "partition": Command(
        "find a partition for given hardware",
        (
            "cocco partition resnet50 --shared-buffer 896KB -o plan.json",
            "cocco partition model.onnx --hardware chip.yaml --metric latency -o plan.json",
        ),
        HARDWARE,
    ),
    "explore": Command(
        "find the memory to build, with a partition for each network",
        (
            "cocco explore resnet50 --shared --alpha 0.002 -o results/resnet50",
            "cocco explore model.onnx --hardware chip.yaml --minimize capacity --limit energy=4mJ",
        ),
    ),
    "pareto": Command(
        "find the whole front between capacity and energy, or other objectives",
        ("cocco pareto googlenet -o results/front", "cocco pareto vgg16 --objectives capacity,latency --method exact"),
    ),
    "report": Command(
        "write a page about what explore or pareto found, to look at in a browser",
        ("cocco report results/resnet50", "cocco report results/one results/other"), sizes=False,
    ),
    "allocate": Command(
        "find an address for every buffer of a table",
        ("cocco allocate buffers.csv --capacity 1MB", "cocco allocate buffers.csv --capacity 1MB --least"),
    ),
    "schedule": Command(
        "order, residency, spills and addresses of whole tensors in one scratchpad",
        ("cocco schedule densenet121 --scratchpad minimum", "cocco schedule gpt --scratchpad 1MB --picture gpt.png"),
        OFFCHIP,
    ),
    "map": Command(
        "map the layers of a list or a network on the PE array, one by one",
        ("cocco map resnet50", "cocco map layers.csv --method cosa --json"), sizes=False,
    ),
}  # fmt: skip


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line, `command` its first word; raises UsageError.

    Only commands that the line names get their options: nothing is imported for the others.
    """
    found = _parser([name for name in COMMANDS if name in arguments]).parse_args(_with_cores(_with_verify(arguments)))
    if found.command is None:
        *names, last = COMMANDS
        raise UsageError(f"no command; name {', '.join(names)} or {last} ('cocco --help' says more)")
    settle_samples(found)
    return found


def build() -> Parser:
    """Return the parser with every option of every command, for the command reference of the documentation."""
    return _parser(COMMANDS)


def _with_verify(arguments: Sequence[str]) -> list[str]:
    """Return the words with the value of each --verify: argparse would take the NETWORK behind it for one."""
    if "evaluate" not in arguments:  # it means another thing in export; the rest say so of the word that was given
        return list(arguments)
    following = [*arguments[1:], ""]
    return [
        "--verify=two" if word == "--verify" and after not in ("full", "c") else word
        for word, after in zip(arguments, following)
    ]


def _with_cores(arguments: Sequence[str]) -> list[str]:
    """Return the words with the numbers behind --cores of explore as one: argparse would take a NETWORK for another."""
    if "explore" not in arguments or "--cores" not in arguments:
        return list(arguments)
    start = arguments.index("--cores") + 1
    stop = start
    while stop < len(arguments) and arguments[stop].isdecimal():
        stop += 1
    return [*arguments[:start], *([",".join(arguments[start:stop])] if stop > start else []), *arguments[stop:]]


def _parser(filled: Collection[str]) -> Parser:
    shown = [COMMANDS[name].examples[0] for name in ("explore", "evaluate")]
    parser = Parser(prog="cocco", description=PURPOSE, epilog=f"{MORE} {EXIT}", allow_abbrev=False, examples=shown)
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    parser.add_argument(
        "--completion", action=Completion, build=build, choices=SHELLS,
        help="print what lets this shell complete commands, options and networks (docs/options.md; extra 'completion')",
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    for name, (purpose, examples, more, sizes) in COMMANDS.items():
        description = f"{purpose[0].upper()}{purpose[1:]}. {more}".strip()
        epilog = f"{SIZE_HELP} {EXIT}." if sizes else EXIT
        command = commands.add_parser(
            name, help=purpose, description=description, epilog=epilog, allow_abbrev=False, examples=examples
        )
        if name in filled:
            import_module(f"cocco.cli.commands.{name}").add_options(command)
    return parser
