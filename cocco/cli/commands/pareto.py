"""cocco pareto: the memories and partitions that nothing found is better than."""

from __future__ import annotations

from argparse import Namespace
from functools import partial

from cocco.cli import values
from cocco.cli.fronts import search_front
from cocco.cli.options import (
    add_count,
    add_json,
    add_keep,
    add_machine,
    add_mapper,
    add_networks,
    add_samples,
    add_space,
)
from cocco.cli.usage import Parser
from cocco.exploration.pareto import pareto
from cocco.output.text.front import front_text


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_networks(parser)
    add_space(parser)
    add_machine(parser)
    add_mapper(parser)
    group = add_samples(parser)
    group.add_argument(
        "--objectives", type=values.names, default=("capacity", "energy"), metavar="A,B",
        help="two or more of capacity, energy, ema, latency, area, bandwidth; default capacity,energy",
    )  # fmt: skip
    group.add_argument(
        "--method", choices=("nsga2", "exact"), default="nsga2",
        help="nsga2: genetic (default); exact: enumerate each memory, which proves the front of small networks",
    )  # fmt: skip
    add_count(parser)
    add_keep(parser)
    parser.add_argument(
        "-o", "--output", metavar="DIR",
        help="write pareto.csv, samples.csv, result.json, a picture, and partitions/ to this directory",
    )  # fmt: skip
    add_json(parser)


def run(options: Namespace) -> int:
    """Search for the front."""
    question = {"objectives": options.objectives, "method": options.method}
    return search_front(options, question, partial(pareto, **question), front_text)
