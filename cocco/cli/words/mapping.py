"""The words of map."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Any

from cocco.cli import values
from cocco.cli.usage import Parser
from cocco.cli.words import shared

METHODS = ("closed", "cosa", "random", "climb")


def add(commands: Any) -> None:
    """Enter the command."""
    purpose = "map the layers of a list or a network on the PE array, one by one"
    parser = shared.command(commands, "map", "mapping:map_layers", purpose, sizes=False)
    parser.add_argument(
        "layers", metavar="LAYERS.csv|NETWORK",
        help="a table of layers (.csv): R, S, P, Q, C, K, N, stride_w, stride_h and, where wanted, groups, dilation_w, "
        f"dilation_h, count, macs, layer; or {shared.NETWORK}",
    )  # fmt: skip
    _add_method(parser)
    _add_rules(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="write the JSON object to this file")
    shared.add_json(parser)


def _add_method(parser: Parser) -> None:
    parser.add_argument(
        "--method", choices=METHODS, default="closed",
        help="closed: the best of the ways to unroll two axes (default); cosa: CoSA's mixed-integer program (extra "
        "'solvers'); random: the best of a few valid mappings; climb: hill climbing",
    )  # fmt: skip
    parser.add_argument(
        "--arch", default="simba", metavar="simba|FILE", help="the machine, or a file of its levels (.yaml, .json)"
    )
    parser.add_argument("--fixed-axes", type=axes, metavar="A,B", help="closed: what the axes unroll, such as K,C")
    parser.add_argument(
        "--samples",
        type=values.count,
        metavar="N",
        help="random: valid mappings, default 5; climb: tries, default 2000",
    )
    parser.add_argument("--seed", type=values.seed, default=0, metavar="S", help="of the random numbers; default 0")
    parser.add_argument(
        "--limit", type=positive, default=20.0, metavar="D",
        help="cosa: units of deterministic time for a layer, about seconds; default 20",
    )  # fmt: skip
    parser.add_argument("--solver", choices=("cp", "highs"), default="highs", help="cosa: which solver; default highs")


def _add_rules(parser: Parser) -> None:
    group = parser.add_argument_group("rules of cosa")
    group.add_argument(
        "--halo", choices=("corrected", "published", "exact"), default="corrected",
        help="published: filters walk at DRAM only; exact: input tiles as they are; default corrected",
    )  # fmt: skip
    group.add_argument(
        "--stride-rule", choices=("per_factor", "once"), default="per_factor",
        help="once: charge a stride once, not for every factor; default per_factor, as published",
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
