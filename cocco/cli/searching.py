"""cocco partition and cocco explore: check everything, search, save what was asked for, print the answer."""

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
from cocco.allocation.address_map import AddressMap
from cocco.cli import addressing
from cocco.cli.hardware import accelerator_of, flag, machine_of, space_of
from cocco.cli.networks import load
from cocco.cli.options import settings_of
from cocco.cli.output import CODES, output_path, print_json
from cocco.cli.plans import mapper_named, with_mapper
from cocco.cli.usage import UsageError
from cocco.exploration.result import Result
from cocco.output.folders import run as run_folder
from cocco.output.text import search as search_report
from cocco.output.text.numbers import capacity

OTHERS = {  # and their defaults
    "cores": 1, "batch": 1, "max_regions": 64, "prefetch": "free", "tile_rule": "exact", "mapper": "enumerate",
}  # fmt: skip
Progress = Callable[[int, int, float], None]


def partition(options: Namespace, _: Sequence[str]) -> int:
    """cocco partition: the best partition found for given hardware."""
    accelerator = with_mapper(accelerator_of(options), options.mapper)
    network = load(options.network, options)
    output = _partition_file(options.output)
    with run_folder.ready(output.parent, [output.name]) if output else nullcontext():
        start = time.monotonic()
        with _progress(options.samples) as progress:
            result = cocco.partition(
                network, accelerator, method=options.method, metric=options.metric, samples=options.samples,
                seed=options.seed, tile_rule=options.tile_rule, engine=options.engine, threads=options.threads,
                progress=progress, settings=_search_settings(options), prove=options.prove,
            )  # fmt: skip
        _say_how_it_ended(result, time.monotonic() - start)
        try:
            if output and result.plans:
                result.plan.save(output)
        finally:
            _print(result, options.json, lambda: search_report.partition_text(result, [network]))
    if output and result.plans:
        _say_written([output], [_proof(options, options.network, result, output)], options.json)
    return CODES.get(result.status, 0)


def explore(options: Namespace, arguments: Sequence[str]) -> int:
    """cocco explore: the memory to build, and a partition for each network."""
    if options.minimize is not None or options.limits:
        from cocco.cli.fronts import limited_command

        return limited_command(options, arguments)
    if options.compare and len(options.networks) == 1:
        raise UsageError("--compare needs two networks or more: one network shares its memory with nobody")
    space = space_of(options)
    networks = [load(name, options) for name in options.networks]
    paid: tuple[cocco.Compromise, ...] = ()
    folder = output_path(options.output)
    written: list[Path] = []
    maps: list[AddressMap] = []
    options.addresses |= options.check_addresses
    names = [network.name for network in networks]
    files = run_folder.file_names(names) + (run_folder.address_names(names) if options.addresses else [])
    with run_folder.ready(folder, files) if folder else nullcontext():
        start = time.monotonic()
        with _progress(options.samples) as progress:
            question: dict[str, Any] = {
                "space": space, "alpha": options.alpha, "metric": options.metric, "method": options.method,
                "samples": options.samples, "seed": options.seed, "weights": options.weights, **machine_of(options),
                "tile_rule": options.tile_rule, "engine": options.engine, "threads": options.threads,
                "settings": _search_settings(options), "prove": options.prove,
                "check_addresses": options.check_addresses, "mapper": mapper_named(options.mapper),
            }  # fmt: skip
            result = cocco.explore(networks, **question, progress=progress)
        if options.compare and result.status != "stopped":
            paid = cocco.compromise(result, networks, **question)
        seconds = time.monotonic() - start
        _say_how_it_ended(result, seconds)
        if options.addresses:
            maps = addressing.maps_of(networks, result)
        about = {
            "command": shlex.join(["cocco", *arguments]),
            "settings": settings_of(options, networks, space) | _mapper_of(options),
            "seed": options.seed,
            "versions": run_folder.versions(),
            "engine": result.engine,
            "seconds": round(seconds, 3),
            "result": addressing.with_maps(_answer(result, paid), maps),
        }
        try:
            if folder:
                written = run_folder.save(folder, result, about)
                written += addressing.save(folder, maps)
        finally:
            text = search_report.explore_text
            _print(
                result, options.json,
                lambda: addressing.joined(text(result, networks, paid), maps, result.splits), paid, maps,
            )  # fmt: skip
    if written:
        proofs = [
            _proof(options, network, result, path)
            for network, _, path in zip(options.networks, result.plans, written)  # the plans are written first
        ]
        _say_written(written, proofs, options.json)
    return CODES.get(result.status, 0)


def _partition_file(text: str | None) -> Path | None:
    path = output_path(text)
    if path is not None and path.suffix.lower() not in run_folder.PARTITION_SUFFIXES:
        suffixes = ", ".join(run_folder.PARTITION_SUFFIXES)
        raise UsageError(f"-o {path}: a partition file ends in one of {suffixes}; got {path.suffix!r}")
    return path


def _search_settings(options: Namespace) -> cocco.Settings:
    return cocco.Settings.plain() if options.plain else cocco.Settings()


def _mapper_of(options: Namespace) -> dict[str, str]:
    """Return the mapper of the question; the default is not mentioned, as in results."""
    return {} if options.mapper == "enumerate" else {"mapper": options.mapper}


@contextmanager
def _progress(samples: int) -> Iterator[Progress | None]:
    """Give a callback that moves a bar on a terminal, and None where nobody watches."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    with tqdm(total=samples, unit=" samples", file=sys.stderr, leave=False, dynamic_ncols=True) as bar:

        def move(done: int, _: int, best_cost: float) -> None:
            bar.set_postfix_str(f"best {best_cost:.6g}", refresh=False)
            bar.update(done - bar.n)

        yield move
        bar.refresh()  # a search that is done before the bar would move shows its end all the same


def _say_how_it_ended(result: Result, seconds: float) -> None:
    how = "stopped by Ctrl-C, this is the best so far: " if result.status == "stopped" else ""
    print(f"cocco: {how}{result.samples:,} samples in {seconds:.1f} s, {result.engine} engine", file=sys.stderr)


def _answer(result: Result, paid: Sequence[cocco.Compromise] = ()) -> dict[str, Any]:
    """Return what --json prints: nothing was executed yet, so nothing is verified."""
    compared = {"compromise": [each.to_json() for each in paid]} if paid else {}
    return result.to_json() | {"verified": None} | compared


def _print(
    result: Result,
    as_json: bool,
    text: Callable[[], str],
    paid: Sequence[cocco.Compromise] = (),
    maps: Sequence[AddressMap] = (),
) -> None:
    if as_json:
        print_json(addressing.with_maps(_answer(result, paid), maps))
    else:
        print(text())


def _say_written(paths: Sequence[Path], proofs: Sequence[str], as_json: bool) -> None:
    """Name the files and how to prove the plans: on stderr where stdout is for one JSON object."""
    written = "\n  ".join(["\nWritten:", *map(str, paths)])
    prove = "\n  ".join(["Prove it by execution:", *proofs])
    print(f"{written}\n{prove}", file=sys.stderr if as_json else sys.stdout)


def _proof(options: Namespace, network: str, result: Result, path: Path) -> str:
    """Return the command that executes a plan on the hardware of the result."""
    words = ["cocco", "evaluate", network, "--partition", str(path)]
    for name in ("global_buffer", "weight_buffer", "shared_buffer"):
        if (size := getattr(result.accelerator, name)) is not None:
            words += [flag(name), capacity(size).replace(" bytes", "").replace(" ", "")]
    if options.hardware_file is not None:
        words += ["--hardware", options.hardware_file]
    for name, default in OTHERS.items():
        if (value := getattr(options, name)) != default:
            words += [flag(name), "none" if value is None else str(value)]
    if getattr(options, "addresses", False):
        words.append("--addresses")
    return shlex.join([*words, "--verify"])
