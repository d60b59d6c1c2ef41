"""The words of partition, explore and pareto."""

from __future__ import annotations

from typing import Any

from cocco.cli import values
from cocco.cli.usage import Parser
from cocco.cli.words import shared


def add(commands: Any) -> None:
    """Enter the commands."""
    _add_partition(commands)
    _add_explore(commands)
    _add_pareto(commands)


def _add_partition(commands: Any) -> None:
    partition = shared.command(
        commands, "partition", "searching:partition", "find a partition for given hardware", shared.DEFAULT_HARDWARE
    )
    shared.add_network(partition)
    shared.add_buffers(partition)
    shared.add_machine(partition)
    shared.add_mapper(partition)
    shared.add_search(
        partition, "ema", ("auto", "ga", "greedy", "dp", "idp", "exact", "sa"),
        "greedy: Halide's fusion; dp: contiguous by depth; idp: dp over many orders; sa: simulated annealing",
    )  # fmt: skip
    partition.add_argument("-o", "--output", metavar="FILE", help="write the partition to this file (.json, .yaml)")
    shared.add_json(partition)


def _add_explore(commands: Any) -> None:
    purpose = "find the memory to build, with a partition for each network"
    explore = shared.command(commands, "explore", "searching:explore", purpose)
    _add_networks(explore)
    shared.add_space(explore)
    shared.add_machine(explore)
    shared.add_mapper(explore)
    shared.add_addresses(explore)
    explore.add_argument(
        "--check-addresses", action="store_true",
        help="split what fits by its bytes but has no addresses, and price it again; brings --addresses",
    )  # fmt: skip
    shared.add_search(
        explore, "energy", ("auto", "ga", "exact", "sa", "random", "grid"),
        "sa: simulated annealing; random, grid: memories first, then 5,000 samples of ga for each",
    )  # fmt: skip
    explore.add_argument(
        "--alpha", type=values.number, default=0.002, metavar="A",
        help="bytes of buffer that one pJ (byte, cycle) is worth: cost = buffer bytes + A * metric; default 0.002",
    )  # fmt: skip
    _add_limits(explore)
    _add_weights(explore)
    explore.add_argument(
        "--compare", action="store_true",
        help="search the best memory for each network alone too, and say what the common one costs it: as many "
        "samples again for each",
    )  # fmt: skip
    explore.add_argument(
        "-o", "--output", metavar="DIR",
        help="write result.json, partition.json, history.csv, samples.csv and pictures to this directory",
    )  # fmt: skip
    shared.add_json(explore)


def _add_pareto(commands: Any) -> None:
    purpose = "find the whole front between capacity and energy, or other objectives"
    pareto = shared.command(commands, "pareto", "fronts:pareto_command", purpose)
    _add_networks(pareto)
    shared.add_space(pareto)
    shared.add_machine(pareto)
    _add_front(pareto)
    _add_weights(pareto)
    shared.add_json(pareto)


def _add_networks(parser: Parser) -> None:
    parser.add_argument("networks", metavar="NETWORK", nargs="+", help=shared.NETWORK)
    shared.add_unsupported(parser)


def _add_weights(parser: Parser) -> None:
    parser.add_argument(
        "--weights", type=values.number, nargs="+", metavar="W",
        help="how much each network counts, in the order of the networks; default: 1 each",
    )  # fmt: skip


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
    group = shared.add_samples(parser)
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
