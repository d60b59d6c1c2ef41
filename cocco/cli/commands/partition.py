"""cocco partition: the best partition found for given hardware."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from cocco.cli.options.effort import say_expected
from cocco.cli.options.hardware import accelerator_of
from cocco.cli.options.networks import Loaded, load
from cocco.cli.options.of_methods import check_method
from cocco.cli.options.options import (
    OF_GENETIC,
    add_buffers,
    add_json,
    add_keep,
    add_machine,
    add_mapper,
    add_network,
    add_output,
    add_search,
    keep_of,
    method_of,
    settings_of,
)
from cocco.cli.options.output import output_path
from cocco.cli.options.usage import Parser, UsageError
from cocco.cli.running.plans import PLAN_SUFFIXES, add_bank, add_start, bank_of, start_of
from cocco.cli.running.proofs import proof
from cocco.cli.running.runs import hardware_notes
from cocco.cli.running.searches import Progress, ShownAnswer, run_search
from cocco.exploration.answers.result import Result
from cocco.exploration.explore import partition
from cocco.latency.places import places_of
from cocco.output.folders.written import addresses
from cocco.output.text.plans.addresses import changes_text, height_text, places_text
from cocco.output.text.plans.comparison import brought_text
from cocco.output.text.searches.search import partition_text
from cocco.plans.compare import compare
from simulator.metrics import DEFAULT_METRIC, METRIC_NAMES


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_network(parser)
    add_buffers(parser)
    add_machine(parser)
    add_mapper(parser)
    add_search(
        parser, DEFAULT_METRIC, ("auto", "ga", "paper", "greedy", "dp", "idp", "exact", "sa"),
        "greedy: Halide's fusion; dp: contiguous by depth; idp: dp over many orders; sa: simulated annealing",
        (*METRIC_NAMES, "latency"),
    )  # fmt: skip
    add_keep(parser)
    add_start(parser)
    add_bank(parser)
    add_output(parser, "the plan, with the hardware that it is for (.json, .yaml)")
    add_json(parser)


def run(options: Namespace) -> int:
    """Search, save the partition, print it."""
    check_method(options, options.method, OF_GENETIC)
    options.method = method_of(options)
    accelerator = accelerator_of(options)
    network = load(options.network, options)
    output = _partition_file(options.output)
    names = (
        "method", "metric", "samples", "seed", "tile_rule", "engine", "threads", "prove", "workers", "dask", "slack",
    )  # fmt: skip
    question = {name: getattr(options, name) for name in names} | {"keep": keep_of(options), "level": options.effort}
    settings = settings_of(options)
    question["bank"] = bank_of(options)
    initial = start_of(options, [network], accelerator)

    def find(progress: Progress | None) -> Result:
        return partition(network, accelerator, settings=settings, **question, initial=initial, progress=progress)

    def show(result: Result) -> ShownAnswer:
        for note in hardware_notes(options, accelerator):
            print(f"cocco: note: {note}", file=sys.stderr)
        maps = addresses.maps_of([network], result) if any(plan.keep for plan in result.plans) else []

        def save(_: float, is_stopped: bool) -> list[Path]:
            if output is None or not result.plans:
                return []
            result.plan.save(output, result.accelerator)
            return [output]

        is_run = options.metric == "latency" and result.plans
        places = places_of(result.evaluations[0].simulation) if is_run else None

        def text() -> str:
            lies = [*map(height_text, maps), *([places_text(places)] if is_run else [])]
            became = []
            if initial and result.plans:
                ((start,),) = initial
                sides = {getattr(options, "from")[0]: start, "the answer": result.plan}
                became.append(brought_text(compare(network, sides, result.accelerator, tile_rule=options.tile_rule)))
            return "\n\n".join([partition_text(result, [network]), *became, *lies, *changes_text(result)])

        def content() -> dict[str, Any]:
            found = addresses.with_maps(result.to_json() | {"verified": None}, maps)
            return found | ({"places": places.to_json()} if places else {})

        proofs = (
            [proof(options, Loaded(network, options.network, options), result, output)]
            if output and result.plans
            else []
        )
        return ShownAnswer(content, text, save, proofs)

    folder, files = (output.parent, [output.name]) if output else (None, [])
    say_expected(options, [network])
    return run_search(options, folder, files, find, show, "best {:.6g}")


def _partition_file(text: str | None) -> Path | None:
    path = output_path(text)
    if path is not None and path.suffix.lower() not in PLAN_SUFFIXES:
        raise UsageError(f"-o {path}: a partition file ends in one of {', '.join(PLAN_SUFFIXES)}; got {path.suffix!r}")
    return path
