"""cocco explore: the memory to build, and a partition for each network; or the least of one criterion under limits."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cocco.cli.options import values
from cocco.cli.options.hardware import flag
from cocco.cli.options.networks import are_chunks, are_stages
from cocco.cli.options.of_methods import check_method
from cocco.cli.options.options import (
    ANSWER,
    COST,
    OF_GENETIC,
    add_addresses,
    add_count,
    add_folder,
    add_json,
    add_keep,
    add_machine,
    add_mapper,
    add_networks,
    add_search,
    add_space,
    method_of,
    settings_of,
)
from cocco.cli.options.output import check_folder
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.chips import add_axes, explore_axes
from cocco.cli.running.plans import add_bank, add_start, bank_of, start_of
from cocco.cli.running.proofs import proof
from cocco.cli.running.resume import add_resume
from cocco.cli.running.searches import Asked, Progress, ShownAnswer, asked_of
from cocco.effort.status import Interrupted
from cocco.exploration.explore import explore
from cocco.output.folders.written import addresses
from cocco.output.folders.written import run as run_folder
from cocco.output.folders.written.about import address_names, folder_of, partition_names
from cocco.output.text.plans.addresses import changes_text, height_text, map_text
from cocco.output.text.plans.serving import serving_lines
from cocco.output.text.searches.search import explore_text
from cocco.problem.criteria import Clocked
from simulator.hardware_files import MACHINE
from simulator.timing.serving import Serving

if TYPE_CHECKING:
    from cocco.exploration.answers.result import Result
    from cocco.exploration.compromise import Compromise
    from cocco.exploration.cores import CoresAxis

#: what limits take the place of, and what a search under limits has no use for: options and their defaults
NOT_LIMITED = {
    "method": "auto", "metric": "energy", "alpha": 0.002, "plain": False, "prove": False, "compare": False,
    "from": None, "exchange": None, "slack": 0.0, "setting": None,
}  # fmt: skip
SETTINGS = (
    "alpha", "exchange", "metric", "method", "samples", *MACHINE, "tile_rule", "plain", "prove", "check_addresses",
    "slack",
)  # fmt: skip


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_networks(parser)
    add_space(parser)
    add_machine(parser, cores_axis=True)
    add_mapper(parser)
    _add_cost(parser)
    _add_limits(parser)
    add_search(
        parser, "energy", ("auto", "ga", "paper", "exact", "sa", "random", "grid"),
        "sa: simulated annealing; random, grid: memories first, then 5,000 samples of ga for each",
    )  # fmt: skip
    add_keep(parser)
    add_start(parser)
    add_bank(parser)
    add_axes(parser)
    add_folder(parser, "result.json, partition.json, history.csv, samples.csv, other sizes and pictures")
    add_resume(parser)
    add_addresses(parser)
    group = parser.add_argument_group(ANSWER)
    group.add_argument(
        "--check-addresses", action="store_true",
        help="split subgraphs that fit by their bytes but find no addresses, and price them again; implies --addresses",
    )  # fmt: skip
    group.add_argument(
        "--compare", action="store_true",
        help="search the best memory for each network alone too, and say what the common one costs it: as many "
        "samples again for each",
    )  # fmt: skip
    add_json(parser)


def _add_cost(parser: Parser) -> None:
    worth = parser.add_argument_group(COST).add_mutually_exclusive_group()
    worth.add_argument(
        "--alpha", type=values.number, default=0.002, metavar="A",
        help="bytes of buffer that one pJ (byte, cycle) is worth: cost = buffer bytes + A * metric; default 0.002",
    )  # fmt: skip
    worth.add_argument(
        "--exchange", metavar="WORTH",
        help="alpha in other words, what a byte (B, KB, MB) or a mm2 of buffer is worth: 500pJ/B is alpha 0.002; "
        "2mJ/mm2; of other metrics 30B/B, 3ms/mm2",
    )  # fmt: skip
    add_count(parser)


def _add_limits(parser: Parser) -> None:
    group = parser.add_argument_group("limits: in place of alpha")
    group.add_argument(
        "--minimize", metavar="WHAT",
        help="capacity, energy, ema, latency (as it is executed), latency-sum (the paper's), area, leakage or "
        "bandwidth: the least of it that keeps every --limit",
    )  # fmt: skip
    group.add_argument(
        "--limit", type=values.limit, action="append", metavar="WHAT=MOST", dest="limits",
        help="such as latency=4.6ms (us, cycles; of a whole batch), latency=30fps (at least so many samples a second), "
        "capacity=1MB, energy=4.5mJ (uJ, pJ), ema=30MB, area=1.2mm2, leakage=50mW, bandwidth=8GB/s (without the unit: "
        "bytes per cycle); may be given several times",
    )  # fmt: skip


def run(options: Namespace) -> int:
    """Search with alpha or under limits."""
    check_method(options, options.method, OF_GENETIC)
    options.method = method_of(options)
    is_axis = isinstance(options.cores, tuple)
    if options.axes or options.rates:
        options.cores_given = options.cores if is_axis else None
        return explore_axes(options)
    if is_axis:
        _check_cores(options)
    elif options.minimize is not None or options.limits:
        return _explore_limited(options)
    elif options.compare and len(options.networks) == 1:
        raise UsageError("--compare needs two networks or more: one network alone shares no memory")
    options.addresses |= options.check_addresses
    asked = asked_of(options)
    names = ("alpha", "exchange", "metric", "method", "prove", "check_addresses", "slack")
    question = asked.common | {name: getattr(options, name) for name in names}
    question["bank"] = None if is_axis else bank_of(options)  # of several at once none knows what the others find
    question["settings"] = settings_of(options)
    return (_explore_cores if is_axis else _explore)(asked, question, start_of(options, asked.networks))


def _explore(asked: Asked, question: dict[str, Any], initial: Any) -> int:
    """Search with alpha."""
    options, networks = asked.options, asked.networks
    names = [network.name for network in networks]
    files = run_folder.file_names(names) + (address_names(names) if options.addresses else [])
    paid: list[Compromise] = []

    def find(progress: Progress | None) -> Result:
        result = explore(networks, **question, initial=initial, progress=progress)
        if options.compare:
            from cocco.exploration.compromise import compromise

            try:
                paid.extend(compromise(result, networks, **question))
            except KeyboardInterrupt:
                raise Interrupted(result) from None
        return result

    settings = asked.settings(SETTINGS)
    check_folder(options, asked.folder, settings)
    return asked.search(files, find, partial(_shown, asked, settings, paid), "best {:.6g}", initial)


def _shown(asked: Asked, settings: dict[str, Any], paid: list[Compromise], result: Result) -> ShownAnswer:
    options, networks, folder = asked.options, asked.networks, asked.folder
    is_kept = any(plan.keep for plan in result.plans)
    servings = [serving for each in result.evaluations if (serving := each.serving)]
    joined = Serving.in_pipeline if are_stages(options) else Serving.in_turn if are_chunks(options) else None
    together = joined(servings) if servings and joined else None
    maps = addresses.maps_of(networks, result) if result.plans and (options.addresses or is_kept) else []

    def content() -> dict[str, Any]:
        found = result.to_json() | {"verified": None}  # nothing was executed yet
        if together is not None:
            found["serving"] = together.to_json()
        if paid:
            found["compromise"] = [each.to_json() for each in paid]
        return addresses.with_maps(found, maps)

    def text() -> str:
        shown = map_text if options.addresses else height_text
        parts = [explore_text(result, networks, paid), *map(shown, maps), *changes_text(result)]
        if together is not None:
            lines = (f"  {name:<18}{text}" for name, text in serving_lines(together))
            parts.append("\n".join(["All stages:" if are_stages(options) else "All chunks:", *lines]))
        return "\n\n".join(parts)

    def save(seconds: float, is_stopped: bool) -> list[Path]:
        if folder is None or not result.plans:
            return []
        told = asked.about(settings, result, content(), seconds)
        return run_folder.save(folder, result, told, maps if options.addresses else (), is_stopped)

    paths = [(folder or Path()) / name for name in partition_names([network.name for network in networks])]
    proofs = [proof(options, each, result, path) for each, _, path in zip(asked.loaded, result.plans, paths)]
    return ShownAnswer(content, text, save, proofs)


def _check_cores(options: Namespace) -> None:
    for name in ("minimize", "limits", "compare", "addresses", "check_addresses", "dask"):
        if getattr(options, name):
            option = "--limit" if name == "limits" else flag(name)
            raise UsageError(f"{option} not allowed with several numbers of --cores")


def _explore_cores(asked: Asked, question: dict[str, Any], initial: Any) -> int:
    """Search for each of several numbers of cores."""
    from cocco.exploration.cores import explore_cores
    from cocco.output.folders.written import cores as cores_folder
    from cocco.output.text.searches.cores import cores_text

    counts, workers, folder = question.pop("cores"), question.pop("workers"), asked.folder
    del question["dask"]
    check_folder(asked.options, folder, None)
    for each in counts:
        inner = folder and folder / folder_of(each)
        check_folder(asked.options, inner, asked.settings(SETTINGS, cores=each))

    def find(progress: Progress | None) -> CoresAxis:
        watched = progress if workers == 1 else None
        return explore_cores(asked.networks, counts, workers=workers, **question, initial=initial, progress=watched)

    def show(axis: CoresAxis) -> ShownAnswer:
        def save(seconds: float, is_stopped: bool) -> Sequence[Path]:
            if folder is None or not any(result.plans for result in axis.results):
                return []

            def said(cores: int, result: Result) -> dict[str, Any]:
                content = result.to_json() | {"verified": None}
                return asked.about(asked.settings(SETTINGS, cores=cores), result, content, seconds)

            return cores_folder.save(folder, axis, said, is_stopped)

        return ShownAnswer(axis.to_json, lambda: cores_text(axis), save)

    return asked.search(cores_folder.FILES, find, show, "best {:.6g}", initial)


def _explore_limited(options: Namespace) -> int:
    from cocco.cli.running.fronts import search_front
    from cocco.exploration.answers.limited import Limited
    from cocco.exploration.limits import minimize
    from cocco.output.text.searches.front import limited_text

    if options.minimize is None:
        raise UsageError("--limit needs --minimize: the criterion to minimize under the limits")
    if not options.limits:
        raise UsageError("--minimize needs a --limit, such as --limit latency=2000000")
    for name, default in NOT_LIMITED.items():
        if getattr(options, name) != default:
            raise UsageError(f"--{name} not allowed with --minimize: limits take the place of alpha")
    for name in ("addresses", "check_addresses"):
        if getattr(options, name):
            raise UsageError(f"{flag(name)} not allowed with --minimize; 'cocco evaluate DIR --addresses' says where")
    limits = dict(options.limits)
    if len(limits) != len(options.limits):
        twice = next(name for name, _ in options.limits if [n for n, _ in options.limits].count(name) > 1)
        raise UsageError(f"--limit {twice} is given twice; give each limit once")
    at = options.technology.clock_ghz, options.batch
    limits = {name: most.at(*at) if isinstance(most, Clocked) else most for name, most in limits.items()}
    question = {"minimize": options.minimize, "limits": limits}
    search = partial(minimize, criterion=options.minimize, limits=limits)
    return search_front(options, question, search, limited_text, Limited.to_json)
