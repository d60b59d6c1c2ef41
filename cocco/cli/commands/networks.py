"""cocco networks: the built-in networks."""

from __future__ import annotations

from argparse import Namespace

import workloads
from cocco.cli.options.networks import counts
from cocco.cli.options.options import add_json
from cocco.cli.options.output import print_answer
from cocco.cli.options.usage import Parser
from cocco.output.text.layout.numbers import table


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the counts of each network."""
    found = [workloads.load(name) for name in workloads.names()]
    rows = [counts(network, len(network.layers)) for network in found]
    heads = ("network", "layers", "edges", "GMAC", "weights (million bytes)")
    cells = [(*each, f"{macs / 1e9:.2f}", f"{size / 1e6:.1f}") for *each, macs, size in (row.values() for row in rows)]
    print_answer(options, lambda: {"networks": rows}, lambda: table(heads, cells))
    return 0
