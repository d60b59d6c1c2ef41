"""--resume: a search goes on where it was killed, or where Ctrl-C ended it, to the same bytes."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from cocco.cli.options.options import ANSWER
from cocco.cli.options.usage import Parser, UsageError
from cocco.effort.work_units import Steps, key_of, taken_by
from cocco.output.folders.written.resume import RunStore
from workloads.files import digest
from workloads.network.network import Network

#: options that change no answer, or that `settle` has put into others
NO_QUESTION = (
    "command", "line", "output", "json", "resume", "progress", "threads", "workers", "dask", "hardware_file",
    "logic", "from", "networks",
)  # fmt: skip


def add_resume(parser: Parser) -> None:
    """Add --resume."""
    parser.add_argument_group(ANSWER).add_argument(
        "--resume", action="store_true",
        help="continue the search of this directory that was killed, or stopped by Ctrl-C, to the same bytes; needs -o",
    )  # fmt: skip


class Resumed:
    """The steps of one search in the folder of its run; without a folder nothing outlasts the process."""

    def __init__(self, options: Namespace, folder: Path | None, networks: Sequence[Network], initial: Any = ()) -> None:
        self.store: RunStore | None = None
        if options.resume and folder is None:
            raise UsageError("--resume needs -o DIR: the directory of the search that goes on")
        if folder is None:
            return
        self.store = RunStore(folder, _asked(options, networks, initial))
        if not options.resume:
            return
        if not self.store.take_up():
            print(f"cocco: note: {folder} has no search to resume; this one starts at its beginning", file=sys.stderr)

    def steps(self) -> AbstractContextManager[None]:
        """Let this search take its steps from here in the `with` block."""
        return taken_by(Steps(self.store))

    def end(self) -> None:
        """Forget the steps: the search has its answer."""
        if self.store is not None:
            self.store.remove()


def _asked(options: Namespace, networks: Sequence[Network], initial: Any) -> dict[str, Any]:
    """Return the question as plain data, the networks by their content."""
    plain = {
        name: value if isinstance(value, str | int | float | bool | None) else repr(value)
        for name, value in vars(options).items()
        if name not in NO_QUESTION
    }
    named = {network.name: digest(repr((network.layers, network.tensors))) for network in networks}
    return plain | {"networks": named, "from": key_of("from", [tuple(each) for each in initial])}
