"""cocco map: each layer of a list or a network on the PE array, as a loop nest with its cost."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentTypeError, Namespace
from pathlib import Path

import workloads
from cocco.cli.options import values
from cocco.cli.options.effort import add_effort, scaled
from cocco.cli.options.hardware import hardware_of
from cocco.cli.options.of_methods import Of, check_method
from cocco.cli.options.options import NETWORK_HELP, add_json, add_output, add_seed
from cocco.cli.options.output import output_path, print_answer, say_written
from cocco.cli.options.usage import Old, Parser, UsageError
from cocco.mapping.array import array_of
from cocco.mapping.layer_lists import layers_of, read_layers
from cocco.mapping.listed import map_rows, rows_to_json
from cocco.mapping.map_layer import METHODS
from cocco.mapping.rules import AIMS, Rules
from cocco.output.folders.written.ready import ready_files
from cocco.output.text.plans.mapping import mapping_text
from simulator.mapping import SIMBA, Architecture, read_architecture
from workloads.files import write_atomic

TRYING = ("random", "climb", "polished")  #: methods that try mappings
SOLVING = ("cosa", "polished")  #: methods with CoSA's program
WORK = 20.0  #: deterministic time of a layer at a normal effort; our choice


OPTIONS = (
    Of("--tries", None, TRYING),
    Of("--fixed-axes", None, ("closed",)),
    Of("--work", None, SOLVING),
    Of("--effort", "normal", SOLVING),
    Of("--solver", "highs", SOLVING),
    Of("--halo", "corrected", SOLVING),
    Of("--stride-rule", "per_factor", SOLVING),
    Of("--aim", "weighted", SOLVING),
    Of("--multicast", False, SOLVING),
    Of("--split", False, SOLVING),
)  #: of some methods


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    parser.add_argument(
        "layers", metavar="LAYERS.csv|NETWORK",
        help="a table of layers (.csv): R, S, P, Q, C, K, N, stride_w, stride_h and, where wanted, groups, dilation_w, "
        f"dilation_h, count, macs, layer; or {NETWORK_HELP}",
    )  # fmt: skip
    _add_method(parser)
    _add_rules(parser)
    add_output(parser, "the object of --json")
    add_json(parser)


def _add_method(parser: Parser) -> None:
    parser.add_argument(
        "--method", choices=("auto", *METHODS), default="auto",
        help="the algorithm. auto: closed (default); closed: the best of the ways to unroll two axes; cosa: CoSA's "
        "mixed-integer program (extra 'solvers'), optimal by its own log objective; polished: climbs from there by "
        "cycles; random: the best of a few valid mappings; climb: hill climbing",
    )  # fmt: skip
    parser.add_argument(
        "--arch", default="simba", metavar="simba|FILE",
        help="the architecture, or a file of its levels (.yaml, .json)",
    )  # fmt: skip
    parser.add_argument(
        "--hardware", metavar="FILE|DIR",
        help="in place of --arch: one core of a hardware file or a run; closed takes a square of PEs",
    )  # fmt: skip
    parser.add_argument("--fixed-axes", type=axes, metavar="A,B", help="closed: what the axes unroll, such as K,C")
    parser.add_argument(
        "--tries", type=values.count, metavar="N",
        help="random: valid mappings, default 5; climb, polished: mappings tried, default 2000",
    )  # fmt: skip
    parser.add_argument("--samples", action=Old, instead="--tries", dest="tries", type=values.count)
    add_seed(parser)
    parser.add_argument(
        "--work", type=positive, metavar="D",
        help="cosa, polished: deterministic time of the solver for a layer, about one second per unit; default: that "
        "of the effort, 20",
    )  # fmt: skip
    parser.add_argument("--limit", action=Old, instead="--work", dest="work", type=positive)
    add_effort(parser, "--work (1/8, 1, 8 times 20) of cosa and polished")
    parser.add_argument(
        "--solver", choices=("cp", "highs"), default="highs", help="cosa, polished: which solver; default highs"
    )


def _add_rules(parser: Parser) -> None:
    group = parser.add_argument_group("rules of cosa and polished")
    group.add_argument(
        "--halo", choices=("corrected", "published", "exact"), default="corrected",
        help="published: filters slide at DRAM only; exact: input tiles as they are; default corrected",
    )  # fmt: skip
    group.add_argument(
        "--stride-rule", choices=("per_factor", "once"), default="per_factor",
        help="once: charge a stride once, not for every factor; default per_factor, as published",
    )  # fmt: skip
    group.add_argument(
        "--aim", choices=AIMS, default="weighted",
        help="weighted: 10 compute - 0.1 utilization + traffic (default); balance: |traffic - 10 compute|",
    )  # fmt: skip
    group.add_argument("--multicast", action="store_true", help="lanes cost only tensors that they walk through")
    group.add_argument("--split", action="store_true", help="decide the shares of I and O in the outermost buffer")


def axes(text: str) -> str:
    """Return 'KC' of 'K,C'."""
    names = text.replace(",", "").upper()
    if len(names) != 2 or not set(names) <= set("KCPQ"):
        raise ArgumentTypeError(f"the axes are two of K, C, P, Q, such as K,C; got {text!r}")
    return names


def positive(text: str) -> float:
    """Return a number above 0."""
    found = values.number(text)
    if not found > 0:
        raise ArgumentTypeError(f"must be above 0; got {text!r}")
    return found


def _architecture(options: Namespace) -> Architecture:
    if options.hardware is None:
        return SIMBA if options.arch == "simba" else read_architecture(options.arch)
    if options.arch != "simba":
        raise UsageError(f"--hardware {options.hardware} not allowed with --arch {options.arch}: give one machine")
    return array_of(hardware_of(options.hardware), Path(options.hardware).stem)


def run(options: Namespace) -> int:
    """Map every layer; exit code 2 if one is malformed, else 1 if one has no mapping. No layer is no answer at all."""
    arch = _architecture(options)
    rules = Rules(options.halo, options.stride_rule, options.multicast, split=options.split, aim=options.aim)
    is_file = options.layers.lower().endswith(".csv")
    rows = read_layers(options.layers) if is_file else layers_of(workloads.load(options.layers))
    if rows and all(row.shape is None for row in rows):
        raise UsageError(f"{rows[0].name}: {rows[0].error}" + (f" (and {len(rows) - 1} more)" if rows[1:] else ""))
    method = "closed" if options.method == "auto" else options.method
    check_method(options, method, OPTIONS)
    settings = {"solver": options.solver, "samples": options.tries, "seed": options.seed}
    settings["limit"] = scaled(options, options.work, WORK)
    output = output_path(options.output)
    with ready_files(output):
        start = time.process_time()
        found = map_rows(rows, arch, method, rules=rules, axes=options.fixed_axes, **settings)
        print(f"cocco: {len(rows)} layers in {time.process_time() - start:.2f} s of CPU", file=sys.stderr)
        source = Path(options.layers).name if is_file else options.layers
        content = rows_to_json(source, method, arch, rules, found)
        if output:
            write_atomic(output, json.dumps(content, allow_nan=False) + "\n")
            say_written(output)
    errors = [f"{each.row.name}: {each.error}" for each in found if each.error is not None]
    if errors:
        more = f" (and {len(errors) - 1} more, in the answer)" if len(errors) > 1 else ""
        print(f"cocco: error: {errors[0]}{more}", file=sys.stderr)
    print_answer(options, lambda: content, lambda: mapping_text(found, content["totals"]))
    if errors:
        return 2
    return 0 if all(each.result is not None and each.result.cost is not None for each in found) else 1
