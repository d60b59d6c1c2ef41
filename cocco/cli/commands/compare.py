"""cocco compare: partitions of a network side by side."""

from __future__ import annotations

from argparse import Namespace

from cocco.cli.hardware import accelerator_of
from cocco.cli.networks import load
from cocco.cli.options import PARTITION, add_buffers, add_json, add_machine, add_network
from cocco.cli.output import print_answer
from cocco.cli.plans import read_partition
from cocco.cli.usage import Parser, UsageError
from cocco.output.text.comparison import comparison_text
from cocco.plans.compare import compare


def add_options(parser: Parser) -> None:
    """Add what the command takes."""
    add_network(parser)
    parser.add_argument("partitions", metavar="FILE|layerwise", nargs="+", help=PARTITION)
    add_buffers(parser)
    add_machine(parser)
    add_json(parser)


def run(options: Namespace) -> int:
    """Compare. Exit 1 where one of the partitions cannot run on this hardware."""
    accelerator = accelerator_of(options)
    if len(options.partitions) < 2:
        raise UsageError("compare needs two partitions or more; 'cocco evaluate' prices one")
    twice = [name for name in options.partitions if options.partitions.count(name) > 1]
    if twice:
        raise UsageError(f"the partition {twice[0]!r} is given twice; give each once")
    network = load(options.network, options)
    plans = {name: read_partition(name, network, accelerator, options.tile_rule) for name in options.partitions}
    found = compare(network, plans, accelerator, tile_rule=options.tile_rule)
    print_answer(options.json, found.to_json, lambda: comparison_text(found))
    return 0 if all(each.evaluation.fits for each in found.partitions) else 1
