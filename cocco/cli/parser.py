"""The words of the command line: commands, options, and what --help says about them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from cocco.cli import values

SIZES = "A SIZE is a whole number of bytes, or a number with KB, MB or GB: 1 KB = 1 KiB = 1024 bytes, 1 MB = 1024 KB."
NETWORK = "a built-in network (see 'cocco networks'), or the path of a layer-graph/1 file (.json)"
DEFAULT_HARDWARE = "Without a buffer option: the paper's 1MB global buffer and 1152KB weight buffer."
EXIT = "exit status: 0 done; 1 no answer (infeasible, or --verify failed); 2 malformed input; 130 stopped by Ctrl-C"


class UsageError(ValueError):
    """A command line that contradicts itself or lacks something: the message names the option and the rule."""


class Parser(argparse.ArgumentParser):
    """Raises UsageError where argparse would print its usage and exit."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message)


class Version(argparse.Action):
    """Looks the version up only when it is asked for: that takes longer than parsing."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from cocco.run_folder import version

        print(f"cocco {version('cocco')}")
        parser.exit()


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Return the parsed command line; `command` is its first word. Raises UsageError."""
    found = _build().parse_args(arguments)
    if found.command is None:
        known = "networks, show, evaluate, partition, explore, pareto, report or allocate"
        raise UsageError(f"no command; name {known} ('cocco --help' says more)")
    return found


def _build() -> Parser:
    parser = Parser(
        prog="cocco", description="Which on-chip memory to build for your networks, and how to run them on it.",
        epilog=EXIT, allow_abbrev=False,
    )  # fmt: skip
    parser.add_argument("--version", action=Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)

    networks = _command(commands, "networks", "list the built-in networks")
    show = _command(commands, "show", "list the layers of a network")
    evaluate = _command(commands, "evaluate", "price a partition on given hardware", DEFAULT_HARDWARE)
    partition = _command(commands, "partition", "find a partition for given hardware", DEFAULT_HARDWARE)
    explore = _command(commands, "explore", "find the memory to build, with a partition for each network")
    pareto = _command(commands, "pareto", "find the whole front between capacity and energy, or other objectives")
    report = _command(commands, "report", "write a page about what explore found, to look at in a browser")
    report.add_argument("folder", metavar="DIR", help="that 'cocco explore -o DIR' wrote; DIR/report.html is written")
    allocate = _command(commands, "allocate", "find an address for every buffer of a table")

    for command in (show, evaluate, partition):
        command.add_argument("network", metavar="NETWORK", help=NETWORK)
    for command in (explore, pareto):
        command.add_argument("networks", metavar="NETWORK", nargs="+", help=NETWORK)
    evaluate.add_argument(
        "--partition", required=True, metavar="FILE|layerwise",
        help="a partition file (.json, .yaml), or 'layerwise': every layer alone",
    )  # fmt: skip
    for command in (evaluate, partition):
        _add_buffers(command)
    for command in (explore, pareto):
        _add_space(command)
    for command in (evaluate, partition, explore, pareto):
        _add_machine(command)
    evaluate.add_argument("--verify", action="store_true", help="execute the partition tile by tile and compare")
    for command in (evaluate, explore):
        command.add_argument(
            "--addresses", action="store_true",
            help="the start and end of every region, whether all have their place, and (--verify) executed there",
        )  # fmt: skip
    evaluate.add_argument("-o", "--output", metavar="FILE", help="write the regions of --addresses to this file (.csv)")
    explore.add_argument(
        "--check-addresses", action="store_true",
        help="split what fits by its bytes but has no addresses, and price it again; brings --addresses",
    )  # fmt: skip
    _add_search(
        partition, "ema", ("auto", "ga", "greedy", "dp", "idp", "exact", "sa"),
        "greedy: Halide's fusion; dp: contiguous by depth; idp: dp over many orders; sa: simulated annealing",
    )  # fmt: skip
    _add_search(
        explore, "energy", ("auto", "ga", "exact", "sa", "random", "grid"),
        "sa: simulated annealing; random, grid: memories first, then 5,000 samples of ga for each",
    )  # fmt: skip
    explore.add_argument(
        "--alpha", type=values.number, default=0.002, metavar="A",
        help="bytes of buffer that one pJ (byte, cycle) is worth: cost = buffer bytes + A * metric; default 0.002",
    )  # fmt: skip
    _add_limits(explore)
    _add_front(pareto)
    for command in (explore, pareto):
        command.add_argument(
            "--weights", type=values.number, nargs="+", metavar="W",
            help="how much each network counts, in the order of the networks; default: 1 each",
        )  # fmt: skip
    explore.add_argument(
        "--compare", action="store_true",
        help="search the best memory for each network alone too, and say what the common one costs it: as many "
        "samples again for each",
    )  # fmt: skip
    partition.add_argument("-o", "--output", metavar="FILE", help="write the partition to this file (.json, .yaml)")
    explore.add_argument(
        "-o", "--output", metavar="DIR",
        help="write result.json, partition.json, history.csv, samples.csv and pictures to this directory",
    )  # fmt: skip
    _add_allocation(allocate)
    for command in (networks, show, evaluate, partition, explore, pareto, allocate):
        command.add_argument("--json", action="store_true", help="print one JSON object instead of tables")
    return parser


def _command(commands: Any, name: str, purpose: str, more: str = "") -> Parser:
    parser: Parser = commands.add_parser(
        name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}. {more}".strip(),
        epilog=f"{SIZES} {EXIT}." if name not in ("networks", "show") else EXIT, allow_abbrev=False,
    )  # fmt: skip
    return parser


def _add_buffers(parser: Parser) -> None:
    group = parser.add_argument_group("hardware: two buffers, or one for both")
    group.add_argument("--global-buffer", type=values.size, metavar="SIZE", help="for activations, of one core")
    group.add_argument("--weight-buffer", type=values.size, metavar="SIZE", help="for weights, of one core")
    group.add_argument("--shared-buffer", type=values.size, metavar="SIZE", help="for both, of one core")


def _add_space(parser: Parser) -> None:
    group = parser.add_argument_group("space: the memories to choose from")
    kinds = group.add_mutually_exclusive_group()
    kinds.add_argument("--shared", action="store_true", help="one buffer (the default); 128KB:3072KB:64KB")
    kinds.add_argument(
        "--separate", action="store_true",
        help="a global and a weight buffer; 128KB:2048KB:64KB and 144KB:2304KB:72KB",
    )  # fmt: skip
    group.add_argument(
        "--range", type=values.capacity_range, action="append", metavar="LOW:HIGH:STEP", dest="ranges",
        help="other candidates than these of the paper; with --separate twice, the global buffer first",
    )  # fmt: skip


def _add_machine(parser: Parser) -> None:
    group = parser.add_argument_group("machine and model")
    whole: dict[str, Any] = {"type": values.count, "default": 1, "metavar": "N"}
    group.add_argument("--cores", **whole, help="cores that share a network; default 1")
    group.add_argument("--batch", **whole, help="samples computed together; default 1")
    group.add_argument(
        "--max-regions", type=values.count_or_none, default=64, metavar="N|none",
        help="tensors that a subgraph of several layers may hold; default 64, as in the paper",
    )  # fmt: skip
    group.add_argument(
        "--prefetch", choices=("free", "resident"), default="free",
        help="resident: the weights of the next subgraph must fit as well; default free, as in the paper",
    )  # fmt: skip
    group.add_argument(
        "--tile-rule", choices=("exact", "paper"), default="exact",
        help="exact: sizes that really run; paper: the paper's, which lose data where branches meet; default exact",
    )  # fmt: skip


def _add_search(parser: Parser, metric: str, methods: tuple[str, ...], more: str) -> None:
    group = _add_samples(parser)
    group.add_argument(
        "--method", choices=methods, default="auto",
        help="auto: exact where it finishes soon, beside ga (default); ga: genetic algorithm; exact: enumeration; "
        + more,
    )  # fmt: skip
    group.add_argument(
        "--metric", choices=("ema", "energy", "latency"), default=metric,
        help=f"what to make small: off-chip bytes, pJ or cycles; default {metric}",
    )  # fmt: skip
    group.add_argument(
        "--plain", action="store_true",
        help="the paper's genetic algorithm: without founders, islands, shift-layers and polish",
    )  # fmt: skip
    group.add_argument(
        "--prove", action="store_true",
        help="where the optimum is not proven, find a better lower bound by solvers: minutes (extra solvers)",
    )  # fmt: skip


def _add_samples(parser: Parser) -> Any:
    group = parser.add_argument_group("search")
    group.add_argument(
        "--samples", type=values.count, default=50_000, metavar="N", help="genomes to price; default 50000"
    )
    group.add_argument("--seed", type=values.seed, default=0, metavar="S", help="of the random numbers; default 0")
    group.add_argument(
        "--engine", choices=("fast", "reference"),
        help="fast: compiled (default where it is built); reference: in Python; both answer the same bytes",
    )  # fmt: skip
    group.add_argument("--threads", type=values.count, default=1, metavar="N", help="of the fast engine; default 1")
    return group


def _add_limits(parser: Parser) -> None:
    group = parser.add_argument_group("limits: in place of alpha")
    criteria = "capacity, energy, ema, latency, area or bandwidth"
    group.add_argument("--minimize", metavar="WHAT", help=f"{criteria}: the least of it that keeps every --limit")
    group.add_argument(
        "--limit", type=values.limit, action="append", metavar="WHAT=MOST", dest="limits",
        help="such as latency=2000000 (cycles), capacity=1MB, energy=4.5mJ (or pJ), ema=30MB, area=1.2 (mm2), "
        "bandwidth=8 (bytes per cycle); may be given several times",
    )  # fmt: skip


def _add_front(parser: Parser) -> None:
    group = _add_samples(parser)
    group.add_argument(
        "--objectives", type=values.names, default=("capacity", "energy"), metavar="A,B",
        help="two or more of capacity, energy, ema, latency, area, bandwidth; default capacity,energy",
    )  # fmt: skip
    group.add_argument(
        "--method", choices=("nsga2", "exact"), default="nsga2",
        help="nsga2: genetic (default); exact: enumerate each memory, which proves the front of small networks",
    )  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="DIR",
        help="write pareto.csv, samples.csv, result.json, a picture, and partitions/ to this directory",
    )  # fmt: skip


def _add_allocation(parser: Parser) -> None:
    parser.add_argument(
        "file", metavar="FILE",
        help="a table of buffers (.csv): id, lower, upper (the step after the last), size and, where wanted, "
        "alignment, offset, gaps",
    )  # fmt: skip
    parser.add_argument("--capacity", type=values.size, required=True, metavar="SIZE", help="of the memory")
    parser.add_argument(
        "--method", choices=("auto", "greedy", "search", "telamalloc", "ilp", "cp"), default="auto",
        help="auto: greedy, then search (default); search: complete, in canonical order; telamalloc: the paper's "
        "search; ilp, cp: exact encodings for the solvers of the extra 'solvers'",
    )  # fmt: skip
    parser.add_argument("--minimize", action="store_true", help="the least height within the capacity")
    parser.add_argument(
        "--nodes", type=values.count, metavar="N",
        help="limit of the method, counted; default 200000 (telamalloc: 500000 steps)",
    )  # fmt: skip
    parser.add_argument("--engine", choices=("fast", "reference"), help="compiled or in Python; the same answers")
    parser.add_argument("--inclusive", action="store_true", help="upper is the last live step: add 1")
    parser.add_argument("--ignore-offsets", action="store_true", help="do not fix what the column 'offset' fixes")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the table with the addresses as offsets (.csv)")
    parser.add_argument("--picture", metavar="FILE", help="draw time against address (.png, .svg)")
