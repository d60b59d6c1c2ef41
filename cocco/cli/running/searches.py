"""What the commands that search share: the way from the question to the answer, its files and its words."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cocco.cli.options.effort import say_expected
from cocco.cli.options.hardware import MAPPER, machine_of, space_of
from cocco.cli.options.networks import Loaded, load_all
from cocco.cli.options.options import keep_of
from cocco.cli.options.output import CODES, output_path, print_answer, searched
from cocco.cli.running.interrupts import STOPPED
from cocco.cli.running.progress import shown as progress_shown
from cocco.cli.running.resume import Resumed
from cocco.effort.stages import watched_by
from cocco.exploration.answers.result import Result
from cocco.output.folders.written.about import About, versions
from cocco.output.folders.written.ready import ready
from cocco.output.text.searches.search import work_of
from cocco.problem.space import Space
from workloads.network.network import Network

if TYPE_CHECKING:
    from cocco.chips.answer import ChipsAnswer
    from cocco.chips.front import ChipsFront
    from cocco.exploration.answers.front import Front
    from cocco.exploration.answers.limited import Limited
    from cocco.exploration.cores import CoresAxis

    Found = Result | Front | Limited | CoresAxis | ChipsAnswer | ChipsFront

Progress = Callable[[int, int, Any], None]


class ShownAnswer(NamedTuple):
    """How an answer is shown and saved."""

    content: Callable[[], dict[str, Any]]  #: what --json prints
    text: Callable[[], str]
    save: Callable[[float, bool], Sequence[Path]]
    """Writes the files and returns their paths; takes the seconds of the search, and whether Ctrl-C ended it."""
    proofs: Sequence[str] = ()  #: the commands that execute the plans


def run_search(
    options: Namespace,
    folder: Path | None,
    files: Sequence[str],
    find: Callable[[Progress | None], Found],
    show: Callable[[Any], ShownAnswer],
    best: str,
    resumed: Callable[[], Resumed] | None = None,
) -> int:
    """Search, say how it ended, save into the folder if there is one, print; return the exit code.

    The files are checked before the search starts, and the answer is printed even where saving it fails. best: how
    the bar says what was found so far. resumed: the steps of a search that can go on where it was killed.
    """
    written: Sequence[Path] = ()
    if folder:
        import pandas  # noqa: F401, for its tables: half imported, after Ctrl-C, it cannot be imported again
    with ready(folder, files) if folder else nullcontext():
        steps = resumed() if resumed is not None else None
        start = time.monotonic()
        with progress_shown(options.samples, best, options.progress) as view:
            with watched_by(None if view is None else view.told), steps.steps() if steps else nullcontext():
                found, is_stopped = searched(lambda: find(None if view is None else view.samples))
        seconds = time.monotonic() - start
        how = "stopped by Ctrl-C, this is the best so far: " if is_stopped else ""
        what = work_of(found) if isinstance(found, Result) else "samples"
        what = what.replace("samples", "sample", found.samples == 1)
        print(f"cocco: {how}{found.samples:,} {what} in {seconds:.1f} s, {found.engine} engine", file=sys.stderr)
        if entries := getattr(found, "bank", ()):
            whose = f"plans of {len(entries)} of the bank's entries"
            print(f"cocco: note: it also started from {whose}; --fresh starts anew", file=sys.stderr)
        shown = show(found)
        try:
            if folder:
                written = shown.save(seconds, is_stopped)
        finally:
            print_answer(options, shown.content, shown.text)
        if steps is not None and not is_stopped:
            steps.end()
    if written:
        parts = ["\n  ".join(["\nWritten:", *map(str, written)])]
        parts += ["\n  ".join(["Prove it by execution:", *shown.proofs])] if shown.proofs else []
        print("\n".join(parts), file=sys.stderr if options.json else sys.stdout)
    return STOPPED if is_stopped else CODES.get(found.status, 0)


class Asked(NamedTuple):
    """What a search over memories is asked: its options, its networks, its memories, and the folder of its answer."""

    options: Namespace
    loaded: list[Loaded]
    space: Space
    folder: Path | None

    @property
    def networks(self) -> list[Network]:
        """The networks alone."""
        return [each.network for each in self.loaded]

    @property
    def common(self) -> dict[str, Any]:
        """The arguments that all these searches take."""
        names = ("samples", "seed", "weights", "tile_rule", "engine", "threads", "count", "workers", "dask")
        found = {"space": self.space, "keep": keep_of(self.options), "level": self.options.effort}
        return found | {name: getattr(self.options, name) for name in names} | machine_of(self.options)

    def settings(self, keys: Sequence[str], **more: Any) -> dict[str, Any]:
        """Return what a run folder keeps of the question: networks, weights, space, these options, and more of them."""
        options = Namespace(**vars(self.options) | more)
        mapper = getattr(options, "mapper", MAPPER)
        return {
            "networks": [network.name for network in self.networks],
            "weights": options.weights or [1.0] * len(self.networks),
            "space": {name: each.to_json() for name, each in self.space.ranges.items()},
            **{key: getattr(options, key) for key in keys},
            "technology": options.technology.to_json(),
            **({} if mapper == MAPPER else {"mapper": mapper}),
            **({} if getattr(options, "count", "one") == "one" else {"count": options.count}),
            **({"setting": dict(options.setting)} if getattr(options, "setting", None) else {}),
            "keep": keep_of(options),
        }

    def about(self, settings: dict[str, Any], found: Found, result: dict[str, Any], seconds: float) -> dict[str, Any]:
        """Return what result.json holds."""
        line, seed = self.options.line, self.options.seed
        return About(line, settings, seed, versions(), found.engine, round(seconds, 3), result).to_json()

    def search(
        self, files: Sequence[str], find: Callable[[Progress | None], Found], show: Callable[[Any], ShownAnswer],
        best: str, initial: Any = (),
    ) -> int:  # fmt: skip
        """Say what it will take, and search so that it can be resumed."""
        say_expected(self.options, self.networks)
        resumed = partial(Resumed, self.options, self.folder, self.networks, initial)
        return run_search(self.options, self.folder, files, find, show, best, resumed)


def asked_of(options: Namespace) -> Asked:
    """Return what the options ask."""
    space = space_of(options)
    return Asked(options, load_all(options), space, output_path(options.output))
