"""cocco schedule: order, residency, spills and addresses of whole tensors."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from pathlib import Path

from cocco.cli.options import values
from cocco.cli.options.effort import add_effort, scaled
from cocco.cli.options.networks import load
from cocco.cli.options.of_methods import Of, check_method
from cocco.cli.options.options import add_json, add_network, add_output, add_picture
from cocco.cli.options.output import CODES, file_path, print_answer, say_written, searched
from cocco.cli.options.usage import Old, Parser, UsageError
from cocco.cli.running.interrupts import STOPPED
from cocco.output.folders.written.ready import ready_files
from cocco.output.pictures.saving import PICTURE_FORMATS
from cocco.output.text.plans.schedule import schedule_text
from cocco.scheduling.answer import ScheduleResult
from cocco.scheduling.question import METHODS, ORDERS
from cocco.scheduling.schedule import checked, schedule
from simulator.schedule.files import read_order, read_schedule, write_schedule
from workloads.network.network import Network

SOLVING = tuple(name for name in METHODS if name not in ("belady", "greedy"))  #: with limits that are counted
OPTIONS = (Of("--work", None, SOLVING), Of("--effort", "normal", SOLVING), Of("--seconds", None, SOLVING))
WORK = 60.0  #: deterministic time of a normal effort, about a minute; our choice


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_network(parser)
    parser.add_argument(
        "--scratchpad", type=values.budget, required=True, metavar="SIZE|minimum|half|peak",
        help="minimum (MR): what the largest operator needs; peak (MP): the least peak without spilling; half (MH): "
        "halfway between them",
    )  # fmt: skip
    parser.add_argument("--parameters", action="store_true", help="weights lie in the scratchpad too")
    parser.add_argument(
        "--order", metavar="free|default|mpmf|FILE",
        help="free (default), that of the network, that of the least peak, or a file with an order (.json)",
    )  # fmt: skip
    parser.add_argument(
        "--method", choices=METHODS, default="auto",
        help="the algorithm. auto: tight up to 250 operators, else windows; gap where an order is given (default); "
        "tight: the joint optimum; gap: the optimum of an order; divide, paper: COSMA's; beam: without a solver; "
        "belady, greedy: with the linear allocator. tight, windows, divide and paper need the extra 'solvers'",
    )  # fmt: skip
    parser.add_argument(
        "--concat", choices=("copy", "dissolved"), default="copy",
        help="a concatenation copies its parts (default), or its readers read them",
    )  # fmt: skip
    parser.add_argument("--input-has-host-copy", action="store_true", help="a model input is never spilled")
    parser.add_argument("--alignment", type=values.count, default=1, metavar="N", help="of addresses; default 1")
    parser.add_argument(
        "--work", type=values.number, metavar="D",
        help="deterministic time of the solver, about one second per unit; default: that of the effort, 60; not of "
        "belady and greedy",
    )  # fmt: skip
    parser.add_argument("--limit", action=Old, instead="--work", dest="work", type=values.number)
    add_effort(parser, "--work (1/8, 1, 8 times 60)")
    parser.add_argument(
        "--seconds", type=values.number, metavar="S",
        help="the solver stops after so many seconds in all: the answer then depends on the computer",
    )  # fmt: skip
    parser.add_argument("--check", metavar="FILE", help="replay the schedule of a file instead of searching (.json)")
    add_output(parser, "the schedule (.json)")
    add_picture(parser, "memory over time")
    add_json(parser)


def run(options: Namespace) -> int:
    """Read, schedule or check, write what was requested, print the answer."""
    picture = file_path(options.picture, "--picture", PICTURE_FORMATS)
    output = file_path(options.output, "-o", (".json",))
    network = load(options.network, options)
    with ready_files(output, picture):
        start = time.monotonic()
        result, is_stopped = searched(lambda: _answer(network, options))
        print(f"cocco: {result.status} after {time.monotonic() - start:.2f} s", file=sys.stderr)
        _save(result, output, picture)
    print_answer(options, result.to_json, lambda: schedule_text(result))
    return STOPPED if is_stopped else CODES.get(result.status, 0)


def _answer(network: Network, options: Namespace) -> ScheduleResult:
    names = ("parameters", "concat", "alignment", "input_has_host_copy")
    shared = {name: getattr(options, name) for name in names}
    if options.check is not None:
        if options.order is not None or options.method != "auto":
            raise UsageError("--check replays the schedule of a file; --order and --method are for a search")
        for each in OPTIONS:
            if (asked := each.asked(options)) is not None:
                raise UsageError(f"{asked} not allowed with --check, which replays the schedule of a file")
        return checked(network, options.scratchpad, read_schedule(options.check), **shared)
    check_method(options, options.method, OPTIONS)
    if options.work is not None and not options.work > 0:
        raise UsageError(f"--work is a limit of the solver; the limit must be a number above 0, got {options.work}")
    order = options.order
    if order is not None and order not in ORDERS:
        order = read_order(order)
    limits = {"limit": scaled(options, options.work, WORK), "seconds": options.seconds}
    return schedule(
        network, options.scratchpad, method=options.method, order=order, progress=_tell, **limits, **shared
    )  # fmt: skip


def _tell(stage: str, moved: int, bound: int) -> None:
    """Say what is known so far, so that a search that is cut off has had its say."""
    print(f"cocco: {stage}: moves {moved:,} bytes, any order at least {bound:,}", file=sys.stderr, flush=True)


def _save(result: ScheduleResult, output: Path | None, picture: Path | None) -> None:
    if result.schedule is None:
        return
    if output:
        content = result.to_json()
        about = ("network", "scratchpad_bytes", "parameters", "granularity", "method", "order_from", "offchip_bytes")
        write_schedule(output, result.schedule, {key: content[key] for key in about})
    if picture:
        from cocco.output.pictures.schedule import save_picture

        save_picture(picture, result)
    say_written(output, picture)
