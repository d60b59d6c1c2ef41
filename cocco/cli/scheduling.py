"""cocco schedule: order, residency, spills and addresses of whole tensors."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import workloads
from cocco.cli.output import print_json
from cocco.cli.usage import UsageError
from cocco.output.folders import run as run_folder
from cocco.output.pictures import saving
from cocco.output.text import numbers as text
from cocco.scheduling import schedule as door
from cocco.scheduling.answer import ScheduleResult
from cocco.scheduling.checked import checked
from simulator.schedule.files import read_order, read_schedule, write_schedule
from workloads.network.network import Network

CODES = {"infeasible": 1, "gave_up": 1}  #: all other ways to end are 0
MAX_ROWS = 30  #: stays that are printed for people; our choice: a screen
REPACK = (
    "linear allocator: smallest gap; where only what an operator needs is left and no gap fits, all of it is moved out "
    "and back, packed from 0, and counted"
)


def schedule(options: Namespace, _: Sequence[str]) -> int:
    """Read, schedule or check, write what was asked for, print the answer."""
    picture = _file(options.picture, "--picture", saving.PICTURE_FORMATS)
    output = _file(options.output, "-o", (".json",))
    network = workloads.load(options.network)
    with ExitStack() as stack:
        for path in (output, picture):
            if path:
                stack.enter_context(run_folder.ready(path.parent, [path.name]))
        start = time.monotonic()
        result = _answer(network, options)
        print(f"cocco: {result.status} after {time.monotonic() - start:.2f} s", file=sys.stderr)
        _save(result, output, picture)
    if options.json:
        print_json(result.to_json())
    else:
        print(answer_text(result))
    return CODES.get(result.status, 0)


def _answer(network: Network, options: Namespace) -> ScheduleResult:
    shared = {
        "parameters": options.parameters, "concat": options.concat, "alignment": options.alignment,
        "input_has_host_copy": options.input_has_host_copy,
    }  # fmt: skip
    if options.check is not None:
        if options.order is not None or options.method != "auto":
            raise UsageError("--check replays the schedule of a file; --order and --method are for a search")
        return checked(network, options.scratchpad, read_schedule(options.check), **shared)
    order = options.order
    if order is not None and order not in door.ORDERS:
        order = read_order(order)
    return door.schedule(
        network, options.scratchpad, method=options.method, order=order, limit=options.limit, seconds=options.seconds,
        **shared,
    )  # fmt: skip


def _file(name: str | None, option: str, suffixes: Sequence[str] | dict[str, dict[str, None]]) -> Path | None:
    if name is None:
        return None
    if Path(name).suffix.lower() not in suffixes:
        raise UsageError(f"{option} must end in {' or '.join(suffixes)}, got {name!r}")
    return Path(name)


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
    for path in (output, picture):
        if path:
            print(f"cocco: wrote {path}", file=sys.stderr)


def answer_text(result: ScheduleResult) -> str:
    """Return the answer for people."""
    with_weights = "with parameters" if result.parameters else "activations only"
    peak = "" if result.peak_proved else " (an upper bound, unproven)"
    lines = [
        f"{result.network}: {result.status}, {text.counted(result.operators, 'operator')} in "
        f"{result.scratchpad_bytes:,} bytes, {with_weights}",
        f"granularity: one operator a layer, concat {result.concat}, alignment {result.alignment}, model inputs "
        f"{'have' if result.input_has_host_copy else 'have no'} copy on the host",
        f"minimum (MR) {result.minimum_bytes:,}, set by {result.largest}; half {result.half_bytes:,}; "
        f"peak (MP) {result.peak_bytes:,}{peak}",
    ]
    if result.status == "infeasible":
        needed = f"{result.largest} needs {result.minimum_bytes:,} bytes, there are {result.scratchpad_bytes:,}"
        return "\n".join([*lines, f"infeasible: {needed}"])
    done = result.replay
    if done is None:
        return "\n".join([*lines, f"no schedule within the limit; lower bound {result.lower_bound_bytes} bytes"])
    proof = "proven" if result.status == "optimal" else f"not proven, lower bound {result.lower_bound_bytes:,}"
    order = "any order" if result.order_from == "free" else f"the {result.order_from} order"
    lines += [
        f"off-chip {done.offchip_bytes:,} bytes ({proof}, for {order}): spilled {done.spilled_bytes:,}, retrieved "
        f"{done.retrieved_bytes:,}; compulsory besides {result.compulsory_bytes:,}",
        f"by {result.method}, packing {result.packing}, {text.counted(result.cuts, 'cut')}; peak live "
        f"{done.peak_live_bytes:,}, height {done.height_bytes:,}; replayed by the simulator",
    ]
    if result.windows:
        lines.append(f"{text.counted(result.windows, 'window')}, {result.windows_proved} closed by the solver")
    if result.method in ("belady", "greedy"):
        lines.append(REPACK)
    return "\n".join(lines + _spills(result))


def _spills(result: ScheduleResult) -> list[str]:
    """Return the table of what moves."""
    assert result.schedule is not None
    moved = [each for each in result.schedule.segments if each.leaves == "spilled" or each.enters == "retrieved"]
    if not moved:
        return []
    heads = ("tensor", "first", "last", "address", "bytes", "enters", "leaves")
    rows = [
        (each.tensor, each.first, each.last, each.address, f"{each.size:,}", *each[5:]) for each in moved[:MAX_ROWS]
    ]
    more = [f"  ... and {len(moved) - MAX_ROWS} more"] if len(moved) > MAX_ROWS else []
    return ["", text.table(heads, rows), *more]
