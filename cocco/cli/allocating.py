"""cocco allocate: where the buffers of a file live in one memory."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import cocco
from cocco.allocation.answer import AllocationResult
from cocco.cli.output import print_json
from cocco.cli.usage import UsageError
from cocco.output.folders import run as run_folder
from cocco.output.pictures import saving
from cocco.output.text import numbers as text
from simulator.allocation.files import read_buffers, write_buffers
from simulator.allocation.judge import Buffer

CODES = {"infeasible": 1, "gave_up": 1, "stopped": 130}  #: all other ways to end are 0
MAX_ROWS = 40  #: buffers whose addresses are printed for people; our choice: a screen


def allocate(options: Namespace, _: Sequence[str]) -> int:
    """Read, allocate, write what was asked for, print the answer."""
    picture = _picture_file(options.picture)
    output = Path(options.output) if options.output else None
    buffers = read_buffers(options.file, options.inclusive, options.ignore_offsets)
    with ExitStack() as stack:
        for path in (output, picture):
            if path:
                stack.enter_context(run_folder.ready(path.parent, [path.name]))
        start = time.monotonic()
        result = cocco.allocate(
            buffers, options.capacity, options.method, options.minimize, options.nodes, options.engine
        )
        print(f"cocco: {result.status} after {time.monotonic() - start:.2f} s", file=sys.stderr)
        try:
            _save(buffers, result, output, picture)
        finally:
            if options.json:
                print_json({"file": Path(options.file).name, **result.to_json()})
            else:
                print(answer_text(buffers, result))
    return CODES.get(result.status, 0)


def _picture_file(name: str | None) -> Path | None:
    if name is None:
        return None
    if Path(name).suffix.lower() not in saving.PICTURE_FORMATS:
        raise UsageError(f"--picture must end in {' or '.join(saving.PICTURE_FORMATS)}, got {name!r}")
    return Path(name)


def _save(buffers: Sequence[Buffer], result: AllocationResult, output: Path | None, picture: Path | None) -> None:
    if result.allocation is None:
        return
    if output:
        write_buffers(output, buffers, result.allocation)
    if picture:
        from cocco.output.pictures.allocation import save_picture

        save_picture(picture, buffers, result)
    for path in (output, picture):
        if path:
            print(f"cocco: wrote {path}", file=sys.stderr)


def answer_text(buffers: Sequence[Buffer], result: AllocationResult) -> str:
    """Return the answer for people."""
    count = text.counted(result.buffers, "buffer")
    lines = [f"{count} in {_bytes(result.capacity_bytes)}: {result.status}"]
    bound = f"lower bound {_bytes(result.lower_bound_bytes)}"
    if result.height_bytes is None:
        lines.append(bound)
    else:
        share = "" if result.fragmentation is None else f", fragmentation {100 * result.fragmentation:.2f} %"
        lines.append(f"height {_bytes(result.height_bytes)}, {bound}{share}")
    if result.status in ("feasible", "gave_up") and result.proved_infeasible_bytes is not None:
        lines.append(f"no allocation within {_bytes(result.proved_infeasible_bytes)} (proved)")
    if result.solved_by:
        lines.append(f"by {result.solved_by}" + (f", {result.nodes:,} nodes" if result.nodes else ""))
    if result.conflict:
        needed = ", and each of them is needed for that" if result.conflict_is_irreducible else ""
        shown = ", ".join(result.conflict[:MAX_ROWS]) + (", ..." if len(result.conflict) > MAX_ROWS else "")
        lines.append(f"{text.counted(len(result.conflict), 'buffer')} cannot be placed together{needed}: {shown}")
    if result.allocation is not None and 0 < len(buffers) <= MAX_ROWS:
        rows = [(b.id, b.lower, b.upper, b.size, result.allocation.addresses[b.id]) for b in buffers]
        lines += ["", text.table(("buffer", "lower", "upper", "size", "address"), rows)]
    return "\n".join(lines)


def _bytes(count: int) -> str:
    return f"{count:,} bytes"
