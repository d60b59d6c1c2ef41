"""The words of schedule."""

from __future__ import annotations

from typing import Any

from cocco.cli import values
from cocco.cli.usage import Parser
from cocco.cli.words import shared

METHODS = ("auto", "tight", "gap", "windows", "divide", "paper", "beam", "belady", "greedy")


def add(commands: Any) -> None:
    """Enter the command."""
    purpose = "order, residency, spills and addresses of whole tensors in one scratchpad"
    more = (
        "Off-chip bytes are those of spilling and retrieving; loading inputs and storing results is the same for all."
    )
    schedule = shared.command(commands, "schedule", "scheduling:schedule", purpose, more)
    shared.add_network(schedule)
    _add_options(schedule)
    shared.add_json(schedule)


def _add_options(parser: Parser) -> None:
    parser.add_argument(
        "--scratchpad", type=values.budget, required=True, metavar="SIZE|minimum|half|peak",
        help="minimum (MR): what the largest operator needs; peak (MP): the least peak without spilling; half (MH)",
    )  # fmt: skip
    parser.add_argument("--parameters", action="store_true", help="weights lie in the scratchpad too")
    parser.add_argument(
        "--order", metavar="free|default|mpmf|FILE",
        help="free (default), that of the network, that of the least peak, or a file with an order (.json)",
    )  # fmt: skip
    parser.add_argument(
        "--method", choices=METHODS, default="auto",
        help="auto: tight up to 250 operators, else windows; gap where an order is given (default); tight: the joint "
        "optimum; gap: the optimum of an order; divide, paper: COSMA's; beam: without a solver; belady, greedy: "
        "baselines with the linear allocator. tight, windows, divide and paper need the extra 'solvers'",
    )  # fmt: skip
    parser.add_argument(
        "--concat", choices=("copy", "dissolved"), default="copy",
        help="a concatenation copies its parts (default), or its readers read them",
    )  # fmt: skip
    parser.add_argument("--input-has-host-copy", action="store_true", help="a model input is never spilled")
    parser.add_argument("--alignment", type=values.count, default=1, metavar="N", help="of addresses; default 1")
    parser.add_argument(
        "--limit", type=values.number, default=60.0, metavar="D",
        help="deterministic time of the solver, about a second a unit; default 60",
    )  # fmt: skip
    parser.add_argument(
        "--seconds", type=values.number, metavar="S",
        help="the solver stops after so many seconds in all: the answer then depends on the machine",
    )  # fmt: skip
    parser.add_argument("--check", metavar="FILE", help="replay the schedule of a file instead of searching (.json)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the schedule (.json)")
    parser.add_argument("--picture", metavar="FILE", help="draw memory over time (.png, .svg)")
