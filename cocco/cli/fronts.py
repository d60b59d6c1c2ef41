"""cocco pareto, and cocco explore with limits: check everything, search, save what was asked for, print the answer."""

from __future__ import annotations

import shlex
import sys
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import cocco
import workloads
from cocco.cli.hardware import machine_of, space_of
from cocco.cli.networks import load
from cocco.cli.options import settings_of
from cocco.cli.output import CODES, output_path, print_json
from cocco.cli.usage import UsageError
from cocco.exploration.front import Front
from cocco.exploration.limits import Limited
from cocco.output.folders import front as front_folder
from cocco.output.folders import run as run_folder
from cocco.output.text.front import front_text, limited_text
from cocco.problem.effort import Progress
from simulator.hardware_files import MACHINE

FORBIDDEN = {"method": "auto", "metric": "energy", "alpha": 0.002, "plain": False, "prove": False, "compare": False}


def pareto_command(options: Namespace, arguments: Sequence[str]) -> int:
    """cocco pareto: the memories and partitions that nothing found is better than."""
    question = {"objectives": options.objectives, "method": options.method}

    def find(networks: Sequence[workloads.Network], **common: Any) -> Front:
        return cocco.pareto(networks, **question, **common)

    return _run(options, arguments, question, find, front_text)


def limited_command(options: Namespace, arguments: Sequence[str]) -> int:
    """cocco explore --minimize: the least of one criterion under limits."""
    if options.minimize is None:
        raise UsageError("--limit needs --minimize: what to make small under the limits")
    if not options.limits:
        raise UsageError("--minimize needs a --limit, such as --limit latency=2000000")
    for name, default in FORBIDDEN.items():
        if getattr(options, name) != default:
            raise UsageError(f"--{name} not allowed with --minimize: limits take the place of alpha")
    if options.mapper != "enumerate":
        raise UsageError("--mapper not allowed with --minimize: a search under limits takes the default mapper")
    limits = dict(options.limits)
    if len(limits) != len(options.limits):
        twice = next(name for name, _ in options.limits if [n for n, _ in options.limits].count(name) > 1)
        raise UsageError(f"--limit {twice} is given twice; give each limit once")
    question = {"minimize": options.minimize, "limits": limits}

    def find(networks: Sequence[workloads.Network], **common: Any) -> Limited:
        return cocco.minimize(networks, options.minimize, limits, **common)

    return _run(options, arguments, question, find, limited_text)


def _run(
    options: Namespace,
    arguments: Sequence[str],
    question: dict[str, Any],
    find: Callable[..., Any],
    text: Callable[[Any], str],
) -> int:
    space = space_of(options)
    networks = [load(name, options) for name in options.networks]
    folder = output_path(options.output)
    written: list[Path] = []
    with run_folder.ready(folder, front_folder.FILES) if folder else nullcontext():
        start = time.monotonic()
        with _bar(options.samples) as progress:
            found = find(
                networks, space=space, samples=options.samples, seed=options.seed, weights=options.weights,
                **machine_of(options), tile_rule=options.tile_rule, engine=options.engine, threads=options.threads,
                progress=progress,
            )  # fmt: skip
        seconds = time.monotonic() - start
        how = "stopped by Ctrl-C, this is the best so far: " if found.status == "stopped" else ""
        print(f"cocco: {how}{found.samples:,} samples in {seconds:.1f} s, {found.engine} engine", file=sys.stderr)
        keys = ("samples", *MACHINE, "tile_rule")
        about = {
            "command": shlex.join(["cocco", *arguments]),
            "settings": question | settings_of(options, networks, space, keys),
            "seed": options.seed,
            "versions": run_folder.versions(),
            "engine": found.engine,
            "seconds": round(seconds, 3),
            "result": found.to_json(),
        }
        try:
            if folder:
                written = front_folder.save(folder, found, about)
        finally:
            if options.json:
                print_json(found.to_json())
            else:
                print(text(found))
    if written:
        print("\n  ".join(["\nWritten:", *map(str, written)]), file=sys.stderr if options.json else sys.stdout)
    return CODES.get(found.status, 0)


@contextmanager
def _bar(samples: int) -> Iterator[Progress | None]:
    """Give a callback that moves a bar on a terminal, and None where nobody watches."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=samples, unit=" samples", file=sys.stderr, leave=False, dynamic_ncols=True) as bar:

        def move(done: int, _: int, points: int) -> None:
            bar.set_postfix_str(f"{points} points on the front", refresh=False)
            bar.update(min(done, samples) - bar.n)

        yield move
        bar.refresh()
