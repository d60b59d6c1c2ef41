"""cocco pareto: the memories and partitions that nothing found is better than."""

from __future__ import annotations

from argparse import Namespace
from functools import partial

from cocco.cli.options import values
from cocco.cli.options.options import (
    COST,
    add_count,
    add_folder,
    add_json,
    add_keep,
    add_machine,
    add_mapper,
    add_networks,
    add_samples,
    add_space,
)
from cocco.cli.options.usage import Parser
from cocco.cli.running.chips import add_axis, pareto_axes
from cocco.cli.running.fronts import search_front
from cocco.cli.running.plans import add_bank
from cocco.cli.running.resume import add_resume
from cocco.exploration.pareto import pareto
from cocco.output.text.searches.front import front_text
from cocco.problem.exchange import cheapest
from simulator.accelerator import Accelerator


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_networks(parser)
    add_space(parser)
    add_machine(parser)
    add_mapper(parser)
    group = add_samples(parser)
    group.add_argument(
        "--objectives", type=values.names, metavar="A,B",
        help="two or more of capacity, energy, ema, latency, area, leakage, bandwidth; default capacity,energy; with "
        "--axis area is of the whole chip, as is price, and the default area,energy,latency",
    )  # fmt: skip
    group.add_argument(
        "--method", choices=("auto", "nsga2", "exact"), default="auto",
        help="the algorithm. auto: nsga2 (default); nsga2: genetic; exact: solve each memory, which proves small "
        "fronts",
    )  # fmt: skip
    add_count(parser)
    parser.add_argument_group(COST).add_argument(
        "--exchange", metavar="WORTH",
        help="say which point costs least where a byte or a mm2 of buffer is worth so much, such as 500pJ/B or 2mJ/mm2",
    )  # fmt: skip
    add_keep(parser, has_plain=False)
    add_bank(parser)
    add_axis(parser, "the front is that of chips, by nsga2, and plans keep nothing on chip")
    add_folder(parser, "pareto.csv, samples.csv, result.json, a picture, and partitions/")
    add_resume(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Search for the front."""
    if options.axes:
        return pareto_axes(options)
    if options.objectives is None:
        options.objectives = ("capacity", "energy")
    question = {"objectives": options.objectives, "method": "nsga2" if options.method == "auto" else options.method}
    exchange: str | None = options.exchange
    if exchange is not None:  # before the search, whether it can be answered
        cheapest(exchange, options.objectives, [[0.0] * len(options.objectives)], [Accelerator(shared_buffer=1)])
    return search_front(
        options, question, partial(pareto, **question), partial(front_text, exchange=exchange),
        lambda front: front.to_json(exchange),
    )  # fmt: skip
